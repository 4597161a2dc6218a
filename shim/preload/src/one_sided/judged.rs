//! Guard over the epochs of a window: decides during the job whether small puts and accumulates are
//! joined. The decision is made in `treepie_guard`; here epochs are timed.
//!
//! Joining concerns the origin alone: no target can observe which updates it holds back, and when
//! it sends them. So each rank decides by its own times, without messages; ranks of one window may
//! decide differently. In a fence, however, all ranks wait for the last of them. Therefore ranks
//! count fence epochs alike, switch at the same fence, and exchange their measurements in it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use parking_lot::Mutex;
use treepie_guard::{Course, Due, EpochGuard, EpochKey, Event, Mode, Work};
use treepie_mpi::c_int;
use treepie_mpi::native::{Native, OwnComm};
use treepie_plans::{AgreedMinimum, now};
use treepie_process::features::{self, KEEPING};
use treepie_process::log;
use treepie_profile::GuardedEpochs;
use treepie_traffic::windows::EpochKind;

use super::window::Window;

/// Seed of the random order of pairs: the same on all ranks.
const SEED: u64 = 0x7065_7469_6570;

/// Guard of a window.
pub struct Judged {
    gathers: AtomicBool,
    is_measured: AtomicBool,
    /// True if the next call to a target begins an epoch.
    is_between: AtomicBool,
    /// Nanoseconds in calls since the measurement began, and their work.
    took: AtomicU64,
    calls: AtomicU64,
    bytes: AtomicU64,
    state: Mutex<State>,
}

struct State {
    /// Guard over all epochs except those of fences.
    alone: EpochGuard,
    fences: EpochGuard,
    /// Communicator for the exchange about fences, once there is one.
    private: Option<OwnComm>,
    under_way: Option<AgreedMinimum>,
    is_reported: bool,
    /// True if the window is not left to the MPI for good: one of [`KEPT`].
    is_kept: bool,
}

/// Number of windows that are not left to the MPI for good. If it is 0, no call to a target is
/// examined.
static KEPT: Mutex<usize> = Mutex::new(0);

/// Object that ends: a window, or MPI with all windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndOf {
    /// A window.
    Window,
    /// MPI.
    Mpi,
}

impl Judged {
    /// Creates the guard of a new window of `ranks` ranks. `known`: results of earlier runs.
    pub fn new(mode: Mode, known: &[GuardedEpochs], ranks: usize) -> Self {
        let known = GuardedEpochs::known(known, ranks).into();
        begin_keeping();
        Judged {
            gathers: AtomicBool::new(false),
            is_measured: AtomicBool::new(false),
            is_between: AtomicBool::new(true),
            took: AtomicU64::new(0),
            calls: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            state: Mutex::new(State {
                alone: EpochGuard::alone(SEED, mode, Arc::clone(&known)),
                fences: EpochGuard::shared(SEED, mode, known),
                private: None,
                under_way: None,
                is_reported: false,
                is_kept: true,
            }),
        }
    }

    /// Returns the mode of a call to a target, which may begin an epoch.
    ///
    /// # Errors
    /// MPI's error, from sending the updates that were held back until now.
    #[inline(always)]
    pub fn course(&self, native: &Native, window: &Window, target: c_int) -> Result<Course, c_int> {
        if self.is_between.load(Relaxed) {
            self.begin(native, window, target)?;
        }
        Ok(Course {
            gathers: self.gathers.load(Relaxed),
            is_measured: self.is_measured(),
        })
    }

    /// True if the time of calls on the window is measured.
    #[inline(always)]
    pub fn is_measured(&self) -> bool {
        self.is_measured.load(Relaxed)
    }

    #[cold]
    fn begin(&self, native: &Native, window: &Window, target: c_int) -> Result<(), c_int> {
        let Some(kind) = window.kind_for(target) else {
            return Ok(());
        };
        self.is_between.store(false, Relaxed);
        if kind == EpochKind::Fence {
            return Ok(());
        }
        let mut state = self.state.lock();
        let course = state.alone.begin(kind, now, || self.spent());
        let events = state.alone.take_events();
        state.keep(course);
        drop(state);
        tell(window, &events);
        let was = self.gathers.load(Relaxed);
        self.take(course);
        // From now on updates are no longer held back.
        let mut sent = Ok(());
        if was && !course.gathers {
            window.each_target(|target| sent = sent.and(target.send_all(native, window)));
        }
        sent
    }

    fn take(&self, course: Course) {
        self.gathers.store(course.gathers, Relaxed);
        self.is_measured.store(course.is_measured, Relaxed);
    }

    fn spent(&self) -> (u64, Work) {
        let work = Work {
            calls: self.calls.swap(0, Relaxed),
            bytes: self.bytes.swap(0, Relaxed),
        };
        (self.took.swap(0, Relaxed), work)
    }

    /// Ends a call on the window that was measured since `start`.
    pub fn ended(&self, start: u64, work: Work) {
        self.took.fetch_add(now().saturating_sub(start), Relaxed);
        self.calls.fetch_add(work.calls, Relaxed);
        self.bytes.fetch_add(work.bytes, Relaxed);
    }

