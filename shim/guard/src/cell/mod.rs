//! One cell: warm-up, trials, the plan that was adopted, and the watch over it.
//!
//! ```text
//! next    what is tried next, and how much of it the budget covers
//! judge   what the numbers of all ranks say of a block
//! ```

mod judge;
mod next;

use std::mem;

pub(super) use next::Prices;

use super::block::{Arm, Block, MOST_PAIRS, Slot};
use super::contender::{Contender, worth_trying};
use super::key::Key;
use super::times::{Local, OF_A_CALL, Typical, Work};
use super::tried::Tried;
use super::watch::Watch;
use super::{BUDGET, CellKey, ELIGIBLE, Found, Known, State, WARM_UP, Way};
use treepie_base::proof::Signs;
use treepie_choice::Challenger;

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

/// Calls of a plan, and the nanoseconds that they took.
#[derive(Debug, Clone, Copy, Default)]
struct Calls {
    count: u64,
    nanoseconds: u64,
}

impl Calls {
    fn add(&mut self, count: u64, nanoseconds: u64) {
        self.count += count;
        self.nanoseconds = self.nanoseconds.saturating_add(nanoseconds);
    }

    /// Nanoseconds by which they took less than as many native calls of `native` each.
    fn saved(self, native: u64) -> i64 {
        let saved = i128::from(self.count) * i128::from(native) - i128::from(self.nanoseconds);
        saved.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }
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
    /// Those of before since it was last compared with the native MPI.
    not_compared: Calls,
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
            not_compared: Calls::default(),
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
    pub(crate) fn lacks_challengers(&self) -> bool {
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
    pub(crate) fn is_never_alike(&self) -> bool {
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

    /// The challengers that are neither adopted nor dropped.
    fn open(&self) -> impl Iterator<Item = usize> {
        let all = 0..self.tried.len();
        all.filter(|&at| matches!(self.tried[at].state, State::Warming | State::Trying))
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

    /// Nanoseconds that plans have saved so far, but for calls that were not compared since.
    pub fn saved(&self) -> i128 {
        self.tried.iter().map(|tried| i128::from(tried.saved)).sum()
    }

    /// Nanoseconds that the plan at this place in `tried` has saved so far. For its calls since it
    /// was compared last, the native MPI takes its median.
    pub(crate) fn saved_by(&self, at: usize) -> i64 {
        let tried = &self.tried[at];
        match (self.native.median(), tried.plan.median()) {
            (Some(native), Some(plan)) if at == self.current => {
                let mut since = self.not_compared;
                since.add(self.plan_calls, self.plan_calls.saturating_mul(plan));
                tried.saved.saturating_add(since.saved(native))
            }
            _ => tried.saved,
        }
    }

    /// Nanoseconds that trying has cost so far.
    fn spent(&self) -> u64 {
        self.excess.saturating_add(self.exchanges)
    }

    /// Those beyond what its own time pays for.
    pub(crate) fn overdrawn(&self) -> u64 {
        self.spent().saturating_sub(self.time() / BUDGET)
    }

    /// Whether nothing but the plan that runs is measured: not what anybody waits for.
    pub(crate) fn is_watched_alone(&self) -> bool {
        self.block.as_ref().is_some_and(Block::is_alone)
    }

    /// The exchange before this one took `cost`, of which it bears as large a part as its calls had
    /// of all `calls` before that.
    pub(crate) fn bears(&mut self, cost: u64, calls: u64) {
        let part = u128::from(cost) * u128::from(self.to_bear) / u128::from(calls.max(1));
        let part = u64::try_from(part).unwrap_or(u64::MAX);
        self.exchanges = self.exchanges.saturating_add(part);
        self.to_bear = self.calls - mem::replace(&mut self.borne, self.calls);
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
