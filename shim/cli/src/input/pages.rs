//! The pages of running jobs, and of those that were killed: which runs there are, and one look at
//! all ranks of one.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use treepie_core::files::pages::{
    self, Page, PageError, Process, TICK, process_of_stat, rank_of, run_directory, run_of,
    usual_directory,
};
use treepie_core::waits::{Job, Life, Rank};

/// No page is longer.
const LONGEST: u64 = 1 << 20;

/// A page at a moment, and its process, if it is one of this host.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Sighting {
    /// The page.
    pub page: Page,
    /// The process.
    pub process: Option<Process>,
}

/// All pages of a run at a moment.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Look {
    /// Those that can be read, by rank.
    pub sightings: BTreeMap<usize, Sighting>,
    /// What is wrong with others; one line each.
    pub problems: Vec<String>,
}

/// Where this user's pages are.
pub fn usual_base() -> PathBuf {
    usual_directory(Path::new("/dev/shm"), rustix::process::geteuid().as_raw())
}

/// The runs that have pages below a directory.
pub fn runs(base: &Path) -> Vec<u64> {
    let entries = fs::read_dir(base).into_iter().flatten().flatten();
    let mut runs: Vec<u64> = entries.filter_map(|entry| run_of(&entry.path())).collect();
    runs.sort_unstable();
    runs
}

/// Removes what a run has left.
pub fn remove(base: &Path, run: u64) {
    let directory = run_directory(base, run);
    for path in page_files(&directory) {
        // Who removes it, too, has done it.
        let _ = fs::remove_file(path);
    }
    let _ = fs::remove_dir(directory);
}

fn page_files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| rank_of(path).is_some()).collect()
}

impl Look {
    /// Looks at a run's pages on this host. A rank whose page goes away meanwhile has ended.
    pub fn at(base: &Path, run: u64) -> Look {
        let mut look = Look::default();
        for path in page_files(&run_directory(base, run)) {
            match read(&path) {
                Ok(page) if page.run == run && rank_of(&path) == Some(page.state.rank) => {
                    let process = process_of(&page);
                    let sighting = Sighting { page, process };
                    look.sightings.insert(sighting.page.state.rank, sighting);
                }
                Ok(page) => {
                    let (rank, run) = (page.state.rank, page.run);
                    let path = path.display();
                    let problem =
                        format!("{path}: is the page of rank {rank} of run {run:016x}; left out");
                    look.problems.push(problem);
                }
                Err(Some(problem)) => {
                    look.problems.push(format!("{}: {problem}", path.display()));
                }
                Err(None) => (),
            }
        }
        look
    }

    /// Adds what another host has of the same run; of a rank that both have, what knows its
    /// process.
    pub fn add(&mut self, other: Look) {
        for (rank, sighting) in other.sightings {
            let known = self.sightings.get(&rank);
            if known.is_none_or(|known| known.process.is_none()) {
                self.sightings.insert(rank, sighting);
            }
        }
        self.problems.extend(other.problems);
    }

    /// Any of its pages.
    pub fn any(&self) -> Option<&Page> {
        self.sightings
            .values()
            .next()
            .map(|sighting| &sighting.page)
    }

    /// Whether of two looks no process was here in the second, and none gave a sign of life
    /// between them.
    pub fn is_dead(first: &Look, second: &Look) -> bool {
        let silent = |(rank, sighting): (&usize, &Sighting)| {
            let before = first.sightings.get(rank);
            let tick = before.map(|before| before.page.state.tick);
            sighting.process.is_none() && tick == Some(sighting.page.state.tick)
        };
        !second.sightings.is_empty() && second.sightings.iter().all(silent)
    }

    /// Whether some process of it descends from this one, or is it.
    pub fn descends_from(&self, process: u32) -> bool {
        let here = self
            .sightings
            .values()
            .filter(|sighting| sighting.process.is_some());
        here.into_iter()
            .any(|sighting| is_descendant(sighting.page.state.process, process))
    }

    /// The job, of two looks.
    pub fn job(first: &Look, second: &Look) -> Job {
        let size = second.any().or(first.any()).map_or(0, |page| page.ranks);
        if Look::is_dead(first, second) {
            let ranks = second
                .sightings
                .values()
                .map(|sighting| sighting.page.state.clone());
            return Job::of_the_dead(size, ranks.collect(), TICK.as_nanos() as u64);
        }
        let states = |look: &Look| -> Vec<Rank> {
            look.sightings
                .values()
                .map(|sighting| sighting.page.state.clone())
                .collect()
        };
        let with_life = second.sightings.iter().map(|(rank, sighting)| {
            let mut state = sighting.page.state.clone();
            state.life = life(first.sightings.get(rank), sighting);
            state
        });
        Job::between(size, &states(first), with_life.collect())
    }
}

/// How a process is, of two looks. One that gives signs of life lives, wherever it is; one that
/// gives none and was never seen here is taken for gone.
fn life(first: Option<&Sighting>, second: &Sighting) -> Life {
    let before = first.and_then(|first| first.process);
    let ticks = first.is_some_and(|first| first.page.state.tick != second.page.state.tick);
    match (before, second.process) {
        (_, Some(process)) if matches!(process.state, 'T' | 't') => Life::Stopped,
        (Some(before), Some(process)) if before.time == process.time => Life::Sleeps,
        (_, Some(_)) => Life::Runs,
        (None, None) if ticks => Life::Runs,
        _ => Life::Gone,
    }
}

/// Reads a page; `None` is one that is not there any more, or not yet.
fn read(path: &Path) -> Result<Page, Option<String>> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(LONGEST).read_to_end(&mut bytes));
    match read {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(None),
        Err(error) => Err(Some(format!(
            "cannot be read: {error}; check its permissions"
        ))),
        Ok(_) => match pages::decode(&bytes) {
            Err(PageError::NoPage) if bytes.iter().take(8).all(|&byte| byte == 0) => Err(None),
            decoded => decoded.map_err(|error| Some(error.to_string())),
        },
    }
}

/// The process of a page, if it lives on this host: numbers are given again.
fn process_of(page: &Page) -> Option<Process> {
    let process = process(page.state.process)?;
    (process.started == page.started && process.state != 'Z').then_some(process)
}

fn process(number: u32) -> Option<Process> {
    let text = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    process_of_stat(&text)
}

fn is_descendant(mut number: u32, ancestor: u32) -> bool {
    // No tree of processes is deeper.
    for _ in 0..64 {
        if number == ancestor {
            return true;
        }
        match process(number) {
            Some(process) if process.parent > 1 => number = process.parent,
            _ => return false,
        }
    }
    false
}
