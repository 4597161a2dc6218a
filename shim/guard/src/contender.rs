//! What is tried in the place of the native way.

use std::fmt::Debug;

use super::MOST_CHALLENGERS;
use super::key::mix;
use treepie_choice::{Candidate, Challenger};

/// The best challenger must be predicted to take no more of the native time, in thousandths.
const WORTH_TRYING: u32 = 900;

/// Challengers that are predicted to take more, in thousandths, are not tried at all.
const TOO_SLOW: u32 = 2000;

/// Another way to run a call, and what is predicted of it.
pub trait Contender: Copy + Debug {
    /// Its predicted time, in thousandths of the native way's; `None` where nothing is predicted.
    fn per_mille(&self) -> Option<u32>;

    /// Whether something may have to be made before its first call.
    fn needs_making(&self) -> bool;

    /// Whether both are one way.
    fn is_like(&self, other: &Self) -> bool;

    /// A hash with what tells it from others.
    fn add_to(&self, hash: u64) -> u64;
}

impl Contender for Challenger {
    fn per_mille(&self) -> Option<u32> {
        self.per_mille
    }

    fn needs_making(&self) -> bool {
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

/// Those worth a trial, the best first: of those that something is predicted of, none at all where
/// the best is not predicted to gain enough.
pub(super) fn worth_trying<C: Contender>(mut challengers: Vec<C>) -> Vec<C> {
    let mut predicted = challengers.iter().filter_map(|one| one.per_mille());
    let limit = match predicted.any(|per_mille| per_mille <= WORTH_TRYING) {
        true => Some(TOO_SLOW),
        false => None,
    };
    challengers.retain(|one| one.per_mille().is_none_or(|per| Some(per) <= limit));
    challengers.truncate(MOST_CHALLENGERS);
    challengers
}
