//! Plans on a communicator: chosen, and cached by the calls that they are for.

use std::sync::Arc;

use treepie_choice::{Candidate, Challenger, Choice, Progress};
use treepie_collective::{Algorithm, Amount, Operation, Problem, Uniform, is_acknowledged};
use treepie_guard::CellKey;

use super::state::Ground;
use crate::chosen::{Chosen, Key};

/// Maximum number of plans that are cached for a communicator.
const MOST_PLANS: usize = 64;

impl Ground {
    /// Returns the key of the blocking call of this number, which may be acknowledged. Messages
    /// through shared memory need no acknowledgement: there is no buffer in which they could pile
    /// up.
    pub fn of_call(&self, number: u32, mut key: Key) -> Key {
        let may_run_ahead = !key.operation.needs_all() && !self.is_in_memory;
        key.is_acknowledged = may_run_ahead && is_acknowledged(number, key.bytes());
        key
    }

    /// Returns the plan for `key`, made by `make` at the first use.
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

    /// Returns a call in bytes, as this rank knows it.
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

    /// Returns the eager limit in bytes.
    pub fn eager_limit(&self) -> u64 {
        self.chooser.lock().eager_limit()
    }

    /// True if no prediction replaces the native collective in calls of `bytes` bytes.
    pub fn is_left_to_native(&self, bytes: u64) -> bool {
        self.chooser.lock().is_left_to_native(bytes, &self.clusters)
    }

    /// Returns the best choice for a call, of the algorithms that serve it.
    pub fn choose(&self, key: &Key, bytes: Option<u64>) -> Arc<Choice> {
        let mut chooser = self.chooser.lock();
        chooser.choose(key.operation, bytes, key.root, key.ordered, &self.clusters)
    }

    /// Returns the best algorithm for calls whose sizes not all ranks know, for any root.
    pub fn choose_unknown(&self, operation: Operation) -> Option<&'static Algorithm> {
        let mut chooser = self.chooser.lock();
        chooser
            .choose(operation, None, 0, false, &self.clusters)
            .algorithm
    }

    /// Returns the plans that the guard tries for calls of a cell, the best first.
    pub fn challengers(&self, key: &CellKey) -> Vec<Challenger> {
        let root = key.root.unwrap_or(0) as usize;
        let mut chooser = self.chooser.lock();
        let choice = chooser.choose(key.operation, key.bytes, root, key.ordered, &self.clusters);
        chooser.challengers(&choice, key.bytes)
    }

    /// Returns the largest message, in bytes, of the plan of a choice.
    pub fn largest_message(&self, choice: &Choice, bytes: Option<u64>) -> u64 {
        self.chooser.lock().largest_message(choice, bytes)
    }

    /// Returns the largest message, in bytes, that an algorithm should send for a call.
    pub fn segment(&self, algorithm: &'static Algorithm, key: &Key, bytes: Option<u64>) -> u64 {
        let call = Uniform {
            operation: key.operation,
            bytes: bytes.unwrap_or(0),
            root: key.root,
        };
        let chooser = self.chooser.lock();
        chooser.segment(algorithm, &call, &self.clusters)
    }

    /// Returns the plans that the guard tries for started calls of a cell, the best first.
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

    /// Returns the choice for a started collective, as [`Ground::choose`].
    pub fn choose_started(&self, key: &Key, bytes: Option<u64>, progress: Progress) -> Arc<Choice> {
        let call = (key.operation, bytes, key.root);
        let mut chooser = self.chooser.lock();
        chooser.choose_started(call, key.ordered, &self.clusters, progress)
    }
}
