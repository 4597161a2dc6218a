//! One cell: warm-up, trials, the plan that was adopted, and the watch over it.

use std::mem;

use super::block::{AgreedPair, Arm, Arms, Block, MOST_PAIRS, Slot, agreed};
use super::contender::{Contender, worth_trying};
use super::key::{Key, mix};
use super::times::{Local, OF_A_CALL, Typical, Work};
use super::tried::Tried;
use super::watch::Watch;
use super::{BUDGET, CellKey, Challenger, ELIGIBLE, Found, Known, ODDS, State, WARM_UP, Way};
use crate::proof::Signs;

/// The first pairs of a challenger are not judged: connections are made in them.
const UNJUDGED: u32 = 2;

/// An arm lasts so many nanoseconds, of as many calls as that takes, at most [`MOST_OF_ARM`] of
/// which are measured: of a call that takes less than a microsecond, one alone tells what a plan
/// takes that is not in the processor's caches.
const ARM: u64 = 10_000;
const MOST_OF_ARM: u64 = 16;

/// Odds at which a challenger has won by single calls, and is tried in rows.
const WORTH_ROWS: u32 = 5;

/// Calls from one pair to the next in a cell that started with the plan of an earlier run.
const FIRST_INTERVAL: u64 = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The native MPI runs, and nothing was agreed on yet.
    Warming { has_challengers: bool },
    /// Blocks of pairs, each by one challenger, `current`.
    Trying,
    /// The plan `current` runs, and is watched.
    Adopted,
    /// The native MPI, for good.
    Left(State),
}

/// What is measured of a call.
#[derive(Debug, Clone, Copy)]
pub(super) enum Measured {
    WarmUp(usize),
    /// In the block of this number: it may be another's turn when a call ends.
    Pair(Slot, u64),
}

/// Nanoseconds that trying takes beside the calls, as all ranks know them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prices {
    /// What the first call of an algorithm of the native MPI needs.
    pub making: u64,
    /// Ranks wait for each other.
    pub aligning: u64,
}

/// Calls that are judged together.
#[derive(Debug, Clone)]
pub(super) struct Cell<K, C> {
    pub key: K,
    pub number: u64,
    pub calls: u64,
    pub native: Typical,
    /// What a call lasts longer than it takes until the next one.
    overlap: Typical,
    /// Nanoseconds that pairs took beyond those of what would have run without them.
    pub excess: u64,
    /// Nanoseconds of exchanges, as far as they were about this cell.
    pub exchanges: u64,
    /// Its calls until the last exchange, and between the two before it.
    borne: u64,
    to_bear: u64,
    pub tried: Vec<Tried<C>>,
    native_calls: u64,
    /// Calls by the plan that was adopted since it was last measured, and nanoseconds of those
    /// before: they may take longer than they took in pairs.
    plan_calls: u64,
    plan_time: u64,
    warm_up: [Local; WARM_UP as usize],
    /// Start of the last call of the warm-up.
    entered: u64,
    stage: Stage,
    current: usize,
    block: Option<Block>,
    blocks: u64,
    watch: Watch,
}

impl<K: Key, C: Contender> Cell<K, C> {
    /// A cell without calls; with what an earlier run has found, it starts with that plan.
    pub fn new(key: K, known: Option<&Known<K, C>>, seed: u64) -> Self {
        let mut cell = Cell {
            key,
            number: key.number(),
            calls: 0,
            native: Typical::default(),
            overlap: Typical::default(),
            excess: 0,
            exchanges: 0,
            borne: 0,
            to_bear: 0,
            tried: Vec::new(),
            native_calls: 0,
            plan_calls: 0,
            plan_time: 0,
            warm_up: Default::default(),
            entered: 0,
            stage: Stage::Warming {
                has_challengers: false,
            },
            current: 0,
            block: None,
            blocks: 0,
            watch: Watch::default(),
        };
        if let Some(known) = known {
            let mut tried = Tried::new(known.challenger);
            tried.state = State::Adopted;
            tried.plan = Typical::known(known.plan);
            cell.watch.compared(&tried.plan);
            cell.native = Typical::known(known.native);
            cell.tried = vec![tried];
            cell.stage = Stage::Adopted;
            // Before there is a budget: what an earlier run found may not hold any more.
            cell.begin_block(MOST_PAIRS, WARM_UP, FIRST_INTERVAL, seed);
        }
        cell
    }

