//! Decision after an attempt: the end, another attempt, or giving up.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use crate::supervision::end::End;

/// Number of consecutive attempts without gain that end the loop: ended by the program,
/// immediately, or without a new checkpoint.
const MOST_WITHOUT_GAIN: usize = 2;

/// Limits against loops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Maximum number of attempts.
    pub attempts: usize,
    /// Time after which no attempt starts.
    pub time: Option<Duration>,
    /// An attempt that ends sooner, without a new checkpoint, has failed immediately.
    pub at_once: Duration,
}

/// Progress of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// It left a new checkpoint.
    Made,
    /// It left none.
    None,
    /// The user did not specify which files are checkpoints.
    Unknown,
}

/// An attempt that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Its end.
    pub end: End,
    /// Its length.
    pub took: Duration,
    /// Its progress.
    pub progress: Progress,
    /// Time since the first attempt began.
    pub since_start: Duration,
    /// True if the next attempt can leave out one of its hosts.
    pub can_leave_out: bool,
}

/// Reason for no further attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Reason {
    /// A signal requested the end.
    Stopped,
    /// The program itself fails, or the same rank died on two hosts.
    Program,
    /// It failed immediately, twice in succession.
    AtOnce,
    /// Twice in succession there was no progress.
    NoProgress,
    /// All attempts were used.
    Attempts,
    /// The time limit has passed.
    Time,
    /// There are fewer hosts than the ranks need.
    TooFewHosts,
}

/// Decision after an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// None: the job is finished.
    Done,
    /// Another attempt, without these hosts.
    Restart {
        /// Hosts to leave out.
        leave_out: Vec<String>,
    },
    /// No more attempts.
    GiveUp(Reason),
}

/// The attempts so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct History {
    attempts: usize,
    /// Ends by the program since the last new checkpoint.
    by_program: usize,
    /// Consecutive attempts without gain, with all hosts available.
    fruitless: usize,
    /// Ranks that a signal ended, and their hosts.
    killed: Vec<(Option<usize>, String)>,
}

impl History {
    /// Adds an attempt, and decides on the next step.
    pub fn after(&mut self, ended: &Ended, limits: &Limits) -> Decision {
        self.attempts += 1;
        if ended.progress == Progress::Made {
            self.by_program = 0;
            self.fruitless = 0;
        }
        let mut leave_out = match &ended.end {
            End::Finished => return Decision::Done,
            End::Stopped { .. } => return Decision::GiveUp(Reason::Stopped),
            End::HostsLost { hosts } => hosts.clone(),
            End::Killed { rank, host, .. } => self.killed(*rank, host.as_deref()),
            End::Program => {
                self.by_program += 1;
                Vec::new()
            }
            End::Stalled => Vec::new(),
        };
        if !ended.can_leave_out {
            leave_out.clear();
        }
        if leave_out.is_empty() {
            self.count_without_gain(ended, limits);
        }
        match self.reason(ended, limits) {
            Some(reason) => Decision::GiveUp(reason),
            None => Decision::Restart { leave_out },
        }
    }

    /// Number of attempts so far.
    pub fn attempts(&self) -> usize {
        self.attempts
    }

    /// The hosts to leave out after a signal ended this rank there: the host the first time, unless
    /// the rank also died on another host, which is an error of the program.
    fn killed(&mut self, rank: Option<usize>, host: Option<&str>) -> Vec<String> {
        let Some(host) = host else { return Vec::new() };
        let died_elsewhere = |(other, place): &(Option<usize>, String)| {
            rank.is_some() && *other == rank && place != host
        };
        if self.killed.iter().any(died_elsewhere) {
            self.by_program += MOST_WITHOUT_GAIN;
            return Vec::new();
        }
        let is_first = self.killed.iter().all(|(_, place)| place != host);
        self.killed.push((rank, host.to_owned()));
        if is_first {
            vec![host.to_owned()]
        } else {
            Vec::new()
        }
    }

    fn count_without_gain(&mut self, ended: &Ended, limits: &Limits) {
        let gained = match ended.progress {
            Progress::Made => true,
            Progress::None => false,
            Progress::Unknown => ended.took >= limits.at_once && ended.end != End::Stalled,
        };
        self.fruitless = if gained { 0 } else { self.fruitless + 1 };
    }

    fn reason(&self, ended: &Ended, limits: &Limits) -> Option<Reason> {
        if ended.progress != Progress::Made {
            if self.fruitless >= MOST_WITHOUT_GAIN && ended.took < limits.at_once {
                return Some(Reason::AtOnce);
            }
            if self.by_program >= MOST_WITHOUT_GAIN {
                return Some(Reason::Program);
            }
            if self.fruitless >= MOST_WITHOUT_GAIN {
                return Some(Reason::NoProgress);
            }
        }
        if self.attempts >= limits.attempts {
            return Some(Reason::Attempts);
        }
        let is_late = limits.time.is_some_and(|time| ended.since_start >= time);
        is_late.then_some(Reason::Time)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Reason::Stopped => "it was told to end",
            Reason::Program => {
                "the program itself fails; look at its messages, since another attempt would end alike"
            }
            Reason::AtOnce => {
                "it failed at once twice in a row; look at its messages and at the restart command"
            }
            Reason::NoProgress => {
                "twice in a row there was no progress; look at what the ranks waited for, and whether \
                 the restart command begins from the last checkpoint"
            }
            Reason::Attempts => "all attempts were made; --attempts allows more",
            Reason::Time => "the time for attempts is over; --time-limit allows more",
            Reason::TooFewHosts => "too few hosts are left",
        })
    }
}
