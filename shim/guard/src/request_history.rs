//! Outcomes of persistent requests, with which later ones of the same cell begin.
//!
//! Ranks start requests in any order, so that one of them may have advanced further with an earlier
//! request than another when a new one is created. So they exchange outcomes, if the call that
//! creates it may wait for all, and an outcome that is the same on all is agreed. That costs an
//! exchange: they do so for a few first requests of a cell, and then less and less often; those in
//! between begin with the last agreed outcome.

use std::collections::HashMap;

use crate::contender::Contender;
use crate::key::CellKey;
use crate::policy::{FIRST_REQUESTS, MAX_REQUEST_CELLS, VALUES_OF_REQUEST};
use crate::results::AdoptedPlan;

/// Outcome of the starts of a request.
#[derive(Debug, Clone, Copy, Default)]
pub enum RequestOutcome {
    /// Undecided.
    #[default]
    Open,
    /// The native MPI runs them for good.
    Left,
    /// A plan is adopted.
    Adopted(AdoptedPlan),
}

impl RequestOutcome {
    /// Returns a number that distinguishes it from others.
    fn number(&self) -> i64 {
        match self {
            RequestOutcome::Open => 0,
            RequestOutcome::Left => 1,
            RequestOutcome::Adopted(known) => (known.challenger.add_to(0) as i64) << 2 | 2,
        }
    }
}

/// Requests of one cell.
#[derive(Debug, Default)]
struct CellRequests {
    made: u64,
    /// Outcome on this rank.
    own: RequestOutcome,
    /// Outcome in this rank's numbers of the exchange: starts on other threads may change its own
    /// meanwhile.
    sent: RequestOutcome,
    agreed: RequestOutcome,
}

/// Requests of one communicator, on one rank, which all ranks create in the same order.
#[derive(Debug, Default)]
pub struct RequestHistory(HashMap<CellKey, CellRequests>);

impl RequestHistory {
    /// Registers a new request of a cell. Returns this rank's numbers, [`VALUES_OF_REQUEST`] of
    /// them, if there is an exchange, to be followed by [`RequestHistory::agree`].
    pub fn make(&mut self, key: CellKey) -> Option<Vec<i64>> {
        if self.0.len() >= MAX_REQUEST_CELLS && !self.0.contains_key(&key) {
            return None;
        }
        let of_cell = self.0.entry(key).or_default();
        of_cell.made += 1;
        let is_due = of_cell.made <= FIRST_REQUESTS || of_cell.made.is_power_of_two();
        if of_cell.made == 1 || !is_due {
            return None;
        }
        of_cell.sent = of_cell.own;
        let number = of_cell.sent.number();
        let medians = match &of_cell.sent {
            RequestOutcome::Adopted(known) => [known.native, known.plan],
            RequestOutcome::Open | RequestOutcome::Left => [0; 2],
        };
        let [native, plan] = medians.map(|median| i64::try_from(median).unwrap_or(i64::MAX));
        let mut values = vec![number, !number, native, plan];
        values.resize(VALUES_OF_REQUEST, 0);
        Some(values)
    }

    /// Agrees on an outcome if it is the same on all ranks, by the minimum of all ranks' numbers;
    /// otherwise on none.
    pub fn agree(&mut self, key: &CellKey, least: &[i64]) {
        let (Some(of_cell), &[number, inverse, native, plan, ..]) = (self.0.get_mut(key), least)
        else {
            return;
        };
        of_cell.agreed = match of_cell.sent {
            _ if number != !inverse => RequestOutcome::Open,
            RequestOutcome::Adopted(known) => RequestOutcome::Adopted(AdoptedPlan {
                native: native.unsigned_abs(),
                plan: plan.unsigned_abs(),
                ..known
            }),
            other => other,
        };
    }

    /// Returns the agreed outcome of the requests of a cell.
    pub fn agreed(&self, key: &CellKey) -> RequestOutcome {
        self.0
            .get(key)
            .map_or(RequestOutcome::Open, |of_cell| of_cell.agreed)
    }

    /// Adds the outcome of a request on this rank. An undecided one does not change that of others.
    pub fn add(&mut self, key: &CellKey, outcome: RequestOutcome) {
        let is_open = matches!(outcome, RequestOutcome::Open);
        if let (Some(of_cell), false) = (self.0.get_mut(key), is_open) {
            of_cell.own = outcome;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use treepie_collective::Operation;

    #[test]
    fn an_outcome_that_changes_during_an_exchange_is_not_agreed() {
        let key = CellKey::new(Operation::Barrier, 0, Some(0), false);
        let mut history = RequestHistory::default();
        assert!(history.make(key).is_none(), "there is none before it");
        let values = history.make(key).expect("all tell");
        history.add(&key, RequestOutcome::Left);
        history.agree(&key, &values);
        assert!(matches!(history.agreed(&key), RequestOutcome::Open));
        let values = history.make(key).expect("all tell");
        history.agree(&key, &values);
        assert!(matches!(history.agreed(&key), RequestOutcome::Left));
        // Another request is not as far advanced.
        history.add(&key, RequestOutcome::Open);
        let values = history.make(key).expect("all tell");
        history.agree(&key, &values);
        assert!(matches!(history.agreed(&key), RequestOutcome::Left));
    }
}