    /// The start of a call: how it is run, and what is measured of it, with the time now. The time
    /// is read only where it is needed.
    pub fn enter(&mut self, clock: impl Fn() -> u64) -> (Way<C>, Option<(Measured, u64)>) {
        let call = self.calls;
        self.calls += 1;
        let mut measured = None;
        let mut arm = match self.stage {
            Stage::Adopted => Arm::Plan,
            _ => Arm::Native,
        };
        match &mut self.block {
            Some(block) if !block.is_complete() => {
                if let Some((slot, start)) = block.enter(call, clock) {
                    arm = slot.arm;
                    measured = start.map(|now| (Measured::Pair(slot, self.blocks), now));
                }
            }
            None if matches!(self.stage, Stage::Warming { .. }) && call <= WARM_UP => {
                let now = clock();
                if let Some(before) = call.checked_sub(1) {
                    self.warm_up[before as usize].period = now.saturating_sub(self.entered);
                }
                self.entered = now;
                let place = (call < WARM_UP).then_some(call as usize);
                if let Some(place) = place {
                    self.warm_up[place].begin();
                }
                measured = place.map(|place| (Measured::WarmUp(place), now));
            }
            _ => (),
        }
        let plan = self.tried.get(self.current).map(|tried| tried.challenger);
        match (arm, plan) {
            (Arm::Plan, Some(plan)) => {
                self.plan_calls += u64::from(self.stage == Stage::Adopted);
                (Way::By(plan), measured)
            }
            _ => {
                self.native_calls += 1;
                (Way::Native, measured)
            }
        }
    }

    /// The duration of a call that is measured, and its work.
    pub fn leave(&mut self, measured: Measured, duration: u64, work: Work) {
        match (measured, &mut self.block) {
            (Measured::WarmUp(call), _) => self.warm_up[call].end(duration, work),
            (Measured::Pair(slot, number), Some(block)) if number == self.blocks => {
                block.leave(slot, duration, work);
            }
            (Measured::Pair(..), _) => (),
        }
    }

    /// A call begins at this time: ranks have waited for each other.
    pub fn aligned(&mut self, measured: Measured, now: u64) {
        match (measured, &mut self.block) {
            (Measured::Pair(slot, number), Some(block)) if number == self.blocks => {
                block.aligned(slot, now);
            }
            _ => (),
        }
    }

    /// What was adopted, as long as it is.
    pub fn adopted(&self) -> Option<C> {
        let adopted = self.tried.get(self.current);
        let adopted = adopted.filter(|_| self.stage == Stage::Adopted);
        adopted.map(|tried| tried.challenger)
    }

    /// The plan that was adopted, as what another cell may begin with.
    fn known(&self) -> Option<Known<K, C>> {
        Some(Known {
            key: self.key,
            challenger: self.adopted()?,
            native: self.native.median()?,
            plan: self.tried.get(self.current)?.plan.median()?,
        })
    }

    /// The plan that was to run does not serve the call, as all ranks see: it is tried no more.
    pub fn unserved(&mut self) {
        self.block = None;
        self.end_current(State::Closed);
    }

    /// Whether challengers are to be looked for now.
    pub fn lacks_challengers(&self) -> bool {
        self.calls >= ELIGIBLE
            && self.stage
                == Stage::Warming {
                    has_challengers: false,
                }
    }

    /// Takes the challengers worth a trial, the best first.
    pub fn offer(&mut self, challengers: Vec<C>) {
        let challengers = worth_trying(challengers);
        self.stage = match challengers.is_empty() {
            true => Stage::Left(State::Closed),
            false => Stage::Warming {
                has_challengers: true,
            },
        };
        self.tried = challengers.into_iter().map(Tried::new).collect();
    }

    /// Whether the native MPI runs it for good.
    pub fn is_left(&self) -> bool {
        matches!(self.stage, Stage::Left(_))
    }

    /// Whether it does since there was no pair whose sides could be compared.
    pub fn is_never_alike(&self) -> bool {
        let is_unknown = |tried: &Tried<C>| tried.signs == Signs::default();
        self.stage == Stage::Left(State::Dropped) && self.tried.iter().all(is_unknown)
    }

    /// Whether there is something to agree on.
    pub fn is_ready(&self) -> bool {
        match self.stage {
            Stage::Warming { has_challengers } => has_challengers,
            Stage::Trying | Stage::Adopted => {
                self.block.as_ref().is_some_and(|block| block.is_complete())
            }
            Stage::Left(_) => false,
        }
    }

