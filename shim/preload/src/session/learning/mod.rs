//! `mode: auto`: what earlier runs say is done, and what this run shows is kept. Process 0 reads
//! and writes; all adopt what it decides.

mod application;

use std::fs;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use once_cell::sync::OnceCell;
use treepie_core::affinity::{Layer, Metric};
use treepie_core::files::experience::{
    Application, ExperienceFile, Guarded, Key, Known, Salt, Store, run_name,
};
use treepie_core::files::profile::{GuardedCell, Profile};
use treepie_core::learning::{
    Arm, Candidate, Case, End, Experience, Judgement, Next, Run, State, next,
};
use treepie_core::placement::allocation::Allocation;
use treepie_core::placement::binding::Process;

use super::partial::with_signals_blocked;
use crate::collectives;
use crate::guard::guarded;
use crate::log;
use crate::mpi::native::Native;
use crate::share::{Members, ShareError, gather};
use application::{Shape, identify};

/// A store that does not answer in this time, as on a file system that hangs, is not used.
const PATIENCE: Duration = Duration::from_millis(200);

/// One run in so many looks whether the store has grown too large.
const TRIMS: u64 = 100;

/// Results of guards that a run keeps.
const MOST_CELLS: usize = 200;

/// What process 0 knows of the application before it knows where its processes are.
pub struct Learning {
    store: Store,
    salt: Salt,
    key: Key,
    known: Known,
    application: Application,
    producer: String,
    name: String,
    random: u64,
    /// Seconds since 1970.
    now: u64,
}

/// What this run does and is to show. On process 0.
#[derive(Debug, Clone)]
struct Lesson {
    store: Store,
    key: Key,
    file: ExperienceFile,
    random: u64,
}

/// This run, on each process.
#[derive(Debug)]
struct Watched {
    began: OnceCell<Instant>,
    lesson: Option<Lesson>,
}

static WATCHED: OnceCell<Watched> = OnceCell::new();

/// What is done in this run.
pub struct Lessons {
    /// The candidate that is used.
    pub candidate: Option<Candidate>,
    /// Where the traffic goes, if it is counted.
    pub profile: Option<String>,
    /// What guards of the newest run in such an allocation found.
    pub guard: Vec<GuardedCell>,
}

/// Does `work` on a thread of its own, and waits for it no longer than [`PATIENCE`].
fn within_patience<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (sender, receiver) = mpsc::channel();
    let thread = with_signals_blocked(|| {
        let work = move || guarded("learning", || drop(sender.send(work())));
        thread::Builder::new().name("treepie".into()).spawn(work)
    });
    thread.ok()?;
    receiver.recv_timeout(PATIENCE).ok()
}

/// The user of this process.
fn user() -> u32 {
    // SAFETY: geteuid has no conditions.
    unsafe { libc::geteuid() }
}

/// Bytes that nobody guesses; zeros where the system has none, which tell runs apart by their
/// times alone.
fn random() -> [u8; 24] {
    let mut bytes = [0; 24];
    if let Ok(mut source) = fs::File::open("/dev/urandom") {
        let _ = std::io::Read::read_exact(&mut source, &mut bytes);
    }
    bytes
}

impl Learning {
    /// What the store that `setting` names knows of this program on so many ranks. Where there is
    /// no store, or one that can't be used, one line says so. `run` is the number that the command
    /// has given to this run.
    pub fn open(
        native: &Native,
        setting: String,
        ranks: usize,
        producer: String,
        run: Option<u64>,
    ) -> Option<Learning> {
        let family = super::request::family_name(native).to_owned();
        let library = native.library_version();
        let opened = within_patience(move || {
            let now = SystemTime::now();
            let bytes = random();
            let (salt, number) = (first(&bytes), u64::from_le_bytes(last(&bytes)));
            let number = run.unwrap_or(number);
            let store = Store::new(&setting, user());
            let salt = store.salt(salt)?;
            let (program, identity) = identify(ranks, library);
            let key = salt.key(&identity);
            let known = store.read(key);
            // A clock may have gone back.
            let newest = known.experience.runs.last().map_or(0, |run| run.began);
            Ok(Learning {
                store,
                salt,
                key,
                known,
                application: Application {
                    program,
                    ranks,
                    mpi: family,
                },
                producer,
                name: run_name(now, number),
                random: number,
                now: seconds(now).max(newest),
            })
        });
        match opened {
            Some(Ok(learning)) => {
                for line in &learning.known.damaged {
                    log::warn(&format!("{line}; it was set aside"));
                }
                Some(learning)
            }
            Some(Err(error)) => {
                let error: treepie_core::files::experience::StoreError = error;
                log::info(&error.to_string());
                None
            }
            None => {
                log::info("store: it did not answer in time; this run learns nothing");
                None
            }
        }
    }

    /// What this run does where its processes are in `shape`.
    fn next(&self, shape: u64) -> Next {
        next(
            &self.known.experience,
            shape,
            self.now,
            self.random & 1 == 1,
        )
    }

    fn shape(&self, processes: &[Process]) -> u64 {
        self.salt.number(&Shape::of(processes))
    }

    /// Whether the hardware has to be known, for what the traffic promises there.
    pub fn needs_machines(&self, processes: &[Process]) -> bool {
        self.next(self.shape(processes)).state == State::Counted
    }

