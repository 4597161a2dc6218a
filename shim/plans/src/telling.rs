//! Sizes that MPI gives to a rank alone, and that it sends to the leader of its cluster, as
//! `treepie_collective::told` describes.

use treepie_collective::{Amount, Operation, told};

use super::execute::Prepared;
use super::ground::Ground;

/// Sizes of one call that a rank sends, and the plan for it.
pub struct Telling {
    call: (Operation, usize),
    own: Amount,
    /// Row that it sends.
    pub row: Vec<u64>,
    /// Plan that sends it, with the row as input.
    pub plan: Prepared,
    /// Words of the plan's output.
    pub words: usize,
}

impl Telling {
    /// Creates it for a call with this root, of which this rank knows its `own` amount; `None` if
    /// MPI gives all sizes to all ranks.
    pub fn new(ground: &Ground, call: (Operation, usize), own: &Amount) -> Option<Self> {
        let rank = ground.rank();
        let row = told::row(own, rank)?;
        let problem = ground.problem(call.0, call.1, own);
        Some(Telling {
            call,
            own: own.clone(),
            plan: Prepared::new(told::plan(&problem, rank, row.len())),
            words: row.len() * told::rows(&problem, rank),
            row,
        })
    }

    /// Returns the amount of the call as this rank knows it after it has received these words.
    pub fn learn(&self, ground: &Ground, words: &[u64]) -> Amount {
        let problem = ground.problem(self.call.0, self.call.1, &self.own);
        told::learn(&problem, ground.rank(), words)
    }
}