    /// Marks that the next call to a target begins an epoch.
    pub fn synchronised(&self) {
        self.is_between.store(true, Relaxed);
    }

    /// Ends a fence that opens an epoch, and decides the epoch's mode together with all ranks.
    /// Collective from time to time, as the fence is.
    pub fn fenced(&self, native: &Native, window: &Window) {
        let mut state = self.state.lock();
        state.keep_up(native, window);
        let course = state.fences.begin(EpochKind::Fence, now, || self.spent());
        state.keep(course);
        self.take(course);
    }

    /// Notes that a call returned an error.
    pub fn fail(&self) {
        let mut state = self.state.lock();
        state.alone.end();
        state.fences.fail();
    }

    /// Completes pending exchanges, and returns the results that this process is to report.
    /// Collective.
    pub fn finish(&self, native: &Native, window: &Window, end: EndOf) -> Vec<GuardedEpochs> {
        let mut state = self.state.lock();
        if let Some(mut exchange) = state.under_way.take() {
            match end == EndOf::Mpi && !exchange.is_complete_at_the_end(native) {
                true => std::mem::forget(state.private.take()),
                false => state.complete(window, exchange.wait(native)),
            }
        }
        state.private = None;
        if std::mem::replace(&mut state.is_reported, true) {
            return Vec::new();
        }
        let mut all = state.alone.summaries();
        // All ranks have the same results here.
        if window.rank() == 0 {
            all.extend(state.fences.summaries());
        }
        let result = |found| GuardedEpochs::new(found, window.ranks());
        all.iter().map(result).collect()
    }
}

/// Counts one more window that is not left to the MPI for good.
fn begin_keeping() {
    let mut kept = KEPT.lock();
    *kept += 1;
    features::begin(KEEPING);
}

/// Counts one window less.
fn end_keeping() {
    let mut kept = KEPT.lock();
    *kept -= 1;
    if *kept == 0 {
        features::end(KEEPING);
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if self.is_kept {
            end_keeping();
        }
    }
}

impl State {
    /// Sets whether calls to targets are examined while epochs run in mode `course`: not if all are
    /// left to the MPI for good, until one is not.
    fn keep(&mut self, course: Course) {
        let is_idle = !course.gathers && !course.is_measured;
        let is_left = is_idle && self.alone.leaves_all() && self.fences.leaves_all();
        if self.is_kept == is_left {
            self.is_kept = !is_left;
            if is_left {
                end_keeping();
            } else {
                begin_keeping();
            }
        }
    }

    /// Does the work that is due in a fence.
    fn keep_up(&mut self, native: &Native, window: &Window) {
        match self.fences.due() {
            Due::Nothing => (),
            Due::Begin => {
                if let Err(problem) = self.begin(native, window) {
                    self.give_up(&problem);
                }
            }
            Due::Complete => {
                if let Some(exchange) = self.under_way.take() {
                    let told = exchange.wait(native);
                    self.complete(window, told);
                }
            }
        }
    }

    fn begin(&mut self, native: &Native, window: &Window) -> Result<(), String> {
        let values = self.fences.begin_exchange(now());
        if self.private.is_none() {
            let made = native.private_of_window(window.handle());
            self.private = Some(made.map_err(|error| error.to_string())?);
        }
        if let Some(private) = &self.private {
            let begun = AgreedMinimum::begin(native, private.handle(), values);
            self.under_way = Some(begun.map_err(returned)?);
        }
        Ok(())
    }

    fn complete(&mut self, window: &Window, told: Result<(Vec<i64>, u64), c_int>) {
        match told {
            Ok((least, cost)) => {
                self.fences.complete_exchange(&least, cost);
                let events = self.fences.take_events();
                if window.rank() == 0 {
                    tell(window, &events);
                }
            }
            Err(code) => self.give_up(&returned(code)),
        }
    }

    fn give_up(&mut self, problem: &str) {
        log::warn(&format!(
            "guard: ranks could not tell each other of fences: {problem}; puts between fences go \
             to the MPI one by one from now on"
        ));
        self.fences.end();
    }
}

/// Returns the text for a failed exchange.
fn returned(code: c_int) -> String {
    format!("MPI_Iallreduce returned {code}")
}

/// Reports the decisions, once.
fn tell(window: &Window, events: &[Event<EpochKey>]) {
    for event in events {
        let ranks = window.ranks();
        let text = match event {
            Event::Cell(key, _, state) => format!(
                "small puts of {} epochs on a window of {ranks} ranks: joining them is {state}",
                key.kind
            ),
            Event::Different => {
                format!(
                    "ranks count fences of a window of {ranks} ranks otherwise: left to the MPI"
                )
            }
            Event::Failed => {
                format!("a fence of a window of {ranks} ranks failed: left to the MPI")
            }
        };
        log::info(&format!("guard: {text}"));
    }
}
