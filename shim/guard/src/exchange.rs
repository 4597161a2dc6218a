//! The cells of one communicator, and what its ranks tell each other of them.

use std::collections::HashMap;
use std::mem;
use std::sync::Arc;

use super::block::OF_A_BLOCK;
use super::cell::{Cell, Prices};
use super::contender::{Contender, worth_trying};
use super::key::{Key, mix};
use super::schedule::{Completed, Schedule, Took};
use super::summary::summaries;
use super::ticket::Ticket;
use super::times::Work;
use super::{CellKey, Form, Found, Known, REINVESTED, State, Summary};
use treepie_choice::{Candidate, Challenger};

/// What an algorithm of the native MPI may need before its first call, a communicator of its own,
/// takes as long as so many exchanges at least.
const MAKING: u64 = 2;

/// Cells of which an exchange tells.
const SLOTS: usize = 4;

/// What every exchange tells: hash of the calls, its complement, whether no call failed, the cost
/// of the last exchange, and its negative, the time since then.
const OF_ALL: usize = 6;

/// Numbers of an exchange, of each of which the least of all ranks is made.
pub(crate) const VALUES: usize = OF_ALL + SLOTS * OF_A_BLOCK;

/// Those of an exchange about one request.
pub const VALUES_OF_REQUEST: usize = OF_ALL + OF_A_BLOCK;

/// Cells of late that are looked at first.
const RECENT: usize = 8;

/// Cells that are kept for a communicator; calls of others are left to the MPI.
const MOST_CELLS: usize = 1024;

/// What a rank has to do before its next call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// Nothing.
    Nothing,
    /// Begin an exchange: [`Guard::undecided`] until there is none, then [`Guard::begin`].
    Begin,
    /// Wait for the exchange that was begun, and [`Guard::complete`] it.
    Complete,
}

/// Something that all ranks decided.
#[derive(Debug, Clone, Copy)]
pub enum Event<K = CellKey, C = Challenger> {
    /// A plan in a cell has this state now.
    Cell(K, C, State),
    /// Ranks called different things: the native MPI from now on.
    Different,
    /// A call failed on some rank: the native MPI from now on.
    Failed,
}

/// An exchange that was begun.
#[derive(Debug, Clone)]
struct Begun {
    at: u64,
    /// Calls from there until its numbers are used.
    lag: u64,
    cells: Vec<usize>,
    /// Calls since the exchange before it.
    since: Option<u64>,
}

/// The guard over the collectives of one communicator, on one rank, or over the epochs of a window.
#[derive(Debug, Clone)]
pub struct Guard<K = CellKey, C = Challenger> {
    seed: u64,
    adopts: bool,
    is_alone: bool,
    /// Numbers of an exchange.
    values: usize,
    known: Arc<[Known<K, C>]>,
    proven: Arc<[Known<K, C>]>,
    cells: Vec<Cell<K, C>>,
    index: HashMap<K, usize>,
    /// Cells of late, by which most calls are found.
    last: Vec<(K, usize)>,
    calls: u64,
    history: u64,
    schedule: Schedule,
    turn: usize,
    begun: Option<Begun>,
    failed: bool,
    is_closed: bool,
    /// Whether a collective was started: from then on all calls are given to the guard, since those
    /// that may wait are where ranks change what they do.
    has_started: bool,
    /// Nanoseconds of this rank's last exchange.
    cost: u64,
    /// Calls until the last exchange, and between the two before it.
    borne: u64,
    to_bear: u64,
    /// The last exchange that was begun, or the first call: after so many calls, and at this time.
    before: Option<(u64, u64)>,
}

