//! Comparison of two runs, up to the point where they differ.

use super::call::{Outcome, message};
use super::entry::Entry;
use super::guide::{Matches, Outcomes, Posting};
use super::log::{Ended, Log};

/// First point of a rank where two runs differ, in one of its two sequences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parting {
    /// Receive with a wildcard.
    Receive {
        /// Its number, from 1, in posting order.
        number: u64,
        /// Its match in the first run, and in the second.
        what: [String; 2],
    },
    /// Poll, or call for any of several requests.
    Outcome {
        /// Its number among the calls that found something, from 1.
        number: u64,
        /// Its result in the first run, and in the second.
        what: [String; 2],
    },
}

/// Treatment of polls that found nothing when runs are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmptyPolls {
    /// They are compared.
    Compared,
    /// They are ignored: receives decide what a program computes.
    Ignored,
}

/// Returns the first receive, or if all are equal the first result, that differs between two runs
/// of a rank.
pub fn parting(logs: [&Log; 2], polls: EmptyPolls) -> Option<Parting> {
    let receive = first_difference(logs.map(Receives::new), skip_unmatched, received);
    let receive = receive.map(|(number, what)| Parting::Receive { number, what });
    receive.or_else(|| {
        let outcomes = logs.map(|log| CountedOutcomes {
            outcomes: Outcomes(log.entries()),
            polls,
        });
        let (number, what) = first_difference(outcomes, |_| 0, found)?;
        Some(Parting::Outcome { number, what })
    })
}

/// Returns the number of the first item that differs, from 1, and the items of both sides by
/// `in_words`. `skip` skips items that are equal on both sides, and returns their number.
fn first_difference<S: Iterator<Item: PartialEq>>(
    mut sides: [S; 2],
    skip: impl Fn(&mut [S; 2]) -> u64,
    in_words: impl Fn(S::Item) -> String,
) -> Option<(u64, [String; 2])> {
    let mut number: u64 = 0;
    loop {
        number = number.saturating_add(skip(&mut sides)).saturating_add(1);
        let [left, right] = &mut sides;
        match (left.next(), right.next()) {
            (None, None) => return None,
            (left, right) if left == right => (),
            (left, right) => {
                let end = || "(the run has ended)".to_owned();
                let what = [left, right].map(|side| side.map_or_else(end, &in_words));
                return Some((number, what));
            }
        }
    }
}

/// Skips receives that matched nothing on both sides, if no others are left on either: a log may
/// claim any number of them.
fn skip_unmatched(sides: &mut [Receives; 2]) -> u64 {
    let [left, right] = sides;
    match (&mut left.left, &mut right.left) {
        (Some(ours), Some(theirs)) if left.matches.is_over() && right.matches.is_over() => {
            let both = (*ours).min(*theirs);
            *ours -= both;
            *theirs -= both;
            both
        }
        _ => 0,
    }
}

/// Messages that receives matched.
struct Receives {
    matches: Matches,
    /// Number of receives that are left, if known.
    left: Option<u64>,
}

impl Receives {
    fn new(log: &Log) -> Receives {
        Receives {
            matches: Matches::new(log),
            left: match log.ended() {
                Ended::Well(totals) => Some(totals.posted),
                Ended::Early => None,
            },
        }
    }
}

impl Iterator for Receives {
    type Item = Posting;

    fn next(&mut self) -> Option<Posting> {
        match &mut self.left {
            Some(0) => return None,
            Some(left) => *left -= 1,
            None => (),
        }
        let posting = self.matches.next();
        if posting.is_none() && self.left.is_none() && self.matches.is_over() {
            return None;
        }
        Some(posting.unwrap_or(Posting::Unmatched))
    }
}

fn received(posting: Posting) -> String {
    match posting {
        Posting::Matched { source, tag } => message(source, tag),
        Posting::Cancelled => "cancelled".to_owned(),
        Posting::Unmatched | Posting::Beyond => "no message".to_owned(),
    }
}

/// Results of calls that found something, with the number of preceding polls that found nothing, if
/// these count.
struct CountedOutcomes {
    outcomes: Outcomes,
    polls: EmptyPolls,
}

impl Iterator for CountedOutcomes {
    type Item = (Outcome, u64);

    fn next(&mut self) -> Option<(Outcome, u64)> {
        let mut before = 0u64;
        loop {
            match self.outcomes.next()? {
                Entry::Nothing(polls) if self.polls == EmptyPolls::Compared => {
                    before = before.saturating_add(polls);
                }
                Entry::Found(outcome) => return Some((outcome, before)),
                _ => (),
            }
        }
    }
}

fn found((outcome, before): (Outcome, u64)) -> String {
    match before {
        0 => outcome.to_string(),
        _ => format!("{outcome}, after {before} empty polls"),
    }
}
