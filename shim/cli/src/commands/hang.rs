//! `--hang SECONDS`: a job is watched while it runs, and a hang is reported once; also a report
//! from the pages of a job that was killed.

use std::ffi::OsString;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use rustix::process::{Signal, getpid, kill_process};
use treepie_base::{note, time};
use treepie_jobstate::pages::TICK;
use treepie_jobstate::waits::VerdictKind;
use treepie_launch::error::CommandError;
use treepie_launch::injection::Invocation;
use treepie_launch::job;
use treepie_profile::settings::{Pages, RUN_VARIABLE};
use treepie_report::input::page_files;
use treepie_report::input::pages::Look;
use treepie_report::waits::Hang;

/// Option to watch a job while it runs.
#[derive(Debug, Args)]
pub struct HangChoice {
    /// Watch the job: if no rank makes a call for this time, print why it hangs, if it does;
    /// with :kill (10min:kill), end it then
    #[arg(long, value_name = "TIME", value_parser = str::parse::<Patience>)]
    hang: Option<Patience>,
}

/// Shorter times without a call are usual.
const LEAST: Duration = Duration::from_secs(1);

/// Parameters of `--hang`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Patience {
    /// Time without a call of any rank after which the job is examined.
    limit: Duration,
    /// True if the job is then ended.
    kills: bool,
}

impl FromStr for Patience {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (time, kills) = match text.strip_suffix(":kill") {
            Some(time) => (time, true),
            None => (text, false),
        };
        match time::parse(time)? {
            limit if limit >= LEAST => Ok(Patience { limit, kills }),
            _ => Err(format!("`{text}` is too short; write 1s at least")),
        }
    }
}

/// A job that may be watched, identified by the number given to its run.
#[derive(Debug, Clone, Copy)]
pub struct Watched {
    patience: Option<Patience>,
    /// The number.
    pub number: u64,
}

/// Creates a number for a run, which identifies its pages.
pub fn new_number() -> u64 {
    RandomState::new().hash_one(std::process::id())
}

/// The runs with this number that have pages now.
pub fn runs_of(given: u64) -> Vec<(u64, Look)> {
    runs_below(&base(), given)
}

/// Runs below a directory.
pub fn runs_below(base: &Path, given: u64) -> Vec<(u64, Look)> {
    let runs = page_files::runs(base).into_iter();
    let looks = runs.map(|run| (run, Look::at(base, run)));
    let is_ours = |look: &Look| look.any().is_some_and(|page| page.given == given);
    looks.filter(|(_, look)| is_ours(look)).collect()
}

impl HangChoice {
    /// Creates a new run.
    pub fn watched(&self) -> Watched {
        Watched {
            patience: self.hang,
            number: new_number(),
        }
    }
}

impl Watched {
    /// The variables for the job, if it is watched.
    pub fn variables(&self) -> Vec<(&'static str, OsString)> {
        if self.patience.is_none() {
            return Vec::new();
        }
        let mut variables = vec![(RUN_VARIABLE, format!("{:016x}", self.number).into())];
        variables.extend(pages_variable());
        variables
    }

    /// Runs the job to its end, and watches it if requested. Findings are written to standard
    /// error. A job that the watch ended has a status other than 0.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn run(&self, invocation: &Invocation) -> Result<u8, CommandError> {
        match self.patience {
            None => job::run(invocation),
            Some(patience) => under_watch(invocation, patience, self.number),
        }
    }
}

/// The variable that makes ranks keep pages.
pub const PAGES: &str = "TREEPIE_PAGES";

fn under_watch(
    invocation: &Invocation,
    patience: Patience,
    given: u64,
) -> Result<u8, CommandError> {
    let watch = Watch {
        base: base(),
        given,
        patience,
    };
    let (stop, stopped) = mpsc::channel::<()>();
    let keeper = &watch;
    let (status, told) = thread::scope(|scope| {
        let keeping = scope.spawn(move || keeper.keep(&stopped));
        let status = job::run(invocation);
        drop(stop);
        // That thread only reads and prints; a panic there does not affect the job.
        (status, keeping.join().unwrap_or_default())
    });
    let status = match status? {
        // MPICH's launcher may return this for a job that it was requested to end.
        0 if patience.kills && !told.is_empty() => 1,
        status => status,
    };
    if status != 0 {
        watch.tell_of_the_dead(&told);
    }
    Ok(status)
}

/// The variable that makes ranks keep pages, unless the user's environment already does.
pub fn pages_variable() -> Option<(&'static str, OsString)> {
    (named_pages() == Pages::Off).then(|| (PAGES, "true".into()))
}

