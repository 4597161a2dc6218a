//! The watch over a plan that was adopted: the native MPI as the challenger.

use std::collections::VecDeque;

use super::ODDS;
use super::block::{AgreedPair, MOST_PAIRS};
use super::key::Key;
use super::times::is_quicker;
use crate::proof::Signs;

/// Calls from one pair to the next, at first, and at most.
const INTERVALS: [u64; 2] = [64, 1024];

/// In between they are one part in so many of the calls so far: what a change costs until it is
/// seen is small beside what was before it.
const PART_OF_CALLS: u64 = 128;

/// Calls from one pair to the next where the plan has just lost.
const IN_DOUBT: u64 = 16;

/// Calls of each side of a pair then, of which the last one is measured. The first one finds ranks
/// early and late as the other side leaves them, which alone may hide what is gained by it.
const CALLS_IN_DOUBT: u64 = 2;

/// Ranks tell each other after about so many calls.
const TOLD: u64 = 256;

/// Pairs that are judged together: what was before them counts no more.
const JUDGED: usize = 2 * MOST_PAIRS;

/// The last pairs of a plan that runs.
#[derive(Debug, Clone, Default)]
pub(super) struct Watch {
    /// Whether the plan lost half of the last block, or more: the next one comes at once.
    pub is_in_doubt: bool,
    /// Whether the native MPI took less time in each: in the call, and until the next one.
    last: VecDeque<[bool; 2]>,
}

impl Watch {
    /// Pairs of the next block, and calls from one to the next, after so many calls of the cell.
    pub fn next(&self, calls: u64) -> (usize, u64) {
        if self.is_in_doubt {
            return (MOST_PAIRS, IN_DOUBT);
        }
        let [first, most] = INTERVALS;
        let interval = (calls / PART_OF_CALLS).clamp(first, most);
        let pairs = (TOLD / interval).clamp(1, MOST_PAIRS as u64);
        (pairs as usize, interval)
    }

    /// Calls of each side of a pair of the next block.
    pub fn calls_of_arm(&self) -> u64 {
        match self.is_in_doubt {
            true => CALLS_IN_DOUBT,
            false => 1,
        }
    }

    /// Adds a block.
    pub fn add(&mut self, key: &impl Key, pairs: &[AgreedPair]) {
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
        self.is_in_doubt = 2 * lost >= pairs.len();
    }

    /// Whether the native MPI is quicker, by the last eight pairs or the last sixteen.
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
    use crate::guard::CellKey;

    fn block(native: u64, plan: u64, period: u64) -> Vec<AgreedPair> {
        let call = |duration, period| Agreed {
            least: duration,
            most: duration,
            period,
            is_known: true,
        };
        let pair = AgreedPair {
            native: call(native, 1000),
            plan: call(plan, period),
        };
        vec![pair; MOST_PAIRS]
    }

    #[test]
    fn pairs_become_rarer_with_the_calls_and_come_at_once_where_one_is_lost() {
        let key = CellKey::new(Operation::Allreduce, 0, Some(8), false);
        let mut watch = Watch::default();
        for (calls, expected) in [
            (0, (4, 64)),
            (8_192, (4, 64)),
            (16_384, (2, 128)),
            (65_536, (1, 512)),
            (1 << 30, (1, 1024)),
        ] {
            assert_eq!(watch.next(calls), expected, "{calls}");
        }
        watch.add(&key, &block(100, 50, 1000)[..1]);
        assert_eq!(watch.next(1 << 30), (1, 1024));
        watch.add(&key, &block(100, 150, 1000)[..1]);
        assert_eq!(watch.next(1 << 30), (8, 16));
        watch.add(&key, &block(100, 50, 1000));
        assert_eq!(watch.next(1 << 30), (1, 1024));
    }

    #[test]
    fn eight_lost_pairs_in_a_row_end_it() {
        let key = CellKey::new(Operation::Allreduce, 0, Some(8), false);
        let mut watch = Watch::default();
        for _ in 0..5 {
            watch.add(&key, &block(100, 50, 1000));
            assert!(!watch.is_lost());
        }
        watch.add(&key, &block(100, 150, 1000)[..7]);
        assert!(!watch.is_lost());
        watch.add(&key, &block(100, 150, 1000)[..1]);
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
