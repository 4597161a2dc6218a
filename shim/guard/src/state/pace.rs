//! When the plan in use is compared with the native MPI again.

use crate::policy::{
    DOUBT_INTERVAL_CALLS, MAX_BLOCK_PAIRS, MIN_SOLO_CALLS, SLOWDOWN_PAIRS, SLOWDOWN_PER_CENT,
    SOLO_CALLS_PER_INTERVAL, WATCH_BLOCK_CALLS, WATCH_INTERVAL_CALLS, WATCH_INTERVAL_PART,
};
use crate::times::RecentMedian;

/// The pace of comparisons.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Pace {
    /// Pairs of the next block where that comes at once: the plan lost half of the last block, or
    /// more, or has become slower.
    at_once: Option<usize>,
    /// Time of the plan when it was last compared within the budget, or longer since; in
    /// nanoseconds.
    usual: Option<u64>,
}

impl Pace {
    /// Pairs of the next block, and calls from one to the next, after so many calls of the cell.
    pub fn next(&self, calls: u64) -> (usize, u64) {
        if let Some(pairs) = self.at_once {
            return (pairs, DOUBT_INTERVAL_CALLS);
        }
        let [first, most] = WATCH_INTERVAL_CALLS;
        let interval = (calls / WATCH_INTERVAL_PART).clamp(first, most);
        let pairs = (WATCH_BLOCK_CALLS / interval).clamp(1, MAX_BLOCK_PAIRS as u64);
        (pairs as usize, interval)
    }

    /// Calls from one to the next of those of which the plan alone is measured.
    pub fn interval_alone(&self, calls: u64) -> u64 {
        self.next(calls).1 / SOLO_CALLS_PER_INTERVAL
    }

    /// Whether the plan may not be quicker any more: the next block comes at once.
    pub fn is_in_doubt(&self) -> bool {
        self.at_once.is_some()
    }

    /// The next block does not come at once.
    pub fn wait_for_turn(&mut self) {
        self.at_once = None;
    }

    /// The plan takes `plan` nanoseconds where it is compared with the native MPI.
    pub fn compared(&mut self, plan: Option<u64>) {
        // A block that came out of turn cost what no budget covers: if it lowered this, a load that
        // comes and goes would make many of them.
        if !self.is_in_doubt() {
            self.usual = plan.or(self.usual);
        }
    }

    /// The plan took so much by itself.
    pub fn measured_alone(&mut self, plan: &RecentMedian) {
        let is_enough = plan.count() >= MIN_SOLO_CALLS;
        let (Some(now), Some(usual), true) = (plan.median(), self.usual, is_enough) else {
            return;
        };
        if u128::from(now) * 100 > u128::from(usual) * u128::from(SLOWDOWN_PER_CENT) {
            (self.at_once, self.usual) = (Some(SLOWDOWN_PAIRS), Some(now));
        }
    }

    /// The plan lost so many pairs of a block.
    pub fn judged(&mut self, pairs: usize, lost: usize) {
        self.at_once = (2 * lost >= pairs).then_some(MAX_BLOCK_PAIRS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_become_rarer_with_the_calls_and_come_at_once_where_one_is_lost() {
        let mut pace = Pace::default();
        for (calls, expected) in [
            (0, (4, 64)),
            (8_192, (4, 64)),
            (16_384, (2, 128)),
            (65_536, (1, 512)),
            (1 << 30, (1, 1024)),
        ] {
            assert_eq!(pace.next(calls), expected, "{calls}");
        }
        pace.judged(1, 0);
        assert_eq!(pace.next(1 << 30), (1, 1024));
        pace.judged(1, 1);
        assert_eq!(pace.next(1 << 30), (8, 16));
        pace.judged(8, 0);
        assert_eq!(pace.next(1 << 30), (1, 1024));
    }

    #[test]
    fn a_plan_that_takes_clearly_longer_than_when_it_was_compared_is_compared_at_once() {
        let mut pace = Pace::default();
        let measured = |pace: &mut Pace, durations: &[u64]| {
            let durations = durations.iter().copied();
            pace.measured_alone(&RecentMedian::from_durations(durations));
            pace.is_in_doubt()
        };
        assert!(!measured(&mut pace, &[1_000; 8]), "it was never compared");
        pace.compared(Some(100));
        assert!(!measured(
            &mut pace,
            &[150, 150, 150, 150, 151, 151, 151, 151]
        ));
        assert!(!measured(&mut pace, &[1_000; MIN_SOLO_CALLS - 1]));
        assert!(measured(
            &mut pace,
            &[150, 150, 150, 160, 160, 160, 160, 160]
        ));
        // It is the native MPI's load, too: the plan stays, and only still more is a change.
        pace.compared(Some(100));
        pace.wait_for_turn();
        assert!(!measured(&mut pace, &[200; 8]));
        pace.compared(Some(100));
        assert!(measured(&mut pace, &[200; 8]));
    }
}
