//! The interface of MPI: the table of procedures, the entry points made from
//! it under both their names, what differs between the families of MPI, and the
//! host's own functions.
//!
//! A call comes in here, is counted by `record`, has its communicator
//! substituted by `world`, and leaves through the next function of its name.

pub mod abi;
#[cfg(target_arch = "x86_64")]
mod by_handle;
mod elf;
pub mod entry;
pub mod host;
#[cfg(target_arch = "x86_64")]
mod linker;
pub mod next;
mod rare;

/// An argument of an MPI procedure as it is passed: handles, pointers and
/// integers all travel in 64-bit registers or stack slots on the platforms that
/// MPI runs on here, so one type serves every MPI's declaration. Of an `int`
/// only the lower half means anything.
pub type Word = usize;

/// The type of an MPI procedure's result: an error class, 0 for success.
pub use std::ffi::c_int;

/// `MPI_SUCCESS`, the same in every MPI.
pub const SUCCESS: c_int = 0;
