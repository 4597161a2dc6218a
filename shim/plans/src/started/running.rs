//! Active operation: its plan, its memory, and its progress.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use parking_lot::Mutex;
use treepie_mpi::native::{Native, Requests};
use treepie_mpi::{Comm, SUCCESS, Word, c_int};
use treepie_record::Plan;

use super::marker::Marker;
use super::uses::Uses;
use super::work::{LeaderSizes, StartedBy, Starts, Work};
use crate::call_context::CallContext;
use crate::chosen::Chosen;
use crate::clock::now;
use crate::communicator::Communicator;
use crate::errors::{self, Returned};
use crate::execute::{Account, Execution, Turn};
use crate::job::Job;
use crate::unit::Scratch;

/// Maximum number of turns in a call that does not wait.
const TURNS_OF_A_TEST: u32 = 64;

/// Inactive: it has not begun, or its end has been reported.
const IDLE: i64 = i64::MIN;
/// Active.
const UNDER_WAY: i64 = i64::MIN + 1;

/// Collective that a plan runs, once or at each start of a persistent request.
pub struct Running {
    communicator: Arc<Communicator>,
    /// Communicator of the application, whose handler is called for errors.
    comm: Comm,
    place: CallContext,
    work: Work,
    uses: Uses,
    /// Its number among those whose messages wait for others; `None` for other non-blocking ones.
    waiting: Option<u32>,
    /// True if the callback advances it.
    is_called: bool,
    /// Mark that reports its end to the native MPI.
    pub marker: Marker,
    /// [`IDLE`], [`UNDER_WAY`], or its return code.
    outcome: AtomicI64,
    /// Only one thread at a time advances it, others skip it. A thread that starts it again waits
    /// for one that has just reported its end.
    state: Mutex<State>,
}

struct State {
    /// `None` after a message failed that may still be in flight.
    job: Option<Job>,
    account: Account,
    scratch: Scratch,
    stage: Stage,
    /// True if the world returns errors while it advances.
    returns_errors: bool,
}

/// Stage of an operation.
enum Stage {
    /// Leaders receive sizes, and have no plan yet.
    Telling(LeaderSizes),
    /// This plan runs.
    Plan(Arc<Chosen>),
    /// The native MPI's own request is active.
    Native(Requests),
}

impl Running {
    /// Creates an operation that has not begun.
    pub fn new(
        communicator: Arc<Communicator>,
        comm: Comm,
        place: CallContext,
        work: Work,
        (job, uses): (Job, Uses),
        (waiting, is_called): (Option<u32>, bool),
    ) -> Self {
        Running {
            communicator,
            comm,
            place,
            work,
            uses,
            waiting,
            is_called,
            marker: Marker::default(),
            outcome: AtomicI64::new(IDLE),
            state: Mutex::new(State {
                job: Some(job),
                account: Account::default(),
                scratch: Scratch::default(),
                stage: Stage::Telling(LeaderSizes::default()),
                returns_errors: false,
            }),
        }
    }

    /// Returns its plan for the counters, if it is the same for all starts.
    pub fn plan(&self) -> Option<Plan> {
        self.work.run()
    }

    /// Returns the place of its messages.
    pub fn place(&self) -> CallContext {
        self.place
    }

    /// True if it uses an object of the application with this handle.
    pub fn uses(&self, handle: Word) -> bool {
        self.uses.contains(handle)
    }

    /// True if it is active.
    pub fn is_under_way(&self) -> bool {
        self.outcome.load(Ordering::Acquire) == UNDER_WAY
    }

    /// True if a thread is advancing it.
    pub fn is_held(&self) -> bool {
        self.state.is_locked()
    }

    /// Begins it: sends all messages that others wait for, and posts all receives. Returns true if
    /// it must be advanced in the background.
    ///
    /// # Errors
    /// MPI's code; then it is not active.
    pub fn begin(&self, native: &Native) -> Result<bool, c_int> {
        let is_ours = self.start(native)?;
        if let Some((trial, since)) = self.measured() {
            trial.took(now().saturating_sub(since), false);
        }
        Ok(is_ours && self.is_called && self.is_under_way())
    }