impl<K: Key, C: Contender> Guard<K, C> {
    /// A guard without calls. `seed` is the same on all ranks; `adopts`: what is proven is adopted;
    /// `known`: plans that earlier runs adopted. `proven`: plans that other applications adopted,
    /// which are tried first.
    pub fn new(
        seed: u64,
        adopts: bool,
        known: Arc<[Known<K, C>]>,
        proven: Arc<[Known<K, C>]>,
    ) -> Self {
        Guard {
            seed,
            adopts,
            is_alone: false,
            values: VALUES,
            known,
            proven,
            cells: Vec::new(),
            index: HashMap::new(),
            last: Vec::with_capacity(RECENT),
            calls: 0,
            history: seed,
            schedule: Schedule::new(false),
            turn: 0,
            begun: None,
            failed: false,
            is_closed: false,
            has_started: false,
            cost: 0,
            borne: 0,
            to_bear: 0,
            before: None,
        }
    }

    /// A guard over what a rank decides for itself: the numbers of an exchange are its own, which
    /// it completes as soon as it has begun it.
    pub fn alone(seed: u64, adopts: bool, known: Arc<[Known<K, C>]>) -> Self {
        Guard {
            is_alone: true,
            schedule: Schedule::new(true),
            ..Guard::new(seed, adopts, known, Arc::default())
        }
    }

    /// Calls of the cells whose time is known, and what they took, as agreed.
    fn measured(&self) -> Took {
        let measured = self.cells.iter().filter(|cell| cell.time() > 0);
        measured.fold(Took::default(), |took, cell| Took {
            calls: took.calls + u128::from(cell.calls),
            time: took.time + u128::from(cell.time()),
        })
    }

    /// Calls so far.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// Whether all calls seen until now are left to the native MPI for good.
    pub fn leaves_all(&self) -> bool {
        self.is_closed || self.cells.iter().all(Cell::is_left)
    }

    /// What is to be done before the next call, which may wait for other ranks or not.
    #[inline]
    pub fn due(&mut self, may_wait: bool) -> Due {
        match &self.begun {
            Some(begun) if self.calls >= begun.at + begun.lag => match may_wait {
                true => Due::Complete,
                false => Due::Nothing,
            },
            None if self.schedule.is_due(self.calls) && !self.is_closed => {
                let missing = self.missing();
                match self.schedule.waits_for(self.calls, missing) {
                    true => Due::Nothing,
                    false => Due::Begin,
                }
            }
            _ => Due::Nothing,
        }
    }

    /// Calls, at least, until an exchange has something to tell: where others came between those of
    /// a block, that is soon complete.
    fn missing(&self) -> u64 {
        let tells = |cell: &Cell<K, C>| cell.is_ready() || cell.lacks_challengers();
        if self.cells.iter().any(tells) {
            return 0;
        }
        let missing = self.cells.iter().filter_map(Cell::missing).min();
        missing.unwrap_or(0)
    }

    /// The start of a call. `clock` gives nanoseconds, and is read only where it is needed.
    pub fn enter(&mut self, key: K, clock: impl Fn() -> u64) -> Ticket<C> {
        let found = self.find(key);
        self.has_started |= key.form() == Form::Nonblocking && !self.is_alone;
        // Not counted, since others may not ask any more.
        let is_left = found.is_some_and(|cell| self.cells[cell].is_left());
        if self.is_closed || is_left && !self.has_started {
            return Ticket::FOR_GOOD;
        }
        let first = self.before.is_none().then(&clock);
        if let Some(now) = first {
            self.before = Some((self.calls, now));
        }
        let clock = || first.unwrap_or_else(&clock);
        self.calls += 1;
        let number = found.map_or_else(|| key.number(), |cell| self.cells[cell].number);
        self.history = mix(self.history, number);
        match found {
            Some(cell) => {
                let (way, measured) = self.cells[cell].enter(clock);
                Ticket {
                    way,
                    is_for_good: false,
                    cell,
                    measured,
                }
            }
            None => Ticket::NATIVE,
        }
    }

