//! Pairs, of calls by the native MPI and by a plan, in random order.

use crate::policy::{CALL_VALUES, CALLS_PER_ROW, MAX_BLOCK_PAIRS};
use crate::times::{AgreedTimes, LocalTimes, Work};

/// Calls of each of the two sides of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arms {
    /// Number of calls.
    pub calls: u64,
    /// True if ranks wait for each other before the first call. Then all calls are measured: they
    /// include neither the other arm's unfinished communication nor that of ranks which are ahead.
    /// Otherwise, of several calls, all except the first are measured, which finds messages and
    /// caches in the state that the other arm has left.
    pub are_aligned: bool,
}

impl Arms {
    /// One call.
    pub const SINGLE: Arms = Arms {
        calls: 1,
        are_aligned: false,
    };

    /// A row of consecutive calls, as in a program that calls repeatedly.
    pub const ROW: Arms = Arms {
        calls: CALLS_PER_ROW,
        are_aligned: true,
    };

    /// Returns arms of `measured` measured calls, after one that is not measured.
    pub fn warmed_up(measured: u64) -> Self {
        Arms {
            calls: 1 + measured,
            are_aligned: false,
        }
    }

    /// Returns the number of measured calls of an arm.
    pub fn measured(self) -> u64 {
        self.calls - u64::from(!self.measures(0))
    }

    /// True if the call at this index of an arm is measured.
    fn measures(self, place: u64) -> bool {
        place > 0 || self.are_aligned || self.calls == 1
    }
}

/// One of the two sides of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arm {
    /// Calls by the native MPI.
    Native,
    /// Calls by the plan.
    Plan,
}

/// Position of a call in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot {
    pub pair: usize,
    pub arm: Arm,
    pub is_measured: bool,
    /// True if all ranks wait for each other before it.
    pub is_aligned: bool,
}

/// Times of a pair over all ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AgreedPair {
    pub native: AgreedTimes,
    pub plan: AgreedTimes,
}

impl AgreedPair {
    /// True if both of its calls have ended on all ranks.
    pub fn is_known(&self) -> bool {
        self.native.is_known && self.plan.is_known
    }
}

/// Pairs of calls of one cell, or calls by its plan alone.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    pairs: usize,
    /// Number of sides of a pair: both, or only the plan's.
    sides: u64,
    /// Bit `i`: the plan is first in pair `i`.
    order: u64,
    /// Number of the cell's call that is the first of the first pair.
    start: u64,
    /// Number of calls from the start of a pair to that of the next.
    interval: u64,
    arms: Arms,
    /// Sums over the measured calls of an arm.
    times: [[LocalTimes; 2]; MAX_BLOCK_PAIRS],
    /// Call whose period ends when the next call starts, and its start.
    open: Option<(Slot, u64)>,
    complete: bool,
}

impl Block {
    /// Creates a block of `pairs` pairs from the cell's call `start` on, each `interval` calls (at
    /// least its own) after the previous one.
    pub fn new(pairs: usize, order: u64, start: u64, interval: u64, arms: Arms) -> Self {
        Block {
            pairs: pairs.clamp(1, MAX_BLOCK_PAIRS),
            sides: 2,
            order,
            start,
            interval: interval.max(2 * arms.calls),
            arms,
            times: Default::default(),
            open: None,
            complete: false,
        }
    }

    /// Creates a block of calls by the plan alone, which runs anyway: they are only measured, with
    /// caches in the state that the plan has left.
    pub fn alone(start: u64, interval: u64) -> Self {
        Block {
            sides: 1,
            ..Block::new(MAX_BLOCK_PAIRS, 0, start, interval, Arms::SINGLE)
        }
    }

    /// True if it has no calls by the native MPI.
    pub fn is_alone(&self) -> bool {
        self.sides == 1
    }

    /// Returns the sides of its pairs.
    pub fn arms(&self) -> Arms {
        self.arms
    }

    /// True if all calls have been measured.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Returns the number of the cell's call that completes the measurement.
    pub fn end(&self) -> u64 {
        self.start + (self.pairs as u64 - 1) * self.interval + self.sides * self.arms.calls + 1
    }

