//! End of an attempt.
//!
//! A launcher's exit status is not reliable: MPICH 4.0 returned 0 in 5 of 10 runs in which a rank
//! exited without `MPI_Finalize`, and its status for a signal may also be an exit code. A job is
//! finished when all of its ranks reached `MPI_Finalize`: only then is there a complete profile. A
//! rank that ends in any other way leaves a partial profile, unless a signal that cannot be caught
//! ended it.

use std::fmt;

use serde::Serialize;

use super::launchers::Heard;

/// Encoding of a signal in a launcher's exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statuses {
    /// The form of shells: 128 plus the signal number.
    Shell,
    /// Hydra's form: the number alone, which may also be an exit code.
    Bare,
}

/// Partial profiles left by the ranks of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartialProfileCount {
    /// Number of partial profiles.
    pub partial_profiles: usize,
    /// Number of ranks of the job.
    pub ranks: usize,
}

/// Facts of an attempt that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The launcher's exit status as seen by a shell.
    pub status: u8,
    /// Encoding of a signal in that status.
    pub statuses: Statuses,
    /// True if there is a complete profile: all ranks reached `MPI_Finalize`.
    pub finalized: bool,
    /// Partial profiles, if any.
    pub left: Option<PartialProfileCount>,
    /// Messages in the output of the launcher.
    pub heard: Heard,
    /// Hosts that did not answer afterwards.
    pub silent_hosts: Vec<String>,
    /// A signal that requested an end, which was passed on to the job.
    pub stopped_by: Option<u8>,
    /// True if the attempt was ended because it wrote no checkpoint, or made no call, for too long.
    pub stalled: bool,
}

/// End of an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum End {
    /// All ranks reached `MPI_Finalize`; the status is that of the program.
    Finished,
    /// A signal requested the end.
    Stopped {
        /// Its number.
        signal: u8,
    },
    /// Hosts are gone.
    HostsLost {
        /// Their names.
        hosts: Vec<String>,
    },
    /// No checkpoint or call for too long, and all hosts answer.
    Stalled,
    /// A signal that ended a rank.
    Killed {
        /// Its number.
        signal: u8,
        /// The rank, if the launcher reports it.
        rank: Option<usize>,
        /// Its host, if the launcher reports it.
        host: Option<String>,
    },
    /// The program: an exit code, `MPI_Abort`, or an end of some ranks without `MPI_Finalize`.
    Program,
}

impl Facts {
    /// Determines the end of the attempt.
    pub fn end(&self) -> End {
        if self.finalized {
            return End::Finished;
        }
        if let Some(signal) = self.stopped_by {
            return End::Stopped { signal };
        }
        let lost = self.lost_hosts();
        if !lost.is_empty() {
            return End::HostsLost { hosts: lost };
        }
        if self.stalled {
            return End::Stalled;
        }
        let Some(signal) = self.signal() else {
            return End::Program;
        };
        let of_it = |death: &&super::launchers::Death| death.signal == Some(signal);
        let death = self.heard.deaths.iter().find(of_it);
        End::Killed {
            signal,
            rank: death.and_then(|death| death.rank),
            host: death.and_then(|death| death.host.clone()),
        }
    }

    fn lost_hosts(&self) -> Vec<String> {
        let mut hosts = self.silent_hosts.clone();
        hosts.extend(self.heard.lost_hosts.iter().cloned());
        hosts.sort();
        hosts.dedup();
        hosts
    }

    /// The signal that ended a rank and, with it, the job.
    fn signal(&self) -> Option<u8> {
        match self.statuses {
            // Slurm's is the status of a rank that it ended itself; the first that died is reported
            // first.
            Statuses::Shell => {
                let signal = self.status.checked_sub(128).filter(|s| is_signal(*s));
                signal.map(|signal| self.told_signal().unwrap_or(signal))
            }
            Statuses::Bare => self.bare_signal(),
        }
    }

    /// The signal of the first rank that the launcher reports as ended by one.
    fn told_signal(&self) -> Option<u8> {
        self.heard.deaths.iter().find_map(|death| death.signal)
    }

    /// Hydra ends the ranks of a program that failed by SIGKILL and may report that signal. But a
    /// rank that such a signal ended first leaves no partial profile, and if all ranks left theirs,
    /// the program ended by its own error.
    fn bare_signal(&self) -> Option<u8> {
        let told = self.told_signal();
        let signal = told.unwrap_or(self.status);
        let is_certain = told.is_some() || ENDS_RANKS.contains(&signal);
        let all_left = self
            .left
            .is_some_and(|left| left.partial_profiles >= left.ranks);
        let by_itself = all_left && !LEAVES_PARTS.contains(&signal);
        (is_certain && is_signal(signal) && !by_itself).then_some(signal)
    }
}

/// Signals that end ranks, and are rare as exit codes.
const ENDS_RANKS: [u8; 7] = [4, 6, 7, 8, 9, 11, 15];

/// SIGINT and SIGTERM, after which a rank leaves its partial profile.
const LEAVES_PARTS: [u8; 2] = [2, 15];

fn is_signal(number: u8) -> bool {
    (1..=64).contains(&number)
}

/// The name of a signal, or its number.
pub(crate) fn signal_name(signal: u8) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        10 => "SIGUSR1",
        11 => "SIGSEGV",
        12 => "SIGUSR2",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        _ => return format!("signal {signal}"),
    };
    name.to_owned()
}

impl fmt::Display for End {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Finished => out.write_str("all ranks reached MPI_Finalize"),
            End::Stopped { signal } => {
                write!(out, "{} was passed on to it", signal_name(*signal))
            }
            End::HostsLost { hosts } => write!(out, "lost: {}", hosts.join(", ")),
            End::Stalled => out.write_str("no progress for too long; it was ended"),
            End::Killed { signal, rank, host } => {
                match rank {
                    Some(rank) => write!(out, "process {rank}")?,
                    None => out.write_str("a process")?,
                }
                if let Some(host) = host {
                    write!(out, " on {host}")?;
                }
                write!(out, " was ended by {}", signal_name(*signal))
            }
            End::Program => {
                out.write_str("the program ended before all ranks reached MPI_Finalize")
            }
        }
    }
}
