//! Life cycle of a job under Treepie: settings and the agreement of all ranks when MPI starts, the
//! profile when it ends, and partial profiles after an abnormal exit.
//!
//! ```text
//!            MPI_Init                                  MPI_Finalize
//! Before ------------> Starting --agree, adopt--> Running ------------> Ended
//!                         |                                               ^
//!                         +---- nothing to do, or ranks do not agree -----+
//! ```

mod cluster_network;
mod decision;
pub mod errors;
pub mod exits;
mod finish;
mod guard_results;
mod hosts;
mod input;
mod launched;
mod learning;
mod meeting;
mod monitor;
mod obstacle;
mod order;
mod partial;
mod parts;
mod program;
mod redundancy;
mod replay;
mod request;
mod request_error;
mod run;
mod signals;
mod site;
pub mod start;
mod tuning;
mod wanted;

use std::mem;

use parking_lot::Mutex;

use decision::{Decision, Plan};

/// State of the session.
enum State {
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
    fn begin() -> bool {
        let mut state = STATE.lock();
        let is_first = matches!(*state, State::Before);
        if is_first {
            *state = State::Starting;
        }
        is_first
    }

    /// Ends the start: with the ranks' decision, if they have agreed on one.
    fn started(agreed: Option<Decision>) {
        *STATE.lock() = match agreed {
            Some(Decision::Do(plan)) => State::Running(plan),
            Some(Decision::Plain | Decision::Abort) | None => State::Ended,
        };
    }

    /// Ends the session; returns the plan the first time.
    fn end() -> Option<Box<Plan>> {
        match mem::replace(&mut *STATE.lock(), State::Ended) {
            State::Running(plan) => Some(plan),
            State::Before | State::Starting | State::Ended => None,
        }
    }
}