    /// Starts it; true if a plan runs it.
    fn start(&self, native: &Native) -> Result<bool, c_int> {
        let mut state = self.state.lock();
        // The handlers apply to all threads; MPICH's own calls also report errors to the world.
        state.returns_errors =
            !native.has_many_threads() && errors::are_wanted(native, self.told());
        let chosen = match &self.work {
            Work::Tried(trial) => match trial.start(native)? {
                StartedBy::Plan(chosen) => Some(chosen),
                StartedBy::Native(requests) => {
                    state.stage = Stage::Native(requests);
                    self.outcome.store(UNDER_WAY, Ordering::Release);
                    return Ok(false);
                }
            },
            Work::Plan(chosen) => Some(Arc::clone(chosen)),
            Work::Sized(_) => None,
        };
        // It is `None` after a plan has failed.
        let job = state.job.as_ref().ok_or(native.abi.err_intern)?;
        if let Err(code) = job.load(native, self.place) {
            self.trial().iter().for_each(|trial| trial.fail());
            return Err(code);
        }
        match (chosen, &self.work) {
            (Some(chosen), _) => state.enter(chosen),
            (None, Work::Sized(plan)) => {
                state.account.begin(&plan.telling.plan);
                state.stage = Stage::Telling(LeaderSizes::new(&plan.telling));
            }
            (None, _) => return Err(native.abi.err_intern),
        }
        self.outcome.store(UNDER_WAY, Ordering::Release);
        loop {
            match self.turn(native, &mut state) {
                Ok(Turn::Ended) | Err(_) => return Ok(true),
                Ok(_) if !state.account.has_ready() => return Ok(true),
                Ok(_) => (),
            }
        }
    }

    /// Advances it, unless another thread does; true on any progress.
    pub fn advance(&self, native: &Native) -> bool {
        if !self.is_under_way() {
            return false;
        }
        let Some(mut state) = self.state.try_lock() else {
            return false;
        };
        self.is_under_way() && !matches!(self.turn(native, &mut state), Ok(Turn::Idle))
    }

    /// Advances it until no more messages arrive, for a call that does not wait: the program may
    /// not return for a millisecond, and a turn under MPICH takes in one message of hundreds.
    pub fn advance_far(&self, native: &Native) {
        let Some(mut state) = self.state.try_lock() else {
            return;
        };
        let mut idle = 0;
        for _ in 0..TURNS_OF_A_TEST {
            if !self.is_under_way() {
                return;
            }
            match self.turn(native, &mut state) {
                Ok(Turn::WentOn) => idle = 0,
                Ok(Turn::Idle) => idle += 1,
                Ok(Turn::Ended) | Err(_) => return,
            }
            if idle >= state.account.idle_turns(native) {
                return;
            }
        }
    }

    /// Takes a turn of the plan, and reports its end.
    fn turn(&self, native: &Native, state: &mut State) -> Result<Turn, c_int> {
        let _errors = Returned::where_wanted(native, state.returns_errors);
        if let Stage::Native(requests) = &mut state.stage {
            return self.turn_of_native(native, requests);
        }
        let State {
            job: Some(job),
            account,
            stage,
            ..
        } = state
        else {
            return Ok(Turn::Ended);
        };
        let (prepared, spaces) = match (stage, &self.work) {
            (Stage::Plan(chosen), _) => (&chosen.plan, job.spaces),
            (Stage::Telling(words), Work::Sized(plan)) => {
                (&plan.telling.plan, words.spaces(native))
            }
            (Stage::Telling(_) | Stage::Native(_), _) => return Ok(Turn::Ended),
        };
        let mut execution = Execution {
            native,
            prepared,
            spaces: &spaces,
            place: self.place,
            account,
            memory: None,
        };
        // SAFETY: the spaces are the application's buffers, with the lengths of its counts, which
        // MPI forbids it to touch until the operation is complete; or buffers that live as long as
        // the state.
        match unsafe { execution.turn() } {
            Ok(Turn::Ended) => self.ended(native, state),
            Err(code) => {
                self.end(native, state, code);
                Err(code)
            }
            went_on => went_on,
        }
    }

