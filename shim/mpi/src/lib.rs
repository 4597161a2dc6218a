//! The native MPI, the one underneath: what differs between the families of MPI, where its
//! functions and variables are, and those functions with Rust's types.

pub mod abi;
mod addresses;
mod collective;
pub mod elf;
mod handles;
pub mod lookup;
pub mod native;
pub mod share;

pub use addresses::{Counts, IntArray, LargeArray, StatusAddress};
pub use collective::{Call, Side};
pub use handles::{
    AppComm, Comm, Datatype, Errhandler, Group, Handle, Info, MatchedMessage, Op, Request, Win,
};

/// An argument of an MPI procedure as it is passed: handles, pointers and
/// integers all travel in 64-bit registers or stack slots on the platforms that
/// MPI runs on here, so one type serves every MPI's declaration. Of an `int`
/// only the lower half means anything. Handles have types of their own.
pub type Word = usize;

/// The type of an MPI procedure's result: an error class, 0 for success.
pub use std::ffi::c_int;

/// `MPI_SUCCESS`, the same in every MPI.
pub const SUCCESS: c_int = 0;
