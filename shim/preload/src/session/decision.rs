//! Decision that all ranks adopt: read, made and shared by process 0. No rank acts on information
//! that it alone has.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use treepie_base::{List, Process, Rank};
use treepie_jobstate::order::file::Program;
use treepie_plans::CollectiveSettings;
use treepie_profile::partial_profiles::RunDescription;
use treepie_profile::settings::{AfterEnd, LogLevel};

use crate::one_sided::Gathering;
use crate::reorder::Places;

/// First value that process 0 shares.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Opening {
    /// Lowest level of messages that are shown.
    pub log: LogLevel,
    /// Next action of the ranks.
    pub next: Next,
}

/// Recording, replay and delays of the order of receives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// Recording into a file, or replay.
    pub way: OrderWay,
    /// Seed of delays of sends.
    pub delays: Option<u64>,
}

/// Recording or replay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum OrderWay {
    /// Recording: the file, and the description of the run and its program that ranks write.
    Record(PathBuf, Box<(RunDescription, Program)>),
    /// Replay: process 0 has the logs.
    Replay {
        /// Longest time that a call may wait for its recorded result.
        patience: Option<Duration>,
        /// Behaviour after the point where the recorded run had ended early.
        after_end: AfterEnd,
    },
}

/// Pages of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pages {
    /// Directory that the user named.
    pub directory: Option<PathBuf>,
    /// Number of the run.
    pub run: u64,
    /// Number that the command gave it, or 0.
    pub given: u64,
    /// True if all ranks may be stopped at a cut.
    pub stops: bool,
}

/// Next action of the ranks after process 0 has read the settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Next {
    /// Adopt this decision, which is final.
    Adopt(Decision),
    /// Gather the locations of the processes on process 0, which then shares its decision.
    Look,
}

/// Decision for every rank of the job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Decision {
    /// The job runs as it would without Treepie.
    Plain,
    /// The job ends before the application starts; process 0 has reported why.
    Abort,
    /// Treepie carries out this plan.
    Do(Box<Plan>),
}

/// Features of Treepie in a job, each if it is on.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Plan {
    /// New ranks, if ranks are permuted.
    pub permutation: Option<List<Process, Rank>>,
    /// Cores to which processes are bound.
    pub cores: Option<List<Process, u32>>,
    /// Collectives that are replaced.
    pub collectives: Option<CollectiveSettings>,
    /// Small puts and accumulates that are held back and joined.
    pub gathers: Option<Gathering>,
    /// Locations of the processes, if communicators are reordered by them.
    pub places: Option<Places>,
    /// Counting of traffic for a profile.
    pub recording: Option<Recording>,
    /// Pages of the ranks.
    pub pages: Option<Pages>,
    /// Recording or replay of the order of receives.
    pub order: Option<Order>,
    /// True if the job ends if collectives cannot be replaced.
    pub strict: bool,
    /// True if the duration of the run goes into an experience store.
    pub learns: bool,
}

/// Counting of traffic.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Recording {
    /// Profile to write.
    pub output: String,
    /// True if calls are timed.
    pub times: bool,
    /// Length of a phase interval, each with its own counts.
    pub interval: Option<Duration>,
    /// Interval at which each rank writes a partial profile.
    pub save_every: Option<Duration>,
    /// Description of the run, the same on all ranks.
    pub run: RunDescription,
    /// True if the profile goes into an experience store: it names no person, and no files of it
    /// remain after an abnormal exit.
    pub for_store: bool,
    /// True if there is a directory for partial profiles.
    pub parts: bool,
}

impl Plan {
    /// True if calls are noted whose communicators must be known.
    pub fn notes_calls(&self) -> bool {
        self.recording.is_some() || self.pages.is_some() || self.order.is_some()
    }

    /// True if the plan needs work when the job ends.
    pub fn needs_an_end(&self) -> bool {
        self.permutation.is_some()
            || self.collectives.is_some()
            || self.places.is_some()
            || self.gathers.is_some()
            || self.recording.is_some()
            || self.order.is_some()
            || self.learns
    }

    /// True if data of all ranks are collected when the job ends.
    pub fn collects(&self) -> bool {
        self.learns
            || self.recording.is_some()
            || self.order.as_ref().is_some_and(Order::is_recorded)
    }
}

impl Order {
    /// True if it is recorded.
    pub fn is_recorded(&self) -> bool {
        matches!(self.way, OrderWay::Record(..))
    }
}
