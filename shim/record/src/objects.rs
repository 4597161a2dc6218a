//! Creation and end of objects that have handles: communicators, windows, requests.

use treepie_mpi::{Comm, Handle, HandleAddress, Request, SUCCESS, Win, c_int};
use treepie_process::features::{self, COUNTING, CUTS, PAGES};
use treepie_traffic::times::CallClass;

use super::around::around;
use super::page::{self, Note};
use super::registry::MadeBy;
use super::{communicators, prepared, received, shared_memory, thread, windows};

/// Makes a call that creates a communicator, whose handle it stores at `address`.
pub fn communicator_start(
    note: Note,
    call: impl FnOnce() -> c_int,
    address: HandleAddress<Comm>,
) -> c_int {
    let started = !note.request.is_absent();
    start_of(note, call, address, |comm, by| {
        communicators::made(comm, by);
        // The members of one whose creation has only started (MPI_Comm_idup) must not be queried
        // yet.
        if by == MadeBy::Application && !started {
            communicators::placed(comm);
        }
    })
}

/// Makes a call that creates a window, whose handle it stores at `address`.
pub fn window_start(
    note: Note,
    call: impl FnOnce() -> c_int,
    address: HandleAddress<Win>,
) -> c_int {
    start_of(note, call, address, |window, by| {
        windows::made(window, by);
        page::window_made();
    })
}

/// Ends the communicator whose handle is at `address`.
pub fn communicator_end(
    note: Note,
    call: impl FnOnce() -> c_int,
    address: HandleAddress<Comm>,
) -> c_int {
    end_of(note, call, address, communicators::ended)
}

/// Ends the window whose handle is at `address`.
pub fn window_end(note: Note, call: impl FnOnce() -> c_int, address: HandleAddress<Win>) -> c_int {
    end_of(note, call, address, |window| {
        windows::ended(window);
        page::window_ended();
    })
}

/// Ends the request whose handle is at `address`.
pub fn request_end(
    note: Note,
    call: impl FnOnce() -> c_int,
    address: HandleAddress<Request>,
) -> c_int {
    let call = || match features::any(CUTS) {
        true => received::request_end(note, call, address),
        false => call(),
    };
    end_of(note, call, address, |request: Request| {
        prepared::ended(request);
        if features::any(PAGES)
            && let Some(thread) = thread::outermost()
        {
            thread.area().forget(request.word() as u64);
        }
    })
}

/// Makes a call that creates an object, whose handle it stores at `address`: `made` gets the handle
/// and the maker. The native MPI may have created it for itself, within a call of the application
/// (an I/O library's copy of a communicator, say). Such an object is never counted.
fn start_of<H: Handle>(
    note: Note,
    call: impl FnOnce() -> c_int,
    address: HandleAddress<H>,
    made: impl FnOnce(H, MadeBy),
) -> c_int {
    if !features::any(COUNTING) {
        return call();
    }
    let by = if thread::is_nested() {
        MadeBy::Mpi
    } else {
        MadeBy::Application
    };
    let code = around(&note, CallClass::Other, call, |thread| {
        if note.procedure.collective {
            thread.with_communicator(note.comm, |comm| comm.count_done(note.as_done()));
            if features::any(CUTS) {
                received::begin_collective(note.request);
            }
        }
    });
    if code == SUCCESS {
        made(address.read(), by);
    }
    code
}

/// Ends the object whose handle is at `address`: another object may get the same handle.
fn end_of<H: Handle>(
    note: Note,
    call: impl FnOnce() -> c_int,
    address: HandleAddress<H>,
    ended: impl FnOnce(H),
) -> c_int {
    if !features::any(COUNTING) {
        return call();
    }
    // Read before the call, which leaves the null handle there.
    let handle = address.read();
    let code = super::around::call(note, call);
    if code == SUCCESS {
        ended(handle);
    }
    code
}

/// Makes `MPI_Win_allocate_shared` on `comm`, which stores the window at `address`.
pub fn allocate_shared(
    note: Note,
    call: impl FnOnce() -> c_int,
    comm: Comm,
    address: HandleAddress<Win>,
) -> c_int {
    let internal = thread::is_nested();
    let code = window_start(note, call, address);
    if code == SUCCESS && features::any(COUNTING) && !internal {
        shared_memory::allocated(comm);
    }
    code
}