    /// This rank's numbers of an exchange.
    pub fn values(&self, into: &mut Vec<i64>) {
        match &self.block {
            Some(block) => block.values(into),
            None => {
                for call in &self.warm_up {
                    into.extend(call.values(true));
                    into.extend([0; OF_A_CALL]);
                }
            }
        }
    }

    /// Decides by the least numbers of all ranks; what changes. A plan is adopted only where
    /// `adopts` says so.
    pub fn judge(&mut self, values: &[i64], adopts: bool) -> Option<(C, State)> {
        match (self.stage, self.block.take()) {
            (Stage::Warming { .. }, _) => {
                // Of the other half of each pair nothing was measured.
                let calls = agreed(values, MOST_PAIRS)
                    .into_iter()
                    .map(|pair| pair.native);
                for call in calls.filter(|call| call.is_known) {
                    let share = call.share(&self.key);
                    self.native.add(share);
                    self.overlap.add(call.duration(&self.key) - share);
                }
                self.stage = Stage::Trying;
                self.tried[self.current].state = State::Trying;
                None
            }
            (Stage::Trying, Some(block)) => {
                self.judge_trial(&block.agreed(values), block.arms(), adopts)
            }
            (Stage::Adopted, Some(block)) => {
                let mut pairs = block.agreed(values);
                if block.is_alone() {
                    pairs.retain(|pair| pair.plan.is_known);
                    let took = pairs.iter().map(|pair| pair.plan.share(&self.key));
                    let typical = Typical::of(took);
                    self.plan_took(&typical);
                    self.watch.alone(&typical);
                    return None;
                }
                pairs.retain(AgreedPair::is_known);
                self.judge_watch(&pairs, block.arms())
            }
            _ => None,
        }
    }

    fn judge_trial(
        &mut self,
        pairs: &[AgreedPair],
        arms: Arms,
        adopts: bool,
    ) -> Option<(C, State)> {
        let odds = ODDS * self.tried.len() as u32;
        let tried = &mut self.tried[self.current];
        for pair in pairs {
            tried.pairs += 1;
            if !pair.is_known() {
                continue;
            }
            let (native, plan) = (
                pair.native.duration(&self.key),
                pair.plan.duration(&self.key),
            );
            self.native.add(pair.native.share(&self.key));
            tried.took(plan, native);
            tried.plan.add(pair.plan.share(&self.key));
            self.excess += arms.calls * plan.saturating_sub(native);
            if tried.pairs > UNJUDGED {
                tried.judge(&self.key, pair);
            }
        }
        tried.last_block = pairs.len();
        let is_alone = arms == Arms::SINGLE && self.key.has_rows();
        let is_quicker = tried.is_quicker(odds) && !is_alone;
        let state = match () {
            () if is_alone && tried.is_quicker(WORTH_ROWS) => {
                tried.try_in_rows();
                return None;
            }
            () if is_quicker && adopts => State::Adopted,
            () if is_quicker => State::Proven,
            () if tried.is_done() => State::Dropped,
            () => return None,
        };
        let challenger = tried.challenger;
        match state {
            State::Adopted => {
                tried.state = state;
                self.stage = Stage::Adopted;
                self.watch.compared(&tried.plan);
            }
            _ => self.end_current(state),
        }
        Some((challenger, state))
    }

    fn judge_watch(&mut self, pairs: &[AgreedPair], arms: Arms) -> Option<(C, State)> {
        if pairs.is_empty() {
            // As long as none can be compared, none comes out of turn.
            self.watch.wait_for_turn();
            return None;
        }
        let measured = arms.measured();
        let took = pairs.iter().map(|pair| pair.plan.share(&self.key));
        self.plan_took(&Typical::of(took));
        let tried = &mut self.tried[self.current];
        for pair in pairs {
            let (native, plan) = (
                pair.native.duration(&self.key),
                pair.plan.duration(&self.key),
            );
            self.native.add(pair.native.share(&self.key));
            tried.plan.add(pair.plan.share(&self.key));
            self.excess += measured * native.saturating_sub(plan);
            tried.watch(pair.plan.is_quicker_than(&pair.native, &self.key));
        }
        let [native, plan] = [&self.native, &tried.plan].map(|typical| typical.median());
        let excess = native.unwrap_or(0).saturating_sub(plan.unwrap_or(0));
        self.excess += (arms.calls - measured) * pairs.len() as u64 * excess;
        self.watch.compared(&tried.plan);
        self.watch.add(&self.key, pairs);
        if !self.watch.is_lost() {
            return None;
        }
        let challenger = tried.challenger;
        self.end_current(State::TakenBack);
        Some((challenger, State::TakenBack))
    }

