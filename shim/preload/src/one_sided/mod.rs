//! Small puts and accumulates of an epoch, kept back and sent to their target joined.
//!
//! A put is complete where its epoch or a flush ends, and until then nobody may look (MPI-4.1,
//! 12.5 and 12.7); puts are in no order with other puts and gets. So what is small may wait here
//! until then, copied, and go to the target as one put. What cannot wait, or could see the
//! difference, goes to the MPI at once, after what is kept and overlaps it:
//!
//! | call | what is done |
//! |---|---|
//! | put, accumulate of one predefined operation | kept, if small, contiguous and legal |
//! | get, fetch, `MPI_Rput` and its like, all else to a target | after what is kept and overlaps it |
//! | flush, unlock of a target | after all that is kept for it |
//! | fence, complete, unlock and flush of all, sync, free | after all that is kept in the window |
//!
//! Accumulates of one origin to one place keep their order: what overlaps is never joined, and one
//! batch has one operation and one datatype. What the MPI refuses at the call it refuses as ever:
//! outside of an epoch, with a wrong rank, count, type or displacement, a call goes to the MPI.
//!
//! No lock is held over a call of the MPI but that of one target, over the puts and accumulates to
//! it: a thread that waits there waits for what another thread's call to the same target waits for.

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

/// Which small puts and accumulates are kept back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Gathering {
    /// All that can be.
    Always,
    /// Those of epochs that gain by it, as is measured.
    Guarded {
        /// What gains is done; otherwise it is only said.
        adopts: bool,
        /// What earlier runs found.
        known: Vec<GuardedEpochs>,
    },
}

static GATHERING_BY: OnceCell<Gathering> = OnceCell::new();

/// Keeps puts and accumulates back from now on. All ranks of the job do.
pub fn begin(gathering: &Gathering) {
    let _ = GATHERING_BY.set(gathering.clone());
    features::begin(GATHERING);
    if *gathering == Gathering::Always {
        features::begin(KEEPING);
    }
}

/// What was kept is with the MPI; from now on all goes there at once.
pub fn end() {
    features::end(GATHERING | KEEPING);
    window::forget_all();
}

/// The guard of a new window of so many ranks, where there is one.
fn judge(ranks: usize) -> Option<Judged> {
    match GATHERING_BY.get()? {
        Gathering::Always => None,
        Gathering::Guarded { adopts, known } => {
            let mode = if *adopts { Mode::Adopt } else { Mode::Report };
            Some(Judged::new(mode, known, ranks))
        }
    }
}

/// Completes what guards of windows have under way, before results are collected. Collective.
pub fn end_guards(native: &Native) {
    for window in window::all_judged() {
        report(native, &window, EndOf::Mpi);
    }
}

/// What guards found in the windows of this process.
static RESULTS: Mutex<Vec<GuardedEpochs>> = Mutex::new(Vec::new());

/// At most so many different results are kept.
const MOST_RESULTS: usize = 1024;

/// What guards found in the windows that have ended, and in all after [`end_guards`].
pub fn guard_results() -> Vec<GuardedEpochs> {
    RESULTS.lock().clone()
}

/// Adds the results of a window that is about to end, or that MPI ends with.
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

/// A call to a target that is passed on.
#[inline(always)]
pub fn pass(reached: Reached, next: impl FnOnce() -> c_int) -> c_int {
    match features::any(KEEPING) {
        true => access(&reached, None, next),
        false => next(),
    }
}

/// What becomes of a call to a target.
enum Passage {
    /// It is kept, or failed with an error.
    Done(c_int),
    /// It is passed on: what is kept may overlap it, and it is measured since this time.
    Next(bool, Option<u64>),
}

/// Keeps a call to a target back, if it is of a kind that may be kept, or passes it on. Out of the
/// way of calls where nothing is kept, which are counted only.
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

/// Passes a call on, after what is kept and overlaps what it reaches.
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

/// A call that makes a window of `comm`, whose handle it puts at `address`.
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

/// `MPI_Win_free` of the window whose handle is at `address`.
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
    // After an error, too: all ranks count alike.
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

/// A flush of a target, of either kind.
pub fn flush(window: Win, target: c_int, next: impl FnOnce() -> c_int) -> c_int {
    ended(window, Whose::Of(target), next, |_| ())
}

/// A flush of all targets, of either kind. MPICH 4.0 may still read origins after its own, which
/// a flush of each target completes. Behind the standard ABI may be an MPICH, too.
pub fn flush_all(window: Win, next: impl FnOnce() -> c_int) -> c_int {
    match native().map(|native| native.abi.family) {
        Some(Family::Mpich | Family::Standard) => {
            sent(window, Target::flush, next, Window::synchronised)
        }
        _ => ended(window, Whose::All, next, |_| ()),
    }
}

/// `MPI_Win_sync`: what is kept is sent, and completed by a later call.
pub fn sync(window: Win, next: impl FnOnce() -> c_int) -> c_int {
    sent(window, Target::send_all, next, |_, _| ())
}

/// Whose pieces a synchronisation completes.
#[derive(Clone, Copy)]
enum Whose {
    Of(c_int),
    All,
}

/// A call that opens an epoch, as the window is told.
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

/// A call before which `send` sends what is kept, and after which nothing is freed; the window is
/// `told` what it returned.
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

/// A call that completes what was begun, and may end an epoch, as the window is told.
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

/// Sends what is kept, and does `next`, which completes it. Where sending fails `next` is done all
/// the same, for which other ranks may wait, and the error returned.
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
        // Whether the MPI still reads them, nobody knows.
        std::mem::forget(sent);
        return code;
    }
    drop(sent);
    result.err().unwrap_or(SUCCESS)
}
