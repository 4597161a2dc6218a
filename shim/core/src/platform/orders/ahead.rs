//! Next sends of clusters that wait for the message.

use super::Costs;
use super::greedy::{LookAhead, State, Waiting};
use super::ranked::Ranked;

/// Nothing.
pub struct Nothing;

impl LookAhead for Nothing {
    fn at_least(&self, _: &State, _: &Waiting) -> f64 {
        0.0
    }

    fn look(&self, _: &State, _: &Waiting) -> Ranked {
        Ranked::NOTHING
    }
}

/// The receiver's transfer to another that waits, and the value of `inside` for that one: the
/// least, or the `most`; nothing for the last one.
pub struct Next<'a, F> {
    costs: &'a Costs,
    most: bool,
    inside: F,
}

impl<'a, F> Next<'a, F> {
    /// The least.
    pub fn least(costs: &'a Costs, inside: F) -> Self {
        let most = false;
        Next {
            costs,
            most,
            inside,
        }
    }

    /// The most.
    pub fn most(costs: &'a Costs, inside: F) -> Self {
        let most = true;
        Next {
            costs,
            most,
            inside,
        }
    }
}

impl<F: Fn(usize) -> f64> LookAhead for Next<'_, F> {
    fn at_least(&self, state: &State, waiting: &Waiting) -> f64 {
        // As fewer wait, the least grows, and the most falls.
        match self.most && !state.waits(waiting.next.cluster()) {
            true => 0.0,
            false => waiting.next.seconds(),
        }
    }

    fn look(&self, state: &State, waiting: &Waiting) -> Ranked {
        if state.waits(waiting.next.cluster()) {
            return waiting.next;
        }
        let from = waiting.cluster;
        let none = match self.most {
            true => Ranked::NOTHING,
            false => Ranked::LAST,
        };
        let mut best = none;
        for to in state.waiting().iter().map(|other| other.cluster) {
            let next = Ranked::new(self.costs.transfer(from, to) + (self.inside)(to), to);
            let next = if to == from { none } else { next };
            best = match self.most {
                true => best.last(next),
                false => best.first(next),
            };
        }
        match best == Ranked::LAST {
            true => Ranked::NOTHING,
            false => best,
        }
    }
}
