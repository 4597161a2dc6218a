//! Native MPI, the one underneath: differences between the families of MPI, the addresses of its
//! functions and variables, and these functions with Rust's types. Also what of the system has no
//! safe interface elsewhere (`system`).

pub mod abi;
mod addresses;
mod collective;
pub mod elf;
mod handle_cache;
mod handles;
pub mod lookup;
pub mod native;
mod procedures;
pub mod program;
pub mod share;
pub mod system;
mod words;

pub use std::ffi::c_int;

pub use addresses::{
    Counts, DatatypeArray, HandleAddress, IntAddress, IntArray, LargeArray, StatusAddress,
};
pub use collective::{Call, Side};
pub use handle_cache::HandleCache;
pub use handles::{
    AppComm, Comm, Datatype, Errhandler, Group, Handle, Info, MatchedMessage, Op, Request, Win,
};
pub use words::{SUCCESS, Word};
