//! State of the session, by which it begins once and ends once.

use std::mem;

use parking_lot::Mutex;

use super::decision::{Decision, Plan};

/// State of the session.
pub enum State {
    /// MPI has not started yet.
    Before,
    /// `MPI_Init` has returned, and the ranks agree on a decision.
    Starting,
    /// The plan is being carried out.
    Running(Box<Plan>),
    /// All work has ended, or there was none.
    Ended,
}

/// State of the session, by which the parts begin and end; the parts themselves hold the data that
/// calls read. It is locked for changes, and never around a call of MPI.
static STATE: Mutex<State> = Mutex::new(State::Before);

impl State {
    /// Begins the session; true the first time.
    pub fn begin() -> bool {
        let mut state = STATE.lock();
        let is_first = matches!(*state, State::Before);
        if is_first {
            *state = State::Starting;
        }
        is_first
    }

    /// Ends the start: with the ranks' decision, if they have agreed on one.
    pub fn started(agreed: Option<Decision>) {
        *STATE.lock() = match agreed {
            Some(Decision::Do(plan)) => State::Running(plan),
            Some(Decision::Plain | Decision::Abort) | None => State::Ended,
        };
    }

    /// Ends the session; returns the plan the first time.
    pub fn end() -> Option<Box<Plan>> {
        match mem::replace(&mut *STATE.lock(), State::Ended) {
            State::Running(plan) => Some(plan),
            State::Before | State::Starting | State::Ended => None,
        }
    }
}
