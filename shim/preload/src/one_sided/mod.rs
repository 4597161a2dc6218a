//! Holds back the small puts and accumulates of an epoch, and sends them to their target together.
//!
//! A put is complete when its epoch or a flush ends, and until then no process may read its target
//! (MPI-4.1, 12.5 and 12.7); puts are not ordered with respect to other puts and gets. So small
//! puts can be copied and held back until then, and sent to the target as one put. Calls that
//! cannot wait, or could observe the difference, go to the MPI immediately, after the pending
//! updates that overlap them:
//!
//! | call | action |
//! |---|---|
//! | put, accumulate of one predefined operation | held back, if small, contiguous and legal |
//! | get, fetch, `MPI_Rput` and the like, other calls to a target | after updates that overlap it |
//! | flush, unlock of a target | after all updates for it |
//! | fence, complete, unlock and flush of all, sync, free | after all updates in the window |
//!
//! Accumulates of one origin to one location keep their order: overlapping updates are never
//! joined, and one batch has one operation and one datatype. The MPI still reports its errors at
//! the call: outside of an epoch, or with a wrong rank, count, type or displacement, a call goes to
//! the MPI.
//!
//! The only lock held over a call of the MPI is that of one target, over the puts and accumulates
//! to it: a thread that waits for it waits for the same event as the other thread's call to this
//! target.

mod exchange;
mod judged;
mod reached;
mod target;
mod window;

use once_cell::sync::OnceCell;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use treepie_guard::Mode;
use treepie_mpi::abi::Family;
use treepie_mpi::native::{Native, native};
use treepie_mpi::{Comm, Group, SUCCESS, Win, Word, c_int};
use treepie_plans::now;
use treepie_process::features::{self, GATHERING, KEEPING};
use treepie_profile::GuardedEpochs;
use treepie_record::handle_at;

use exchange::Exchange;
pub use exchange::Shape;
use judged::{EndOf, Judged};
pub use reached::Reached;
use target::{EpochState, Target, UpdateKind};
use window::Window;

/// Small puts and accumulates that are held back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Gathering {
    /// All that can be.
    Always,
    /// Those of epochs that gain by it, according to measurements.
    Guarded {
        /// True if a gain leads to a switch; otherwise it is only reported.
        adopts: bool,
        /// Results of earlier runs.
        known: Vec<GuardedEpochs>,
    },
}

static GATHERING_BY: OnceCell<Gathering> = OnceCell::new();

/// Holds back puts and accumulates from now on. All ranks of the job do.
pub fn begin(gathering: &Gathering) {
    let _ = GATHERING_BY.set(gathering.clone());
    features::begin(GATHERING);
    if *gathering == Gathering::Always {
        features::begin(KEEPING);
    }
}

/// Stops holding back. All pending updates have been passed to the MPI; from now on every call is
/// passed on immediately.
pub fn end() {
    features::end(GATHERING | KEEPING);
    window::forget_all();
}

/// Returns the guard of a new window of `ranks` ranks, if there is to be one.
fn judge(ranks: usize) -> Option<Judged> {
    match GATHERING_BY.get()? {
        Gathering::Always => None,
        Gathering::Guarded { adopts, known } => {
            let mode = if *adopts { Mode::Adopt } else { Mode::Report };
            Some(Judged::new(mode, known, ranks))
        }
    }
}

/// Completes pending exchanges of the guards of windows, before results are collected. Collective.
pub fn end_guards(native: &Native) {
    for window in window::all_judged() {
        report(native, &window, EndOf::Mpi);
    }
}

/// Results of guards for the windows of this process.
static RESULTS: Mutex<Vec<GuardedEpochs>> = Mutex::new(Vec::new());

/// Maximum number of different results that are kept.
const MOST_RESULTS: usize = 1024;

/// Returns the results of guards for the windows that have ended; after [`end_guards`], for all
/// windows.
pub fn guard_results() -> Vec<GuardedEpochs> {
    RESULTS.lock().clone()
}

/// Adds the results of a window that is about to end, alone or with MPI.
fn report(native: &Native, window: &Window, end: EndOf) {
    let found = window
        .judged()
        .map(|judged| judged.finish(native, window, end));
    let mut results = RESULTS.lock();
    for one in found.unwrap_or_default() {
        let is_known = results.iter_mut().any(|known| known.absorb(&one));
        if !is_known && results.len() < MOST_RESULTS {
            results.push(one);
        }
    }
}

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

/// Makes a call that creates a window of `comm`, whose handle it stores at `address`.
pub fn made(shape: Shape, comm: Comm, address: Word, next: impl FnOnce() -> c_int) -> c_int {
    if !features::any(GATHERING) {
        return next();
    }
    let exchanged = native().and_then(|native| Exchange::among(native, comm, shape));
    let code = next();
    if code == SUCCESS {
        window::made(handle_at(address), exchanged, judge);
    }
    code
}

/// Frees the window whose handle is at `address`: `MPI_Win_free`.
pub fn free(address: Word, next: impl FnOnce() -> c_int) -> c_int {
    if !features::any(GATHERING) {
        return next();
    }
    let handle = handle_at(address);
    let code = match (native(), window::find(handle)) {
        (Some(native), Some(window)) => complete_kept(native, &window, Whose::All, || {
            report(native, &window, EndOf::Window);
            next()
        }),
        _ => next(),
    };
    if code == SUCCESS {
        window::ended(handle);
    }
    code
}

