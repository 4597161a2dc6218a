//! Errors that are fatal. MPICH's family ends a job within the call that fails,
//! and its launcher kills the others at once: a handler of ours comes first, and
//! then has the host do what `MPI_ERRORS_ARE_FATAL` does. Applications see
//! `MPI_ERRORS_ARE_FATAL` where they ask. Open MPI ends by `_exit` (`exits`).

use std::io::Write;

use super::exits;
use crate::mpi::abi::Family;
use crate::mpi::native::{Host, HostError, host};
use crate::mpi::{SUCCESS, Word, c_int};
use crate::{record, world};

/// Puts our handler where errors are fatal now; communicators that are made of
/// these inherit it.
///
/// # Errors
/// A call of the host's that failed.
pub fn watch(host: &Host) -> Result<(), HostError> {
    if host.abi.family == Family::OpenMpi {
        return Ok(());
    }
    let handler = host.create_error_handler(on_error)?;
    host.stands_for_fatal(handler);
    // Not on MPI_COMM_SELF: as long as nobody has set a handler there, errors of
    // calls without a communicator go to the world's, which may return them.
    let mut all = vec![host.world];
    if world::is_substituted() {
        all.push(world::substitute(host.world));
    }
    for comm in all {
        if host.error_handler(comm)? & host.handle_mask() == host.errors_are_fatal {
            host.set_error_handler(comm, handler)?;
        }
    }
    Ok(())
}

/// `MPI_Comm_errhandler_function`.
unsafe extern "C" fn on_error(comm: *mut Word, code: *mut c_int) {
    exits::leave_all();
    let Some(host) = host() else { return };
    // SAFETY: the host hands its handlers these addresses.
    let (comm, code) = unsafe { (host.read_handle(comm as Word), *code) };
    if world::is_replacement(comm) || host.is_intel() {
        // The launchers of this family take a fatal error on anything but their own
        // world for a crash, and Intel's any end from within this handler.
        let _ = writeln!(std::io::stderr(), "Fatal error: {}", host.error_text(code));
    } else {
        let _ = host.set_error_handler(comm, host.errors_are_fatal);
        host.call_error_handler(comm, code);
    }
    end(host, code)
}

/// Behind a fatal error nothing more is run.
fn end(host: &Host, code: c_int) -> ! {
    host.abort(code);
    exits::wait_for_the_end(code)
}

/// `MPI_Comm_get_errhandler` and `MPI_Errhandler_get`.
///
/// # Safety
/// The caller keeps the contract of `MPI_Comm_get_errhandler`.
pub unsafe fn get(
    next: unsafe extern "C" fn(Word, Word) -> c_int,
    comm: Word,
    handler: Word,
) -> c_int {
    // SAFETY: the caller's promise; W' is as valid as the world it stands for.
    let code = record::quietly(|| unsafe { next(world::substitute(comm), handler) });
    if code == SUCCESS
        && handler != 0
        && let Some(host) = host()
    {
        // SAFETY: the call succeeded, so that `handler` holds a handle.
        unsafe {
            if host.is_stand_in(host.read_handle(handler)) {
                host.write_handle(handler, host.errors_are_fatal);
            }
        }
    }
    code
}
