//! The pages of running jobs, and of those that were killed: which runs there are, and one look at
//! all ranks of one.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use treepie_base::open_no_link;
use treepie_base::own_directory::remove_files;
use treepie_jobstate::pages::{
    self, Page, PageError, Process, TICK, process_of_stat, rank_of, reads_input, run_directory,
    run_of, usual_directory,
};
use treepie_jobstate::waits::{Job, Life, Rank};

/// No page is longer.
const LONGEST: u64 = 1 << 20;

/// A page at a moment, and its process, if it is one of this host.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Sighting {
    /// The page.
    pub page: Page,
    /// The process.
    pub process: Option<Process>,
    /// Whether it was read on its own host, where it is never late.
    pub here: bool,
}

/// Pages of other hosts, on a file system that hosts share, may be so late: NFS writes memory back
/// after half a minute, and looks for what others have written once a minute.
const LATE: Duration = Duration::from_secs(120);

impl Sighting {
    /// Whether it is known that its process is no more, where it gave no sign of life since the
    /// look before.
    fn is_gone(&self) -> bool {
        let tick = UNIX_EPOCH + Duration::from_nanos(self.page.state.tick);
        let age = SystemTime::now().duration_since(tick).unwrap_or_default();
        self.process.is_none() && (self.here || age > LATE)
    }
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
    remove_files(&run_directory(base, run), |name| rank_of(name).is_some());
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
        let is_memory = base == usual_base();
        for path in page_files(&run_directory(base, run)) {
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

    /// Adds what another host has of the same run; of a rank that both have, what was read on its
    /// own host.
    pub fn add(&mut self, other: Look) {
        for (rank, sighting) in other.sightings {
            let known = self.sightings.get(&rank);
            if known.is_none_or(|known| known.process.is_none() && !known.here) {
                self.sightings.insert(rank, sighting);
            }
        }
        self.problems.extend(other.problems);
    }

    /// The calls that each rank has made.
    pub fn calls(&self) -> Vec<u64> {
        let pages = self.sightings.values().map(|sighting| &sighting.page);
        pages.map(|page| page.state.calls()).collect()
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
    fn is_silent(first: &Look, second: &Look) -> bool {
        let silent = |(rank, sighting): (&usize, &Sighting)| {
            let before = first.sightings.get(rank);
            let tick = before.map(|before| before.page.state.tick);
            sighting.process.is_none() && tick == Some(sighting.page.state.tick)
        };
        !second.sightings.is_empty() && second.sightings.iter().all(silent)
    }

    /// Whether the job is no more: it is silent, and none of its pages may be late.
    pub fn is_dead(first: &Look, second: &Look) -> bool {
        Look::is_silent(first, second) && second.sightings.values().all(Sighting::is_gone)
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

    /// The job, of two looks. Of ranks whose pages may be late, and that gave no sign of life
    /// between them, nothing is known.
    pub fn job(first: &Look, second: &Look) -> Job {
        match Look::is_dead(first, second) {
            true => second.dead_job(),
            false => Look::living_job(first, second),
        }
    }

    /// The job, whose launcher has ended, of two looks.
    pub fn job_at_its_end(first: &Look, second: &Look) -> Job {
        match Look::is_silent(first, second) {
            true => second.dead_job(),
            false => Look::living_job(first, second),
        }
    }

    fn states(&self) -> Vec<Rank> {
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
            Some(Rank { life, ..state })
        });
        Job::between(size, &first.states(), known.collect())
    }
}

/// How a process is, of two looks. One that gives signs of life lives, wherever it is; one that
/// gives none is gone, or nothing is known where its page may be late.
fn life(first: Option<&Sighting>, second: &Sighting) -> Option<Life> {
    let before = first.and_then(|first| first.process);
    let ticks = first.is_some_and(|first| first.page.state.tick != second.page.state.tick);
    Some(match (before, second.process) {
        (_, Some(process)) if matches!(process.state, 'T' | 't') => Life::Stopped,
        (Some(before), Some(process)) if before.time == process.time => {
            match before.reads_input && process.reads_input {
                true => Life::ReadsInput,
                false => Life::Sleeps,
            }
        }
        (_, Some(_)) => Life::Runs,
        (None, None) if ticks => Life::Runs,
        (Some(_), None) => Life::Gone,
        (None, None) if second.is_gone() => Life::Gone,
        (None, None) => return None,
    })
}

/// The owner of a page that is not believed.
fn stranger(path: &Path, is_usual: bool) -> Option<u32> {
    let owner = fs::symlink_metadata(path).ok()?.uid();
    let reader = rustix::process::geteuid().as_raw();
    (!is_believed(owner, reader, is_usual)).then_some(owner)
}

/// Whether a page is what it seems: anybody can make what has the name of another user's usual
/// directory, root's too, or put files where users share one. Root may look at all jobs.
fn is_believed(owner: u32, reader: u32, is_usual: bool) -> bool {
    owner == reader || !is_usual && (owner == 0 || reader == 0)
}

/// Reads a page; `None` is one that is not there any more, or not yet. A call that begins or ends
/// while it is read would leave words of two calls in it: what was read is right where a second
/// reading finds the same call, and otherwise that one tells of a rank that goes on.
fn read(path: &Path) -> Result<Page, Option<String>> {
    let first = read_once(path)?;
    let second = read_once(path)?;
    Ok(match first.state.is_in_the_calls_of(&second.state) {
        true => first,
        false => second,
    })
}

fn read_once(path: &Path) -> Result<Page, Option<String>> {
    let mut bytes = Vec::new();
    // What has the name of a page in another user's directory may be anything.
    let read = open_no_link(path).and_then(|file| file.take(LONGEST).read_to_end(&mut bytes));
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(None),
        // Not the system's.
        Err(error) if error.get_ref().is_some() => Err(Some(error.to_string())),
        Err(error) => Err(Some(format!(
            "cannot be read: {error}; check its permissions"
        ))),
        Ok(_) => match pages::decode(&bytes) {
            Err(PageError::NoPage) if bytes.iter().take(8).all(|&byte| byte == 0) => Err(None),
            decoded => decoded.map_err(|error| Some(error.to_string())),
        },
    }
}