    /// Returns the position of the cell's call of this number, if it is in a pair.
    fn slot(&self, call: u64) -> Option<Slot> {
        let since = call.checked_sub(self.start)?;
        let (pair, place) = ((since / self.interval) as usize, since % self.interval);
        let (second, place) = (place / self.arms.calls, place % self.arms.calls);
        if pair >= self.pairs || second >= self.sides {
            return None;
        }
        let plan_is_first = self.order >> pair & 1 == 1;
        let arm = match self.is_alone() || plan_is_first == (second == 0) {
            true => Arm::Plan,
            false => Arm::Native,
        };
        Some(Slot {
            pair,
            arm,
            is_measured: self.arms.measures(place),
            is_aligned: self.arms.are_aligned && place == 0,
        })
    }

    /// Starts a call; returns its position, and its start time if its end is needed too. The clock
    /// is read only if needed.
    pub fn enter(&mut self, call: u64, clock: impl FnOnce() -> u64) -> Option<(Slot, Option<u64>)> {
        if self.complete {
            return None;
        }
        let slot = self.slot(call);
        let is_measured = slot.is_some_and(|slot| slot.is_measured);
        self.complete = call + 1 >= self.end();
        if !is_measured && self.open.is_none() {
            return slot.map(|slot| (slot, None));
        }
        let now = clock();
        if let Some((of, start)) = self.open.take() {
            self.time(of).period += now.saturating_sub(start);
        }
        let slot = slot?;
        self.open = is_measured.then_some((slot, now));
        if is_measured {
            self.time(slot).begin();
        }
        Some((slot, is_measured.then_some(now)))
    }

    /// Restarts the time of the call at `slot`, which begins now: ranks have waited for each other.
    pub fn aligned(&mut self, slot: Slot, now: u64) {
        self.open = Some((slot, now));
    }

    /// Adds the duration of the call at `slot`, and its work.
    pub fn leave(&mut self, slot: Slot, duration: u64, work: Work) {
        self.time(slot).end(duration, work);
    }

    /// Returns the times of one call of each arm, from the minimum of all ranks' numbers. Some may
    /// be unknown.
    pub fn agreed(&self, least: &[i64]) -> Vec<AgreedPair> {
        let calls = self.arms.measured();
        let pairs = agreed_pairs(least).take(self.pairs);
        let per_call = pairs.map(|pair| AgreedPair {
            native: pair.native.per_call(calls),
            plan: pair.plan.per_call(calls),
        });
        per_call.collect()
    }

    fn time(&mut self, slot: Slot) -> &mut LocalTimes {
        &mut self.times[slot.pair][slot.arm as usize]
    }

    /// Appends this rank's numbers of an exchange.
    pub fn values(&self, into: &mut Vec<i64>) {
        for [native, plan] in &self.times {
            let are_comparable = self.is_alone() || native.work.is_comparable_to(&plan.work);
            for call in [native, plan] {
                into.extend(call.values(are_comparable));
            }
        }
    }
}

