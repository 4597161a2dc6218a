//! What a rank tells the leader of its cluster of the sizes that MPI tells it alone, as
//! `treepie_collective::told` says.

use treepie_collective::{Amount, Operation, told};

use super::communicator::Communicator;
use super::execute::Prepared;

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
    pub fn new(
        communicator: &Communicator,
        call: (Operation, usize),
        own: &Amount,
    ) -> Option<Self> {
        let rank = communicator.rank();
        let row = told::row(own, rank)?;
        let problem = communicator.problem(call.0, call.1, own);
        Some(Telling {
            call,
            own: own.clone(),
            plan: Prepared::new(told::plan(&problem, rank, row.len())),
            words: row.len() * told::rows(&problem, rank),
            row,
        })
    }

    /// The amount of the call as this rank knows it when it was told these words.
    pub fn learn(&self, communicator: &Communicator, words: &[u64]) -> Amount {
        let problem = communicator.problem(self.call.0, self.call.1, &self.own);
        told::learn(&problem, communicator.rank(), words)
    }
}
