//! Waves over a running job: all ranks are stopped at a quiet cut, the user's command is run, and
//! all continue.

use std::thread;
use std::time::{Duration, Instant};

use treepie_base::Rank;
use treepie_jobstate::cut::{Step, Wave};
use treepie_jobstate::waits::RankState;

use super::members::Members;
use super::then::Ended;
use treepie_launch::error::CommandError;
use treepie_report::cut::{Outcome, WaveReport, traffic};

/// Time between two readings: the shortest, while ranks are released, and the longest, while they
/// are awaited.
const BETWEEN_LOOKS: (Duration, Duration) = (Duration::from_micros(200), Duration::from_millis(2));

/// The job whose ranks are stopped, and the actions at the cut.
pub struct Waves {
    /// Its ranks.
    pub members: Members,
    /// Time limit of a wave, after which it is dropped.
    pub patience: Duration,
    /// The user's command.
    pub then: Option<String>,
    /// Time limit of the command.
    pub limit: Duration,
}

impl Waves {
    /// Makes a wave with this number.
    ///
    /// # Errors
    /// Pages cannot be written, or are not those of all ranks, or a coordinator does not answer.
    pub fn make(&mut self, number: usize) -> Result<WaveReport, CommandError> {
        let report = self.stop(number);
        self.members.open();
        report
    }

    fn stop(&mut self, number: usize) -> Result<WaveReport, CommandError> {
        let began = Instant::now();
        let (_, size) = self.members.look()?;
        if size == 0 {
            return Err(CommandError::failed(format!(
                "wave {number}: the job has ended; no rank is there to be stopped"
            )));
        }
        let mut wave = Wave::new(size, self.patience, Duration::ZERO);
        self.members.close()?;
        let mut pause = BETWEEN_LOOKS.0;
        loop {
            let looked = Instant::now();
            let (ranks, _) = self.members.look()?;
            // The ranks need the cores more than this command does.
            let least = looked.elapsed();
            match wave.look(ranks.clone(), began.elapsed()) {
                Step::Wait => pause = (pause * 2).min(BETWEEN_LOOKS.1),
                Step::Advance(behind) => {
                    pause = BETWEEN_LOOKS.0;
                    let last = |rank| Some((rank, self.last(&ranks, rank)?));
                    let allowed = behind.into_iter().filter_map(last).collect();
                    self.members.only(allowed)?;
                }
                Step::Quiet => {
                    let quiet = began.elapsed();
                    let outcome = self.at_the_cut(number, &ranks)?;
                    return Ok(WaveReport {
                        number,
                        quiet_seconds: Some(quiet.as_secs_f64()),
                        seconds: began.elapsed().as_secs_f64(),
                        traffic: Some(traffic(&ranks)),
                        outcome,
                    });
                }
                Step::Drop(reason) => {
                    return Ok(WaveReport {
                        number,
                        quiet_seconds: None,
                        seconds: began.elapsed().as_secs_f64(),
                        traffic: None,
                        outcome: Outcome::Dropped {
                            words: reason.to_string(),
                            reason,
                        },
                    });
                }
            }
            thread::sleep(pause.max(least));
        }
    }

    /// Runs the user's command while the ranks are stopped at the cut.
    fn at_the_cut(&mut self, number: usize, ranks: &[RankState]) -> Result<Outcome, CommandError> {
        let Some(command) = &self.then else {
            return Ok(Outcome::Quiet);
        };
        self.members.rest(true)?;
        let ended = self.members.then(command, number, self.limit)?;
        let stopped = |rank: &RankState| rank.stop.as_ref().is_some_and(|stop| stop.stopped);
        let (now, _) = self.members.look()?;
        let mut before = ranks.iter().filter(|rank| stopped(rank));
        let stayed = before.all(|rank| now.iter().any(|it| it.rank == rank.rank && stopped(it)));
        if !stayed {
            return Ok(Outcome::Left);
        }
        let is_elsewhere = self.members.are_elsewhere();
        let mut failed = ended.into_iter().filter_map(|(host, ended)| {
            let words = match ended {
                Ended::Status(0) => return None,
                Ended::Status(status) => format!("ended with status {status}"),
                Ended::TooLong(seconds) => format!("was ended after {seconds} s (--time-limit)"),
                Ended::NotStarted(error) => format!("could not be started: {error}"),
            };
            Some(if is_elsewhere {
                format!("{words} on {host}")
            } else {
                words
            })
        });
        Ok(match failed.next() {
            None => Outcome::Done,
            Some(words) => Outcome::Failed { words },
        })
    }

    /// The last call that a rank which has to continue may make from now on: one more if it is
    /// stopped.
    fn last(&self, ranks: &[RankState], rank: Rank) -> Option<u64> {
        let state = ranks.iter().find(|state| state.rank == rank)?;
        let stopped = state.stop.as_ref().is_some_and(|stop| stop.stopped);
        if stopped {
            Some(state.threads.first().map_or(0, |thread| thread.number) + 1)
        } else {
            self.members.last(rank)
        }
    }
}