    /// Tests the native MPI's request.
    fn turn_of_native(&self, native: &Native, requests: &mut Requests) -> Result<Turn, c_int> {
        let code = match native.test(requests, |_| ()) {
            Ok(_) if !requests.is_empty() => return Ok(Turn::Idle),
            Ok(_) => SUCCESS,
            Err(code) => {
                self.trial().iter().for_each(|trial| trial.fail());
                code
            }
        };
        self.tell_end(native, code);
        Ok(Turn::Ended)
    }

    /// Handles the end of a plan: the one that sends sizes, which the other follows, or that other
    /// one.
    fn ended(&self, native: &Native, state: &mut State) -> Result<Turn, c_int> {
        if let (Stage::Telling(words), Work::Sized(plan)) = (&state.stage, &self.work) {
            let Some(chosen) = plan.chosen(&self.communicator, &words.told) else {
                self.end(native, state, native.abi.err_intern);
                return Err(native.abi.err_intern);
            };
            state.enter(chosen);
            return Ok(Turn::WentOn);
        }
        let stored = state.job.as_ref().map(|job| job.store(native, self.place));
        let code = stored.and_then(Result::err).unwrap_or(SUCCESS);
        self.end(native, state, code);
        Ok(Turn::Ended)
    }

    /// Ends it with this code.
    fn end(&self, native: &Native, state: &mut State, code: c_int) {
        if code != SUCCESS {
            self.trial().iter().for_each(|trial| trial.fail());
            // Messages in flight may still use them.
            mem::forget((
                state.job.take(),
                mem::take(&mut state.scratch),
                mem::take(&mut state.account),
                mem::replace(&mut state.stage, Stage::Telling(LeaderSizes::default())),
            ));
        }
        if let Some(number) = self.waiting {
            self.communicator.end_waiting(number);
        }
        if !self.marker.is_persistent() {
            // It no longer depends on the life of the application's buffers and types.
            drop(state.job.take());
            state.scratch = Scratch::default();
        }
        self.tell_end(native, code);
    }

    fn tell_end(&self, native: &Native, code: c_int) {
        self.outcome.store(i64::from(code), Ordering::Release);
        self.marker.tell(native, self.place);
    }

    /// Returns the trial that runs its starts, if candidates are tried.
    pub fn trial(&self) -> Option<&dyn Starts> {
        match &self.work {
            Work::Tried(trial) => Some(&**trial),
            Work::Plan(_) | Work::Sized(_) => None,
        }
    }

    /// Returns the trial that measures its time, and the time of its start.
    pub fn measured(&self) -> Option<(&dyn Starts, u64)> {
        let trial = self.trial()?;
        Some((trial, trial.measured_since()?))
    }

    /// Returns the code that it ended with; its end is being reported to the application.
    pub fn code(&self) -> c_int {
        match self.outcome.load(Ordering::Acquire) {
            IDLE | UNDER_WAY => SUCCESS,
            code => code as c_int,
        }
    }

    /// Takes the error that it ended with, once, and the communicator whose handler is to be
    /// called.
    pub fn take_error(&self) -> Option<(Comm, c_int)> {
        let code = self.code();
        if code == SUCCESS {
            return None;
        }
        let taken = self.outcome.compare_exchange(
            i64::from(code),
            IDLE,
            Ordering::AcqRel,
            Ordering::Relaxed,
        );
        taken.ok().map(|_| (self.told(), code))
    }

    /// Returns the communicator whose handler is called for errors.
    pub fn told(&self) -> Comm {
        self.communicator.told(self.comm)
    }
}

impl State {
    /// Begins a plan.
    fn enter(&mut self, chosen: Arc<Chosen>) {
        if let Some(job) = &mut self.job {
            let units = chosen.plan.plan().scratch();
            job.spaces.scratch = self.scratch.hold(&job.spaces.unit, units);
        }
        self.account.begin(&chosen.plan);
        self.stage = Stage::Plan(chosen);
    }
}
