//! Abnormal exits, which are without `MPI_Finalize`: `MPI_Abort`, `exit` and `_exit`.

use std::time::Duration;

use libc::c_int;
use treepie_mpi::native::native;
use treepie_mpi::{AppComm, Comm, SUCCESS, Word};
use treepie_process::log;
use treepie_record as record;
use treepie_record::page;

use super::{monitor, partial};
use crate::world;

/// How long a launcher may take to end a job.
const PATIENCE: Duration = Duration::from_secs(5);

/// Watches for `exit` from now on. Once in a process.
pub fn watch() {
    // SAFETY: `on_exit` stays mapped until the process ends: LD_PRELOAD objects are never unloaded.
    unsafe { libc::atexit(on_exit) };
}

/// Writes the partial profiles of this rank and of the others of this host, before the job ends.
pub fn write_all() {
    partial::write();
    monitor::call_others();
}

extern "C" fn on_exit() {
    page::exits();
    write_all();
}

/// `MPI_Abort`. Open MPI aborts what the application calls the world, so that its
/// message has the rank that the application knows. The launchers of MPICH's family
/// take the abort of anything but their own world for a crash, with a text and
/// sometimes a status of its own: there the world itself is aborted, and the rank
/// is told here.
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
    // SAFETY: the caller's promise; W' is as valid as the world it stands for.
    let result = record::quietly(|| unsafe { next(target, code) });
    if result == SUCCESS && (partial::is_armed() || world::is_substituted()) {
        wait_for_the_end(code as c_int);
    }
    result
}

/// What is done when `MPI_Abort` comes back, as in MPICH 5, which asks the launcher to end
/// the job and may return before it has: nothing more of the program is run, and no
/// profile of a whole job is made.
pub fn wait_for_the_end(code: c_int) -> ! {
    std::thread::sleep(PATIENCE);
    // SAFETY: ends the process; nothing of it is used any more.
    unsafe { libc::_exit(code) }
}

/// `_exit`: Open MPI ends a process so after an error that is fatal. Where
/// nothing is counted this is the system call and no more.
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
