//! Calls to a target: held back, or passed on after the pending updates that overlap them.

use treepie_mpi::native::native;
use treepie_mpi::{SUCCESS, c_int};
use treepie_plans::now;
use treepie_process::features::{self, KEEPING};

use super::reached::Reached;
use super::target::UpdateKind;
use super::window;

/// `MPI_Put`.
#[inline(always)]
pub fn put(reached: Reached, next: impl FnOnce() -> c_int) -> c_int {
    match features::any(KEEPING) {
        true => access(&reached, Some(UpdateKind::Put), next),
        false => next(),
    }
}

/// `MPI_Accumulate`.
#[inline(always)]
pub fn accumulate(reached: Reached, next: impl FnOnce() -> c_int) -> c_int {
    match features::any(KEEPING) {
        true => access(&reached, Some(UpdateKind::Accumulate), next),
        false => next(),
    }
}

/// Passes on a call to a target.
#[inline(always)]
pub fn pass(reached: Reached, next: impl FnOnce() -> c_int) -> c_int {
    match features::any(KEEPING) {
        true => access(&reached, None, next),
        false => next(),
    }
}

/// Handling of a call to a target.
enum Passage {
    /// It is held back, or failed with an error.
    Done(c_int),
    /// It is passed on: true if pending updates may overlap it; the start time if it is measured.
    Next(bool, Option<u64>),
}

/// Holds back a call to a target if its kind allows it, or passes it on. Separate from calls in
/// windows without pending updates, which are only counted.
#[cold]
#[inline(never)]
fn access(reached: &Reached, kind: Option<UpdateKind>, next: impl FnOnce() -> c_int) -> c_int {
    let Some(native) = native() else {
        return next();
    };
    let passage = window::with(reached.window, |window| {
        let course = match window.course(native, reached.target) {
            Ok(course) => course,
            Err(code) => return Passage::Done(code),
        };
        let start = course.is_measured.then(now);
        if course.gathers
            && let Some(kind) = kind
            && let Some(place) = reached.small_place(native, window, kind)
        {
            let target = window.target(reached.target);
            let done = target.keep(native, window, place, kind, reached);
            if let Some(start) = start {
                window.took(start, reached.work(native));
            }
            return Passage::Done(done.err().unwrap_or(SUCCESS));
        }
        Passage::Next(course.gathers, start)
    });
    match passage {
        None => next(),
        Some(Passage::Done(code)) => code,
        Some(Passage::Next(may_overlap, start)) => {
            let code = match may_overlap {
                true => before(reached, next),
                false => next(),
            };
            if let Some(start) = start {
                let work = reached.work(native);
                window::with(reached.window, |window| window.took(start, work));
            }
            code
        }
    }
}

/// Passes on a call, after the pending updates that overlap its target range.
fn before(reached: &Reached, next: impl FnOnce() -> c_int) -> c_int {
    let done = window::find(reached.window).map_or(Ok(()), |window| {
        let (Some(native), Some(target)) = (native(), window.known_target(reached.target)) else {
            return Ok(());
        };
        target.send_overlapping(native, &window, || reached.place(native, &window))
    });
    match done {
        Ok(()) => next(),
        Err(code) => code,
    }
}
