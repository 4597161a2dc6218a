//! A job that is started here: waves while it runs, and what is left when it has ended.

use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use treepie_core::files::configuration::RUN_VARIABLE;
use treepie_core::waits::Rank;

use super::{Answer, Arguments, Outcome, is_whole};
use crate::commands::hang::{self, new_number};
use crate::commands::why::Chosen;
use crate::input::pages::{self, Look};
use crate::launch::{self, job};
use crate::output;
use crate::report::cut::{Left, WaveReport};

/// How often it is looked whether all ranks are there.
const TICK: Duration = Duration::from_millis(20);

/// Runs the job to its end. Its status is ours; with `--verify` 1 where it was fine and has left
/// something.
pub fn run(arguments: &Arguments) -> Outcome {
    let number = new_number();
    let mut own = vec![
        ("TREEPIE_MODE", "replay".into()),
        (RUN_VARIABLE, format!("{number:016x}").into()),
        ("TREEPIE_CUT", "true".into()),
    ];
    own.extend(hang::pages_variable());
    let variables = arguments.settings.variables(own)?;
    let invocation = launch::prepare(&arguments.command, &variables)?;
    let keeper = Keeper { arguments, number };
    let (stop, stopped) = mpsc::channel::<()>();
    let (status, waves) = thread::scope(|scope| {
        let keeper = &keeper;
        let keeping = scope.spawn(move || keeper.keep(&stopped));
        let status = job::run(&invocation);
        drop(stop);
        // A defect there harms no job.
        (status, keeping.join().unwrap_or_default())
    });
    let status = status?;
    if waves.is_empty() && (arguments.now || arguments.every.is_some()) {
        eprintln!(
            "treepie: no wave was made: the job ended before, or not all of its ranks ran on this \
             host"
        );
    }
    let left = keeper.left();
    let lacks = arguments.verify && left.as_ref().is_none_or(Left::is_something);
    if !arguments.settings.quiet && !arguments.json {
        keeper.tell(left.as_ref());
    }
    if arguments.json {
        output::print_json(&Answer { waves, left })?;
    }
    Ok(ExitCode::from(match status {
        0 => u8::from(lacks),
        status => status,
    }))
}

struct Keeper<'a> {
    arguments: &'a Arguments,
    /// The number by which the job's pages are known.
    number: u64,
}

impl Keeper<'_> {
    /// Makes waves until the job ends.
    fn keep(&self, stopped: &Receiver<()>) -> Vec<WaveReport> {
        let mut waves = Vec::new();
        let every = match (self.arguments.every, self.arguments.now) {
            (Some(seconds), _) => Some(Duration::from_secs_f64(seconds)),
            (None, true) => None,
            (None, false) => return waves,
        };
        let mut due = None;
        while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            let Some(chosen) = self.live() else { continue };
            let now = Instant::now();
            if now < *due.get_or_insert(now + every.unwrap_or_default()) {
                continue;
            }
            due = Some(now + every.unwrap_or_default());
            match self.arguments.waves(&chosen).make(waves.len() + 1) {
                Ok(report) => {
                    if !self.arguments.json && (!self.arguments.settings.quiet || !report.is_well())
                    {
                        eprintln!("treepie: {}", report.text());
                    }
                    waves.push(report);
                }
                Err(error) => eprintln!("treepie: {error}"),
            }
            let is_over = waves.last().is_some_and(WaveReport::is_of_the_end);
            if every.is_none() || is_over {
                break;
            }
        }
        waves
    }

    /// The run whose ranks are all there.
    fn live(&self) -> Option<Chosen> {
        let mut runs = hang::runs_of(self.number).into_iter();
        let (run, _) = runs.find(|(_, look)| is_whole(look))?;
        Some(Chosen {
            base: hang::base(),
            run,
        })
    }

    /// What the job has left; of several runs that of the last. The pages are removed.
    fn left(&self) -> Option<Left> {
        let mut left = None;
        for (run, look) in hang::runs_of(self.number) {
            left = Some(of_the_end(&look));
            pages::remove(&hang::base(), run);
        }
        left
    }

    fn tell(&self, left: Option<&Left>) {
        match left {
            Some(left) if self.arguments.verify || left.is_something() => {
                for line in left.text().lines() {
                    eprintln!("treepie: at the end: {line}");
                }
            }
            Some(_) => (),
            None => eprintln!(
                "treepie: no rank of the job has left its counts on this host; nothing is verified"
            ),
        }
    }
}

/// What is left of ranks whose counts are final.
fn of_the_end(look: &Look) -> Left {
    let size = look.any().map_or(0, |page| page.ranks);
    let states = look.sightings.values().map(|sighting| &sighting.page.state);
    let ended = |rank: &&Rank| rank.stop.as_ref().is_some_and(|stop| stop.ended);
    let ended: Vec<Rank> = states.filter(ended).cloned().collect();
    Left::new(&ended, size)
}
