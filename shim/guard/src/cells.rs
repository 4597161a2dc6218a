//! Cells of one communicator, and their results.

use std::collections::HashMap;

use crate::candidate::CandidateRecord;
use crate::cell::Cell;
use crate::contender::{Contender, worth_trying};
use crate::key::Key;
use crate::policy::{MAX_CELLS, RECENT_CELLS};
use crate::results::{AdoptedPlan, State, Summary};

/// Cell with its key and its candidates.
#[derive(Debug, Clone)]
pub(crate) struct KeyedCell<K: Key> {
    pub key: K,
    /// Candidates, in the order of the records in the ledger.
    candidates: Vec<K::Candidate>,
    pub cell: Cell,
}

impl<K: Key> KeyedCell<K> {
    /// Creates a cell without calls, which starts with the plan of an earlier run if there is one.
    pub fn new(key: K, earlier: Option<&AdoptedPlan<K>>, seed: u64) -> Self {
        let mut cell = Cell::new(key.number(), key.semantics());
        if let Some(adopted) = earlier {
            let may_need_set_up = adopted.challenger.needs_set_up();
            let plan = CandidateRecord::adopted(may_need_set_up, adopted.plan);
            cell.begin_with(plan, adopted.native, seed);
        }
        KeyedCell {
            key,
            candidates: earlier.map(|one| one.challenger).into_iter().collect(),
            cell,
        }
    }

    /// Takes the candidates worth a trial, the best first.
    pub fn offer(&mut self, candidates: Vec<K::Candidate>) {
        self.candidates = worth_trying(candidates);
        let all = self.candidates.iter();
        let records = all.map(|one| CandidateRecord::new(one.needs_set_up()));
        self.cell.offer(records.collect());
    }

    #[inline]
    pub fn candidate(&self, at: usize) -> Option<K::Candidate> {
        self.candidates.get(at).copied()
    }

    /// Returns the plan in use, with which another cell may begin.
    pub fn adopted(&self) -> Option<AdoptedPlan<K>> {
        let at = self.cell.plan_in_use()?;
        let ledger = &self.cell.ledger;
        Some(AdoptedPlan {
            key: self.key,
            challenger: self.candidate(at)?,
            native: ledger.native.median()?,
            plan: ledger.candidates.get(at)?.times.median()?,
        })
    }

    /// Returns the results of the cell, one for each plan that was tried.
    pub fn summaries(&self, is_closed: bool) -> Vec<Summary<K>> {
        let ledger = &self.cell.ledger;
        let native = ledger.native.median();
        let of_cell = Summary {
            key: self.key,
            plan: None,
            state: self.cell.state(),
            won: 0,
            lost: 0,
            native,
            with_plan: None,
            longest: 0,
            calls: ledger.calls,
            time: ledger.time(),
            excess: ledger.excess,
            saved: 0,
        };
        let all = self.candidates.iter().zip(&ledger.candidates);
        let tried = all.filter(|(_, record)| record.state != State::Warming);
        let of_plan = |(plan, record): (&K::Candidate, &CandidateRecord)| {
            let signs = record.evidence.all_signs();
            Summary {
                plan: Some(*plan),
                state: record.state,
                won: signs.wins,
                lost: signs.losses,
                with_plan: record.times.median(),
                longest: record.longest,
                saved: record.saved(native),
                ..of_cell
            }
        };
        let mut all: Vec<Summary<K>> = tried.map(of_plan).collect();
        if all.is_empty() {
            all.push(of_cell);
        }
        if is_closed {
            for one in &mut all {
                if matches!(one.state, State::Warming | State::Trying | State::Adopted) {
                    one.state = State::Closed;
                }
            }
        }
        all
    }
}

/// All cells of a communicator.
#[derive(Debug, Clone)]
pub(crate) struct CellTable<K: Key> {
    pub all: Vec<KeyedCell<K>>,
    index: HashMap<K, usize>,
    /// Recent cells, in which most calls are found.
    recent: Vec<(K, usize)>,
}

impl<K: Key> CellTable<K> {
    pub fn new() -> Self {
        CellTable {
            all: Vec::new(),
            index: HashMap::new(),
            recent: Vec::with_capacity(RECENT_CELLS),
        }
    }

    /// Returns the cell of a key, if it was called.
    pub fn get(&self, key: &K) -> Option<&KeyedCell<K>> {
        self.all.get(*self.index.get(key)?)
    }

    /// Returns the cell of a key for changes, like [`CellTable::get`].
    pub fn get_mut(&mut self, key: &K) -> Option<&mut KeyedCell<K>> {
        self.all.get_mut(*self.index.get(key)?)
    }

    /// Returns the index of the cell of a key, which is created if there is none; `None` if there
    /// are too many.
    #[inline]
    pub fn find(&mut self, key: K, make: impl FnOnce() -> KeyedCell<K>) -> Option<usize> {
        match self.recent.iter().find(|(recent, _)| *recent == key) {
            Some(&(_, cell)) => Some(cell),
            None => self.look_up(key, make),
        }
    }

    fn look_up(&mut self, key: K, make: impl FnOnce() -> KeyedCell<K>) -> Option<usize> {
        let cell = match self.index.get(&key) {
            Some(&cell) => cell,
            None if self.all.len() >= MAX_CELLS => return None,
            None => {
                self.all.push(make());
                self.index.insert(key, self.all.len() - 1);
                self.all.len() - 1
            }
        };
        match self.recent.len() {
            RECENT_CELLS => self.recent[cell % RECENT_CELLS] = (key, cell),
            _ => self.recent.push((key, cell)),
        }
        Some(cell)
    }
}