/// `MPI_Win_fence`.
pub fn fence(window: Win, assert: c_int, next: impl FnOnce() -> c_int) -> c_int {
    let ends = native().is_some_and(|native| assert & native.abi.mode_no_succeed != 0);
    let code = ended(window, Whose::All, next, |window| window.fenced(!ends));
    // Also after an error: all ranks count alike.
    if features::any(GATHERING)
        && !ends
        && let (Some(native), Some(window)) = (native(), window::find(window))
        && let Some(judged) = window.judged()
    {
        judged.fenced(native, &window);
    }
    code
}

/// `MPI_Win_start` for the targets of `group`.
pub fn start(window: Win, group: Group, next: impl FnOnce() -> c_int) -> c_int {
    begun(window, next, |window| window.started(group))
}

/// `MPI_Win_complete`.
pub fn complete(window: Win, next: impl FnOnce() -> c_int) -> c_int {
    ended(window, Whose::All, next, Window::completed)
}

/// `MPI_Win_lock` of a target.
pub fn lock(window: Win, target: c_int, next: impl FnOnce() -> c_int) -> c_int {
    begun(window, next, |window| {
        window.locked(target, EpochState::Open)
    })
}

/// `MPI_Win_unlock` of a target.
pub fn unlock(window: Win, target: c_int, next: impl FnOnce() -> c_int) -> c_int {
    ended(window, Whose::Of(target), next, |window| {
        window.locked(target, EpochState::Closed)
    })
}

/// `MPI_Win_lock_all`.
pub fn lock_all(window: Win, next: impl FnOnce() -> c_int) -> c_int {
    begun(window, next, |window| window.all_locked(EpochState::Open))
}

/// `MPI_Win_unlock_all`.
pub fn unlock_all(window: Win, next: impl FnOnce() -> c_int) -> c_int {
    ended(window, Whose::All, next, |window| {
        window.all_locked(EpochState::Closed)
    })
}

/// `MPI_Win_flush` or `MPI_Win_flush_local` of a target.
pub fn flush(window: Win, target: c_int, next: impl FnOnce() -> c_int) -> c_int {
    ended(window, Whose::Of(target), next, |_| ())
}

/// A flush of all targets, complete or local. MPICH 4.0 may still read origin buffers after its
/// own, which a flush of each target completes. An MPI with the standard ABI may be an MPICH, too.
pub fn flush_all(window: Win, next: impl FnOnce() -> c_int) -> c_int {
    match native().map(|native| native.abi.family) {
        Some(Family::Mpich | Family::Standard) => {
            sent(window, Target::flush, next, Window::synchronised)
        }
        _ => ended(window, Whose::All, next, |_| ()),
    }
}

/// `MPI_Win_sync`: pending updates are sent, and completed by a later call.
pub fn sync(window: Win, next: impl FnOnce() -> c_int) -> c_int {
    sent(window, Target::send_all, next, |_, _| ())
}

/// Targets whose updates a synchronisation completes.
#[derive(Clone, Copy)]
enum Whose {
    Of(c_int),
    All,
}

/// Makes a call that opens an epoch; `told` updates the window.
fn begun(window: Win, next: impl FnOnce() -> c_int, told: impl FnOnce(&Window)) -> c_int {
    let code = next();
    if features::any(GATHERING)
        && code == SUCCESS
        && let Some(window) = window::find(window)
    {
        told(&window);
        window.synchronised(code);
    }
    code
}

/// Makes a call before which `send` sends pending updates, and after which nothing is freed; `told`
/// updates the window with the return code.
fn sent(
    window: Win,
    send: impl Fn(&Target, &Native, &Window) -> Result<(), c_int>,
    next: impl FnOnce() -> c_int,
    told: impl FnOnce(&Window, c_int),
) -> c_int {
    if !features::any(GATHERING) {
        return next();
    }
    let (Some(native), Some(window)) = (native(), window::find(window)) else {
        return next();
    };
    let code = window.timed(|| {
        let mut result = Ok(());
        window.each_target(|target| result = result.and(send(target, native, &window)));
        match next() {
            SUCCESS => result.err().unwrap_or(SUCCESS),
            code => code,
        }
    });
    told(&window, code);
    code
}

/// Makes a call that completes pending operations, and may end an epoch; it updates the window.
fn ended(
    window: Win,
    whose: Whose,
    next: impl FnOnce() -> c_int,
    told: impl FnOnce(&Window),
) -> c_int {
    if !features::any(GATHERING) {
        return next();
    }
    let (Some(native), Some(window)) = (native(), window::find(window)) else {
        return next();
    };
    let code = window.timed(|| complete_kept(native, &window, whose, next));
    // Before an epoch that this call opens.
    window.synchronised(code);
    if code == SUCCESS {
        told(&window);
    }
    code
}

/// Sends pending updates, then calls `next`, which completes them. If sending fails, `next` is
/// called all the same, because other ranks may wait for it, and the error is returned.
fn complete_kept(
    native: &Native,
    window: &Window,
    whose: Whose,
    next: impl FnOnce() -> c_int,
) -> c_int {
    let mut sent = Vec::new();
    let mut result = Ok(());
    let mut send = |target: &Target| {
        let done = target.send_all(native, window);
        sent.append(&mut target.take_sent());
        result = result.and(done);
    };
    match whose {
        Whose::Of(target) => {
            if let Some(target) = window.known_target(target) {
                send(target);
            }
        }
        Whose::All => window.each_target(send),
    }
    let code = next();
    if code != SUCCESS {
        // The MPI may still read them.
        std::mem::forget(sent);
        return code;
    }
    drop(sent);
    result.err().unwrap_or(SUCCESS)
}
