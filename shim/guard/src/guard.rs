//! Guard over the collectives of one communicator: its calls, and the candidates of its cells.

use std::sync::Arc;

use crate::call::Form;
use crate::cell::Cell;
use crate::cells::{CellTable, KeyedCell};
use crate::contender::Contender;
use crate::exchange::{Exchanges, Milestone};
use crate::hash::mix;
use crate::key::{CellKey, Key};
use crate::policy::{VALUES, VALUES_OF_REQUEST, WARM_UP_CALLS};
use crate::results::{AdoptedPlan, Mode, Summary};
use crate::schedule::Schedule;
use crate::ticket::Ticket;
use crate::times::Work;

/// Calls of a guard, and the ranks that decide about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Calls of a communicator; all its ranks decide.
    Communicator,
    /// Starts of one persistent request; all ranks of its communicator decide.
    Request,
    /// Calls of this rank; it decides alone.
    Rank,
}

impl Scope {
    /// Returns the number of values of an exchange.
    pub fn values(self) -> usize {
        match self {
            Scope::Request => VALUES_OF_REQUEST,
            Scope::Communicator | Scope::Rank => VALUES,
        }
    }
}

/// Initial state of a guard. Plans are those that other runs adopted.
#[derive(Debug, Clone)]
pub(crate) struct Start<K: Key> {
    /// Seed, the same on all ranks.
    pub seed: u64,
    pub mode: Mode,
    pub scope: Scope,
    /// Plans of the same application, which run from the first call on.
    pub known: Arc<[AdoptedPlan<K>]>,
    /// Plans of other applications, which are tried first.
    pub proven: Arc<[AdoptedPlan<K>]>,
}

impl<K: Key> Start<K> {
    /// Creates the cell of a key, without calls.
    fn cell(&self, key: K) -> KeyedCell<K> {
        let mut known = self.known.iter();
        let known = known.find(|known| key.begins_as(&known.key));
        let adopted = known.filter(|_| self.mode == Mode::Adopt);
        KeyedCell::new(key, adopted, self.seed)
    }

    /// Returns the candidates of a cell: proven plans, then the predicted ones.
    pub fn candidates(&self, key: &K, predicted: Vec<K::Candidate>) -> Vec<K::Candidate> {
        let of_cell = self.proven.iter().filter(|known| key.is_like(&known.key));
        let proven = of_cell.map(|known| known.challenger);
        let mut candidates: Vec<K::Candidate> = Vec::new();
        for candidate in proven.chain(predicted) {
            if !candidates.iter().any(|one| one.is_like(&candidate)) {
                candidates.push(candidate);
            }
        }
        candidates
    }
}

/// Guard over the collectives of one communicator, on one rank, or over the epochs of a window.
#[derive(Debug, Clone)]
pub struct Guard<K: Key = CellKey> {
    pub(crate) start: Start<K>,
    pub(crate) cells: CellTable<K>,
    pub(crate) calls: u64,
    /// Hash of all calls.
    pub(crate) history: u64,
    pub(crate) exchanges: Exchanges,
    pub(crate) has_failed: bool,
    pub(crate) is_closed: bool,
    /// True if a collective was started: from then on all calls are passed to the guard, since
    /// ranks change their decisions in calls that may wait.
    pub(crate) has_started: bool,
}

impl<K: Key> Guard<K> {
    /// Creates a guard without calls. `seed` is the same on all ranks. `known`: plans that earlier
    /// runs adopted. `proven`: plans that other applications adopted, which are tried first.
    pub fn new(
        seed: u64,
        mode: Mode,
        known: Arc<[AdoptedPlan<K>]>,
        proven: Arc<[AdoptedPlan<K>]>,
    ) -> Self {
        Guard::from_start(Start {
            seed,
            mode,
            scope: Scope::Communicator,
            known,
            proven,
        })
    }

    /// Creates a guard over decisions that a rank makes alone: the numbers of an exchange are its
    /// own, and it completes the exchange as soon as it has begun it.
    pub fn alone(seed: u64, mode: Mode, known: Arc<[AdoptedPlan<K>]>) -> Self {
        Guard::from_start(Start {
            seed,
            mode,
            scope: Scope::Rank,
            known,
            proven: Arc::default(),
        })
    }

    pub(crate) fn from_start(start: Start<K>) -> Self {
        let schedule = Schedule::new(start.scope == Scope::Rank);
        Guard {
            history: start.seed,
            start,
            cells: CellTable::new(),
            calls: 0,
            exchanges: Exchanges::new(schedule),
            has_failed: false,
            is_closed: false,
            has_started: false,
        }
    }

    /// Returns the number of calls so far.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// True if all calls seen until now are left to the native MPI for good.
    pub fn leaves_all(&self) -> bool {
        self.is_closed || self.cells.all.iter().all(|one| one.cell.is_settled())
    }

