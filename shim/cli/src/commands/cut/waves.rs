//! Waves over a running job: all ranks are stopped at a quiet cut, the user's command is run, and
//! all go on.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use treepie_core::cut::{Step, Wave};
use treepie_core::waits::Rank;

use super::then::{self, Ended};
use crate::error::CommandError;
use crate::input::gates::Gates;
use crate::input::pages::Look;
use crate::report::cut::{Outcome, WaveReport, traffic};

/// Time between two looks: the shortest, while ranks are let go, and the longest, while they are
/// waited for.
const BETWEEN_LOOKS: (Duration, Duration) = (Duration::from_micros(200), Duration::from_millis(2));

/// The run whose ranks are stopped, and what is done then.
pub struct Waves {
    /// Where its pages are.
    pub base: PathBuf,
    /// The run.
    pub run: u64,
    /// How long a wave may take until it is dropped.
    pub patience: Duration,
    /// The user's command.
    pub then: Option<String>,
    /// How long it may take.
    pub limit: Duration,
}

impl Waves {
    /// The ranks that live on this host, as they are now, and the number of ranks of the job.
    pub fn look(&self) -> (Vec<Rank>, usize) {
        let look = Look::at(&self.base, self.run);
        let size = look.any().map_or(0, |page| page.ranks);
        let alive = look
            .sightings
            .into_values()
            .filter(|sighting| sighting.process.is_some());
        (alive.map(|sighting| sighting.page.state).collect(), size)
    }

    /// Makes a wave, whose number this is.
    ///
    /// # Errors
    /// Pages that cannot be written, or that are not those of all ranks.
    pub fn make(&self, number: usize) -> Result<WaveReport, CommandError> {
        let began = Instant::now();
        let (ranks, size) = self.look();
        let mut wave = Wave::new(size, self.patience, Duration::ZERO);
        let mut gates = Gates::close(&self.base, self.run, ranks.iter().map(|rank| rank.rank))?;
        let mut pause = BETWEEN_LOOKS.0;
        loop {
            gates.beat();
            let looked = Instant::now();
            let (ranks, _) = self.look();
            // The ranks need the cores more than this does.
            let least = looked.elapsed();
            match wave.look(ranks.clone(), began.elapsed()) {
                Step::Wait => pause = (pause * 2).min(BETWEEN_LOOKS.1),
                Step::Advance(behind) => {
                    pause = BETWEEN_LOOKS.0;
                    let last =
                        |rank: usize| gates_last(&gates, &ranks, behind.contains(&rank), rank);
                    let allowed: Vec<Option<u64>> = (0..size).map(last).collect();
                    gates.only(|rank| allowed.get(rank).copied().flatten());
                }
                Step::Quiet => {
                    let quiet = began.elapsed();
                    let outcome = self.at_the_cut(number, &ranks, &mut gates);
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

    /// Runs the user's command while the ranks stand at the cut.
    fn at_the_cut(&self, number: usize, ranks: &[Rank], gates: &mut Gates) -> Outcome {
        let Some(command) = &self.then else {
            return Outcome::Quiet;
        };
        gates.rest(true);
        let ended = then::run(command, number, ranks, self.limit, || gates.beat());
        let stopped = |rank: &Rank| rank.stop.as_ref().is_some_and(|stop| stop.stopped);
        let (now, _) = self.look();
        let mut before = ranks.iter().filter(|rank| stopped(rank));
        let stayed = before.all(|rank| now.iter().any(|it| it.rank == rank.rank && stopped(it)));
        match ended {
            _ if !stayed => Outcome::Left,
            Ended::Status(0) => Outcome::Done,
            Ended::Status(status) => Outcome::Failed {
                words: format!("ended with status {status}"),
            },
            Ended::TooLong(seconds) => Outcome::Failed {
                words: format!("was ended after {seconds} s (--limit)"),
            },
            Ended::NotStarted(error) => Outcome::Failed {
                words: format!("could not be started: {error}"),
            },
        }
    }
}

/// The last call that a rank may make from now on: one more where it is stopped and has to go on.
fn gates_last(gates: &Gates, ranks: &[Rank], is_behind: bool, rank: usize) -> Option<u64> {
    let state = ranks
        .iter()
        .find(|state| state.rank == rank)
        .filter(|_| is_behind)?;
    let stopped = state.stop.as_ref().is_some_and(|stop| stop.stopped);
    match stopped {
        true => Some(state.threads.first().map_or(0, |thread| thread.number) + 1),
        false => gates.last(rank),
    }
}
