//! Plans on a communicator: chosen, and kept by the calls that they are for.

use std::sync::Arc;

use treepie_choice::{Candidate, Challenger, Choice, Progress};
use treepie_collective::{Algorithm, Amount, Operation, Problem, Uniform, is_acknowledged};
use treepie_guard::CellKey;

use super::state::Ground;
use crate::chosen::{Chosen, Key};

/// At most this many plans are kept for a communicator.
const MOST_PLANS: usize = 64;

impl Ground {
    /// The key of the blocking call of this number, which may be acknowledged. What goes through
    /// memory has nowhere to wait in.
    pub fn of_call(&self, number: u32, mut key: Key) -> Key {
        let may_run_ahead = !key.operation.needs_all() && !self.is_in_memory;
        key.is_acknowledged = may_run_ahead && is_acknowledged(number, key.bytes());
        key
    }

    /// The plan for `key`, made by `make` at the first use.
    pub fn plan(&self, key: Key, make: impl FnOnce(&Key) -> Option<Chosen>) -> Option<Arc<Chosen>> {
        if !key.is_acknowledged {
            return self.kept_plan(key, make);
        }
        let plain = Key {
            is_acknowledged: false,
            ..key.clone()
        };
        let plain = self.kept_plan(plain, make)?;
        self.kept_plan(key, |_| Some(plain.acknowledged()))
    }

    fn kept_plan(
        &self,
        key: Key,
        make: impl FnOnce(&Key) -> Option<Chosen>,
    ) -> Option<Arc<Chosen>> {
        let mut plans = self.plans.lock();
        if let Some(plan) = plans.get(&key) {
            return plan.clone();
        }
        let plan = make(&key).map(Arc::new);
        if plans.len() >= MOST_PLANS {
            plans.clear();
        }
        plans.insert(key, plan.clone());
        plan
    }

    /// A call in bytes, as this rank knows it.
    pub fn problem<'a>(
        &'a self,
        operation: Operation,
        root: usize,
        amount: &'a Amount,
    ) -> Problem<'a> {
        Problem {
            operation,
            root,
            amount,
            clusters: &self.clusters,
            ordered: false,
            network: self.network.as_deref(),
            unit_bytes: 1,
        }
    }

    /// The largest message, in bytes, that is sent at once.
    pub fn eager_limit(&self) -> u64 {
        self.chooser.lock().eager_limit()
    }

    /// The best choice for a call, of those that serve it.
    pub fn choose(&self, key: &Key, bytes: Option<u64>) -> Arc<Choice> {
        let mut chooser = self.chooser.lock();
        chooser.choose(key.operation, bytes, key.root, key.ordered, &self.clusters)
    }

    /// The best for calls whose sizes not all know, from whatever root.
    pub fn choose_unknown(&self, operation: Operation) -> Option<&'static Algorithm> {
        let mut chooser = self.chooser.lock();
        chooser
            .choose(operation, None, 0, false, &self.clusters)
            .algorithm
    }

    /// The plans that the guard tries for calls of a cell, the best first.
    pub fn challengers(&self, key: &CellKey) -> Vec<Challenger> {
        let root = key.root.unwrap_or(0) as usize;
        let mut chooser = self.chooser.lock();
        let choice = chooser.choose(key.operation, key.bytes, root, key.ordered, &self.clusters);
        chooser.challengers(&choice, key.bytes)
    }

    /// The largest message, in bytes, of the plan of a choice.
    pub fn largest_message(&self, choice: &Choice, bytes: Option<u64>) -> u64 {
        self.chooser.lock().largest_message(choice, bytes)
    }

    /// The largest message, in bytes, that an algorithm should send for a call.
    pub fn segment(&self, algorithm: &'static Algorithm, key: &Key, bytes: Option<u64>) -> u64 {
        let call = Uniform {
            operation: key.operation,
            bytes: bytes.unwrap_or(0),
            root: key.root,
        };
        let chooser = self.chooser.lock();
        chooser.segment(algorithm, &call, &self.clusters)
    }

    /// The plans that the guard tries for started calls of a cell, the best first.
    pub fn challengers_started(&self, key: &CellKey, progress: Progress) -> Vec<Challenger> {
        let root = key.root.unwrap_or(0) as usize;
        let call = (key.operation, key.bytes, root);
        let mut chooser = self.chooser.lock();
        let choice = chooser.choose_started(call, key.ordered, &self.clusters, progress);
        let mut all = chooser.challengers(&choice, key.bytes);
        let eager = chooser.eager_limit();
        for challenger in &mut all {
            if let Candidate::Plan { segment, .. } = &mut challenger.candidate {
                *segment = eager.min(*segment);
            }
        }
        all
    }

    /// The choice for a started collective, as [`Ground::choose`].
    pub fn choose_started(&self, key: &Key, bytes: Option<u64>, progress: Progress) -> Arc<Choice> {
        let call = (key.operation, bytes, key.root);
        let mut chooser = self.chooser.lock();
        chooser.choose_started(call, key.ordered, &self.clusters, progress)
    }
}
