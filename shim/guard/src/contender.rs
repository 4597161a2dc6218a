//! Candidates that compete with the native way to run calls.

use std::fmt::Debug;

use treepie_choice::{Candidate, Challenger};

use crate::hash::mix;
use crate::policy::{MAX_BEST_PER_MILLE, MAX_CANDIDATES, MAX_PER_MILLE};

/// Another way to run a call, and its prediction.
pub trait Contender: Copy + Debug {
    /// Returns its predicted time, in thousandths of the native time; `None` without a prediction.
    fn per_mille(&self) -> Option<u32>;

    /// True if it may need a set-up before its first call.
    fn needs_set_up(&self) -> bool;

    /// True if both are the same way, independent of their predictions.
    fn is_like(&self, other: &Self) -> bool;

    /// Adds its distinguishing properties to a hash.
    fn add_to(&self, hash: u64) -> u64;
}

impl Contender for Challenger {
    fn per_mille(&self) -> Option<u32> {
        self.per_mille
    }

    fn needs_set_up(&self) -> bool {
        matches!(self.candidate, Candidate::Native(_))
    }

    fn is_like(&self, other: &Self) -> bool {
        self.candidate.is_like(&other.candidate)
    }

    fn add_to(&self, hash: u64) -> u64 {
        let name = self.candidate.to_string().into_bytes().into_iter();
        let hash = name.fold(hash, |hash, byte| mix(hash, u64::from(byte)));
        mix(hash, self.candidate.segment())
    }
}

/// Returns the candidates worth a trial, the best first: of those with a prediction, none at all
/// unless the best is predicted to gain enough.
pub(crate) fn worth_trying<C: Contender>(mut candidates: Vec<C>) -> Vec<C> {
    let mut predicted = candidates.iter().filter_map(C::per_mille);
    let any_gains = predicted.any(|per_mille| per_mille <= MAX_BEST_PER_MILLE);
    candidates.retain(|one| {
        let is_tried = |per_mille| any_gains && per_mille <= MAX_PER_MILLE;
        one.per_mille().is_none_or(is_tried)
    });
    candidates.truncate(MAX_CANDIDATES);
    candidates
}
