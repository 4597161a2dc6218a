//! Hook by which the native MPI calls this library whenever it waits.
//!
//! | MPI | how |
//! |---|---|
//! | Open MPI 4 to 6 | `opal_progress_register` of its library `libopen-pal`, by its version |
//! | MPICH from 4.3 on | `MPIX_Async_start`, unless the program may have several threads |

use std::ffi::c_void;
use std::mem;

use super::mpi::Native;
use crate::abi::Family;
use crate::lookup::{self, find_in_opal};
use crate::{SUCCESS, Word, c_int};

/// `opal_progress_callback_t`: returns the amount of progress.
pub type ProgressCallback = extern "C" fn() -> c_int;

/// `MPIX_Async_poll_function`.
pub type PollCallback = extern "C" fn(Word) -> c_int;

/// `opal_progress_register` and `opal_progress_unregister`.
type Register = unsafe extern "C" fn(ProgressCallback) -> c_int;

/// `MPIX_Async_start`.
type AsyncStart = unsafe extern "C" fn(PollCallback, Word, c_int) -> c_int;

/// `MPIX_STREAM_NULL`.
const STREAM_NULL: c_int = 0x3c00_0000;

/// The hook.
pub struct ProgressHook(Hook);

enum Hook {
    OpenMpi { begin: Register, end: Register },
    Mpich(AsyncStart),
}

impl ProgressHook {
    /// `MPIX_ASYNC_NOPROGRESS`: the result of a poll that is to be called again.
    pub const NO_PROGRESS: c_int = 0;
    /// `MPIX_ASYNC_DONE`: the result of the last poll.
    pub const DONE: c_int = 1;

    /// Finds the hook of the MPI in this process.
    pub fn find(native: &Native) -> Option<Self> {
        // SAFETY: both functions take a callback and return an int, in these versions of the
        // library; MPICH's declaration is the same.
        let hook = unsafe {
            match native.abi.family {
                _ if native.is_open_mpi => Hook::OpenMpi {
                    begin: mem::transmute::<*mut c_void, Register>(find_in_opal(
                        c"opal_progress_register",
                    )?),
                    end: mem::transmute::<*mut c_void, Register>(find_in_opal(
                        c"opal_progress_unregister",
                    )?),
                },
                // With several threads, MPICH 5.0 locks the object that it polls, and polls it
                // again in calls that this library makes there: "Resource deadlock avoided".
                Family::Mpich if !native.has_many_threads() => {
                    let start = lookup::find(c"PMPIX_Async_start")?;
                    Hook::Mpich(mem::transmute::<*mut c_void, AsyncStart>(start))
                }
                _ => return None,
            }
        };
        Some(ProgressHook(hook))
    }

    /// Has the MPI call one of these functions from now on; true on success.
    pub fn begin(&self, progress: ProgressCallback, poll: PollCallback) -> bool {
        // SAFETY: the callbacks stay mapped, as this library does.
        let code = unsafe {
            match self.0 {
                Hook::OpenMpi { begin, .. } => begin(progress),
                Hook::Mpich(start) => start(poll, 0, STREAM_NULL),
            }
        };
        code == SUCCESS
    }

    /// Ends the calls of `progress`; those of a poll end with its result.
    pub fn end(&self, progress: ProgressCallback) {
        if let Hook::OpenMpi { end, .. } = self.0 {
            // SAFETY: as above.
            unsafe { end(progress) };
        }
    }
}
