//! What is tried in the place of the native way.

use std::fmt::Debug;

use super::key::mix;
use super::{Candidate, Challenger};

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
