//! A plan in trial, and what was found of it.

use super::times::Typical;
use super::{Candidate, Challenger, State};
use crate::proof::Signs;

/// Odds that a challenger is not quicker, for one that is dropped early.
const DROP_ODDS: u32 = 5;

/// After so many pairs a challenger that is neither adopted nor dropped is not worth more.
const ENOUGH_PAIRS: u32 = 64;

/// A challenger, and what was found of it.
#[derive(Debug, Clone)]
pub(super) struct Tried {
    pub challenger: Challenger,
    pub state: State,
    pub plan: Typical,
    pub signs: Signs,
    /// The longest of its calls in trials.
    pub longest: u64,
    /// Pairs that it was in.
    pub pairs: u32,
    /// Pairs of its last block.
    pub last_block: usize,
}

impl Tried {
    pub fn new(challenger: Challenger) -> Self {
        Tried {
            challenger,
            state: State::Warming,
            plan: Typical::default(),
            signs: Signs::default(),
            longest: 0,
            pairs: 0,
            last_block: 0,
        }
    }

    /// Whether something may have to be made before its first call.
    pub fn needs_making(&self) -> bool {
        self.pairs == 0 && matches!(self.challenger.candidate, Candidate::Native(_))
    }

    /// Adds a pair.
    pub fn judge(&mut self, is_won: bool) {
        match is_won {
            true => self.signs.wins += 1,
            false => self.signs.losses += 1,
        }
    }

    /// Whether it is no candidate any more.
    pub fn is_done(&self) -> bool {
        let judged = self.signs.wins + self.signs.losses;
        self.signs.mirrored().favour(DROP_ODDS) || judged >= ENOUGH_PAIRS
    }
}
