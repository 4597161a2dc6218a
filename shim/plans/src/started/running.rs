//! An operation under way: its plan, the memory it works on, and how far it is.

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
use crate::chosen::Chosen;
use crate::clock::now;
use crate::communicator::Communicator;
use crate::errors::{self, Returned};
use crate::execute::{Account, Execution, Turn};
use crate::job::Job;
use crate::place::Place;
use crate::unit::Scratch;

/// So many turns a call takes at most that does not wait.
const TURNS_OF_A_TEST: u32 = 64;

/// Nothing is under way: it has not begun, or its end was told.
const IDLE: i64 = i64::MIN;
/// It is under way.
const UNDER_WAY: i64 = i64::MIN + 1;

/// A collective that a plan runs, once or whenever a persistent request is started.
pub struct Running {
    communicator: Arc<Communicator>,
    /// The application's, whose handler is told of errors.
    comm: Comm,
    place: Place,
    work: Work,
    uses: Uses,
    /// Its number among those whose messages wait for others; none for other non-blocking ones.
    waiting: Option<u32>,
    /// Whether the callback goes on with it.
    is_called: bool,
    /// What tells the native MPI of its end.
    pub marker: Marker,
    /// [`IDLE`], [`UNDER_WAY`], or the code that it ended with.
    outcome: AtomicI64,
    /// One thread at a time goes on with it, the others pass by. Who starts it again waits for one
    /// that has just told its end.
    state: Mutex<State>,
}

struct State {
    /// Gone where a message failed that may still be under way.
    job: Option<Job>,
    account: Account,
    scratch: Scratch,
    stage: Stage,
    /// Whether the world returns errors while it goes on.
    returns_errors: bool,
}

/// How far it is.
enum Stage {
    /// Leaders are told sizes, and have no plan yet.
    Telling(LeaderSizes),
    /// This plan runs.
    Plan(Arc<Chosen>),
    /// The native MPI's own request is under way.
    Native(Requests),
}

impl Running {
    /// An operation of which nothing is done.
    pub fn new(
        communicator: Arc<Communicator>,
        comm: Comm,
        place: Place,
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

    /// What is counted of it, where that is the same for all starts.
    pub fn plan(&self) -> Option<Plan> {
        self.work.run()
    }

    /// Where its messages are.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Whether it uses an object of the application's with this handle.
    pub fn uses(&self, handle: Word) -> bool {
        self.uses.contains(handle)
    }

    /// Whether it is under way.
    pub fn is_under_way(&self) -> bool {
        self.outcome.load(Ordering::Acquire) == UNDER_WAY
    }

    /// Whether a thread goes on with it.
    pub fn is_held(&self) -> bool {
        self.state.is_locked()
    }

    /// Begins it: sends all that others wait for, and posts all receives. Whether somebody has to
    /// go on with it.
    ///
    /// # Errors
    /// MPI's code; then it is not under way.
    pub fn begin(&self, native: &Native) -> Result<bool, c_int> {
        let is_ours = self.start(native)?;
        if let Some((trial, since)) = self.measured() {
            trial.took(now().saturating_sub(since), false);
        }
        Ok(is_ours && self.is_called && self.is_under_way())
    }

    /// Whether a plan runs it.
    fn start(&self, native: &Native) -> Result<bool, c_int> {
        let mut state = self.state.lock();
        // The handlers are those of all threads; MPICH's own calls tell the world, too.
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
        // It is gone where a plan has failed.
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

    /// Goes on, unless another thread does; whether something was done.
    pub fn advance(&self, native: &Native) -> bool {
        if !self.is_under_way() {
            return false;
        }
        let Some(mut state) = self.state.try_lock() else {
            return false;
        };
        self.is_under_way() && !matches!(self.turn(native, &mut state), Ok(Turn::Idle))
    }

    /// Goes on until nothing more has come, for a call that does not wait: the program may be back
    /// in a millisecond only, and a turn under MPICH takes in one message of hundreds.
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

    /// A turn of the plan; its end is told.
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
        // SAFETY: the spaces are the application's buffers, of the length that its counts say,
        // which MPI lets it not touch until the operation is complete; or buffers that live as
        // long as the state.
        match unsafe { execution.turn() } {
            Ok(Turn::Ended) => self.ended(native, state),
            Err(code) => {
                self.end(native, state, code);
                Err(code)
            }
            went_on => went_on,
        }
    }

    /// The native MPI's request is asked for.
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

    /// A plan has ended: the one that tells sizes, behind which the other comes, or that one.
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

    /// It has ended, with this code.
    fn end(&self, native: &Native, state: &mut State, code: c_int) {
        if code != SUCCESS {
            self.trial().iter().for_each(|trial| trial.fail());
            // What is under way may still use them.
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
            // An early end of the application's buffers and types is nothing to it any more.
            drop(state.job.take());
            state.scratch = Scratch::default();
        }
        self.tell_end(native, code);
    }

    fn tell_end(&self, native: &Native, code: c_int) {
        self.outcome.store(i64::from(code), Ordering::Release);
        self.marker.tell(native, self.place);
    }

    /// What its starts are run by, where plans are tried.
    pub fn trial(&self) -> Option<&dyn Starts> {
        match &self.work {
            Work::Tried(trial) => Some(&**trial),
            Work::Plan(_) | Work::Sized(_) => None,
        }
    }

    /// Where its time is measured, and when it was started.
    pub fn measured(&self) -> Option<(&dyn Starts, u64)> {
        let trial = self.trial()?;
        Some((trial, trial.measured_since()?))
    }

    /// The code that it ended with; its end is told to the application now.
    pub fn code(&self) -> c_int {
        match self.outcome.load(Ordering::Acquire) {
            IDLE | UNDER_WAY => SUCCESS,
            code => code as c_int,
        }
    }

    /// An error that it ended with, which is asked for once, and the communicator whose handler is
    /// to be told of it.
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

    /// The communicator whose handler is told of errors.
    pub fn told(&self) -> Comm {
        self.communicator.told(self.comm)
    }
}

impl State {
    /// A plan begins.
    fn enter(&mut self, chosen: Arc<Chosen>) {
        if let Some(job) = &mut self.job {
            let units = chosen.plan.plan().scratch();
            job.spaces.scratch = self.scratch.hold(&job.spaces.unit, units);
        }
        self.account.begin(&chosen.plan);
        self.stage = Stage::Plan(chosen);
    }
}
