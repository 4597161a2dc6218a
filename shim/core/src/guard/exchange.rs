//! The cells of one communicator, and what its ranks tell each other of them.

use std::collections::HashMap;
use std::sync::Arc;

use super::block::OF_A_BLOCK;
use super::cell::{Cell, Prices};
use super::contender::{Contender, worth_trying};
use super::key::{Key, mix};
use super::summary::summaries;
use super::ticket::Ticket;
use super::times::Work;
use super::{Candidate, CellKey, Challenger, Form, Found, Known, LAG, LONG_LAG, State, Summary};

/// Calls of a communicator between two exchanges, at least and at most.
const GAPS: [u64; 2] = [128, 4096];

/// The same where calls are long: at least.
const LEAST_GAP: u64 = 16;

/// The same where a rank decides alone.
const GAPS_ALONE: [u64; 2] = [8, 32];

/// An exchange comes after calls of so many times its own duration.
const PART_OF_EXCHANGES: u64 = 200;

/// Calls until the second exchange where calls may overlap. All ranks wait for each other in both,
/// and only the second one tells what the first one took: nothing is tried before.
const UNPRICED_GAP: u64 = 1024;

/// Where calls take so long that fewer of them come to so many nanoseconds, fewer are enough
/// between two exchanges, and until the numbers of one are used, though calls may overlap.
const GAP_TIME: u64 = 100_000_000;

/// As many nanoseconds of calls are enough: an exchange that takes 50 ms is one part in a hundred.
const UNPRICED_TIME: u64 = 5_000_000_000;

/// What an algorithm of the native MPI may need before its first call, a communicator of its own,
/// takes as long as so many exchanges at least.
const MAKING: u64 = 2;

/// Cells of which an exchange tells.
const SLOTS: usize = 4;

/// What every exchange tells: hash of the calls, its complement, whether no call failed, the cost
/// of the last exchange, and its negative, the time since then.
const OF_ALL: usize = 6;

/// Numbers of an exchange, of each of which the least of all ranks is made.
pub const VALUES: usize = OF_ALL + SLOTS * OF_A_BLOCK;

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
    next: u64,
    gap: u64,
    turn: usize,
    begun: Option<Begun>,
    failed: bool,
    is_closed: bool,
    /// Whether a collective was started: from then on all calls are given to the guard, since those
    /// that may wait are where ranks change what they do.
    has_started: bool,
    /// Nanoseconds of this rank's last exchange, and of all, as agreed.
    cost: u64,
    spent: u64,
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
            next: GAPS[0],
            gap: GAPS[0],
            turn: 0,
            begun: None,
            failed: false,
            is_closed: false,
            has_started: false,
            cost: 0,
            spent: 0,
            before: None,
        }
    }

    /// A guard over what a rank decides for itself: the numbers of an exchange are its own, which
    /// it completes as soon as it has begun it.
    pub fn alone(seed: u64, adopts: bool, known: Arc<[Known<K, C>]>) -> Self {
        Guard {
            is_alone: true,
            next: GAPS_ALONE[0],
            gap: GAPS_ALONE[0],
            ..Guard::new(seed, adopts, known, Arc::default())
        }
    }

    /// Calls between two exchanges, at least and at most.
    fn gaps(&self) -> [u64; 2] {
        let [least, most] = GAPS;
        match self.is_alone {
            true => GAPS_ALONE,
            false => [self.calls_in_gap_time().clamp(LEAST_GAP, least), most],
        }
    }

    /// Calls that take [`GAP_TIME`], as all ranks know.
    fn calls_in_gap_time(&self) -> u64 {
        let (calls, time) = self.measured();
        let calls = (u128::from(GAP_TIME) * calls).checked_div(time);
        calls.map_or(u64::MAX, |calls| u64::try_from(calls).unwrap_or(u64::MAX))
    }

    /// Calls of the cells whose time is known, and their nanoseconds, as agreed.
    fn measured(&self) -> (u128, u128) {
        let measured = self.cells.iter().filter(|cell| cell.time() > 0);
        measured.fold((0, 0), |(calls, time), cell| {
            let (of_cell, took) = (u128::from(cell.calls), u128::from(cell.time()));
            (calls + of_cell, time + took)
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
    pub fn due(&self, may_wait: bool) -> Due {
        match &self.begun {
            Some(begun) if self.calls >= begun.at + begun.lag => match may_wait {
                true => Due::Complete,
                false => Due::Nothing,
            },
            None if self.calls >= self.next && !self.is_closed => Due::Begin,
            _ => Due::Nothing,
        }
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
    pub fn is_never_alike(&self, key: &K) -> bool {
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
        self.spent = self.spent.saturating_add(cost);
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

    /// Begins an exchange at this time in nanoseconds: this rank's numbers, [`VALUES`] of them, or
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
        // Calls in which nobody waits for all others may be over long before an exchange is.
        let lag = match self.is_alone {
            true => 0,
            false if self.synchronises() => LAG,
            false => self.calls_in_gap_time().clamp(LAG, LONG_LAG),
        };
        self.begun = Some(Begun {
            at,
            lag,
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
        self.spent = self.spent.saturating_add(agreed_cost);
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
        let between = begun
            .since
            .map(|calls| (calls, u64::try_from(of_all[5]).unwrap_or(0)));
        self.schedule(&begun, goes_on, agreed_cost, between);
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
        let (spent, calls, seed) = (self.spent, self.calls.max(1), self.seed);
        let making = match exchange {
            0 => u64::MAX,
            known => known.saturating_mul(MAKING),
        };
        let mut any = false;
        for cell in &mut self.cells {
            let share = u128::from(spent) * u128::from(cell.calls) / u128::from(calls);
            let prices = Prices {
                exchanges: u64::try_from(share).unwrap_or(u64::MAX),
                making,
                aligning: least,
            };
            any |= cell.try_more(prices, seed);
        }
        any
    }

    /// The call at which the next exchange begins: soon while there is something to agree on,
    /// later and later where there is not. `between`: calls and nanoseconds since the one before.
    fn schedule(&mut self, begun: &Begun, goes_on: bool, cost: u64, between: Option<(u64, u64)>) {
        let [least_gap, most_gap] = self.gaps();
        self.gap = match goes_on {
            true => least_gap,
            false => (2 * self.gap).min(most_gap),
        };
        let (calls, time) = self.measured();
        let price = u128::from(cost) * u128::from(PART_OF_EXCHANGES);
        let of_cells = (price * calls).checked_div(time).unwrap_or(0);
        // The same by the time of the job, whatever it did meanwhile: calls may overlap.
        let (calls, time) = between.unwrap_or((0, 0));
        let of_job = (price * u128::from(calls)).checked_div(u128::from(time));
        let affordable = of_cells.max(of_job.unwrap_or(0));
        let waits = self.cells.iter().filter_map(Cell::waits).min();
        let waits = waits.map_or(u64::MAX, |calls| {
            calls.saturating_add(begun.lag).max(least_gap)
        });
        let gap = (self.gap + begun.lag).min(waits);
        let least = match (self.is_priced(cost), time) {
            (true, _) => 0,
            (false, 0) => UNPRICED_GAP,
            (false, _) => (UNPRICED_TIME.saturating_mul(calls) / time).min(UNPRICED_GAP),
        };
        let gap = gap.max(u64::try_from(affordable).unwrap_or(u64::MAX).max(least));
        self.next = begun.at.saturating_add(gap.min(u64::MAX / 2));
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
