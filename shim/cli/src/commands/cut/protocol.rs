//! Orders to the ranks of a job, and answers.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use treepie_base::Rank;
use treepie_jobstate::waits::RankState;

use super::then::Ended;

/// Time limit of an answer, beside the user's command.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
/// Interval between signs of life to ranks, where nothing is ordered.
pub(crate) const BETWEEN_BEATS: Duration = Duration::from_millis(500);

/// The job that is meant.
#[derive(Debug, Clone, Copy)]
pub enum Which {
    /// The run with this number.
    Run(u64),
    /// The runs that were given this number by the command that started them.
    Given(u64),
}

/// Order to ranks.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Order {
    /// Report their states; also a sign of life of this command.
    Look,
    /// No call begins any more.
    Close,
    /// Each of these may make the calls until this number, others none.
    Only(BTreeMap<Rank, u64>),
    /// Stopped ranks leave the MPI alone, or no longer.
    Rest(bool),
    /// All go on.
    Open,
    /// The user's command is run on each host.
    Then {
        /// The command.
        command: String,
        /// The number of the wave.
        wave: usize,
        /// Seconds after which it is ended.
        limit: f64,
    },
    /// The job has ended: how it was at its end, and its pages are removed.
    End,
}

/// Answer to an order.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Answer {
    /// The ranks that live, or that have left their counts.
    pub ranks: Vec<RankState>,
    /// Ranks of the job; 0 where no page is known.
    pub size: usize,
    /// End of the user's command, by host.
    pub ended: Vec<(String, Ended)>,
    /// Why an order was not obeyed.
    pub problem: Option<String>,
}

impl Answer {
    /// An order that could not be obeyed.
    pub fn problem(problem: String) -> Answer {
        Answer {
            problem: Some(problem),
            ..Answer::default()
        }
    }

    pub(crate) fn add(&mut self, other: Answer) {
        self.ranks.extend(other.ranks);
        self.size = self.size.max(other.size);
        self.ended.extend(other.ended);
        self.problem = self.problem.take().or(other.problem);
    }
}
