//! Orders to the ranks of a job, and answers.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use treepie_base::Rank;
use treepie_jobstate::waits::RankState;

use super::then::Ended;

/// Time limit of an answer, in addition to that of the user's command.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
/// Interval between signs of life to ranks without orders.
pub(crate) const BETWEEN_BEATS: Duration = Duration::from_millis(500);

/// Identifies a job.
#[derive(Debug, Clone, Copy)]
pub enum JobNumber {
    /// The run with this number.
    Run(u64),
    /// The runs with this number, given by the command that started them.
    Given(u64),
}

/// Order to ranks.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Order {
    /// Report their states; also a sign of life of this command.
    Look,
    /// Lets no further call begin.
    Close,
    /// Lets each of these ranks make calls up to this number, others none.
    Only(BTreeMap<Rank, u64>),
    /// Stopped ranks leave the MPI alone, or no longer.
    Rest(bool),
    /// Lets all ranks continue.
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
    /// The job has ended: report its final state and remove its pages.
    End,
}

/// Answer to an order.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Answer {
    /// The ranks that are alive, or that have left their counts.
    pub ranks: Vec<RankState>,
    /// Number of ranks of the job; 0 if no page is known.
    pub size: usize,
    /// End of the user's command, by host.
    pub ended: Vec<(String, Ended)>,
    /// Reason why an order was not executed.
    pub problem: Option<String>,
}

impl Answer {
    /// Creates the answer to an order that could not be executed.
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
