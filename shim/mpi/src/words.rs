//! Words in which MPI procedures take arguments and return results.

use std::ffi::c_int;

/// Argument of an MPI procedure as it is passed: handles, pointers and integers are all passed in
/// 64-bit registers or stack slots on the platforms that MPI runs on here, so one type serves every
/// MPI's declaration. For an `int` only the lower half is defined. Handles have separate types.
pub type Word = usize;

/// `MPI_SUCCESS`, the same in every MPI.
pub const SUCCESS: c_int = 0;