    /// The cell of a key; `None` where there are too many.
    fn find(&mut self, key: K) -> Option<usize> {
        if let Some(&(_, cell)) = self.last.iter().find(|(last, _)| *last == key) {
            return Some(cell);
        }
        let cell = match self.index.get(&key) {
            Some(&cell) => cell,
            None if self.cells.len() >= MOST_CELLS => return None,
            None => {
                let known = self.known.iter().find(|known| key.begins_as(&known.key));
                let known = known.filter(|_| self.adopts);
                self.cells.push(Cell::new(key, known, self.seed));
                self.index.insert(key, self.cells.len() - 1);
                self.cells.len() - 1
            }
        };
        match self.last.len() {
            RECENT => self.last[cell % RECENT] = (key, cell),
            _ => self.last.push((key, cell)),
        }
        Some(cell)
    }

    /// Whether a cell was left to the native MPI since no two of its calls that were to be compared
    /// did alike.
    pub(crate) fn is_never_alike(&self, key: &K) -> bool {
        let cell = self.index.get(key);
        cell.is_some_and(|&cell| self.cells[cell].is_never_alike())
    }

    /// The end of a call, at this time in nanoseconds.
    pub fn leave(&mut self, ticket: &Ticket<C>, now: u64) {
        if let Some(start) = ticket.start() {
            self.took(ticket, now.saturating_sub(start), Work::default());
        }
    }

    /// The end of a call that took so many nanoseconds of the program's time for so much work.
    pub fn took(&mut self, ticket: &Ticket<C>, duration: u64, work: Work) {
        if let (Some((measured, _)), Some(cell)) =
            (ticket.measured, self.cells.get_mut(ticket.cell))
        {
            cell.leave(measured, duration, work);
        }
    }

    /// Something was made for the candidate of a call before the call itself, which begins at this
    /// time. It took `cost` nanoseconds, the same number on all ranks, which count as those of an
    /// exchange do.
    pub fn made(&mut self, ticket: &mut Ticket<C>, now: u64, cost: u64) {
        if let Some(cell) = self.cells.get_mut(ticket.cell) {
            cell.exchanges = cell.exchanges.saturating_add(cost);
        }
        if let Some((_, start)) = &mut ticket.measured {
            *start = now;
        }
    }

    /// A call that [is aligned](Ticket::is_aligned) begins at this time: ranks have waited for each
    /// other.
    pub fn aligned(&mut self, ticket: &mut Ticket<C>, now: u64) {
        let cell = self.cells.get_mut(ticket.cell);
        if let (Some((measured, start)), Some(cell)) = (&mut ticket.measured, cell) {
            *start = now;
            cell.aligned(*measured, now);
        }
    }

    /// The candidate of a call does not serve it, as all ranks see; the native MPI ran it.
    pub fn unserved(&mut self, ticket: &Ticket<C>) {
        if let Some(cell) = self.cells.get_mut(ticket.cell) {
            cell.unserved();
        }
    }

    /// A call returned an error on this rank. All ranks hear of it at the next exchange.
    pub fn fail(&mut self) {
        self.failed = true;
    }

    /// A cell whose challengers are to be given to [`Guard::offer`].
    pub fn undecided(&self) -> Option<K> {
        let lacks = |cell: &&Cell<K, C>| cell.lacks_challengers();
        self.cells.iter().find(lacks).map(|cell| cell.key)
    }

    /// The challengers of a cell as they are predicted, the best first: the same on all ranks.
    pub fn offer(&mut self, key: K, predicted: Vec<C>) {
        let challengers = self.with_proven(&key, predicted);
        for challenger in &challengers {
            self.history = challenger.add_to(self.history);
        }
        if let Some(&cell) = self.index.get(&key) {
            self.cells[cell].offer(challengers);
        }
    }

    fn with_proven(&self, key: &K, predicted: Vec<C>) -> Vec<C> {
        let of_cell = self.proven.iter().filter(|known| key.is_like(&known.key));
        let mut challengers: Vec<C> = Vec::new();
        for challenger in of_cell.map(|known| known.challenger).chain(predicted) {
            let is_new = |one: &C| !one.is_like(&challenger);
            if challengers.iter().all(is_new) {
                challengers.push(challenger);
            }
        }
        challengers
    }

