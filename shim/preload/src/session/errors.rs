//! Fatal errors. MPICH's family ends a job within the call that fails, and its launcher kills the
//! other ranks immediately: a handler of this library runs first, and then has the native MPI do
//! what `MPI_ERRORS_ARE_FATAL` does. Applications that query the handler get
//! `MPI_ERRORS_ARE_FATAL`. Open MPI ends by `_exit` (`exits`).

use std::io::Write;

use treepie_mpi::native::{Native, NativeError, native};
use treepie_mpi::{AppComm, Comm, SUCCESS, Word, c_int};
use treepie_record as record;

use super::exits;
use crate::world;

/// Sets this library's handler on communicators whose errors are fatal now; communicators that are
/// derived from them inherit it.
///
/// # Errors
/// A native call that failed.
pub fn watch(native: &Native) -> Result<(), NativeError> {
    if native.is_open_mpi {
        return Ok(());
    }
    let handler = native.create_error_handler(on_error)?;
    native.stands_for_fatal(handler);
    // Not on MPI_COMM_SELF: unless a handler is set there, errors of calls without a communicator
    // go to the world's, which may return them.
    let mut all = vec![native.world];
    if world::is_substituted() {
        all.push(world::of_application(native));
    }
    for comm in all {
        if native.plain(native.error_handler(comm)?) == native.errors_are_fatal {
            native.set_error_handler(comm, handler)?;
        }
    }
    Ok(())
}

/// `MPI_Comm_errhandler_function`.
unsafe extern "C" fn on_error(comm: *mut Comm, code: *mut c_int) {
    exits::write_all();
    let Some(native) = native() else { return };
    // SAFETY: the native MPI passes these addresses to its handlers.
    let (comm, code) = unsafe { (native.read_handle(comm as Word), *code) };
    if world::is_replacement(comm) || native.is_intel() {
        // The launchers of this family report a fatal error on any communicator other than their
        // own world as a crash, and Intel's report any exit from within this handler so.
        let _ = writeln!(
            std::io::stderr(),
            "Fatal error: {}",
            native.error_text(code)
        );
    } else {
        let _ = native.set_error_handler(comm, native.errors_are_fatal);
        native.call_error_handler(comm, code);
    }
    end(native, code)
}

/// Ends the job after a fatal error; no code of the application runs any more.
fn end(native: &Native, code: c_int) -> ! {
    native.abort(code);
    exits::wait_for_the_end(code)
}

/// `MPI_Comm_get_errhandler` and `MPI_Errhandler_get`.
///
/// # Safety
/// The caller keeps the contract of `MPI_Comm_get_errhandler`.
pub unsafe fn get(
    next: unsafe extern "C-unwind" fn(Comm, Word) -> c_int,
    comm: AppComm,
    handler: Word,
) -> c_int {
    // SAFETY: the caller's promise; W' is as valid as the world that it replaces.
    let code = record::quietly(|| unsafe { next(world::substitute(comm), handler) });
    if code == SUCCESS
        && handler != 0
        && let Some(native) = native()
    {
        // SAFETY: the call succeeded, so that `handler` holds a handle.
        unsafe {
            if native.is_stand_in(native.read_handle(handler)) {
                native.write_handle(handler, native.errors_are_fatal);
            }
        }
    }
    code
}