    /// Starts a call. `clock` returns nanoseconds, and is read only if needed.
    pub fn enter(&mut self, key: K, clock: impl Fn() -> u64) -> Ticket<K> {
        let found = self.find(key);
        let is_started = key.semantics().form == Form::Nonblocking;
        self.has_started |= is_started && self.start.scope != Scope::Rank;
        // Not counted, since other ranks may no longer call the guard.
        let is_settled = found.is_some_and(|at| self.cells.all[at].cell.is_settled());
        if self.is_closed || is_settled && !self.has_started {
            return Ticket::FOR_GOOD;
        }
        let first = self.exchanges.last.is_none().then(&clock);
        if let Some(time) = first {
            let calls = self.calls;
            self.exchanges.last = Some(Milestone { calls, time });
        }
        let clock = || first.unwrap_or_else(&clock);
        self.calls += 1;
        let Some(at) = found else {
            self.history = mix(self.history, key.number());
            return Ticket::NATIVE;
        };
        let one = &mut self.cells.all[at];
        self.history = mix(self.history, one.cell.ledger.number);
        let (plan, measured) = one.cell.enter(clock);
        Ticket {
            plan: plan.and_then(|plan| one.candidate(plan)),
            is_for_good: false,
            cell: at,
            measured,
        }
    }

    /// Returns the index of the cell of a key; `None` if there are too many.
    pub(crate) fn find(&mut self, key: K) -> Option<usize> {
        let start = &self.start;
        self.cells.find(key, || start.cell(key))
    }

    /// Returns the cell of a call.
    fn cell_of(&mut self, ticket: &Ticket<K>) -> Option<&mut Cell> {
        let one = self.cells.all.get_mut(ticket.cell)?;
        Some(&mut one.cell)
    }

    /// Ends a call at time `now` in nanoseconds.
    pub fn leave(&mut self, ticket: &Ticket<K>, now: u64) {
        if let Some(start) = ticket.start() {
            self.took(ticket, now.saturating_sub(start), Work::default());
        }
    }

    /// Ends a call that took `duration` nanoseconds of the program's time for this work.
    pub fn took(&mut self, ticket: &Ticket<K>, duration: u64, work: Work) {
        if let (Some(measured), Some(cell)) = (&ticket.measured, self.cell_of(ticket)) {
            cell.leave(measured, duration, work);
        }
    }

    /// Notes that the candidate of a call was set up before the call itself, which begins at time
    /// `now`. The set-up took `cost` nanoseconds, the same number on all ranks, which are charged
    /// like those of an exchange.
    pub fn made(&mut self, ticket: &mut Ticket<K>, now: u64, cost: u64) {
        if let Some(cell) = self.cell_of(ticket) {
            let exchanges = &mut cell.ledger.exchanges;
            *exchanges = exchanges.saturating_add(cost);
        }
        if let Some(measured) = &mut ticket.measured {
            measured.start = now;
        }
    }

    /// Restarts the time of a call that [is aligned](Ticket::is_aligned) and begins at time `now`:
    /// ranks have waited for each other.
    pub fn aligned(&mut self, ticket: &mut Ticket<K>, now: u64) {
        if let Some(measured) = &mut ticket.measured {
            measured.start = now;
        }
        if let (Some(measured), Some(cell)) = (ticket.measured, self.cell_of(ticket)) {
            cell.aligned(&measured);
        }
    }

    /// Notes that the candidate of a call does not serve it, which is the same on all ranks; the
    /// native MPI ran it.
    pub fn unserved(&mut self, ticket: &Ticket<K>) {
        if let Some(cell) = self.cell_of(ticket) {
            cell.unserved();
        }
    }

    /// Notes that a call returned an error on this rank. The next exchange informs all ranks.
    pub fn fail(&mut self) {
        self.has_failed = true;
    }

    /// Returns a cell whose candidates are to be passed to [`Guard::offer`].
    pub fn undecided(&self) -> Option<K> {
        let mut all = self.cells.all.iter();
        let lacking = all.find(|one| one.cell.lacks_candidates())?;
        Some(lacking.key)
    }

    /// Sets the predicted candidates of a cell, the best first: the same on all ranks.
    pub fn offer(&mut self, key: K, predicted: Vec<K::Candidate>) {
        let candidates = self.start.candidates(&key, predicted);
        for candidate in &candidates {
            self.history = candidate.add_to(self.history);
        }
        if let Some(one) = self.cells.get_mut(&key) {
            one.offer(candidates);
        }
    }

    /// True if a cell was left to the native MPI because no two of its calls in a comparison did
    /// similar work.
    pub(crate) fn is_never_comparable(&self, key: &K) -> bool {
        let one = self.cells.get(key);
        one.is_some_and(|one| one.cell.is_never_comparable())
    }

    /// Leaves all calls to the native MPI from now on. An exchange that was begun must not be
    /// completed.
    pub fn end(&mut self) {
        self.is_closed = true;
        self.exchanges.begun = None;
    }

    /// Returns the results of the cells that were called more often than the warm-up.
    pub fn summaries(&self) -> Vec<Summary<K>> {
        let all = self.cells.all.iter();
        let called = all.filter(|one| one.cell.ledger.calls >= WARM_UP_CALLS);
        called
            .flat_map(|one| one.summaries(self.is_closed))
            .collect()
    }
}
