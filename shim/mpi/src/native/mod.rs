//! Native MPI as Treepie itself calls it: its family, and the few functions that the library needs.

mod attachment;
mod attributes;
mod calls;
mod controls;
mod error;
mod error_handlers;
mod extent;
mod functions;
mod messages;
mod mpi;
mod neighbours;
mod one_sided;
mod own;
mod predefined_types;
mod progress_hook;
mod requests;
mod started;

pub use attachment::{Attached, Attachment, Finding};
pub use calls::LONGEST_NAME;
pub use controls::{Controls, Variable};
pub use error::{Failed, NativeError};
pub use extent::Extent;
pub use messages::Message;
pub use mpi::{Native, abi, native};
pub(crate) use mpi::{family, resolve};
pub use one_sided::Placed;
pub use own::{OwnComm, OwnInfo};
pub use progress_hook::ProgressHook;
pub use requests::Requests;
pub use started::{Freed, Generalized};
