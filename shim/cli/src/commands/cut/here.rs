//! The ranks of a job on this host.

use std::path::PathBuf;

use treepie_jobstate::waits::RankState;
use treepie_report::input::gates::Gates;
use treepie_report::input::page_files;
use treepie_report::input::pages::Look;

use super::then::{self, Ended};
use crate::commands::cut::protocol::{Answer, JobNumber, Order};
use crate::commands::hang::runs_below;

/// The ranks of a job on this host. Dropping this lets them continue.
pub struct Here {
    base: PathBuf,
    which: JobNumber,
    gates: Option<Gates>,
}

impl Here {
    /// Creates the list for the job whose pages are below this directory.
    pub fn new(base: PathBuf, which: JobNumber) -> Here {
        let gates = None;
        Here { base, which, gates }
    }

    /// Its runs that have pages now: a job may have several in succession.
    fn runs(&self) -> Vec<(u64, Look)> {
        match self.which {
            JobNumber::Run(run) => vec![(run, Look::at(&self.base, run))],
            JobNumber::Given(given) => runs_below(&self.base, given),
        }
    }

    /// The run whose ranks continue, or the last one.
    fn run(&self) -> Option<(u64, Look)> {
        let goes_on = |(_, look): &(u64, Look)| {
            let mut states = look.sightings.values();
            states.any(|sighting| {
                let stop = sighting.page.state.stop.as_ref();
                sighting.process.is_some() && stop.is_none_or(|stop| !stop.ended)
            })
        };
        let mut runs = self.runs();
        let at = runs.iter().position(goes_on);
        match at {
            Some(at) => Some(runs.swap_remove(at)),
            None => runs.pop(),
        }
    }

    /// Executes an order.
    pub fn obey(&mut self, order: &Order) -> Answer {
        match order {
            Order::Look => {
                self.beat();
                return self.look();
            }
            Order::Close => {
                let Some((run, look)) = self.run() else {
                    return Answer::default();
                };
                let alive = alive(&look).into_iter().map(|rank| rank.rank);
                match Gates::close(&self.base, run, alive) {
                    Ok(gates) => self.gates = Some(gates),
                    Err(error) => return Answer::problem(error.to_string()),
                }
            }
            Order::Only(allowed) => {
                if let Some(gates) = &mut self.gates {
                    gates.only(|rank| allowed.get(&rank).copied());
                }
            }
            Order::Rest(rest) => {
                if let Some(gates) = &self.gates {
                    gates.rest(*rest);
                }
            }
            Order::Open => self.gates = None,
            Order::Then {
                command,
                wave,
                limit,
            } => return self.then(command, *wave, *limit),
            Order::End => return self.end(),
        }
        Answer::default()
    }

    /// Signals that this command is still alive.
    pub fn beat(&mut self) {
        if let Some(gates) = &mut self.gates {
            gates.beat();
        }
    }

    fn look(&self) -> Answer {
        let Some((_, look)) = self.run() else {
            return Answer::default();
        };
        if let (true, Some(problem)) = (look.sightings.is_empty(), look.problems.first()) {
            return Answer::problem(problem.clone());
        }
        Answer {
            ranks: alive(&look),
            size: look.any().map_or(0, |page| page.ranks),
            ..Answer::default()
        }
    }

    /// Runs the user's command, if there are ranks here.
    fn then(&mut self, command: &str, wave: usize, limit: f64) -> Answer {
        let ranks = self.look().ranks;
        let mut answer = Answer::default();
        if !ranks.is_empty() {
            let limit = std::time::Duration::from_secs_f64(limit);
            let ended: Ended = then::run(command, wave, &ranks, limit, || self.beat());
            answer.ended.push((host_name(), ended));
        }
        answer
    }

    /// Returns the final counts; of several runs those of the last.
    fn end(&mut self) -> Answer {
        self.gates = None;
        let mut answer = Answer::default();
        for (run, look) in self.runs() {
            let states = look.sightings.values().map(|sighting| &sighting.page.state);
            let ended = |rank: &&RankState| rank.stop.as_ref().is_some_and(|stop| stop.ended);
            answer.ranks = states.filter(ended).cloned().collect();
            answer.size = look.any().map_or(0, |page| page.ranks);
            page_files::remove(&self.base, run);
        }
        answer
    }
}

/// The states of ranks whose processes are alive here.
fn alive(look: &Look) -> Vec<RankState> {
    let alive = look
        .sightings
        .values()
        .filter(|sighting| sighting.process.is_some());
    alive.map(|sighting| sighting.page.state.clone()).collect()
}

fn host_name() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}
