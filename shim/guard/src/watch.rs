//! The watch over an adopted plan: the native MPI as the challenger, and the plan by itself.
//!
//! Where much is gained, a pair costs much beside the calls between two pairs, and the budget
//! allows few. What the plan itself takes is measured for nothing: once that is clearly more than
//! it was when the two were last compared, they are compared at once, whatever the budget says.
//! Where the native MPI takes as much longer, the plan stays, and is compared the next time when it
//! takes still more.

use std::collections::VecDeque;

use super::ODDS;
use super::block::{AgreedPair, MOST_PAIRS};
use super::key::Key;
use super::times::{Typical, is_quicker};
use treepie_base::proof::Signs;

/// Calls from one pair to the next, at first, and at most.
const INTERVALS: [u64; 2] = [64, 1024];

/// In between they are one part in so many of the calls so far: what a change costs until it is
/// seen is small beside what was before it.
const PART_OF_CALLS: u64 = 128;

/// Calls from one pair to the next where the plan has just lost.
const IN_DOUBT: u64 = 16;

/// Pairs where it has only become slower: it may be a load on the machine, under which the native
/// MPI takes longer too, and then pairs cost most.
const PAIRS_OF_A_LOOK: usize = 1;

/// Ranks tell each other after about so many calls.
const TOLD: u64 = 256;

/// Pairs that are judged together: what was before them counts no more.
const JUDGED: usize = 2 * MOST_PAIRS;

/// A plan by itself is compared with the native MPI where it takes more, in hundredths, than when
/// it was last compared within the budget.
const CLEARLY_SLOWER: u64 = 150;

/// The plan alone is measured so many times as often as it is compared.
const PER_INTERVAL: u64 = 4;

/// Measured calls of which that must hold for most, at least.
const ENOUGH_ALONE: usize = MOST_PAIRS / 2;

/// The last pairs of a plan that runs.
#[derive(Debug, Clone, Default)]
pub(super) struct Watch {
    /// Pairs of the next block where that comes at once: the plan lost half of the last block, or
    /// more, or has become slower.
    at_once: Option<usize>,
    /// What the plan took when it was last compared within the budget, or longer since.
    usual: Option<u64>,
    /// Whether the native MPI took less time in each: in the call, and until the next one.
    last: VecDeque<[bool; 2]>,
}

impl Watch {
    /// Pairs of the next block, and calls from one to the next, after so many calls of the cell.
    pub fn next(&self, calls: u64) -> (usize, u64) {
        if let Some(pairs) = self.at_once {
            return (pairs, IN_DOUBT);
        }
        let [first, most] = INTERVALS;
        let interval = (calls / PART_OF_CALLS).clamp(first, most);
        let pairs = (TOLD / interval).clamp(1, MOST_PAIRS as u64);
        (pairs as usize, interval)
    }

    /// Whether the plan may not be quicker any more: the next block comes at once.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.at_once.is_some()
    }

    /// The next block does not come at once.
    pub(crate) fn wait_for_turn(&mut self) {
        self.at_once = None;
    }

    /// Calls from one to the next of those of which the plan alone is measured.
    pub(crate) fn interval_alone(&self, calls: u64) -> u64 {
        self.next(calls).1 / PER_INTERVAL
    }

    /// The plan takes so much where it is compared with the native MPI.
    pub fn compared(&mut self, plan: &Typical) {
        // A block that came out of turn cost what no budget covers: if it lowered this, a load that
        // comes and goes would make many of them.
        if !self.is_in_doubt() {
            self.usual = plan.median().or(self.usual);
        }
    }

    /// The plan took so much by itself.
    pub fn alone(&mut self, plan: &Typical) {
        let is_enough = plan.count() >= ENOUGH_ALONE;
        let (Some(now), Some(usual), true) = (plan.median(), self.usual, is_enough) else {
            return;
        };
        if u128::from(now) * 100 > u128::from(usual) * u128::from(CLEARLY_SLOWER) {
            (self.at_once, self.usual) = (Some(PAIRS_OF_A_LOOK), Some(now));
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
        self.at_once = (2 * lost >= pairs.len()).then_some(MOST_PAIRS);
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
    use crate::CellKey;
    use treepie_collective::Operation;

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
    fn a_plan_that_takes_clearly_longer_than_when_it_was_compared_is_compared_at_once() {
        let mut watch = Watch::default();
        watch.alone(&Typical::of([1_000; 8]));
        assert!(!watch.is_in_doubt(), "it was never compared");
        watch.compared(&Typical::known(100));
        watch.alone(&Typical::of([150, 150, 150, 150, 151, 151, 151, 151]));
        watch.alone(&Typical::of([1_000; ENOUGH_ALONE - 1]));
        assert!(!watch.is_in_doubt());
        watch.alone(&Typical::of([150, 150, 150, 160, 160, 160, 160, 160]));
        assert!(watch.is_in_doubt());
        // It is the native MPI's load, too: the plan stays, and only still more is a change.
        watch.compared(&Typical::known(100));
        watch.wait_for_turn();
        watch.alone(&Typical::of([200; 8]));
        assert!(!watch.is_in_doubt());
        watch.compared(&Typical::known(100));
        watch.alone(&Typical::of([200; 8]));
        assert!(watch.is_in_doubt());
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
