//! The watch over a plan that was adopted: the native MPI as the challenger.

use std::collections::VecDeque;

use super::ODDS;
use super::block::{AgreedPair, MOST_PAIRS};
use super::key::CellKey;
use super::times::is_quicker;
use crate::proof::Signs;

/// Calls from one pair to the next, at first, and at most.
const INTERVALS: [u64; 2] = [64, 1024];

/// Pairs that are judged together: what was before them counts no more.
const JUDGED: usize = 2 * MOST_PAIRS;

/// The last pairs of a plan that runs.
#[derive(Debug, Clone)]
pub(super) struct Watch {
    /// Calls from one pair to the next.
    pub interval: u64,
    /// Whether the native MPI took less time in each: in the call, and until the next one.
    last: VecDeque<[bool; 2]>,
}

impl Default for Watch {
    fn default() -> Self {
        Watch {
            interval: INTERVALS[0],
            last: VecDeque::new(),
        }
    }
}

impl Watch {
    /// Adds a block. Pairs become rarer while the plan wins them.
    pub fn add(&mut self, key: &CellKey, pairs: &[AgreedPair]) {
        let mut lost = 0;
        for pair in pairs {
            let outcome = [
                pair.native.is_quicker_than(&pair.plan, key),
                is_quicker(pair.native.period, pair.plan.period),
            ];
            lost += usize::from(outcome[0]);
            self.last.push_back(outcome);
        }
        while self.last.len() > JUDGED {
            self.last.pop_front();
        }
        let [first, most] = INTERVALS;
        self.interval = match 4 * lost <= pairs.len() {
            true => (2 * self.interval).min(most),
            false => first,
        };
    }

    /// Whether the native MPI is quicker, by the last block or the last two.
    pub fn is_lost(&self) -> bool {
        let lost = |pairs: usize, what: usize| {
            let last = self.last.iter().rev().take(pairs);
            let pairs = last.len() as u32;
            let wins = last.filter(|outcome| outcome[what]).count() as u32;
            let losses = pairs - wins;
            Signs { wins, losses }.favour(ODDS)
        };
        [MOST_PAIRS, JUDGED]
            .into_iter()
            .any(|pairs| lost(pairs, 0) || lost(pairs, 1))
    }
}

#[cfg(test)]
mod tests {
    use super::super::times::Agreed;
    use super::*;
    use crate::collective::Operation;

    fn block(native: u64, plan: u64, period: u64) -> Vec<AgreedPair> {
        let call = |duration, period| Agreed {
            least: duration,
            most: duration,
            period,
        };
        let pair = AgreedPair {
            native: call(native, 1000),
            plan: call(plan, period),
        };
        vec![pair; MOST_PAIRS]
    }

    #[test]
    fn a_plan_that_wins_is_watched_less_and_one_block_of_losses_ends_it() {
        let key = CellKey::new(Operation::Allreduce, 0, Some(8), false);
        let mut watch = Watch::default();
        for expected in [128, 256, 512, 1024, 1024] {
            watch.add(&key, &block(100, 50, 1000));
            assert_eq!(watch.interval, expected);
            assert!(!watch.is_lost());
        }
        watch.add(&key, &block(100, 150, 1000));
        assert_eq!(watch.interval, 64);
        assert!(watch.is_lost());
    }

    #[test]
    fn a_plan_that_only_moves_the_time_elsewhere_is_found_out_by_the_periods() {
        let key = CellKey::new(Operation::Bcast, 0, Some(8), false);
        let mut watch = Watch::default();
        watch.add(&key, &block(100, 50, 1000));
        assert!(!watch.is_lost());
        watch.add(&key, &block(100, 50, 1100));
        assert!(watch.is_lost());
    }
}
