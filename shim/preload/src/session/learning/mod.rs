//! `mode: auto`: acts on the results of earlier runs, and keeps those of this run. Process 0 reads
//! and writes; all ranks adopt its decision.

mod application;
mod lesson;

use std::fs;
use std::time::{Duration, SystemTime};

use treepie_base::{Process, Slice};
use treepie_guard::learning::{
    Arm, Candidate, Case, End, Experience, Judgement, Knowledge, MAX_AHEAD_SECONDS, Next, Run, next,
};
use treepie_mpi::native::Native;
use treepie_placement::allocation::Allocation;
use treepie_placement::binding::LaunchedProcess;
use treepie_platform::file::PlatformFile;
use treepie_process::log;
use treepie_profile::experience::{
    Application, Elsewhere, ExperienceFile, Key, Salt, Store, StoreContents, guards_key,
    platform_key, run_name,
};
use treepie_profile::{GuardedCell, GuardedEpochs, Profile};
use treepie_traffic::{Layer, Metric};

use application::{Identity, Shape, identify};
use lesson::{Lesson, within_patience};
pub use lesson::{begin, elapsed, end, keep_platform};

/// Knowledge of process 0 about the application before it knows the locations of its processes.
pub struct Learning {
    store: Store,
    salt: Salt,
    key: Key,
    known: StoreContents,
    application: Application,
    identity: Identity,
    library: String,
    producer: String,
    name: String,
    random: u64,
    /// Seconds since 1970.
    now: u64,
}

/// Actions of this run.
pub struct Lessons {
    /// Candidate that is used.
    pub candidate: Option<Candidate>,
    /// File for the traffic, if it is counted.
    pub profile: Option<String>,
    /// Guard results of the newest run in an allocation of this shape.
    pub guard: Vec<GuardedCell>,
    /// Guard results for small puts and accumulates.
    pub epochs: Vec<GuardedEpochs>,
    /// Guard results of other programs in such an allocation.
    pub proven: Vec<GuardedCell>,
}

/// Returns the user of this process.
fn user() -> u32 {
    // SAFETY: geteuid has no conditions.
    unsafe { libc::geteuid() }
}

/// Returns unpredictable bytes; zeros if the system has none, so that runs are distinguished by
/// their times alone.
fn random() -> [u8; 24] {
    let mut bytes = [0; 24];
    if let Ok(mut source) = fs::File::open("/dev/urandom") {
        let _ = std::io::Read::read_exact(&mut source, &mut bytes);
    }
    bytes
}

impl Learning {
    /// Opens the store that `setting` names, and reads what it holds about this program on this
    /// number of ranks. If there is no store, or one that cannot be used, logs one line. `run` is
    /// the number that the command has given to this run.
    pub fn open(
        native: &Native,
        setting: String,
        ranks: usize,
        producer: String,
        run: Option<u64>,
    ) -> Option<Learning> {
        let family = super::run::family_name(native).to_owned();
        let library = native.library_version();
        let opened = within_patience(move || {
            let clock = SystemTime::now();
            let bytes = random();
            let (salt, number) = (first(&bytes), u64::from_le_bytes(last(&bytes)));
            let number = run.unwrap_or(number);
            let store = Store::new(&setting, user());
            let salt = store.salt(salt)?;
            let (program, identity) = identify(ranks, library.clone());
            let key = salt.key(&identity);
            let known = store.read(key, clock);
            let now = now(clock, &known.experience);
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
                identity,
                library,
                producer,
                name: run_name(SystemTime::UNIX_EPOCH + Duration::from_secs(now), number),
                random: number,
                now,
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
                let error: treepie_profile::experience::StoreError = error;
                log::info(&error.to_string());
                None
            }
            None => {
                log::info("store: it did not answer in time; this run learns nothing");
                None
            }
        }
    }

    /// Returns the action of this run if its processes have locations of `shape`.
    fn next(&self, shape: u64) -> Next {
        next(
            &self.known.experience,
            shape,
            self.now,
            self.random & 1 == 1,
        )
    }

    fn shape(&self, processes: &Slice<Process, LaunchedProcess>) -> u64 {
        self.salt.number(&Shape::of(processes))
    }

    /// True if the hardware must be known, to predict the gain from the traffic there.
    pub fn needs_machines(&self, processes: &Slice<Process, LaunchedProcess>) -> bool {
        self.next(self.shape(processes)).knowledge == Knowledge::Counted
    }

    fn platform_key(&self, processes: &Slice<Process, LaunchedProcess>) -> Key {
        platform_key(self.salt, &self.library, &hosts(processes))
    }

    /// Returns the key of guard results in such an allocation, and the number of this program.
    fn guards_key(&self, shape: u64) -> (Key, u64) {
        let program = self.salt.number(&self.identity.program());
        (guards_key(self.salt, &self.identity.mpi(), shape), program)
    }