/// Whether this is a name of this host, with or without its domain.
fn is_this_host(name: &str) -> bool {
    let own = rustix::system::uname();
    let own = own.nodename().to_string_lossy();
    let first = |name: &str| name.split('.').next().unwrap_or_default().to_lowercase();
    first(name) == first(&own)
}

/// The process of a page, if it lives on this host: numbers are given again.
fn process_of(page: &Page) -> Option<Process> {
    let process = process(page.state.process)?;
    let is_it = process.started == page.started && process.state != 'Z';
    // The kernel waits for a thread that runs before it says in which call it is. A wave of cuts,
    // which looks all the time, need not know.
    let is_inside = page.state.threads.iter().any(|thread| thread.inside);
    let may_read = process.state == 'S' && !is_inside && page.state.stop.is_none();
    is_it.then(|| Process {
        reads_input: may_read && reads_its_input(page.state.process),
        ..process
    })
}

/// Whether a thread of this process is in a read of standard input; `false` where this user may not
/// see that.
fn reads_its_input(number: u32) -> bool {
    let threads = fs::read_dir(format!("/proc/{number}/task"));
    let mut threads = threads.into_iter().flatten().flatten();
    threads.any(|thread| {
        let call = fs::read_to_string(thread.path().join("syscall"));
        call.is_ok_and(|text| reads_input(&text))
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn sighting(host: &str, tick: SystemTime, process: Option<u64>) -> Sighting {
        let nanoseconds = tick.duration_since(UNIX_EPOCH).unwrap_or_default();
        let state = Rank {
            rank: 0,
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
            process: process.map(|time| Process {
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
            sightings: BTreeMap::from([(0, one.clone())]),
            problems: Vec::new(),
        };
        let late = look(&seen("elsewhere", now));
        assert!(!Look::is_dead(&late, &late));
        assert_eq!(Look::job(&late, &late).unknown(), [0]);
        assert!(Look::job_at_its_end(&late, &late).unknown().is_empty());
    }
}
