//! What all ranks adopt: read, decided and shared by process 0. No rank acts on what it alone has
//! seen.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use treepie_base::{List, Process, Rank};
use treepie_jobstate::order::file::Program;
use treepie_plans::Wanted;
use treepie_profile::partial_profiles::RunDescription;
use treepie_profile::settings::{AfterEnd, LogLevel};

use crate::one_sided::Gathering;
use crate::reorder::Places;

/// The first value that process 0 shares.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Opening {
    /// From which level on messages are shown.
    pub log: LogLevel,
    /// What the ranks do next.
    pub next: Next,
}

/// What is done with the order of receives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// It is recorded into this file, or replayed.
    pub way: OrderWay,
    /// Sends are delayed, by this seed.
    pub delays: Option<u64>,
}

/// Recorded or replayed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum OrderWay {
    /// Recorded: the file, and what ranks write of the run and its program.
    Record(PathBuf, Box<(RunDescription, Program)>),
    /// Replayed: process 0 has the logs.
    Replay {
        /// How long a call may wait for what was recorded.
        patience: Option<Duration>,
        /// What is done where the recorded run had ended early.
        after_end: AfterEnd,
    },
}

/// The pages of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pages {
    /// The directory that the user named.
    pub directory: Option<PathBuf>,
    /// Number of the run.
    pub run: u64,
    /// The number that the command gave it, or 0.
    pub given: u64,
    /// All ranks may be stopped at a cut.
    pub stops: bool,
}

/// What the ranks do once process 0 has read the settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Next {
    /// All is decided.
    Adopt(Decision),
    /// Process 0 has to know where the processes are; then it shares its decision.
    Look,
}

/// What every rank of the job does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Decision {
    /// The job runs as it would without Treepie.
    Plain,
    /// The job ends before the application starts; process 0 has said why.
    Abort,
    /// Treepie does its part.
    Do(Box<Plan>),
}

/// Work of Treepie in a job, each part if there is one.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Plan {
    /// New ranks, where ranks are permuted.
    pub permutation: Option<List<Process, Rank>>,
    /// Cores that processes are bound to.
    pub cores: Option<List<Process, u32>>,
    /// Collectives that are replaced.
    pub collectives: Option<Wanted>,
    /// Small puts and accumulates that are kept back and joined.
    pub gathers: Option<Gathering>,
    /// Where the processes are, where communicators are reordered by it.
    pub places: Option<Places>,
    /// Traffic is counted, and a profile is written.
    pub recording: Option<Recording>,
    /// Each rank keeps a page.
    pub pages: Option<Pages>,
    /// The order of receives is recorded or replayed.
    pub order: Option<Order>,
    /// The job ends where collectives can't be replaced.
    pub strict: bool,
    /// How long the run takes goes into a store of experiences.
    pub learns: bool,
}

/// How traffic is counted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Recording {
    /// The profile to write.
    pub output: String,
    /// Calls are timed.
    pub times: bool,
    /// Counts of each such time are kept apart.
    pub interval: Option<Duration>,
    /// Each rank leaves a file this often.
    pub checkpoint: Option<Duration>,
    /// What all ranks write of the run.
    pub run: RunDescription,
    /// The profile goes into a store of experiences: it names nobody, and nothing is left of it
    /// after an abnormal exit.
    pub for_store: bool,
    /// There is a place for partial profiles.
    pub parts: bool,
}

impl Plan {
    /// Whether calls are noted of which somebody has to know the communicators.
    pub fn notes_calls(&self) -> bool {
        self.recording.is_some() || self.pages.is_some() || self.order.is_some()
    }

    /// Whether there is something to undo when the job ends.
    pub fn needs_an_end(&self) -> bool {
        self.permutation.is_some()
            || self.collectives.is_some()
            || self.places.is_some()
            || self.gathers.is_some()
            || self.recording.is_some()
            || self.order.is_some()
            || self.learns
    }

    /// Whether something of all ranks is collected when the job ends.
    pub fn collects(&self) -> bool {
        self.learns
            || self.recording.is_some()
            || self.order.as_ref().is_some_and(Order::is_recorded)
    }
}

impl Order {
    /// Whether it is recorded.
    pub fn is_recorded(&self) -> bool {
        matches!(self.way, OrderWay::Record(..))
    }
}
