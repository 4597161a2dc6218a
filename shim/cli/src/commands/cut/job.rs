//! A job started here: waves while it runs, and pending operations after its end.

use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use treepie_base::note;
use treepie_launch::{self, job};
use treepie_profile::settings::RUN_VARIABLE;
use treepie_report::cut::{Pending, WaveReport};

use super::waves::Waves;
use crate::commands::cut::answer::{Answer, is_whole};
use crate::commands::cut::arguments::Arguments;
use crate::commands::cut::protocol::JobNumber;
use crate::commands::hang::{self, new_number};
use crate::commands::outcome::Outcome;
use crate::output;

/// Interval between checks for the existence of all ranks.
const TICK: Duration = Duration::from_millis(20);

/// Runs the job to its end. Its status is returned; with `--verify`, 1 if it succeeded and left
/// pending operations.
pub fn run(arguments: &Arguments) -> Outcome {
    let number = new_number();
    let mut own = vec![
        ("TREEPIE_MODE", "replay".into()),
        (RUN_VARIABLE, format!("{number:016x}").into()),
        ("TREEPIE_CUT", "true".into()),
    ];
    own.extend(hang::pages_variable());
    let variables = arguments.settings.variables(own)?;
    let invocation = treepie_launch::prepare(&arguments.command, &variables)?;
    let mut keeper = Keeper {
        arguments,
        waves: arguments.waves(hang::base(), JobNumber::Given(number))?,
    };
    let (stop, stopped) = mpsc::channel::<()>();
    let (status, waves) = thread::scope(|scope| {
        let keeper = &mut keeper;
        let keeping = scope.spawn(move || keeper.keep(&stopped));
        let status = job::run(&invocation);
        drop(stop);
        // A defect in that thread does not affect the job.
        (status, keeping.join().unwrap_or_default())
    });
    let status = status?;
    if waves.is_empty() && (arguments.now || arguments.every.is_some()) {
        note!(
            "no wave was made: the job ended before, or not all of its ranks ran on this \
             host and those of --cluster"
        );
    }
    let left = keeper.left();
    let lacks = arguments.verify && left.as_ref().is_none_or(Pending::is_something);
    if arguments.printing.speaks() {
        keeper.tell(left.as_ref());
    }
    if arguments.printing.json {
        output::print_json(&Answer { waves, left })?;
    }
    Ok(ExitCode::from(match status {
        0 => u8::from(lacks),
        status => status,
    }))
}

struct Keeper<'a> {
    arguments: &'a Arguments,
    waves: Waves,
}

impl Keeper<'_> {
    /// Makes waves until the job ends.
    fn keep(&mut self, stopped: &Receiver<()>) -> Vec<WaveReport> {
        let mut reports = Vec::new();
        let every = match (self.arguments.every, self.arguments.now) {
            (Some(every), _) => Some(every),
            (None, true) => None,
            (None, false) => return reports,
        };
        let mut due = None;
        while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            let now = Instant::now();
            if due.is_some_and(|due| now < due) || !self.is_whole() {
                continue;
            }
            if due.is_none() && every.is_some() {
                due = every.map(|every| now + every);
                continue;
            }
            due = Some(now + every.unwrap_or_default());
            match self.waves.make(reports.len() + 1) {
                Ok(report) => {
                    let printing = self.arguments.printing;
                    if printing.speaks() || (!printing.json && !report.is_well()) {
                        note!("{}", report.text());
                    }
                    reports.push(report);
                }
                Err(error) => note!("{error}"),
            }
            let is_over = reports.last().is_some_and(WaveReport::is_of_the_end);
            if every.is_none() || is_over {
                break;
            }
        }
        reports
    }

    /// True if all ranks exist.
    fn is_whole(&mut self) -> bool {
        let look = self.waves.members.look();
        look.is_ok_and(|(ranks, size)| is_whole(&ranks, size))
    }

    /// Pending operations of the job at its end. Its pages are removed.
    fn left(&mut self) -> Option<Pending> {
        match self.waves.members.end() {
            Ok((_, 0)) => None,
            Ok((ranks, size)) => Some(Pending::new(&ranks, size)),
            Err(error) => {
                note!("{error}");
                None
            }
        }
    }

    fn tell(&self, left: Option<&Pending>) {
        match left {
            Some(left) if self.arguments.verify || left.is_something() => {
                for line in left.text().lines() {
                    note!("at the end: {line}");
                }
            }
            Some(_) => (),
            None => {
                note!("no rank of the job has left its counts on this host; nothing is verified")
            }
        }
    }
}
