//! Agreement between ranks: the exchanges of a guard, and decisions based on their numbers.

use crate::cell::Cell;
use crate::exchange::{AgreedHeader, Due, header};
use crate::guard::{Guard, Scope};
use crate::key::Key;
use crate::ledger::Prices;
use crate::policy::{BLOCK_VALUES, HEADER_VALUES, REINVESTED_PART, SET_UP_EXCHANGES};
use crate::results::Event;
use crate::schedule::{Completed, TimedCalls};

impl<K: Key> Guard<K> {
    /// Returns the action that is due before the next call, which may wait for other ranks or not.
    #[inline]
    pub fn due(&mut self, may_wait: bool) -> Due {
        match &self.exchanges.begun {
            Some(begun) if may_wait && self.calls >= begun.at + begun.lag => Due::Complete,
            Some(_) => Due::Nothing,
            None if self.exchanges.schedule.is_due(self.calls) && !self.is_closed => {
                let missing = self.missing();
                match self.exchanges.schedule.waits_for(self.calls, missing) {
                    true => Due::Nothing,
                    false => Due::Begin,
                }
            }
            None => Due::Nothing,
        }
    }

    /// Returns all cells, without their keys.
    fn all_cells(&self) -> impl Iterator<Item = &Cell> {
        self.cells.all.iter().map(|one| &one.cell)
    }

    /// Returns the minimum number of calls until an exchange has a subject; if other calls came
    /// between those of a block, the block is complete soon.
    fn missing(&self) -> u64 {
        let is_subject = |cell: &Cell| cell.is_ready() || cell.lacks_candidates();
        if self.all_cells().any(is_subject) {
            return 0;
        }
        let missing = self.all_cells().filter_map(Cell::calls_until_complete);
        missing.min().unwrap_or(0)
    }

    /// Returns the calls of the cells whose time is known, and their time, as agreed.
    fn measured(&self) -> TimedCalls {
        let timed = self.all_cells().map(|cell| &cell.ledger);
        let timed = timed.map(|ledger| (ledger.calls, ledger.time()));
        let known = timed.filter(|(_, time)| *time > 0);
        known.fold(TimedCalls::default(), |sum, (calls, time)| TimedCalls {
            calls: sum.calls + u128::from(calls),
            time: sum.time + u128::from(time),
        })
    }

    /// True if all ranks wait for each other in each call.
    fn synchronises(&self) -> bool {
        self.all_cells()
            .all(|cell| cell.ledger.semantics.synchronises())
    }

    /// Begins an exchange at time `now` in nanoseconds; returns this rank's numbers, those of the
    /// ready cells in cyclic order.
    pub fn begin(&mut self, now: u64) -> Vec<i64> {
        let count = self.cells.all.len();
        let in_turn = (0..count).map(|place| (self.exchanges.turn + place) % count);
        let ready = in_turn.filter(|&at| self.cells.all[at].cell.is_ready());
        let values = self.start.scope.values();
        let slots = (values - HEADER_VALUES) / BLOCK_VALUES;
        let cells: Vec<usize> = ready.take(slots).collect();
        let lag = self
            .exchanges
            .schedule
            .lag(self.measured(), self.synchronises());
        let exchanges = &mut self.exchanges;
        exchanges.turn = cells.last().map_or(exchanges.turn, |&last| last + 1);
        let since = exchanges.last;
        let since = since.map_or(0, |last| now.saturating_sub(last.time));
        let header = header(self.history, self.has_failed, exchanges.cost, since);
        let mut mine = header.to_vec();
        for &at in &cells {
            self.cells.all[at].cell.values(&mut mine);
        }
        mine.resize(values, 0);
        exchanges.begin(self.calls, lag, cells, now);
        mine
    }

