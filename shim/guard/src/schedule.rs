//! Schedule of exchanges: the calls at which the ranks of a communicator exchange numbers, and at
//! which they use them. It follows from values that all of them know, so that all do so at the same
//! calls.

use crate::policy::{
    EXCHANGE_PART, GAP_CALLS, GAP_NS, LAG_CALLS, LAG_GAPS, LONG_LAG_CALLS, MAX_LAG_CALLS,
    MIN_LONG_CALL_GAP, SOLO_GAP_CALLS, UNPRICED_GAP_CALLS, UNPRICED_GAP_NS,
};

/// Number of calls, and their nanoseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TimedCalls {
    pub calls: u128,
    pub time: u128,
}

impl TimedCalls {
    /// Returns the number of calls that take `nanoseconds` nanoseconds; `None` if there is no
    /// measurement.
    fn calls_in(self, nanoseconds: u128) -> Option<u64> {
        let calls = (nanoseconds * self.calls).checked_div(self.time)?;
        Some(u64::try_from(calls).unwrap_or(u64::MAX))
    }

    /// Returns the nanoseconds of `calls` calls; 0 if there is no measurement.
    fn time_of(self, calls: u64) -> u64 {
        let time = (u128::from(calls) * self.time).checked_div(self.calls);
        u64::try_from(time.unwrap_or(0)).unwrap_or(u64::MAX)
    }

    /// Returns the number of calls in [`GAP_NS`].
    fn calls_in_gap_time(self) -> u64 {
        self.calls_in(u128::from(GAP_NS)).unwrap_or(u64::MAX)
    }
}

/// Completed exchange.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Completed {
    /// Call at which it began, and number of calls from there until its numbers were used.
    pub at: u64,
    pub lag: u64,
    /// True if there is more to agree on.
    pub goes_on: bool,
    /// Nanoseconds of the previous one; `None` as long as they are unknown.
    pub cost: Option<u64>,
    /// Nanoseconds of the previous one on the rank that waited least.
    pub least: u64,
    /// True if all ranks wait for each other in each call.
    pub synchronises: bool,
    /// Calls and time of the job since the previous one.
    pub since: TimedCalls,
    /// Number of calls from the end of its lag until there may be a result to agree on again.
    pub waits: Option<u64>,
}

/// Schedule of the next exchange.
#[derive(Debug, Clone)]
pub(crate) struct Schedule {
    is_alone: bool,
    next: u64,
    /// Call until which it waits for a block.
    latest: u64,
    gap: u64,
    /// Lag of the last exchange, and one in which no rank would have waited so far.
    last_lag: u64,
    unwaited_lag: u64,
}

impl Schedule {
    /// Creates the schedule before the first exchange. `is_alone`: the rank decides alone.
    pub fn new(is_alone: bool) -> Self {
        let [gap, _] = if is_alone { SOLO_GAP_CALLS } else { GAP_CALLS };
        Schedule {
            is_alone,
            next: gap,
            latest: gap,
            gap,
            last_lag: 0,
            unwaited_lag: 0,
        }
    }

    /// True if the next exchange begins after `calls` calls, unless it [waits](Self::waits_for).
    pub fn is_due(&self, calls: u64) -> bool {
        calls >= self.next
    }

    /// True if it waits for a block that is complete after at least `missing` further calls.
    pub(crate) fn waits_for(&mut self, calls: u64, missing: u64) -> bool {
        let waits = missing > 0 && calls + missing <= self.latest;
        if waits {
            self.next = calls + missing;
        }
        waits
    }

    /// Returns the number of calls from the start of an exchange until its numbers are used.
    pub fn lag(&self, cells: TimedCalls, synchronises: bool) -> u64 {
        if self.is_alone {
            return 0;
        }
        if synchronises {
            return LAG_CALLS;
        }
        // Calls in which no rank waits for all others may end long before an exchange does. A later
        // use of its numbers costs less than waits of ranks for them.
        let calls = cells.calls_in_gap_time();
        let [usual, most] = LAG_GAPS.map(|times| calls.saturating_mul(times));
        let usual = usual.clamp(LAG_CALLS, LONG_LAG_CALLS);
        usual.max(self.unwaited_lag.min(most.min(MAX_LAG_CALLS)))
    }