/// The pages requested by the user's environment.
fn named_pages() -> Pages {
    let named = std::env::var(PAGES).ok();
    named.and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// Directory of the job's pages.
pub fn base() -> PathBuf {
    directory().unwrap_or_else(page_files::usual_base)
}

/// The directory for pages in the user's environment.
pub fn directory() -> Option<PathBuf> {
    match named_pages() {
        Pages::Directory(path) => Some(path),
        Pages::Memory | Pages::Off => None,
    }
}

/// State of the watch while the job runs.
const STILL_RUNNING: Result<(), RecvTimeoutError> = Err(RecvTimeoutError::Timeout);

struct Watch {
    base: PathBuf,
    /// The number that identifies the job's pages.
    given: u64,
    patience: Patience,
}

/// A watched run: a job may have several, in succession or simultaneously.
struct Run {
    number: u64,
    /// The calls of each rank, and the time since when they have not changed.
    calls: Vec<u64>,
    since: Instant,
    told: LastReport,
}

/// Last report on a run without progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LastReport {
    Nothing,
    /// A rank waits for standard input, which may still arrive.
    WaitsForInput,
    /// It hangs.
    Hangs,
}

impl Watch {
    /// Polls at each tick until the job ends; returns the runs whose hang was reported.
    fn keep(&self, stopped: &Receiver<()>) -> Vec<u64> {
        let mut known: Vec<Run> = Vec::new();
        while stopped.recv_timeout(TICK) == STILL_RUNNING {
            for (number, look) in runs_of(self.given) {
                let calls = look.calls();
                let Some(run) = known.iter_mut().find(|run| run.number == number) else {
                    known.push(Run {
                        number,
                        calls,
                        since: Instant::now(),
                        told: LastReport::Nothing,
                    });
                    continue;
                };
                if run.calls != calls {
                    run.calls = calls;
                    run.since = Instant::now();
                    if run.told == LastReport::WaitsForInput {
                        run.told = LastReport::Nothing;
                    }
                } else if run.told == LastReport::Nothing
                    && run.since.elapsed() >= self.patience.limit
                {
                    run.told = self.tell(number, look, stopped);
                }
            }
        }
        let told = known.iter().filter(|run| run.told == LastReport::Hangs);
        told.map(|run| run.number).collect()
    }

    /// Reads once more, and reports why the job hangs, if it does, or that it waits for input. A
    /// rank that computes, and others that wait for it, are not a hang.
    fn tell(&self, number: u64, first: Look, stopped: &Receiver<()>) -> LastReport {
        if stopped.recv_timeout(2 * TICK + TICK / 4) != STILL_RUNNING {
            return LastReport::Nothing;
        }
        let job = Look::job(&first, &Look::at(&self.base, number));
        let waits_for_input = job.waits_for_input();
        let hang = Hang::new(job);
        let told = match hang.verdict.kind {
            VerdictKind::Waits if waits_for_input => LastReport::WaitsForInput,
            VerdictKind::Waits | VerdictKind::Moves => return LastReport::Nothing,
            VerdictKind::Deadlock
            | VerdictKind::Gone
            | VerdictKind::Stopped
            | VerdictKind::Finalizing => LastReport::Hangs,
        };
        // Launchers end a job in which a process died; they are given the time.
        if hang.verdict.kind == VerdictKind::Gone && stopped.recv_timeout(8 * TICK) != STILL_RUNNING
        {
            return LastReport::Nothing;
        }
        let limit = self.patience.limit.as_secs_f64();
        note!(
            "no rank made a call for {limit} s. {}",
            hang.text().trim_end()
        );
        if self.patience.kills && told == LastReport::Hangs {
            note!("the job is ended, as --hang asks for");
            // The signal comes from a process, and is passed on to the job.
            let _ = kill_process(getpid(), Signal::TERM);
        }
        told
    }

    /// Reports from the pages left by a job that did not end well, unless it was reported before,
    /// and removes them.
    fn tell_of_the_dead(&self, told: &[u64]) {
        for (number, look) in runs_of(self.given) {
            // A process may be just about to end.
            thread::sleep(2 * TICK);
            let last = Look::at(&self.base, number);
            let hang = Hang::new(Look::job_at_its_end(&look, &last));
            if !told.contains(&number) {
                let order = match hang.verdict.kind {
                    VerdictKind::Gone => "",
                    _ => "; which rank went first, they don't say",
                };
                note!("the job left its pages{order}. {}", hang.text().trim_end());
            }
            page_files::remove(&self.base, number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_is_seconds_and_may_end_the_job() {
        let limit = Duration::from_secs(60);
        let waits = |kills| Ok(Patience { limit, kills });
        assert_eq!("60".parse(), waits(false));
        assert_eq!("60:kill".parse(), waits(true));
        for wrong in ["0.2", "soon", "60:stop", "nan", ""] {
            assert!(wrong.parse::<Patience>().is_err(), "{wrong}");
        }
    }
}
