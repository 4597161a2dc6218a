//! Wave: the action after each reading of all ranks.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::behind::{RankPosition, behind, position};
use super::channels::{Counts, Flight, in_flight};
use crate::waits::{Activity, RankState, Thread};
use treepie_base::Rank;

/// Time without movement after which all ranks continue, if it is unknown which must.
const STILL: Duration = Duration::from_millis(20);

/// Action after a reading.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Read again.
    Wait,
    /// These ranks may make one call more, the others none.
    Advance(BTreeSet<Rank>),
    /// The ranks are at a quiet cut.
    Quiet,
    /// There is none in time; all ranks continue.
    Drop(Reason),
}

/// Reason why a wave is dropped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// A rank has reached its end, or is dead.
    Ends(Rank),
    /// A rank does something that a cut cannot include.
    Refused {
        /// The rank.
        rank: Rank,
        /// Its action.
        what: String,
    },
    /// There was no quiet cut in time.
    Patience {
        /// Time limit in seconds.
        seconds: f64,
        /// Obstacle to a quiet cut.
        hindrance: Hindrance,
    },
}

/// Obstacle to a quiet cut when the time was over: the first of these that applies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hindrance {
    /// Ranks that made no call.
    Computes(Vec<Rank>),
    /// Messages that were sent and not received.
    Channels(Vec<Flight>),
    /// Ranks in calls, each with its procedure.
    Inside(Vec<(Rank, String)>),
    /// Ranks that continued and did not reach a quiet cut.
    Moves,
}

/// Wave in progress.
#[derive(Debug)]
pub struct Wave {
    size: usize,
    patience: Duration,
    began: Duration,
    last: Option<Vec<RankState>>,
    /// Time of the last movement.
    since: Duration,
    /// Number of calls of each rank when the wave began.
    first: BTreeMap<Rank, u64>,
    /// Messages in flight at the latest reading without movement.
    flights: Vec<Flight>,
}

impl Wave {
    /// Creates a wave over `size` ranks that begins now, and is dropped if it takes longer than
    /// `patience`. Times are on one clock with an arbitrary origin.
    pub fn new(size: usize, patience: Duration, now: Duration) -> Wave {
        Wave {
            size,
            patience,
            began: now,
            last: None,
            since: now,
            first: BTreeMap::new(),
            flights: Vec::new(),
        }
    }

    /// Processes a reading of all ranks. Decisions are based on two equal readings: these are a
    /// consistent cut.
    pub fn look(&mut self, ranks: Vec<RankState>, now: Duration) -> Step {
        if let Some(reason) = self.never(&ranks) {
            return Step::Drop(reason);
        }
        let alike = self
            .last
            .as_deref()
            .is_some_and(|last| are_alike(last, &ranks));
        if !alike {
            self.since = now;
        } else if let Some(flights) = in_flight(&ranks) {
            self.flights = flights;
        }
        if self.first.is_empty() {
            let calls = ranks.iter().map(|rank| (rank.rank, rank.calls()));
            self.first = calls.collect();
        }
        let step = match alike {
            true => self.step(&ranks, now),
            false => Step::Wait,
        };
        let step = match step {
            Step::Wait | Step::Advance(_) if now.saturating_sub(self.began) >= self.patience => {
                Step::Drop(Reason::Patience {
                    seconds: self.patience.as_secs_f64(),
                    hindrance: self.hindrance(&ranks),
                })
            }
            step => step,
        };
        // Ranks that are released are read twice again.
        let lets_go = match &step {
            Step::Advance(behind) => {
                let goes = |rank: &RankState| behind.contains(&rank.rank) && is_stopped(rank);
                ranks.iter().any(goes)
            }
            _ => false,
        };
        self.last = (!lets_go).then_some(ranks);
        step
    }

    /// Returns the reason why there can be no quiet cut any more.
    fn never(&self, ranks: &[RankState]) -> Option<Reason> {
        let known: BTreeSet<Rank> = ranks.iter().map(|rank| rank.rank).collect();
        if let Some(gone) = (0..self.size).map(Rank).find(|rank| !known.contains(rank)) {
            return Some(Reason::Ends(gone));
        }
        ranks.iter().find_map(|rank| {
            let finalizes = |thread: &Thread| thread.activity == Activity::Finalizes;
            let stop = rank.stop.as_ref();
            if stop.is_none_or(|stop| stop.ended) || rank.threads.iter().any(finalizes) {
                return Some(Reason::Ends(rank.rank));
            }
            let what = stop?.refused.clone()?;
            Some(Reason::Refused {
                rank: rank.rank,
                what,
            })
        })
    }

