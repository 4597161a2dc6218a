//! Plans that recorded calls would use, before a run.

use crate::candidate::{Candidate, Challenger};
use crate::choice::{Choice, Considered};
use crate::chooser::Chooser;
use crate::policy::ALIKE;
use treepie_collective::{
    Amount, Clusters, Composition, Network, Operation, PlanRun, Problem, Record,
};

/// Ratio to the best predicted time up to which algorithms may yet be faster: nothing was measured
/// on this host.
const AS_GOOD: f64 = 2.0;

impl Chooser {
    /// Largest message, in bytes, that the plan of a choice sends for a call of `bytes` bytes:
    /// blocks that are not cut are sent together with others in one message.
    pub fn largest_message(&self, choice: &Choice, bytes: Option<u64>) -> u64 {
        self.largest_of(choice.segment, bytes)
    }

    /// Largest message of a plan whose best segment is this.
    pub(crate) fn largest_of(&self, segment: u64, bytes: Option<u64>) -> u64 {
        match bytes.is_some_and(|bytes| segment >= bytes) {
            true => segment.max(self.eager),
            false => segment,
        }
    }

    /// Plans that a guard tries for a choice, the best first: those that were considered, each with
    /// the ratio of its predicted time to the native one; by rule, the one that was chosen. If
    /// there is no prediction for the native collective: those that differ from each other and take
    /// at most twice as long as the best.
    pub fn challengers(&self, choice: &Choice, bytes: Option<u64>) -> Vec<Challenger> {
        let considered = choice.considered();
        if considered.is_empty() {
            let chosen = choice.algorithm.into_iter();
            let by_rule = |algorithm| Challenger {
                candidate: Candidate::Plan {
                    algorithm,
                    segment: self.largest_message(choice, bytes),
                },
                per_mille: None,
            };
            return chosen.map(by_rule).collect();
        }
        let challenge = |one: &Considered, per_mille| Challenger {
            candidate: Candidate::Plan {
                algorithm: one.algorithm,
                segment: self.largest_of(one.segment, bytes),
            },
            per_mille,
        };
        match choice.native_seconds() {
            // NaN saturates: too slow.
            Some(native) => {
                let part =
                    |seconds: f64| (1000.0 * seconds / native).min(f64::from(u32::MAX)) as u32;
                let with_part = |one: &Considered| challenge(one, Some(part(one.seconds)));
                considered.iter().map(with_part).collect()
            }
            None => {
                let different = different(&considered).into_iter();
                different.map(|one| challenge(&one, None)).collect()
            }
        }
    }

    /// Plan that calls like those of a record would use on `clusters`, in units of a byte, for any
    /// commutative operation: of the `named` algorithm, or else of the one that is chosen. `None`
    /// for the native collective.
    pub fn foresee(
        &mut self,
        record: &Record,
        named: Option<&Composition>,
        clusters: &Clusters,
        network: Option<&Network>,
    ) -> Option<PlanRun> {
        let operation = record.operation;
        let bytes = are_bytes_known(operation).then(|| record.block_bytes());
        let root = record.root.unwrap_or(0) as usize;
        let amount = Amount::Each(record.block_bytes());
        let problem = Problem {
            operation,
            root,
            amount: &amount,
            clusters,
            ordered: false,
            network,
            unit_bytes: 1,
        };
        let (composition, segment) = match named {
            Some(plan) => {
                let usual = || self.segment(plan.algorithm, &problem.call(bytes), clusters);
                (plan.clone(), plan.segment.unwrap_or_else(usual))
            }
            None if clusters.are_far() => {
                let choice = self.choose(operation, bytes, root, false, clusters);
                let largest = self.largest_message(&choice, bytes);
                (choice.algorithm?.into(), largest)
            }
            None => return None,
        };
        composition.algorithm.serves(&problem).then(|| PlanRun {
            algorithm: composition.name(),
            segment: segment.max(1),
            unit_bytes: 1,
            ordered: false,
        })
    }
}

/// The fastest algorithms that differ from each other, the fastest first: of several with the same
/// time, which are mostly identical on few ranks, the first in the table.
fn different(considered: &[Considered]) -> Vec<Considered> {
    let most = considered
        .first()
        .map_or(0.0, |best| AS_GOOD * best.seconds);
    let mut different: Vec<Considered> = Vec::new();
    for one in considered.iter().take_while(|one| one.seconds <= most) {
        let is_like = |last: &Considered| last.seconds >= ALIKE * one.seconds;
        if !different.last().is_some_and(is_like) {
            different.push(*one);
        }
    }
    different
}

/// True if all ranks know the bytes of a call, or their mean, so that they can base a choice on
/// them.
pub fn are_bytes_known(operation: Operation) -> bool {
    operation.tells_all_sizes()
}