    /// Begins an exchange at this time in nanoseconds: this rank's numbers, `VALUES` of them, or
    /// [`VALUES_OF_REQUEST`].
    pub fn begin(&mut self, now: u64) -> Vec<i64> {
        let count = self.cells.len();
        let in_turn = (0..count).map(|place| (self.turn + place) % count);
        let ready = in_turn.filter(|&cell| self.cells[cell].is_ready());
        let slots = (self.values - OF_ALL) / OF_A_BLOCK;
        let cells: Vec<usize> = ready.take(slots).collect();
        self.turn = cells.last().map_or(self.turn, |&last| last + 1);
        let hash = self.history as i64;
        let cost = i64::try_from(self.cost).unwrap_or(i64::MAX);
        let since = self
            .before
            .map_or(0, |(_, before)| now.saturating_sub(before));
        let since = i64::try_from(since).unwrap_or(i64::MAX);
        let mut values = vec![hash, !hash, i64::from(!self.failed), cost, -cost, since];
        for &cell in &cells {
            self.cells[cell].values(&mut values);
        }
        values.resize(self.values, 0);
        let at = self.calls;
        let since = self.before.map(|(calls, _)| at - calls);
        self.before = Some((at, now));
        self.begun = Some(Begun {
            at,
            lag: self.schedule.lag(self.measured(), self.synchronises()),
            cells,
            since,
        });
        values
    }

    /// Decides by the least numbers of all ranks; `cost` are the nanoseconds that the exchange took
    /// on this rank.
    pub fn complete(&mut self, least: &[i64], cost: u64) -> Vec<Event<K, C>> {
        let (Some(begun), true) = (self.begun.take(), least.len() == self.values) else {
            return Vec::new();
        };
        self.cost = cost;
        let (of_all, of_cells) = least.split_at(OF_ALL);
        if of_all[0] != !of_all[1] {
            return self.close(Event::Different);
        }
        if of_all[2] == 0 {
            return self.close(Event::Failed);
        }
        // Where all wait for each other anyway, most of what the first ones wait is no cost.
        let of_cost = match self.synchronises() {
            true => of_all[3],
            false => of_all[4].saturating_neg(),
        };
        let agreed_cost = u64::try_from(of_cost).unwrap_or(0);
        for cell in &mut self.cells {
            cell.bears(agreed_cost, self.to_bear);
        }
        self.to_bear = self.calls - mem::replace(&mut self.borne, self.calls);
        let mut events = Vec::new();
        let are_compared = |&cell: &usize| !self.cells[cell].is_watched_alone();
        let any_compared = begun.cells.iter().any(are_compared);
        for (&cell, values) in begun.cells.iter().zip(of_cells.chunks(OF_A_BLOCK)) {
            let cell = &mut self.cells[cell];
            let changed = cell.judge(values, self.adopts);
            events.extend(changed.map(|(plan, state)| Event::Cell(cell.key, plan, state)));
        }
        let least = u64::try_from(of_all[3]).unwrap_or(0);
        let goes_on = self.is_priced(agreed_cost) && self.try_more(agreed_cost, least);
        let goes_on = goes_on || any_compared;
        let calls = begun.since.unwrap_or(0);
        let completed = Completed {
            at: begun.at,
            lag: begun.lag,
            goes_on,
            cost: self.is_priced(agreed_cost).then_some(agreed_cost),
            least,
            synchronises: self.synchronises(),
            since: Took {
                calls: u128::from(calls),
                time: u128::try_from(of_all[5]).unwrap_or(0),
            },
            waits: self.cells.iter().filter_map(Cell::waits).min(),
        };
        self.schedule.plan_next(&completed, self.measured());
        events
    }

    /// Whether it is known what exchanges cost.
    fn is_priced(&self, cost: u64) -> bool {
        cost > 0 || self.is_alone || self.synchronises()
    }

    /// Whether all ranks wait for each other in each call.
    fn synchronises(&self) -> bool {
        self.cells.iter().all(|cell| cell.key.synchronises())
    }

    /// The native MPI from now on. What was begun is not to be completed.
    pub fn end(&mut self) {
        self.is_closed = true;
        self.begun = None;
    }

