//! The strategies by name: which collectives they serve, and their generators.

use super::generators::STRATEGIES;
use super::{Builder, Plan, Problem};
use crate::affinity::collective::Operation;

/// Writes what one rank does for a problem.
pub(super) type Generate = fn(&Problem, usize, &mut Builder);

/// A way to do a collective.
#[derive(Debug)]
pub struct Strategy {
    /// What users call it. Names are unique for each operation.
    pub name: &'static str,
    /// The collectives that it can do.
    pub operations: &'static [Operation],
    /// Whether operands stay in the order of ranks, combined in a way that does
    /// not depend on clusters, where [`Problem::ordered`] asks for it.
    pub keeps_order: bool,
    pub(super) generate: Generate,
}

impl Strategy {
    /// All strategies for an operation.
    pub fn of(operation: Operation) -> impl Iterator<Item = &'static Strategy> {
        STRATEGIES
            .iter()
            .filter(move |strategy| strategy.operations.contains(&operation))
    }

    /// The strategy of this name for an operation.
    pub fn find(operation: Operation, name: &str) -> Option<&'static Strategy> {
        Strategy::of(operation).find(|strategy| strategy.name == name)
    }

    /// Whether the strategy can solve the problem as it is asked.
    pub fn serves(&self, problem: &Problem) -> bool {
        self.operations.contains(&problem.operation) && (self.keeps_order || !problem.ordered)
    }

    /// What `rank` does, in messages of at most `segment` units (larger where
    /// the message would fall into thousands).
    pub fn plan(&self, problem: &Problem, rank: usize, segment: u64) -> Plan {
        let mut builder = Builder::new(segment);
        (self.generate)(problem, rank, &mut builder);
        builder.finish()
    }
}
