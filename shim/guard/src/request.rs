//! Guards of persistent requests.

use std::sync::Arc;

use treepie_choice::{Candidate, Challenger};

use crate::contender::worth_trying;
use crate::guard::{Guard, Scope, Start};
use crate::hash::mix;
use crate::key::{CellKey, Key};
use crate::request_history::RequestOutcome;
use crate::results::Mode;

impl Guard {
    /// Creates a persistent request, in a call that may wait for other ranks. The candidate that
    /// runs it for its whole life is the one now in use in this cell, of collectives that are
    /// started once.
    pub fn make_persistent(&mut self, key: CellKey) -> Option<Candidate> {
        self.has_started = true;
        self.calls += 1;
        self.history = mix(self.history, !key.number());
        let at = self.find(key).filter(|_| !self.is_closed)?;
        let one = &self.cells.all[at];
        let plan = one.candidate(one.cell.plan_in_use()?)?;
        Some(plan.candidate)
    }

    /// Creates a guard over the starts of one persistent request on the same communicator, whose
    /// completion [shows that all have started it](CellKey::shows_all); `None` if no candidate is
    /// worth a trial. `earlier` is the agreed outcome of earlier requests in its cell. Its
    /// exchanges have [`VALUES_OF_REQUEST`](crate::VALUES_OF_REQUEST) numbers.
    pub fn of_request(
        &self,
        key: &CellKey,
        predicted: &[Challenger],
        earlier: &RequestOutcome,
    ) -> Option<Guard> {
        let known = match earlier {
            RequestOutcome::Open => Arc::clone(&self.start.known),
            RequestOutcome::Left => return None,
            RequestOutcome::Adopted(plan) => Arc::new([*plan]),
        };
        let candidates = self.start.candidates(key, predicted.to_vec());
        let is_known = known.iter().any(|known| key.begins_as(&known.key));
        let begins = is_known && self.start.mode == Mode::Adopt;
        let is_tried = begins || !worth_trying(candidates).is_empty();
        (is_tried && key.shows_all() && !self.is_closed).then(|| {
            Guard::from_start(Start {
                scope: Scope::Request,
                known,
                ..self.start.clone()
            })
        })
    }

    /// Returns the outcome of the starts of its request.
    pub fn outcome(&self) -> RequestOutcome {
        let Some(one) = self.cells.all.first().filter(|_| !self.is_closed) else {
            return RequestOutcome::Open;
        };
        match one.adopted() {
            Some(plan) => RequestOutcome::Adopted(plan),
            None if one.cell.is_settled() => RequestOutcome::Left,
            None => RequestOutcome::Open,
        }
    }
}