    /// Returns the minimum and maximum number of calls between two exchanges.
    fn gaps(&self, cells: TimedCalls) -> [u64; 2] {
        let [least, most] = GAP_CALLS;
        match self.is_alone {
            true => SOLO_GAP_CALLS,
            false => [
                cells.calls_in_gap_time().clamp(MIN_LONG_CALL_GAP, least),
                most,
            ],
        }
    }

    /// Schedules the next exchange: soon while there is more to agree on, otherwise at increasing
    /// distances. `cells`: the calls whose times are known.
    pub(crate) fn plan_next(&mut self, completed: &Completed, cells: TimedCalls) {
        let [least_gap, most_gap] = self.gaps(cells);
        self.gap = match completed.goes_on {
            true => least_gap,
            false => (2 * self.gap).min(most_gap),
        };
        let waits = completed.waits.map_or(u64::MAX, |calls| {
            calls.saturating_add(completed.lag).max(least_gap)
        });
        let gap = (self.gap + completed.lag).min(waits);
        self.learn_lag(completed);
        let gap = gap.max(self.affordable(completed, cells));
        self.next = completed.at.saturating_add(gap.min(u64::MAX / 2));
        self.latest = self.next + GAP_CALLS[0];
        self.last_lag = completed.lag;
    }

    /// Delays the use of the next exchanges by the waits of ranks in the previous one.
    fn learn_lag(&mut self, completed: &Completed) {
        let Some(cost) = completed.cost else {
            return;
        };
        let waited = cost.saturating_sub(completed.least);
        match completed.since.calls_in(waited.into()) {
            Some(calls @ 1..) => {
                let unwaited = self.last_lag.saturating_add(calls);
                self.unwaited_lag = self.unwaited_lag.max(unwaited);
            }
            // Results that are agreed on earlier are used earlier, and the calls may be others now.
            _ if completed.goes_on => self.unwaited_lag /= 2,
            _ => (),
        }
    }

    /// Returns the number of calls after which the expected cost of another exchange is affordable.
    fn affordable(&self, completed: &Completed, cells: TimedCalls) -> u64 {
        let since = completed.since;
        let Some(cost) = completed.cost else {
            let calls = since.calls_in(u128::from(UNPRICED_GAP_NS));
            return calls.unwrap_or(UNPRICED_GAP_CALLS).min(UNPRICED_GAP_CALLS);
        };
        let later = self.lag(cells, completed.synchronises);
        let later = later.saturating_sub(self.last_lag);
        let cost = cost
            .saturating_sub(since.time_of(later))
            .max(completed.least);
        let price = u128::from(cost) * u128::from(EXCHANGE_PART);
        // By the time of the cells, and of the job, including its other work: calls may overlap.
        let all = [cells, since].map(|took| took.calls_in(price).unwrap_or(0));
        all[0].max(all[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_ranks_have_waited_the_next_exchange_is_used_later_and_comes_as_soon() {
        let took = TimedCalls {
            calls: 1_000,
            time: 2_000_000_000,
        };
        let mut schedule = Schedule::new(false);
        let completed = Completed {
            at: 1_000,
            lag: schedule.lag(took, false),
            goes_on: true,
            cost: Some(700_100_000),
            least: 100_000,
            synchronises: false,
            since: took,
            waits: None,
        };
        assert_eq!(completed.lag, LONG_LAG_CALLS);
        // Concerns the previous exchange, of the same lag.
        schedule.last_lag = LONG_LAG_CALLS;
        schedule.plan_next(&completed, took);
        assert_eq!(schedule.lag(took, false), LONG_LAG_CALLS + 350);
        assert!(!schedule.is_due(1_100) && schedule.is_due(1_300));
    }
}
