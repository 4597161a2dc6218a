//! The native MPI's calls, with what is counted of them.

use std::mem;

use treepie_mpi::{SUCCESS, c_int};
use treepie_process::features::{self, COUNTING, CUTS, DELAYS, On, PAGES, TIMING};
use treepie_traffic::times::CallClass;

use super::page::{Area, Note, Procedure};
use super::thread::Thread;
use super::{delays, page, thread};

/// Calls the native MPI and, where this is the application's own call on a thread of
/// its own and counting is on, tells `count` of a call that succeeded. The page of this rank, where
/// it has one, says `note` meanwhile.
#[inline(always)]
pub(crate) fn around(
    note: &Note,
    class: CallClass,
    call: impl FnOnce() -> c_int,
    count: impl FnOnce(&Thread),
) -> c_int {
    let on = features::on();
    let outermost = match on.any(COUNTING) {
        true => thread::outermost(),
        false => None,
    };
    let Some(thread) = outermost else {
        return call();
    };
    if on.any(DELAYS | CUTS) {
        // Put together here, so that other calls keep their arguments in registers.
        hold(&thread, &Note { ..*note }, on);
    }
    let area = on.any(PAGES).then(|| thread.begin_note(note));
    let unwound = area.map(|area| Unwound(area, note.procedure));
    let code = thread.call(on.any(TIMING).then_some(class), call);
    mem::forget(unwound);
    if code == SUCCESS {
        count(&thread);
    }
    if let Some(area) = area {
        thread.end_note(area, note, code);
    }
    code
}

/// A call that an exception of the application's error handler ends: its note ends with it.
struct Unwound(Area, Procedure);

impl Drop for Unwound {
    fn drop(&mut self) {
        self.0.end(false, self.1);
    }
}

/// Holds a call back that is to be late, or that is behind a cut.
#[cold]
pub(crate) fn hold(thread: &Thread, note: &Note, on: On) {
    if on.any(DELAYS) && note.sends {
        delays::delay();
    }
    if on.any(CUTS) {
        page::stop_before(thread.area(), note.procedure);
    }
}

/// A procedure that is not counted, but whose own calls must not be either.
#[inline(always)]
pub fn call(note: Note, call: impl FnOnce() -> c_int) -> c_int {
    around(&note, CallClass::Other, call, |_| ())
}

/// A procedure that is not counted, whose own calls must not be either, and that waits for nobody:
/// no page says it.
#[inline(always)]
pub fn quietly(call: impl FnOnce() -> c_int) -> c_int {
    let thread = match features::any(COUNTING) {
        true => thread::outermost(),
        false => None,
    };
    match thread {
        Some(thread) => thread.call(features::any(TIMING).then_some(CallClass::Other), call),
        None => call(),
    }
}
