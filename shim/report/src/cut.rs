//! Reports on waves, and on pending operations of a job.

use std::fmt::Write;

use serde::Serialize;
use treepie_base::Rank;
use treepie_jobstate::cut::{Flight, Reason, in_flight};
use treepie_jobstate::waits::RankState;

use super::units::{bytes, count};

/// End of a wave.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// At a quiet cut; there was no command to run.
    Quiet,
    /// The command succeeded at a quiet cut.
    Done,
    /// The command failed.
    Failed {
        /// Its end.
        words: String,
    },
    /// Ranks continued before the command had ended: this process was stopped for too long.
    Left,
    /// There was no quiet cut.
    Dropped {
        /// The reason.
        reason: Reason,
        /// The reason in words.
        words: String,
    },
}

/// Sent and received messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Received {
    /// Pairs of ranks, each in one direction.
    pub channels: usize,
    /// Number of messages.
    pub messages: u64,
    /// Number of bytes.
    pub bytes: u64,
}

/// Report on a wave.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WaveReport {
    /// Number of the wave, from 1.
    pub number: usize,
    /// Seconds until all ranks were stopped at a quiet cut.
    pub quiet_seconds: Option<f64>,
    /// Seconds until all ranks continued.
    pub seconds: f64,
    /// Messages received at the cut.
    pub traffic: Option<Received>,
    /// Its end.
    pub outcome: Outcome,
}

/// Operations that a rank has started and not completed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unfinished {
    /// The rank.
    pub rank: Rank,
    /// Number of receives.
    pub receives: u64,
    /// Number of collectives.
    pub collectives: u64,
}

/// Pending operations at a given time, or at the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pending {
    /// Received messages.
    pub received: Received,
    /// Messages in flight: sent and not received.
    pub under_way: Vec<Flight>,
    /// Requests that were started and not completed.
    pub unfinished: Vec<Unfinished>,
    /// Ranks whose state, or final state, is not known.
    pub unknown: Vec<Rank>,
    /// Operations outside the counts, by rank.
    pub not_counted: Vec<(Rank, String)>,
}

/// Sums the messages received by these ranks.
pub fn traffic(ranks: &[RankState]) -> Received {
    let with = ranks.iter().filter_map(|rank| rank.channels.as_ref());
    let channels: Vec<_> = with.flat_map(|channels| channels.with.values()).collect();
    let used = channels.iter().filter(|channel| channel.received > 0);
    Received {
        channels: used.count(),
        messages: channels.iter().map(|channel| channel.received).sum(),
        bytes: channels.iter().map(|channel| channel.received_bytes).sum(),
    }
}

impl Pending {
    /// Collects the pending operations of the known ranks of a job of `size` ranks.
    pub fn new(ranks: &[RankState], size: usize) -> Pending {
        let known: Vec<RankState> = ranks
            .iter()
            .filter(|rank| rank.channels.is_some())
            .cloned()
            .collect();
        let is_known = |rank: &Rank| known.iter().any(|other| other.rank == *rank);
        let unknown: Vec<Rank> = (0..size).map(Rank).filter(|rank| !is_known(rank)).collect();
        // The messages received by an unknown rank are not known.
        let mut under_way = in_flight(&known).unwrap_or_default();
        under_way.retain(|flight| is_known(&flight.to));
        let unfinished = known.iter().filter_map(|rank| {
            let stop = rank.stop.as_ref()?;
            let open = stop.receives + stop.collectives > 0;
            open.then_some(Unfinished {
                rank: rank.rank,
                receives: stop.receives,
                collectives: stop.collectives,
            })
        });
        let not_counted = known
            .iter()
            .filter_map(|rank| Some((rank.rank, rank.stop.as_ref()?.refused.clone()?)));
        Pending {
            received: traffic(&known),
            under_way,
            unfinished: unfinished.collect(),
            unknown,
            not_counted: not_counted.collect(),
        }
    }

    /// True if a message was sent and not received, or an operation was started and not completed.
    pub fn is_something(&self) -> bool {
        !self.under_way.is_empty() || !self.unfinished.is_empty()
    }

    /// Formats lines for human readers.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for flight in &self.under_way {
            let _ = writeln!(text, "{flight}");
        }
        for Unfinished {
            rank,
            receives,
            collectives,
        } in &self.unfinished
        {
            for (number, what) in [(receives, "receive"), (collectives, "collective")] {
                let (plural, verb) = if *number == 1 {
                    ("", "was")
                } else {
                    ("s", "were")
                };
                if *number > 0 {
                    let _ = writeln!(
                        text,
                        "{number} {what}{plural} of rank {rank} {verb} begun and not completed"
                    );
                }
            }
        }
        if !self.is_something() && self.unknown.is_empty() {
            let _ = writeln!(text, "nothing is under way: {}", self.received.words());
        }
        for rank in &self.unknown {
            let _ = writeln!(
                text,
                "rank {rank} did not say its last counts; it is left out"
            );
        }
        for (rank, what) in &self.not_counted {
            let _ = writeln!(
                text,
                "rank {rank} {what}; not all of its messages are counted"
            );
        }
        text
    }
}

impl Received {
    fn words(&self) -> String {
        format!(
            "{} messages ({}) on {} channels were sent and received",
            count(self.messages as f64),
            bytes(self.bytes as f64),
            self.channels
        )
    }
}

impl WaveReport {
    /// True if the ranks were stopped at a quiet cut, and the command succeeded, if there was one.
    pub fn is_well(&self) -> bool {
        matches!(self.outcome, Outcome::Quiet | Outcome::Done)
    }

    /// True if there was no quiet cut because the job has ended.
    pub fn is_of_the_end(&self) -> bool {
        let Outcome::Dropped { reason, .. } = &self.outcome else {
            return false;
        };
        matches!(reason, Reason::Ends(_))
    }

    /// Formats a line for human readers.
    pub fn text(&self) -> String {
        let number = self.number;
        let quiet = self.quiet_seconds.unwrap_or_default() * 1e3;
        let received = self
            .traffic
            .map(|traffic| traffic.words())
            .unwrap_or_default();
        match &self.outcome {
            Outcome::Quiet => format!("wave {number}: quiet after {quiet:.1} ms; {received}"),
            Outcome::Done => format!(
                "wave {number}: quiet after {quiet:.1} ms, stopped for {:.2} s; {received}",
                self.seconds
            ),
            Outcome::Failed { words } => {
                format!("wave {number}: quiet after {quiet:.1} ms, but the command {words}")
            }
            Outcome::Left => format!(
                "wave {number}: ranks went on before the command had ended; what it saved is of no \
                 cut"
            ),
            Outcome::Dropped { words, .. } => format!("wave {number}: dropped: {words}"),
        }
    }
}
