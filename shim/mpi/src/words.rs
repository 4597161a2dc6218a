//! The words in which MPI procedures take arguments and return results.

use std::ffi::c_int;

/// An argument of an MPI procedure as it is passed: handles, pointers and
/// integers all travel in 64-bit registers or stack slots on the platforms that
/// MPI runs on here, so one type serves every MPI's declaration. Of an `int`
/// only the lower half means anything. Handles have types of their own.
pub type Word = usize;

/// `MPI_SUCCESS`, the same in every MPI.
pub const SUCCESS: c_int = 0;
