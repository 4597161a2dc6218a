//! Evidence for and against a candidate: pairs of a call by the native MPI and one by the
//! candidate.

use std::collections::VecDeque;
use std::mem;

use treepie_base::proof::Signs;

use crate::policy::RECENT_PAIRS;

/// Evidence for a verdict.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Evidence<'a> {
    /// Evidence of a candidate in trial.
    Trial(&'a TrialEvidence),
    /// Evidence of the plan in use.
    Use(&'a UseEvidence),
}

/// Result of a pair of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TrialPair {
    /// True if the candidate's call was faster.
    pub is_won: bool,
    /// True if the candidate's period, from the start of its call to that of the next, was no
    /// longer; `None` if that is part of `is_won`.
    pub keeps_period: Option<bool>,
}

/// All pairs of a candidate in trial.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TrialEvidence {
    /// Pairs that it won and lost, since the start of rows if it is tried in rows.
    pub signs: Signs,
    /// Pairs in which its period was no longer, and was longer.
    pub periods: Signs,
    /// Pairs of single calls, if it has won those: they are between calls of the other side, unlike
    /// calls of a program that calls repeatedly.
    screened: Option<Signs>,
    /// True if pairs are single calls of a cell that has rows: they only find candidates that are
    /// worth a row.
    pub is_screening: bool,
    /// Number of its pairs, with or without known times.
    pub pairs: u32,
}

impl TrialEvidence {
    pub fn add(&mut self, pair: TrialPair) {
        count(&mut self.signs, pair.is_won);
        if let Some(is_kept) = pair.keeps_period {
            count(&mut self.periods, is_kept);
        }
    }

    /// Begins trials in rows: it has won by single calls, and must now win by rows of them.
    pub fn begin_rows(&mut self) {
        self.screened = Some(mem::take(&mut self.signs));
    }

    /// True if it is tried in rows.
    pub fn is_in_rows(&self) -> bool {
        self.screened.is_some()
    }

    /// Returns the pairs that it won and lost, by single calls and by rows.
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

/// Result of a pair with the plan in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UsePair {
    /// True if the native MPI's call was faster.
    pub is_lost: bool,
    /// True if its period, from the start of its call to that of the next, was shorter.
    pub loses_period: bool,
}

/// Last pairs of the plan in use.
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

    /// Returns, of the last `pairs` pairs, the number that the native MPI won in one respect, and
    /// the number of the others.
    pub fn against(&self, pairs: usize, is_lost: impl Fn(&UsePair) -> bool) -> Signs {
        let last = self.last.iter().rev().take(pairs);
        let mut signs = Signs::default();
        last.for_each(|pair| count(&mut signs, is_lost(pair)));
        signs
    }
}
