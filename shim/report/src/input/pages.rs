//! The pages of running jobs, and of those that were killed: the list of runs, and one observation
//! of all ranks of a run.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use treepie_base::{Rank, budget};
use treepie_jobstate::pages::{Page, ProcessStatus, TICK, rank_of, run_directory};
use treepie_jobstate::waits::{Job, Life, RankState};

use crate::input::page_files::{page_files, read, stranger, usual_base};
use crate::input::processes::{is_descendant, is_this_host, process_of};

/// A page at a given time, and its process, if it is on this host.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Sighting {
    /// The page.
    pub page: Page,
    /// The process.
    pub process: Option<ProcessStatus>,
    /// True if it was read on its own host, where it is never late.
    pub here: bool,
}

/// Maximum delay of pages of other hosts on a shared file system: NFS writes memory back after half
/// a minute, and checks for writes of others once a minute.
const LATE: Duration = Duration::from_secs(120);

impl Sighting {
    /// True if its process is known to have ended, having shown no sign of life since the previous
    /// observation.
    fn is_gone(&self) -> bool {
        let tick = UNIX_EPOCH + Duration::from_nanos(self.page.state.tick);
        let age = SystemTime::now().duration_since(tick).unwrap_or_default();
        self.process.is_none() && (self.here || age > LATE)
    }
}

/// All pages of a run at a given time.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Look {
    /// The readable ones, by rank.
    pub sightings: BTreeMap<Rank, Sighting>,
    /// Problems with other pages, one line each.
    pub problems: Vec<String>,
}

impl Look {
    /// Reads a run's pages on this host; their total memory is limited like that of a file of their
    /// size. A rank whose page disappears meanwhile has ended.
    pub fn at(base: &Path, run: u64) -> Look {
        let files = page_files(&run_directory(base, run));
        let length = |path: &PathBuf| fs::symlink_metadata(path).map_or(0, |it| it.len());
        let bytes: u64 = files.iter().map(length).sum();
        budget::within(bytes as usize, || Look::at_files(files, base, run))
    }