    fn step(&self, ranks: &[RankState], now: Duration) -> Step {
        let Some(counts) = Counts::new(ranks) else {
            return Step::Wait;
        };
        let behind = behind(ranks, &counts);
        let stopped = || ranks.iter().filter(|rank| is_stopped(rank));
        let mut outside = ranks
            .iter()
            .filter(|rank| position(rank) == RankPosition::Outside);
        let is_outside = outside.clone().next().is_some();
        // A polling rank may wait for a stopped one, and a computing rank continues without help.
        let polls = |rank: &RankState| rank.threads.iter().any(|thread| thread.is_poll);
        let all_wait = outside.all(polls) && !behind.is_empty();
        let is_still = now.saturating_sub(self.since) >= STILL;
        match () {
            () if stopped().any(|rank| behind.contains(&rank.rank)) => Step::Advance(behind),
            () if all_wait && is_still => {
                let stopped = stopped().map(|rank| rank.rank);
                Step::Advance(behind.iter().copied().chain(stopped).collect())
            }
            // Polling ranks continue until they find a message, as long as they must.
            () if is_outside => Step::Advance(behind),
            () if behind.is_empty() && counts.are_equal() => Step::Quiet,
            () => Step::Wait,
        }
    }

    /// Returns the obstacle when the time was over.
    fn hindrance(&self, ranks: &[RankState]) -> Hindrance {
        let computes = ranks.iter().filter(|rank| {
            let began = self.first.get(&rank.rank);
            position(rank) == RankPosition::Outside && began == Some(&rank.calls())
        });
        let computes: Vec<Rank> = computes.map(|rank| rank.rank).collect();
        let inside = ranks
            .iter()
            .filter(|rank| position(rank) == RankPosition::Inside);
        let procedure = |rank: &RankState| {
            let thread = rank.threads.iter().find(|thread| thread.inside);
            let name = thread.map_or(String::new(), |thread| thread.procedure.clone());
            (rank.rank, name)
        };
        let inside: Vec<(Rank, String)> = inside.map(procedure).collect();
        match () {
            () if !computes.is_empty() => Hindrance::Computes(computes),
            () if !self.flights.is_empty() => Hindrance::Channels(self.flights.clone()),
            () if !inside.is_empty() => Hindrance::Inside(inside),
            () => Hindrance::Moves,
        }
    }
}

fn is_stopped(rank: &RankState) -> bool {
    position(rank) == RankPosition::Stopped
}

/// True if no rank has made a call between two readings: then these are a consistent cut.
pub fn are_alike(first: &[RankState], second: &[RankState]) -> bool {
    let calls = |rank: &RankState| -> Vec<(u64, bool)> {
        let call = |thread: &Thread| (thread.number, thread.inside && !thread.is_poll);
        rank.threads.iter().map(call).collect()
    };
    let alike = |(first, second): (&RankState, &RankState)| {
        first.rank == second.rank
            && first.stop == second.stop
            && calls(first) == calls(second)
            && first.channels == second.channels
            && first.communicators == second.communicators
    };
    first.len() == second.len() && first.iter().zip(second).all(alike)
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Ends(rank) => write!(out, "rank {rank} has come to its end"),
            Reason::Refused { rank, what } => {
                write!(out, "rank {rank} {what}, which no cut includes")
            }
            Reason::Patience { seconds, hindrance } => {
                write!(out, "not quiet within {seconds} s: {hindrance}")
            }
        }
    }
}

impl fmt::Display for Hindrance {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hindrance::Computes(ranks) => {
                let names: Vec<String> = ranks.iter().map(ToString::to_string).collect();
                write!(out, "no call was made by rank {}", names.join(", "))
            }
            Hindrance::Channels(flights) => {
                let lines: Vec<String> = flights.iter().map(ToString::to_string).collect();
                out.write_str(&lines.join("; "))
            }
            Hindrance::Inside(ranks) => {
                let line =
                    |(rank, procedure): &(Rank, String)| format!("rank {rank} is in {procedure}");
                let lines: Vec<String> = ranks.iter().map(line).collect();
                out.write_str(&lines.join("; "))
            }
            Hindrance::Moves => {
                out.write_str("the ranks went on, and something was always under way")
            }
        }
    }
}

impl fmt::Display for Flight {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Flight {
            from,
            to,
            messages,
            bytes,
        } = self;
        let noun = if *messages == 1 {
            "message"
        } else {
            "messages"
        };
        let verb = if *messages == 1 { "was" } else { "were" };
        write!(
            out,
            "{messages} {noun} ({bytes} bytes) from rank {from} to rank {to} {verb} sent and not received"
        )
    }
}