    /// Decides by the minimum of all ranks' numbers; `cost` is the duration in nanoseconds of the
    /// exchange on this rank.
    pub fn complete(&mut self, least: &[i64], cost: u64) -> Vec<Event<K>> {
        let is_whole = least.len() == self.start.scope.values();
        let (Some(begun), true) = (self.exchanges.begun.take(), is_whole) else {
            return Vec::new();
        };
        self.exchanges.cost = cost;
        let (header, of_cells) = least.split_at(HEADER_VALUES);
        let Some(header) = AgreedHeader::from_least(header) else {
            return Vec::new();
        };
        if !header.is_same {
            return self.close(Event::Different);
        }
        if header.has_failed {
            return self.close(Event::Failed);
        }
        // If all ranks wait for each other anyway, most of the waiting time of the first ones is no
        // cost.
        let synchronises = self.synchronises();
        let [least_cost, most_cost] = header.costs;
        let cost = if synchronises { least_cost } else { most_cost };
        self.bear(cost);
        let is_compared = |&at: &usize| !self.cells.all[at].cell.is_watched_alone();
        let any_compared = begun.cells.iter().any(is_compared);
        let events = self.judge(&begun.cells, of_cells);
        let is_priced = cost > 0 || self.start.scope == Scope::Rank || synchronises;
        let any_begun = is_priced && self.try_more(cost, least_cost);
        let completed = Completed {
            at: begun.at,
            lag: begun.lag,
            goes_on: any_begun || any_compared,
            cost: is_priced.then_some(cost),
            least: least_cost,
            synchronises,
            since: TimedCalls {
                calls: begun.since.into(),
                time: header.since.into(),
            },
            waits: self.all_cells().filter_map(Cell::calls_until_news).min(),
        };
        let measured = self.measured();
        self.exchanges.schedule.plan_next(&completed, measured);
        events
    }

    /// Leaves all calls to the native MPI from now on.
    fn close(&mut self, event: Event<K>) -> Vec<Event<K>> {
        self.is_closed = true;
        vec![event]
    }

    /// Charges the cost of an exchange to the cells.
    fn bear(&mut self, cost: u64) {
        let between = &mut self.exchanges.between;
        for one in &mut self.cells.all {
            one.cell.ledger.bear(cost, between.before_last);
        }
        between.complete(self.calls);
    }

    fn judge(&mut self, cells: &[usize], least: &[i64]) -> Vec<Event<K>> {
        let mut events = Vec::new();
        for (&at, least) in cells.iter().zip(least.chunks(BLOCK_VALUES)) {
            let one = &mut self.cells.all[at];
            let change = one.cell.judge(least, self.start.mode);
            if let Some((plan, state)) = change
                && let Some(plan) = one.candidate(plan)
            {
                events.push(Event::Cell(one.key, plan, state));
            }
        }
        events
    }

    /// Begins blocks; true if the budget covers any. `exchange`: duration of an exchange in
    /// nanoseconds, 0 as long as it is unknown; `least`: its duration on the rank that waits least.
    fn try_more(&mut self, exchange: u64, least: u64) -> bool {
        let prices = Prices {
            set_up: match exchange {
                0 => u64::MAX,
                known => known.saturating_mul(SET_UP_EXCHANGES),
            },
            aligning: least,
            lent: self.lent(),
        };
        let mut any = false;
        for one in &mut self.cells.all {
            any |= one.cell.try_more(prices, self.start.seed);
        }
        any
    }

    /// Returns the maximum cost of a trial in each cell beyond the share of its own time: equal
    /// parts of a fraction of the savings of plans, reduced by their losses.
    fn lent(&self) -> u64 {
        let ledgers = || self.all_cells().map(|cell| &cell.ledger);
        let saved: i128 = ledgers().map(|ledger| ledger.saved()).sum();
        let spent: u128 = ledgers().map(|ledger| u128::from(ledger.overdrawn())).sum();
        let all = u128::try_from(saved / i128::from(REINVESTED_PART)).unwrap_or(0);
        let borrowers = self.all_cells().filter(|cell| cell.may_try()).count();
        let each = all.saturating_sub(spent) / borrowers.max(1) as u128;
        u64::try_from(each).unwrap_or(u64::MAX)
    }
}
