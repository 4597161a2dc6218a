//! Ends of a process that are no `MPI_Finalize`: `MPI_Abort`, `exit` and `_exit`.

use std::sync::atomic::{AtomicBool, Ordering};

use libc::c_int;

use super::{keeper, parts};
use crate::api::Word;
use crate::api::host::{Host, host};
use crate::{record, world};

static WATCHED: AtomicBool = AtomicBool::new(false);

/// Watches for `exit` from now on.
pub fn watch() {
    if !WATCHED.swap(true, Ordering::AcqRel) {
        // SAFETY: the function is there as long as the process: a preloaded
        // library is never unloaded.
        unsafe { libc::atexit(on_exit) };
    }
}

/// This process is about to end the job: it leaves its part, and has the other
/// ranks of this host leave theirs.
pub fn leave_all() {
    parts::leave();
    keeper::call_others();
}

extern "C" fn on_exit() {
    leave_all();
}

/// `MPI_Abort`: what the application calls the world is aborted, so that the
/// host's message has the rank that the application knows. Intel MPI's launcher
/// takes the abort of anything but its own world for a crash, and would lose the
/// status: there the world itself is aborted.
///
/// # Safety
/// The caller keeps the contract of `MPI_Abort`.
pub unsafe fn abort(
    next: unsafe extern "C" fn(Word, Word) -> c_int,
    comm: Word,
    code: Word,
) -> c_int {
    leave_all();
    let comm = match host().is_some_and(Host::is_intel) {
        true => comm,
        false => world::substitute(comm),
    };
    // SAFETY: the caller's promise; W' is as valid as the world it stands for.
    record::quietly(|| unsafe { next(comm, code) })
}

/// `_exit`: Open MPI ends a process so after an error that is fatal. Where
/// nothing is counted this is the system call and no more.
#[unsafe(no_mangle)]
extern "C" fn _exit(status: c_int) -> ! {
    if parts::is_armed() {
        leave_all();
    }
    loop {
        // SAFETY: this call does not return.
        unsafe { libc::syscall(libc::SYS_exit_group, status) };
    }
}
