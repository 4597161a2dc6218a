//! All ranks of a job, and their motion between two readings.

use std::collections::BTreeMap;

use serde::Serialize;

use super::state::{Activity, End, Life, RankState, Thread};
use treepie_base::Rank;

/// Motion of a thread between two readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Motion {
    /// It began or ended a call.
    Moves,
    /// It polled repeatedly for an operation that is not complete.
    Polls,
    /// It did nothing.
    Still,
}

/// Rank as the second reading found it.
#[derive(Debug, Clone)]
pub struct ObservedRank {
    /// Its state.
    pub state: RankState,
    /// Motion of each of its threads between the readings.
    pub motions: Vec<Motion>,
}

/// Job, with its known ranks.
#[derive(Debug, Clone)]
pub struct Job {
    /// Number of ranks of the job.
    pub size: usize,
    /// Known ranks.
    pub ranks: BTreeMap<Rank, ObservedRank>,
}

impl Job {
    /// Creates a job of `size` ranks from two readings. Ranks that one of them lacks are unknown;
    /// invalid ones are left out.
    pub fn between(size: usize, first: &[RankState], second: Vec<RankState>) -> Job {
        let before: BTreeMap<Rank, &RankState> =
            first.iter().map(|rank| (rank.rank, rank)).collect();
        let seen = |rank: RankState| {
            let earlier = before.get(&rank.rank).filter(|_| rank.rank.0 < size)?;
            let motion = |thread: &Thread| {
                let mut threads = earlier.threads.iter();
                let earlier = threads.find(|earlier| earlier.area == thread.area);
                earlier.map_or(Motion::Moves, |earlier| motion(earlier, thread))
            };
            let motions = rank.threads.iter().map(motion).collect();
            Some((
                rank.rank,
                ObservedRank {
                    state: rank,
                    motions,
                },
            ))
        };
        Job {
            size,
            ranks: second.into_iter().filter_map(seen).collect(),
        }
    }

    /// Creates a job whose processes have ended, from one remaining reading. A thread counts as
    /// still if it was in its call for `long` nanoseconds at its rank's last sign of life.
    ///
    /// Their pages show which ranks died before the others were ended: ranks that had received a
    /// signal or gave signs of life for longer were still alive. If all ended alike, the job was
    /// ended from outside, and their activities count.
    pub fn of_the_dead(size: usize, ranks: Vec<RankState>, long: u64) -> Job {
        let last = ranks.iter().map(|rank| rank.tick).max().unwrap_or(0);
        let had_signal = |rank: &RankState| matches!(rank.end, Some(End::Signal(_)));
        let some_had = ranks.iter().any(had_signal);
        let seen = |mut rank: RankState| {
            let is_first = match some_had {
                true => !had_signal(&rank),
                false => last - rank.tick >= long,
            };
            rank.life = match is_first {
                true => Life::Gone,
                false => Life::Runs,
            };
            let motion = |thread: &Thread| {
                let is_known = thread.since > 0;
                match is_known && rank.tick.saturating_sub(thread.since) >= long {
                    true if thread.is_poll => Motion::Polls,
                    true => Motion::Still,
                    false => Motion::Moves,
                }
            };
            let motions = rank.threads.iter().map(motion).collect();
            (
                rank.rank,
                ObservedRank {
                    state: rank,
                    motions,
                },
            )
        };
        Job {
            size,
            ranks: ranks
                .into_iter()
                .filter(|rank| rank.rank.0 < size)
                .map(seen)
                .collect(),
        }
    }

    /// Returns the unknown ranks.
    pub fn unknown(&self) -> Vec<Rank> {
        let known = |rank: &Rank| !self.ranks.contains_key(rank);
        (0..self.size).map(Rank).filter(known).collect()
    }

    /// True if all ranks are in `MPI_Finalize`.
    pub(crate) fn is_finalizing(&self) -> bool {
        self.ranks.len() == self.size && self.ranks.values().all(ObservedRank::finalizes)
    }

    /// True if no rank made a call, and one outside MPI is in a read of standard input.
    pub fn waits_for_input(&self) -> bool {
        let reads =
            |seen: &ObservedRank| seen.state.life == Life::ReadsInput && !seen.is_in_a_call();
        self.stands_still() && self.ranks.values().any(reads)
    }

    /// True if no rank other than polling ones made a call.
    pub(crate) fn stands_still(&self) -> bool {
        let motions = self.ranks.values().flat_map(|seen| &seen.motions);
        motions.into_iter().all(|&motion| motion != Motion::Moves)
    }
}

impl ObservedRank {
    /// Returns its threads with their motions.
    pub fn threads(&self) -> impl Iterator<Item = (&Thread, Motion)> {
        self.state.threads.iter().zip(self.motions.iter().copied())
    }

    /// True if its process is alive.
    pub fn lives(&self) -> bool {
        !matches!(self.state.life, Life::Stopped | Life::Gone)
    }

    /// True if one of its threads is in a call.
    pub(crate) fn is_in_a_call(&self) -> bool {
        self.state.threads.iter().any(|thread| thread.inside)
    }

    /// True if it is in `MPI_Finalize`.
    pub fn finalizes(&self) -> bool {
        let mut threads = self.state.threads.iter();
        threads.any(|thread| thread.activity == Activity::Finalizes)
    }
}

fn motion(earlier: &Thread, thread: &Thread) -> Motion {
    let polls = thread.polls != earlier.polls;
    if thread.number != earlier.number {
        return Motion::Moves;
    }
    match (polls, thread.inside == earlier.inside) {
        // Between two polls it is outside, which is not another call.
        (true, _) => Motion::Polls,
        (false, true) => Motion::Still,
        (false, false) => Motion::Moves,
    }
}