/// Returns pairs from the minimum of all ranks' numbers, some of which may be unknown.
pub(crate) fn agreed_pairs(least: &[i64]) -> impl Iterator<Item = AgreedPair> {
    least.chunks_exact(2 * CALL_VALUES).map(|values| {
        let (native, plan) = values.split_at(CALL_VALUES);
        AgreedPair {
            native: AgreedTimes::from_least(native),
            plan: AgreedTimes::from_least(plan),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pair_has_one_call_of_each_in_the_order_drawn_by_lot() {
        let block = Block::new(3, 0b010, 10, 2, Arms::SINGLE);
        let arms: Vec<Option<Arm>> = (9..17)
            .map(|call| block.slot(call).map(|slot| slot.arm))
            .collect();
        let (n, p) = (Some(Arm::Native), Some(Arm::Plan));
        assert_eq!(arms, [None, n, p, p, n, n, p, None]);
    }

    #[test]
    fn a_plan_alone_is_measured_whatever_it_did() {
        let mut block = Block::alone(5, 8);
        for call in 0..70 {
            assert!(!block.is_complete(), "call {call}");
            if let Some((slot, Some(_))) = block.enter(call, || 10 * call) {
                assert_eq!((slot.arm, (call - 5) % 8), (Arm::Plan, 0));
                let work = Work { calls: 1, bytes: 8 };
                block.leave(slot, 3, work);
            }
            assert_eq!(block.is_complete(), call + 1 >= block.end(), "call {call}");
            if block.is_complete() {
                break;
            }
        }
        let mut values = Vec::new();
        block.values(&mut values);
        let plan = block.agreed(&values).into_iter().map(|pair| pair.plan);
        let known: Vec<u64> = plan
            .filter(|plan| plan.is_known)
            .map(|plan| plan.most)
            .collect();
        assert_eq!(known, [3; MAX_BLOCK_PAIRS]);
    }

    #[test]
    fn of_the_calls_of_an_arm_all_but_the_first_are_measured() {
        let mut block = Block::new(2, 0b10, 10, 0, Arms::warmed_up(2));
        let mut seen = Vec::new();
        for call in 9..24 {
            let entered = block.enter(call, || call * 100);
            if let Some((slot, Some(_))) = entered {
                block.leave(slot, 10 * call, Work::default());
            }
            let place = |(slot, time): (Slot, Option<u64>)| (slot.pair, slot.arm, time);
            seen.push(entered.map(place));
            assert_eq!(block.is_complete(), call >= 22, "call {call}");
        }
        let arm = |pair, arm, first: u64| {
            let times = [None, Some(100 * (first + 1)), Some(100 * (first + 2))];
            times.map(|time| Some((pair, arm, time)))
        };
        let mut expected = vec![None];
        expected.extend(arm(0, Arm::Native, 10));
        expected.extend(arm(0, Arm::Plan, 13));
        expected.extend(arm(1, Arm::Plan, 16));
        expected.extend(arm(1, Arm::Native, 19));
        expected.extend([None; 2]);
        assert_eq!(seen, expected);
        let mut values = Vec::new();
        block.values(&mut values);
        let pairs = block.agreed(&values);
        let durations = pairs.iter().map(|pair| (pair.native.most, pair.plan.most));
        assert_eq!(durations.collect::<Vec<_>>(), [(115, 145), (205, 175)]);
        assert!(pairs.iter().all(|pair| pair.native.period == 100));
    }

    #[test]
    fn a_row_is_measured_from_where_ranks_have_waited_for_each_other() {
        let mut block = Block::new(1, 0, 10, 0, Arms::ROW);
        let mut aligned = Vec::new();
        for call in 10..19 {
            let Some((slot, Some(_))) = block.enter(call, || 100 * call) else {
                continue;
            };
            if slot.is_aligned {
                aligned.push(call);
                block.aligned(slot, 100 * call + 70);
            }
            block.leave(slot, 10, Work::default());
        }
        assert_eq!((aligned, block.is_complete()), (vec![10, 14], true));
        let mut values = Vec::new();
        block.values(&mut values);
        let pair = block.agreed(&values)[0];
        let times = [pair.native, pair.plan].map(|call| (call.most, call.period));
        assert_eq!(times, [(10, (400 - 70) / 4); 2]);
    }

    #[test]
    fn a_block_is_complete_when_the_last_period_has_ended_and_reads_no_clock_between_pairs() {
        for interval in [2, 64] {
            let mut block = Block::new(2, 0, 5, interval, Arms::SINGLE);
            let mut reads = 0;
            let mut now = 0;
            for call in 0..200 {
                now += 10;
                let started = block.enter(call, || {
                    reads += 1;
                    now
                });
                if let Some((slot, _)) = started {
                    block.leave(slot, 3 + slot.pair as u64, Work::default());
                }
                let last = 5 + interval + 1;
                assert_eq!(block.is_complete(), call > last, "call {call}");
                assert_eq!(block.is_complete(), call + 1 >= block.end(), "call {call}");
            }
            assert_eq!(reads, if interval == 2 { 5 } else { 6 });
            let mut values = Vec::new();
            block.values(&mut values);
            assert_eq!(values.len(), crate::policy::BLOCK_VALUES);
            let pairs = block.agreed(&values);
            assert_eq!(pairs.len(), 2);
            assert_eq!((pairs[1].plan.least, pairs[1].plan.period), (4, 10));
        }
    }
}
