//! What is tried next, and how much of it the budget covers.

use super::super::block::{Arms, Block, MOST_PAIRS};
use super::super::contender::Contender;
use super::super::key::{Key, mix};
use super::super::tried::Tried;
use super::super::{BUDGET, State};
use super::{Cell, Stage};

/// An arm lasts so many nanoseconds, of as many calls as that takes, at most [`MOST_OF_ARM`] of
/// which are measured: of a call that takes less than a microsecond, one alone tells what a plan
/// takes that is not in the processor's caches.
const ARM: u64 = 10_000;
const MOST_OF_ARM: u64 = 16;

/// Nanoseconds that trying takes beside the calls, and may take, as all ranks know them.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Prices {
    /// What the first call of an algorithm of the native MPI needs.
    pub making: u64,
    /// Ranks wait for each other.
    pub aligning: u64,
    /// What a trial may cost beyond what the time of its own cell pays for.
    pub lent: u64,
}

impl<K: Key, C: Contender> Cell<K, C> {
    /// Whether it could begin a block of a trial.
    pub(crate) fn may_try(&self) -> bool {
        self.stage == Stage::Trying && self.block.is_none()
    }

    /// Begins a block, if the budget covers one, and says so. Where it covers none, a plan that
    /// runs is measured by itself.
    pub(crate) fn try_more(&mut self, prices: Prices, seed: u64) -> bool {
        let (Stage::Trying | Stage::Adopted, None) = (self.stage, &self.block) else {
            return false;
        };
        let Some(typical) = self.native.median() else {
            return false;
        };
        let (pairs, interval) = match self.stage {
            Stage::Adopted => {
                let (most, interval) = self.watch.next(self.calls);
                // The MPI's own may be the quicker one: what it takes is no loss.
                let covered = match self.watch.is_in_doubt() {
                    true => most,
                    // What is lent is for what may yet be found.
                    false => {
                        let prices = Prices { lent: 0, ..prices };
                        self.covered(&self.tried[self.current], typical, prices)
                    }
                };
                (covered.min(most), interval)
            }
            _ => (self.choose_next(typical, prices), 2),
        };
        if pairs == 0 {
            if self.stage == Stage::Adopted {
                let interval = self.watch.interval_alone(self.calls);
                self.blocks += 1;
                self.block = Some(Block::alone(self.calls, interval));
            }
            return false;
        }
        let aligning = self.of_aligning(&self.tried[self.current], prices.aligning);
        self.excess += pairs as u64 * aligning;
        self.begin_block(pairs, self.calls, interval, seed);
        true
    }

    /// Makes the challenger current that is expected to be the quickest; how many pairs of it are
    /// next. One that was tried is worth the wait where nothing else promises more.
    fn choose_next(&mut self, native: u64, prices: Prices) -> usize {
        let covered = |at: usize| {
            let tried = &self.tried[at];
            self.covered(tried, tried.longer_at_worst(native), prices)
        };
        let is_worth_it = |&at: &usize| self.tried[at].pairs > 0 || covered(at) > 0;
        let worth_it = self.open().filter(is_worth_it);
        let next = worth_it.min_by_key(|&at| self.tried[at].expected());
        let next = next.unwrap_or(self.current);
        let most = (2 * self.tried[next].last_block).clamp(1, MOST_PAIRS);
        let pairs = covered(next).min(most);
        self.current = next;
        self.tried[next].state = State::Trying;
        pairs
    }

    /// Pairs with this challenger that the budget covers, where each call on one side takes so much
    /// longer than on the other.
    fn covered(&self, tried: &Tried<C>, longer: u64, prices: Prices) -> usize {
        let making = match tried.needs_making() {
            true => prices.making,
            false => 0,
        };
        let left = (self.time() / BUDGET).saturating_sub(self.spent());
        let left = left.saturating_add(prices.lent).saturating_sub(making);
        let of_pair = longer.max(1) * self.arms(tried).calls;
        (left / (of_pair + self.of_aligning(tried, prices.aligning))) as usize
    }

    /// What a pair takes beside its calls where ranks wait for each other before both arms: that,
    /// and what calls do not overlap there.
    fn of_aligning(&self, tried: &Tried<C>, price: u64) -> u64 {
        match self.arms(tried).are_aligned {
            true => 2 * price.saturating_add(self.overlap.median().unwrap_or(0)),
            false => 0,
        }
    }

    /// The sides of a pair of the next block, with this challenger.
    fn arms(&self, tried: &Tried<C>) -> Arms {
        let typical = self.native.median().unwrap_or(u64::MAX).max(1);
        let is_adopted = self.stage == Stage::Adopted;
        let in_rows = is_adopted || tried.is_in_rows() || !self.key.synchronises();
        match (ARM / typical).min(MOST_OF_ARM) {
            0 | 1 if self.key.has_rows() && in_rows => Arms::ROW,
            0 | 1 if is_adopted && self.watch.is_in_doubt() => Arms::warmed_up(1),
            0 | 1 => Arms::SINGLE,
            measured => Arms::warmed_up(measured),
        }
    }

    pub(super) fn begin_block(&mut self, pairs: usize, start: u64, interval: u64, seed: u64) {
        let order = mix(mix(seed, self.number), self.blocks);
        let arms = self.arms(&self.tried[self.current]);
        self.blocks += 1;
        self.block = Some(Block::new(pairs, order, start, interval, arms));
    }
}
