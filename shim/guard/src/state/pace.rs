//! Schedule of comparisons of the plan in use with the native MPI.

use crate::policy::{
    DOUBT_INTERVAL_CALLS, MAX_BLOCK_PAIRS, MIN_SOLO_CALLS, SLOWDOWN_PAIRS, SLOWDOWN_PER_CENT,
    SOLO_CALLS_PER_INTERVAL, WATCH_BLOCK_CALLS, WATCH_INTERVAL_CALLS, WATCH_INTERVAL_PART,
};
use crate::times::RecentMedian;

/// Pace of comparisons.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Pace {
    /// Number of pairs of the next block if that is due immediately: the plan lost at least half of
    /// the last block, or has become slower.
    at_once: Option<usize>,
    /// Time of the plan when it was last compared within the budget, or longer since; in
    /// nanoseconds.
    usual: Option<u64>,
}

impl Pace {
    /// Returns the number of pairs of the next block, and of calls from one to the next, after
    /// `calls` calls of the cell.
    pub fn next(&self, calls: u64) -> (usize, u64) {
        if let Some(pairs) = self.at_once {
            return (pairs, DOUBT_INTERVAL_CALLS);
        }
        let [first, most] = WATCH_INTERVAL_CALLS;
        let interval = (calls / WATCH_INTERVAL_PART).clamp(first, most);
        let pairs = (WATCH_BLOCK_CALLS / interval).clamp(1, MAX_BLOCK_PAIRS as u64);
        (pairs as usize, interval)
    }

    /// Returns the number of calls from one measurement of the plan alone to the next.
    pub fn interval_alone(&self, calls: u64) -> u64 {
        self.next(calls).1 / SOLO_CALLS_PER_INTERVAL
    }

    /// True if the plan may no longer be faster: the next block is due immediately.
    pub fn is_in_doubt(&self) -> bool {
        self.at_once.is_some()
    }

    /// Resets the pace, so that the next block is not due immediately.
    pub fn wait_for_turn(&mut self) {
        self.at_once = None;
    }

    /// Notes that the plan takes `plan` nanoseconds in a comparison with the native MPI.
    pub fn compared(&mut self, plan: Option<u64>) {
        // The cost of an unscheduled block was not covered by the budget: if it lowered this value,
        // a load that comes and goes would cause many of them.
        if !self.is_in_doubt() {
            self.usual = plan.or(self.usual);
        }
    }

    /// Notes the plan's time when it is measured alone.
    pub fn measured_alone(&mut self, plan: &RecentMedian) {
        let is_enough = plan.count() >= MIN_SOLO_CALLS;
        let (Some(now), Some(usual), true) = (plan.median(), self.usual, is_enough) else {
            return;
        };
        if u128::from(now) * 100 > u128::from(usual) * u128::from(SLOWDOWN_PER_CENT) {
            (self.at_once, self.usual) = (Some(SLOWDOWN_PAIRS), Some(now));
        }
    }

    /// Notes that the plan lost `lost` of the `pairs` pairs of a block.
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
        // The load affects the native MPI, too: the plan stays, and only a further increase is a
        // change.
        pace.compared(Some(100));
        pace.wait_for_turn();
        assert!(!measured(&mut pace, &[200; 8]));
        pace.compared(Some(100));
        assert!(measured(&mut pace, &[200; 8]));
    }
}
