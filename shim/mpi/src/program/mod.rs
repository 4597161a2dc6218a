//! MPI for Treepie's own programs, which are not linked to one: the library is opened at run time,
//! and one program serves each of them. Procedures are called by their `MPI_` names, as any
//! application calls them, so that a preloaded library sees them.

mod communicator;
mod functions;
mod loading;
mod mpi;
mod pair;
mod pieces;
mod session;

pub use communicator::{Buffers, Communicator};
pub use loading::LoadError;
pub use mpi::Mpi;
pub use pair::{Epoch, Pair};
pub use pieces::Pieces;
pub use session::{Pending, Session};
