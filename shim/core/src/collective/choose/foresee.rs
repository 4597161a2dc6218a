//! The plans that recorded calls would be run by, before a run.

use super::{Choice, Chooser};
use crate::collective::{
    Algorithm, Amount, Clusters, Network, Operation, PlanRun, Problem, Record,
};

impl Chooser {
    /// The largest message, in bytes, that the plan of a choice sends for a call of `bytes` bytes:
    /// blocks that are sent whole go together with others in one message, too.
    pub fn largest_message(&self, choice: &Choice, bytes: Option<u64>) -> u64 {
        match bytes.is_some_and(|bytes| choice.segment >= bytes) {
            true => choice.segment.max(self.eager),
            false => choice.segment,
        }
    }

    /// The plan that calls like those of a record would be run by on `clusters`, in units of a
    /// byte, by any operation that commutes: of the strategy that is `named`, or else of the one
    /// that is chosen. `None` for the native collective.
    pub fn foresee(
        &mut self,
        record: &Record,
        named: Option<&'static Algorithm>,
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
        let (strategy, segment) = match named {
            Some(strategy) => (
                strategy,
                self.segment(strategy, &problem.call(bytes), clusters),
            ),
            None if clusters.count() > 1 => {
                let choice = self.choose(operation, bytes, root, false, clusters);
                (choice.strategy?, self.largest_message(&choice, bytes))
            }
            None => return None,
        };
        strategy.serves(&problem).then(|| PlanRun {
            algorithm: strategy.name.to_owned(),
            segment: segment.max(1),
            unit_bytes: 1,
            ordered: false,
        })
    }
}

/// Whether all ranks know how many bytes a call has, or how many on average, so that they can
/// choose by it.
pub fn are_bytes_known(operation: Operation) -> bool {
    operation.tells_all_sizes()
}