    /// Decides, and begins this run's file.
    pub fn settle(mut self, processes: &[Process], allocation: &Allocation) -> Lessons {
        let shape = self.shape(processes);
        let mut next = self.next(shape);
        let mut judgements = Vec::new();
        if next.state == State::Counted
            && let Some(judgement) = self.judge(shape, processes, allocation)
        {
            judgements.push(judgement.clone());
            self.known.experience.add(Experience {
                runs: Vec::new(),
                judgements: vec![judgement],
            });
            next = self.next(shape);
        }
        log::info(&format!(
            "auto: {}: {}",
            self.application.program, next.state
        ));
        let run = Run {
            name: self.name.clone(),
            began: self.now,
            shape,
            arm: next.arm,
            counted: next.counts,
            end: End::Open,
        };
        let profile = next.counts.then(|| {
            let path = self.store.profile_path(self.key, &self.name);
            path.display().to_string()
        });
        let guards = self.known.guards.iter();
        let guard = guards.filter(|known| known.shape == shape);
        let guard = guard.flat_map(|known| known.cells.clone()).collect();
        let lesson = Lesson {
            store: self.store,
            key: self.key,
            file: ExperienceFile {
                producer: self.producer,
                application: self.application,
                experience: Experience {
                    runs: vec![run],
                    judgements,
                },
                guards: Vec::new(),
            },
            random: self.random,
        };
        // That a plain run has not ended tells nothing.
        let mut is_written = true;
        if next.counts || next.arm != Arm::Plain {
            is_written = lesson.write();
        }
        let (candidate, profile) = match is_written {
            true => (next.candidate, profile),
            // What fails must be known to have been tried.
            false => (None, None),
        };
        let _ = WATCHED.set(Watched {
            began: OnceCell::new(),
            lesson: is_written.then_some(lesson),
        });
        Lessons {
            candidate,
            profile,
            guard,
        }
    }

    /// What the counted traffic promises here. A profile that can't be used is none.
    fn judge(
        &self,
        shape: u64,
        processes: &[Process],
        allocation: &Allocation,
    ) -> Option<Judgement> {
        let experience = &self.known.experience;
        let counted = experience.counted()?.name.clone();
        let (store, key) = (self.store.clone(), self.key);
        let profile = within_patience(move || store.profile(key, &counted))??;
        if profile.ranks != processes.len() {
            return None;
        }
        let traffic = profile.traffic(Layer::ALL);
        let matrix = traffic.exact_affinity(Metric::Size).ok()?;
        let case = Case {
            matrix: &matrix,
            in_mpi: share_in_mpi(&profile),
            allocation,
            processes,
            shape,
            now: self.now,
        };
        case.judge(experience.judgement(shape)).ok()
    }
}

/// The part of all ranks' time that was in MPI, where it was measured.
fn share_in_mpi(profile: &Profile) -> Option<f64> {
    let times = profile.times.as_ref()?;
    let elapsed: f64 = times.elapsed.iter().map(|&time| time as f64 / 1e9).sum();
    let outside: f64 = times.outside_mpi().iter().sum();
    (elapsed > 0.0).then(|| 1.0 - outside / elapsed)
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

fn first(bytes: &[u8; 24]) -> [u8; 16] {
    std::array::from_fn(|at| bytes[at])
}

fn last(bytes: &[u8; 24]) -> [u8; 8] {
    std::array::from_fn(|at| bytes[16 + at])
}

impl Lesson {
    /// Writes this run's file; whether it is written.
    fn write(&self) -> bool {
        let Some(run) = self.file.experience.runs.first() else {
            return false;
        };
        let (store, key, name) = (self.store.clone(), self.key, run.name.clone());
        let file = self.file.clone();
        let written = within_patience(move || store.write(key, &name, &file));
        if let Some(Err(error)) = &written {
            log::info(&error.to_string());
        }
        matches!(written, Some(Ok(())))
    }

    /// Writes how this run ended.
    fn ended(mut self, seconds: f64, cells: Vec<GuardedCell>) {
        if let Some(run) = self.file.experience.runs.first_mut() {
            run.end = End::Seconds(seconds);
            let mut cells = cells;
            cells.retain(|cell| cell.plan.is_some());
            cells.truncate(MOST_CELLS);
            if !cells.is_empty() {
                let (shape, made) = (run.shape, run.began);
                self.file.guards.push(Guarded { shape, made, cells });
            }
        }
        self.write();
        let Lesson {
            store, key, random, ..
        } = self;
        within_patience(move || {
            // A store that can't be written was told of.
            let _ = store.merge(key, SystemTime::now(), random);
            if random % TRIMS == 0 {
                store.trim();
            }
        });
    }
}

/// From now on this run is timed, on every process.
pub fn begin() {
    let watched = WATCHED.get_or_init(|| Watched {
        began: OnceCell::new(),
        lesson: None,
    });
    let _ = watched.began.set(Instant::now());
}

/// How long the application has run; nothing where nothing is learnt, on any process.
pub fn elapsed() -> Option<Duration> {
    let began = WATCHED.get()?.began.get()?;
    Some(began.elapsed())
}

/// The application has ended: how long it took goes into the store. Collective.
///
/// # Errors
/// As of [`gather`].
pub fn end(members: &Members<'_>, elapsed: Duration) -> Result<(), ShareError> {
    let mine = (elapsed.as_nanos() as u64, collectives::guard_results());
    let (all, cells): (Vec<u64>, Vec<_>) = gather(members, &mine)?.into_iter().unzip();
    let cells = GuardedCell::together(cells.into_iter().flatten());
    let lesson = WATCHED.get().and_then(|watched| watched.lesson.as_ref());
    if let (Some(lesson), Some(longest)) = (lesson, all.iter().max()) {
        lesson.clone().ended(*longest as f64 / 1e9, cells);
    }
    Ok(())
}
