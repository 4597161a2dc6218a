//! Abnormal exits, without `MPI_Finalize`: `MPI_Abort`, `exit` and `_exit`.

use std::time::Duration;

use libc::c_int;
use treepie_mpi::native::native;
use treepie_mpi::{AppComm, Comm, SUCCESS, Word};
use treepie_process::log;
use treepie_record as record;
use treepie_record::page;

use super::{monitor, partial};
use crate::world;

/// Longest time that a launcher may take to end a job.
const PATIENCE: Duration = Duration::from_secs(5);

/// Installs the handler for `exit`. Once in a process.
pub fn watch() {
    // SAFETY: `on_exit` stays mapped until the process ends: LD_PRELOAD objects are never unloaded.
    unsafe { libc::atexit(on_exit) };
}

/// Writes the partial profiles of this rank and of this host's other ranks, before the job ends.
pub fn write_all() {
    partial::write();
    monitor::call_others();
}

extern "C" fn on_exit() {
    page::exits();
    write_all();
}

/// `MPI_Abort`. Open MPI aborts the application's world, so that its message has the application's
/// rank. The launchers of MPICH's family report the abort of any communicator other than their own
/// world as a crash, with an additional text and sometimes another status: there the native world
/// is aborted, and the rank is reported here.
///
/// # Safety
/// The caller keeps the contract of `MPI_Abort`.
pub unsafe fn abort(
    next: unsafe extern "C-unwind" fn(Comm, Word) -> c_int,
    comm: AppComm,
    code: Word,
) -> c_int {
    page::aborts();
    write_all();
    let replaced = world::substitute(comm);
    let target = match native() {
        Some(native) if !native.is_open_mpi && replaced != comm.as_written() => {
            if let Ok(rank) = native.rank(replaced) {
                log::warn(&format!(
                    "rank {rank} calls MPI_Abort; the MPI's own message has the launcher's number of its process"
                ));
            }
            comm.as_written()
        }
        _ => replaced,
    };
    // SAFETY: the caller's promise; W' is as valid as the world that it replaces.
    let result = record::quietly(|| unsafe { next(target, code) });
    if result == SUCCESS && (partial::is_armed() || world::is_substituted()) {
        wait_for_the_end(code as c_int);
    }
    result
}

/// Handles a return of `MPI_Abort`, as in MPICH 5, which requests the end of the job from the
/// launcher and may return before it ends: no code of the program runs any more, and no profile of
/// a whole job is written.
pub fn wait_for_the_end(code: c_int) -> ! {
    std::thread::sleep(PATIENCE);
    // SAFETY: ends the process; none of its memory is used any more.
    unsafe { libc::_exit(code) }
}

/// `_exit`, by which Open MPI ends a process after a fatal error. If nothing is counted this is
/// only the system call.
#[unsafe(no_mangle)]
extern "C" fn _exit(status: c_int) -> ! {
    page::exits();
    if partial::is_armed() {
        write_all();
    }
    loop {
        // SAFETY: this call does not return.
        unsafe { libc::syscall(libc::SYS_exit_group, status) };
    }
}
