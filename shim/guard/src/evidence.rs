//! Evidence for and against a candidate: pairs of a call by the native MPI and one by it.

use std::collections::VecDeque;
use std::mem;

use treepie_base::proof::Signs;

use crate::policy::RECENT_PAIRS;

/// Evidence on which a verdict is given.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Evidence<'a> {
    /// Of a candidate in trial.
    Trial(&'a TrialEvidence),
    /// Of the plan in use.
    Use(&'a UseEvidence),
}

/// The result of a pair of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TrialPair {
    /// Whether the candidate's call was quicker.
    pub is_won: bool,
    /// Whether the candidate's period, from the start of its call to that of the next, was no
    /// longer; `None` where that is part of `is_won`.
    pub keeps_period: Option<bool>,
}

/// All pairs of a candidate in trial.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TrialEvidence {
    /// Pairs that it won and lost, since it is tried in rows if it is.
    pub signs: Signs,
    /// Pairs in which its period was no longer, and was longer.
    pub periods: Signs,
    /// Pairs of single calls, where it has won those: they stand between calls of the other side,
    /// unlike those of a program that calls again and again.
    screened: Option<Signs>,
    /// Whether pairs are single calls of a cell that has rows: they only find what is worth a row.
    pub is_screening: bool,
    /// Its pairs, whether or not their times are known.
    pub pairs: u32,
}

impl TrialEvidence {
    pub fn add(&mut self, pair: TrialPair) {
        count(&mut self.signs, pair.is_won);
        if let Some(is_kept) = pair.keeps_period {
            count(&mut self.periods, is_kept);
        }
    }

    /// It has won by single calls: from now on it has to by rows of them.
    pub fn begin_rows(&mut self) {
        self.screened = Some(mem::take(&mut self.signs));
    }

    /// Whether it is tried in rows.
    pub fn is_in_rows(&self) -> bool {
        self.screened.is_some()
    }

    /// Pairs that it won and lost, by single calls and by rows.
    pub fn all_signs(&self) -> Signs {
        let screened = self.screened.unwrap_or_default();
        Signs {
            wins: screened.wins + self.signs.wins,
            losses: screened.losses + self.signs.losses,
        }
    }
}

/// Adds a pair.
fn count(signs: &mut Signs, is_won: bool) {
    match is_won {
        true => signs.wins += 1,
        false => signs.losses += 1,
    }
}

/// The result of a pair with the plan in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UsePair {
    /// Whether the native MPI's call was quicker.
    pub is_lost: bool,
    /// Whether its period, from the start of its call to that of the next, was shorter.
    pub loses_period: bool,
}

/// The last pairs of the plan in use.
#[derive(Debug, Clone, Default)]
pub(crate) struct UseEvidence {
    last: VecDeque<UsePair>,
}

impl UseEvidence {
    pub fn add(&mut self, pair: UsePair) {
        if self.last.len() == RECENT_PAIRS {
            self.last.pop_front();
        }
        self.last.push_back(pair);
    }

    /// Of the last so many pairs those that the native MPI won in a respect, and the others.
    pub fn against(&self, pairs: usize, is_lost: impl Fn(&UsePair) -> bool) -> Signs {
        let last = self.last.iter().rev().take(pairs);
        let mut signs = Signs::default();
        last.for_each(|pair| count(&mut signs, is_lost(pair)));
        signs
    }
}