    fn close(&mut self, event: Event<K, C>) -> Vec<Event<K, C>> {
        self.is_closed = true;
        vec![event]
    }

    /// Begins blocks; whether there are any that budgets cover. `exchange`: the nanoseconds of one,
    /// 0 as long as they are not known; `least`: on the rank that waits least in it.
    fn try_more(&mut self, exchange: u64, least: u64) -> bool {
        let making = match exchange {
            0 => u64::MAX,
            known => known.saturating_mul(MAKING),
        };
        let prices = Prices {
            making,
            aligning: least,
            lent: self.lent(),
        };
        let mut any = false;
        for cell in &mut self.cells {
            any |= cell.try_more(prices, self.seed);
        }
        any
    }

    /// What a trial in each cell may cost beyond what its own time pays for: equal parts of a part
    /// of what plans have saved, and what they lose is not there to be spent.
    fn lent(&self) -> u64 {
        let saved: i128 = self.cells.iter().map(Cell::saved).sum();
        let spent: u128 = self
            .cells
            .iter()
            .map(|cell| u128::from(cell.overdrawn()))
            .sum();
        let all = u128::try_from(saved / i128::from(REINVESTED)).unwrap_or(0);
        let borrowers = self.cells.iter().filter(|cell| cell.may_try()).count();
        let each = all.saturating_sub(spent) / borrowers.max(1) as u128;
        u64::try_from(each).unwrap_or(u64::MAX)
    }

    /// What was found in the cells that were called more often than for a warm-up.
    pub fn summaries(&self) -> Vec<Summary<K, C>> {
        let cells = self.cells.iter();
        let called = cells.filter(|cell| cell.calls >= super::WARM_UP);
        called
            .flat_map(|cell| summaries(cell, self.is_closed))
            .collect()
    }
}

impl Guard {
    /// A persistent request is made, in a call that may wait for other ranks. What runs it as long
    /// as it lives is what is adopted now in this cell, of calls that are started once.
    pub fn make_persistent(&mut self, key: CellKey) -> Option<Candidate> {
        self.has_started = true;
        self.calls += 1;
        self.history = mix(self.history, !key.number());
        let cell = self.find(key).filter(|_| !self.is_closed)?;
        self.cells[cell]
            .adopted()
            .map(|challenger| challenger.candidate)
    }

    /// A guard over the starts of one persistent request on the same communicator, whose completion
    /// [shows that all have started it](CellKey::shows_all); `None` where nothing is worth a trial.
    /// `earlier` is what all ranks know of requests before it in its cell. Its exchanges have
    /// [`VALUES_OF_REQUEST`] numbers.
    pub fn of_request(
        &self,
        key: &CellKey,
        predicted: &[Challenger],
        earlier: &Found,
    ) -> Option<Guard> {
        let known = match earlier {
            Found::Open => Arc::clone(&self.known),
            Found::Left => return None,
            Found::Adopted(known) => Arc::new([*known]),
        };
        let is_known = || known.iter().any(|known| key.begins_as(&known.key));
        let predicted = self.with_proven(key, predicted.to_vec());
        let is_tried = !worth_trying(predicted).is_empty() || self.adopts && is_known();
        (is_tried && key.shows_all() && !self.is_closed).then(|| Guard {
            values: VALUES_OF_REQUEST,
            ..Guard::new(self.seed, self.adopts, known, Arc::clone(&self.proven))
        })
    }

    /// What the starts of its request have come to.
    pub fn found(&self) -> Found {
        let cell = self.cells.first().filter(|_| !self.is_closed);
        cell.map_or(Found::Open, Cell::found)
    }

    /// Names of the plans that are tried in a cell, in this order.
    #[cfg(test)]
    pub(super) fn challengers_of(&self, key: CellKey) -> Vec<String> {
        let tried = self.cells[self.index[&key]].tried.iter();
        tried
            .map(|one| one.challenger.candidate.to_string())
            .collect()
    }
}
