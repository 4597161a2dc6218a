//! Parts shared by the programs that measure under an MPI: a session that ends with its owner, and
//! the few calls that they make, with Rust types. They are linked to no MPI: each opens that of the
//! job (`treepie_mpi::program`), whose constants are in the library's own ABI descriptors.

pub mod clocks;
pub mod communicator;
mod session;
pub mod ways;

pub use session::{Session, allowed_cores};