    /// The end of the current challenger; others are tried where this one was not quicker.
    fn end_current(&mut self, state: State) {
        if let Some(tried) = self.tried.get_mut(self.current) {
            tried.state = state;
        }
        let goes_on = self.stage == Stage::Trying && state != State::Proven;
        if !(goes_on && self.open().next().is_some()) {
            self.stage = Stage::Left(state);
        }
    }

    /// The challengers that are neither adopted nor dropped.
    fn open(&self) -> impl Iterator<Item = usize> {
        let all = 0..self.tried.len();
        all.filter(|&at| matches!(self.tried[at].state, State::Warming | State::Trying))
    }

    /// The calls of late by the plan that was adopted took so much.
    fn plan_took(&mut self, typical: &Typical) {
        if let Some(nanoseconds) = typical.median() {
            let took = self.plan_calls.saturating_mul(nanoseconds);
            self.plan_time = self.plan_time.saturating_add(took);
            self.plan_calls = 0;
        }
    }

    /// Nanoseconds of the cell so far, without what is only tried: calls by their typical
    /// durations, of which most are not measured.
    pub fn time(&self) -> u64 {
        let of =
            |calls: u64, typical: &Typical| calls.saturating_mul(typical.median().unwrap_or(0));
        let plan = self.tried.get(self.current);
        let by_plan = plan.map_or(0, |tried| of(self.plan_calls, &tried.plan));
        of(self.native_calls, &self.native)
            .saturating_add(self.plan_time)
            .saturating_add(by_plan)
    }

    /// Whether nothing but the plan that runs is measured: not what anybody waits for.
    pub fn is_watched_alone(&self) -> bool {
        self.block.as_ref().is_some_and(Block::is_alone)
    }

    /// The exchange before this one took `cost`, of which it bears as large a part as its calls had
    /// of all `calls` before that.
    pub fn bears(&mut self, cost: u64, calls: u64) {
        let part = u128::from(cost) * u128::from(self.to_bear) / u128::from(calls.max(1));
        let part = u64::try_from(part).unwrap_or(u64::MAX);
        self.exchanges = self.exchanges.saturating_add(part);
        self.to_bear = self.calls - mem::replace(&mut self.borne, self.calls);
    }

    /// Begins a block, if the budget covers one, and says so. Where it covers none, a plan that
    /// runs is measured by itself.
    pub fn try_more(&mut self, prices: Prices, seed: u64) -> bool {
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
                    false => self.covered(&self.tried[self.current], typical, prices),
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
        let spent = self.excess.saturating_add(self.exchanges);
        let left = (self.time() / BUDGET).saturating_sub(spent.saturating_add(making));
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

    /// Calls until there may be something to agree on, or to begin: a block that is under way is
    /// complete, or a plan that runs is to be compared again.
    pub fn waits(&self) -> Option<u64> {
        match &self.block {
            Some(block) => Some(block.end().saturating_sub(self.calls)),
            None if self.stage == Stage::Adopted => Some(self.watch.next(self.calls).1),
            None => None,
        }
    }

    /// Calls until the block that is under way is complete.
    pub fn missing(&self) -> Option<u64> {
        let block = self.block.as_ref().filter(|block| !block.is_complete())?;
        Some(block.end().saturating_sub(self.calls))
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

    fn begin_block(&mut self, pairs: usize, start: u64, interval: u64, seed: u64) {
        let order = mix(mix(seed, self.number), self.blocks);
        let arms = self.arms(&self.tried[self.current]);
        self.blocks += 1;
        self.block = Some(Block::new(pairs, order, start, interval, arms));
    }

    /// Its state while it is not left to the MPI for good, or why it is.
    pub fn state(&self) -> State {
        match self.stage {
            Stage::Warming { .. } => State::Warming,
            Stage::Trying => State::Trying,
            Stage::Adopted => State::Adopted,
            Stage::Left(state) => state,
        }
    }
}

impl Cell<CellKey, Challenger> {
    /// What its calls have come to.
    pub fn found(&self) -> Found {
        match (self.known(), self.stage) {
            (Some(known), _) => Found::Adopted(known),
            (None, Stage::Left(_)) => Found::Left,
            (None, _) => Found::Open,
        }
    }
}
