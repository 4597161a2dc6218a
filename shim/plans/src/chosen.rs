//! A plan that was chosen for calls, and its key in the cache.

use treepie_choice::{Form, are_bytes_known};
use treepie_collective::{Amount, Operation};
use treepie_record::Plan;

use crate::execute::Prepared;

/// Call for which a plan was made.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key {
    /// The collective.
    pub operation: Operation,
    /// The root.
    pub root: usize,
    /// Amount of data, in units.
    pub amount: Amount,
    /// Bytes of a unit.
    pub unit: u64,
    /// True if operands must stay in order.
    pub ordered: bool,
    /// The guard's plan: algorithm, and the largest message in bytes.
    pub guarded: Option<(&'static str, u64)>,
    /// Form of the call: blocking or started.
    pub form: Form,
    /// True if receivers acknowledge that they have begun.
    pub is_acknowledged: bool,
}

impl Key {
    /// Returns the bytes of the message or of a rank's block, if all ranks know them.
    pub fn bytes(&self) -> Option<u64> {
        let mean =
            |parts: &[u64]| Some(parts.iter().sum::<u64>() * self.unit / parts.len().max(1) as u64);
        match &self.amount {
            Amount::Each(units) => Some(units * self.unit),
            Amount::Blocks(parts) if are_bytes_known(self.operation) => mean(parts),
            Amount::KnownBlocks(parts) | Amount::Table(parts) => mean(parts),
            Amount::Blocks(_) | Amount::Exchanged { .. } => None,
            Amount::ToldBlocks(_) | Amount::ToldRows { .. } => None,
        }
    }
}

/// Plan that was chosen, and its form for the counters.
#[derive(Debug)]
pub struct Chosen {
    /// Plan that is run.
    pub plan: Prepared,
    /// Plan as it is counted.
    pub run: Plan,
}

impl Chosen {
    /// Lets receivers acknowledge that they have begun.
    pub fn acknowledged(&self) -> Chosen {
        Chosen {
            plan: Prepared::new(self.plan.plan().acknowledged()),
            run: self.run,
        }
    }
}
