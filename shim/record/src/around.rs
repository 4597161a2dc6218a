//! Calls of the native MPI, with their counting.

use std::mem;

use treepie_mpi::{SUCCESS, c_int};
use treepie_process::features::{self, COUNTING, CUTS, DELAYS, On, PAGES, TIMING};
use treepie_traffic::times::CallClass;

use super::page::{Area, Note, Procedure};
use super::thread::Thread;
use super::{delays, page, thread};

/// Calls the native MPI. If this is the application's own call on a thread of its own and counting
/// is on, calls `count` after a success. The page of this rank, if it has one, shows `note`
/// meanwhile.
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
        // Copied here, so that other calls keep their arguments in registers.
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

/// Call that may end by an exception of the application's error handler: its note ends with it.
struct Unwound(Area, Procedure);

impl Drop for Unwound {
    fn drop(&mut self) {
        self.0.end(false, self.1);
    }
}

/// Delays a call that is to be late, or holds it if it is behind a cut.
#[cold]
pub(crate) fn hold(thread: &Thread, note: &Note, on: On) {
    if on.any(DELAYS) && note.sends {
        delays::delay();
    }
    if on.any(CUTS) {
        page::stop_before(thread.area(), note.procedure);
    }
}

/// Makes a call that is not counted, and whose internal calls must not be counted either.
#[inline(always)]
pub fn call(note: Note, call: impl FnOnce() -> c_int) -> c_int {
    around(&note, CallClass::Other, call, |_| ())
}

/// Makes a call that is not counted, whose internal calls must not be counted either, and that
/// waits for no process: it does not appear in pages.
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
