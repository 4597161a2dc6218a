//! What counted traffic promises where processes are.

use super::experience::{Candidate, Judgement};
use crate::affinity::Matrix;
use crate::placement::allocation::{Allocation, AllocationError, Movement};
use crate::placement::binding::{self, Process};
use crate::placement::objective::dist_comm;
use crate::placement::worth::{Worth, saved};

/// A candidate that costs no more than this part above a new one is kept, with all that is known
/// of it.
const AS_GOOD: f64 = 0.02;

/// What was counted, and where the next run is.
pub struct Case<'a> {
    /// Bytes between ranks.
    pub matrix: &'a Matrix,
    /// The part of the time that was in MPI, where it is known.
    pub in_mpi: Option<f64>,
    /// Where the processes are.
    pub allocation: &'a Allocation,
    /// The processes.
    pub processes: &'a [Process],
    /// A number that allocations of this shape share.
    pub shape: u64,
    /// In seconds since 1970.
    pub now: u64,
}

impl Case<'_> {
    /// What is worth trying. A candidate of an older judgement stays where it is as good.
    ///
    /// # Errors
    /// Another number of ranks than processes; affinities that are too large.
    pub fn judge(&self, older: Option<&Judgement>) -> Result<Judgement, AllocationError> {
        let hosts = self.allocation.topology().hosts().len();
        let placed = self.allocation.placed(self.matrix, Movement::Ranks)?;
        let best = saved(placed.costs.0, placed.costs.1);
        let worth = Worth::of(best, self.in_mpi, hosts > 1);
        let mut judgement = Judgement {
            shape: self.shape,
            made: self.now,
            since: self.now,
            worth,
            saved: best,
            in_mpi: self.in_mpi,
            candidates: Vec::new(),
        };
        if worth != Worth::Gain {
            return Ok(judgement);
        }
        judgement.candidates = vec![Candidate::Permute(placed.permutation)];
        judgement.candidates.extend(self.bound()?);
        if let Some(older) = older.filter(|older| self.is_as_good(older, placed.costs.1)) {
            judgement.since = older.since;
            judgement.candidates.clone_from(&older.candidates);
        }
        Ok(judgement)
    }

    /// Binding, where the launcher leaves processes free, and that saves something.
    fn bound(&self) -> Result<Option<Candidate>, AllocationError> {
        let placed = self.allocation.placed(self.matrix, Movement::Processes)?;
        let best = saved(placed.costs.0, placed.costs.1);
        if Worth::of(best, self.in_mpi, true) != Worth::Gain {
            return Ok(None);
        }
        let cores = binding::cores(&placed.topology, &placed.leaf_of_process, self.processes);
        Ok(cores.ok().map(Candidate::Bind))
    }

    /// Whether the permutation of an older judgement costs about as much as this.
    fn is_as_good(&self, older: &Judgement, cost: f64) -> bool {
        let Some(Candidate::Permute(new_rank)) = older.candidates.first() else {
            return false;
        };
        let leaf_of_process = self.allocation.leaf_of_process();
        let mut leaf_of_rank = vec![0; leaf_of_process.len()];
        for (&rank, &leaf) in new_rank.iter().zip(leaf_of_process) {
            match leaf_of_rank.get_mut(rank) {
                Some(place) => *place = leaf,
                None => return false,
            }
        }
        let its_cost = dist_comm(self.matrix, self.allocation.topology(), &leaf_of_rank);
        its_cost <= (1.0 + AS_GOOD) * cost
    }
}