    /// Returns guard results of other applications.
    fn elsewhere(&self, key: Key, program: u64) -> Elsewhere {
        let (store, now) = (self.store.clone(), self.now);
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(now);
        within_patience(move || store.guards(key, program, at)).unwrap_or_default()
    }

    /// Returns the platform that an earlier job has measured on these processes' hosts.
    pub fn platform(&self, processes: &Slice<Process, LaunchedProcess>) -> Option<PlatformFile> {
        let (store, key, now) = (self.store.clone(), self.platform_key(processes), self.now);
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(now);
        let kept = within_patience(move || store.platform(key, at))??;
        kept.on(&hosts(processes)).ok()
    }

    /// Decides on the actions, and begins this run's file.
    pub fn settle(
        mut self,
        processes: &Slice<Process, LaunchedProcess>,
        allocation: &Allocation,
    ) -> Lessons {
        let shape = self.shape(processes);
        let mut next = self.next(shape);
        let mut judgements = Vec::new();
        if next.knowledge == Knowledge::Counted {
            let profile = self.counted(processes.len());
            // The profile may be lost, or was never written, for example on a full disk.
            next.counts = profile.is_none();
            let judged =
                profile.and_then(|profile| self.judge(&profile, shape, processes, allocation));
            if let Some(judgement) = judged {
                judgements.push(judgement.clone());
                self.known.experience.add(Experience {
                    runs: Vec::new(),
                    judgements: vec![judgement],
                });
                next = self.next(shape);
            }
        }
        log::info(&format!(
            "auto: {}: {}",
            self.application.program, next.knowledge
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
        let here = guards.filter(|known| known.shape == shape);
        let (cells, epochs): (Vec<_>, Vec<_>) = here
            .map(|known| (known.cells.clone(), known.epochs.clone()))
            .unzip();
        let mut guard: Vec<GuardedCell> = cells.concat();
        let epochs = epochs.concat();
        let (guards, program) = self.guards_key(shape);
        let elsewhere = self.elsewhere(guards, program);
        if guard.is_empty() {
            guard = elsewhere.same_program;
        }
        let platform = self.platform_key(processes);
        let lesson = Lesson {
            platform,
            guards,
            program,
            hosts: hosts(processes),
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
        // An unfinished plain run carries no information.
        let mut is_written = true;
        if next.counts || next.arm != Arm::Plain {
            is_written = lesson.write();
        }
        let (candidate, profile) = match is_written {
            true => (next.candidate, profile),
            // An attempt that fails must be on record.
            false => (None, None),
        };
        lesson::watch(is_written.then_some(lesson));
        Lessons {
            candidate,
            profile,
            guard,
            epochs,
            proven: elsewhere.others,
        }
    }

    /// Returns the latest counted traffic, of this number of ranks.
    fn counted(&self, ranks: usize) -> Option<Profile> {
        let counted = self.known.experience.counted()?.name.clone();
        let (store, key) = (self.store.clone(), self.key);
        let profile = within_patience(move || store.profile(key, &counted))??;
        (profile.ranks == ranks).then_some(profile)
    }

    /// Predicts the gain from the counted traffic here.
    fn judge(
        &self,
        profile: &Profile,
        shape: u64,
        processes: &Slice<Process, LaunchedProcess>,
        allocation: &Allocation,
    ) -> Option<Judgement> {
        let traffic = profile.traffic(Layer::ALL);
        let matrix = traffic.exact_affinity(Metric::Size).ok()?;
        let case = Case {
            matrix: &matrix,
            in_mpi: share_in_mpi(profile),
            allocation,
            processes,
            shape,
            now: self.now,
        };
        case.judge(self.known.experience.judgement(shape)).ok()
    }
}

/// Returns the fraction of all ranks' time that was in MPI, if it was measured.
fn share_in_mpi(profile: &Profile) -> Option<f64> {
    let times = profile.times.as_ref()?;
    let elapsed: f64 = times.elapsed.iter().map(|&time| time as f64 / 1e9).sum();
    let outside: f64 = times.outside_mpi().iter().sum();
    (elapsed > 0.0).then(|| 1.0 - outside / elapsed)
}

/// Returns the start of this run, in seconds since 1970: later than all runs before it, even if the
/// clock has gone back a little since, or runs take less than a second.
fn now(clock: SystemTime, experience: &Experience) -> u64 {
    let clock = treepie_base::since_epoch(clock).as_secs();
    let behind = experience.runs.last().map_or(0, |run| run.began + 1);
    clock.max(behind.min(clock + MAX_AHEAD_SECONDS))
}

/// Returns the host of each process.
fn hosts(processes: &Slice<Process, LaunchedProcess>) -> Vec<String> {
    processes.iter().map(|at| at.host.clone()).collect()
}

fn first(bytes: &[u8; 24]) -> [u8; 16] {
    std::array::from_fn(|at| bytes[at])
}

fn last(bytes: &[u8; 24]) -> [u8; 8] {
    std::array::from_fn(|at| bytes[16 + at])
}
