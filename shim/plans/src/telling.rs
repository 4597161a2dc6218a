//! What a rank tells the leader of its cluster of the sizes that MPI tells it alone, as
//! `treepie_collective::told` says.

use treepie_collective::{Amount, Operation, told};

use super::execute::Prepared;
use super::ground::Ground;

/// The sizes of one call that a rank tells, and how.
pub struct Telling {
    call: (Operation, usize),
    own: Amount,
    /// What it tells.
    pub row: Vec<u64>,
    /// The plan that does, whose input is the row.
    pub plan: Prepared,
    /// Words that it brings as its output.
    pub words: usize,
}

impl Telling {
    /// Of a call with this root, of which this rank knows its `own` amount; `None` where MPI tells
    /// all sizes to all ranks.
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

    /// The amount of the call as this rank knows it when it was told these words.
    pub fn learn(&self, ground: &Ground, words: &[u64]) -> Amount {
        let problem = ground.problem(self.call.0, self.call.1, &self.own);
        told::learn(&problem, ground.rank(), words)
    }
}