    fn at_files(files: Vec<PathBuf>, base: &Path, run: u64) -> Look {
        let mut look = Look::default();
        let is_memory = base == usual_base();
        for path in files {
            if let Some(owner) = stranger(&path, is_memory) {
                let path = path.display();
                look.problems.push(format!(
                    "{path}: belongs to user {owner}; left out, for only that user and root may \
                     ask what it says"
                ));
                continue;
            }
            match read(&path) {
                Ok(page) if page.run == run && rank_of(&path) == Some(page.state.rank) => {
                    let sighting = Sighting {
                        process: process_of(&page),
                        here: is_memory || is_this_host(&page.state.host),
                        page,
                    };
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

    /// Adds the pages of the same run on another host; for a rank on both, the page read on its own
    /// host is used.
    pub fn add(&mut self, other: Look) {
        for (rank, sighting) in other.sightings {
            let known = self.sightings.get(&rank);
            if known.is_none_or(|known| known.process.is_none() && !known.here) {
                self.sightings.insert(rank, sighting);
            }
        }
        self.problems.extend(other.problems);
    }

    /// Number of calls that each rank has made.
    pub fn calls(&self) -> Vec<u64> {
        let pages = self.sightings.values().map(|sighting| &sighting.page);
        pages.map(|page| page.state.calls()).collect()
    }

    /// Any of the pages.
    pub fn any(&self) -> Option<&Page> {
        self.sightings
            .values()
            .next()
            .map(|sighting| &sighting.page)
    }

    /// True if no process was here in the second of two observations, and none showed a sign of
    /// life between them.
    fn is_silent(first: &Look, second: &Look) -> bool {
        let silent = |(rank, sighting): (&Rank, &Sighting)| {
            let before = first.sightings.get(rank);
            let tick = before.map(|before| before.page.state.tick);
            sighting.process.is_none() && tick == Some(sighting.page.state.tick)
        };
        !second.sightings.is_empty() && second.sightings.iter().all(silent)
    }

    /// True if the job has ended: it is silent, and none of its pages may be late.
    pub fn is_dead(first: &Look, second: &Look) -> bool {
        Look::is_silent(first, second) && second.sightings.values().all(Sighting::is_gone)
    }

    /// True if some process of the run descends from this one, or is it.
    pub fn descends_from(&self, process: u32) -> bool {
        let here = self
            .sightings
            .values()
            .filter(|sighting| sighting.process.is_some());
        here.into_iter()
            .any(|sighting| is_descendant(sighting.page.state.process, process))
    }

    /// The job, from two observations. Ranks whose pages may be late, and that showed no sign of
    /// life between them, are unknown.
    pub fn job(first: &Look, second: &Look) -> Job {
        if Look::is_dead(first, second) {
            second.dead_job()
        } else {
            Look::living_job(first, second)
        }
    }

    /// The job, whose launcher has ended, from two observations.
    pub fn job_at_its_end(first: &Look, second: &Look) -> Job {
        if Look::is_silent(first, second) {
            second.dead_job()
        } else {
            Look::living_job(first, second)
        }
    }

    fn states(&self) -> Vec<RankState> {
        let states = self.sightings.values();
        states.map(|sighting| sighting.page.state.clone()).collect()
    }

    fn dead_job(&self) -> Job {
        let size = self.any().map_or(0, |page| page.ranks);
        Job::of_the_dead(size, self.states(), TICK.as_nanos() as u64)
    }

    fn living_job(first: &Look, second: &Look) -> Job {
        let size = second.any().or(first.any()).map_or(0, |page| page.ranks);
        let known = second.sightings.iter().filter_map(|(rank, sighting)| {
            let life = life(first.sightings.get(rank), sighting)?;
            let state = sighting.page.state.clone();
            Some(RankState { life, ..state })
        });
        Job::between(size, &first.states(), known.collect())
    }
}

/// State of a process, from two observations. One that shows signs of life is alive on any host;
/// one that shows none is gone, or unknown if its page may be late.
fn life(first: Option<&Sighting>, second: &Sighting) -> Option<Life> {
    let before = first.and_then(|first| first.process);
    let ticks = first.is_some_and(|first| first.page.state.tick != second.page.state.tick);
    Some(match (before, second.process) {
        (_, Some(process)) if matches!(process.state, 'T' | 't') => Life::Stopped,
        (Some(before), Some(process)) if before.time == process.time => {
            if before.reads_input && process.reads_input {
                Life::ReadsInput
            } else {
                Life::Sleeps
            }
        }
        (_, Some(_)) => Life::Runs,
        (None, None) if ticks => Life::Runs,
        (Some(_), None) => Life::Gone,
        (None, None) if second.is_gone() => Life::Gone,
        (None, None) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::page_files::is_believed;

    fn sighting(host: &str, tick: SystemTime, process: Option<u64>) -> Sighting {
        let nanoseconds = tick.duration_since(UNIX_EPOCH).unwrap_or_default();
        let state = RankState {
            rank: Rank(0),
            host: host.to_owned(),
            process: 7,
            life: Life::Runs,
            end: None,
            tick: nanoseconds.as_nanos() as u64,
            threads: Vec::new(),
            more_threads: 0,
            communicators: BTreeMap::new(),
            incomplete: Vec::new(),
            channels: None,
            stop: None,
        };
        Sighting {
            page: Page {
                run: 1,
                given: 0,
                ranks: 1,
                started: 0,
                program: String::new(),
                state,
            },
            process: process.map(|time| ProcessStatus {
                state: 'R',
                parent: 1,
                time,
                started: 0,
                reads_input: false,
            }),
            here: is_this_host(host),
        }
    }

    #[test]
    fn strangers_pages_are_believed_by_root_alone_and_not_in_the_usual_directory() {
        let (root, user, other) = (0, 1000, 1001);
        for (owner, reader, in_usual, elsewhere) in [
            (user, user, true, true),
            (root, root, true, true),
            (root, user, false, true),
            (other, user, false, false),
            (other, root, false, true),
        ] {
            let found = [true, false].map(|is_usual| is_believed(owner, reader, is_usual));
            assert_eq!(found, [in_usual, elsewhere], "{owner} {reader}");
        }
    }

    #[test]
    fn who_is_silent_on_another_host_is_gone_only_when_its_page_is_not_late() {
        let own = rustix::system::uname();
        let own = own.nodename().to_string_lossy();
        let (now, second) = (SystemTime::now(), Duration::from_secs(1));
        let seen = |host: &str, tick| sighting(host, tick, None);
        let both = |one: Sighting| life(Some(&one), &one);
        assert_eq!(both(seen("elsewhere", now - second)), None);
        assert_eq!(both(seen("elsewhere", now - 2 * LATE)), Some(Life::Gone));
        assert_eq!(both(seen(&format!("{own}.domain"), now)), Some(Life::Gone));
        let ticks = life(
            Some(&seen("elsewhere", now - second)),
            &seen("elsewhere", now),
        );
        assert_eq!(ticks, Some(Life::Runs));
        let lived = sighting(&own, now, Some(3));
        assert_eq!(both(lived.clone()), Some(Life::Sleeps));
        let mut reads = lived.clone();
        reads.process.as_mut().expect("it has one").reads_input = true;
        assert_eq!(both(reads), Some(Life::ReadsInput));
        assert_eq!(life(Some(&lived), &seen(&own, now)), Some(Life::Gone));
        let look = |one: &Sighting| Look {
            sightings: BTreeMap::from([(Rank(0), one.clone())]),
            problems: Vec::new(),
        };
        let late = look(&seen("elsewhere", now));
        assert!(!Look::is_dead(&late, &late));
        assert_eq!(Look::job(&late, &late).unknown(), [Rank(0)]);
        assert!(Look::job_at_its_end(&late, &late).unknown().is_empty());
    }
}
