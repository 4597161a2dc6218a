//! The native MPI as Treepie itself calls it: which family it is, and the few of
//! its functions that we need.

mod attributes;
mod calls;
mod controls;
mod error_handlers;
mod functions;
mod messages;
mod mpi;
mod neighbours;
mod one_sided;
mod own;
mod predefined_types;
mod requests;
mod started;

pub use calls::LONGEST_NAME;
pub use controls::{Controls, Variable};
pub use messages::{Extent, Message};
pub use mpi::{Failed, Native, NativeError, abi, native};
pub use one_sided::Placed;
pub use own::{OwnComm, OwnInfo};
pub use requests::Requests;
pub use started::{Callbacks, Freed};
