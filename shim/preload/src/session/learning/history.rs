//! History of the application in the store, opened when MPI starts.

use std::fs;
use std::time::{Duration, SystemTime};

use treepie_base::{Process, Slice};
use treepie_guard::learning::{Experience, Knowledge, MAX_AHEAD_SECONDS, Next, next};
use treepie_mpi::native::Native;
use treepie_placement::binding::LaunchedProcess;
use treepie_platform::file::PlatformFile;
use treepie_process::log;
use treepie_profile::experience::{
    Application, Elsewhere, Key, Salt, Store, StoreContents, guards_key, platform_key, run_name,
};

use super::application::{Identity, Shape, identify};
use super::lesson::within_patience;
use crate::session::run::family_name;

/// Knowledge of process 0 about the application before it knows the locations of its processes.
pub struct Learning {
    pub(super) store: Store,
    pub(super) salt: Salt,
    pub(super) key: Key,
    pub(super) known: StoreContents,
    pub(super) application: Application,
    pub(super) identity: Identity,
    pub(super) library: String,
    pub(super) producer: String,
    pub(super) name: String,
    pub(super) random: u64,
    /// Seconds since 1970.
    pub(super) now: u64,
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
        let family = family_name(native).to_owned();
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
    pub(super) fn next(&self, shape: u64) -> Next {
        next(
            &self.known.experience,
            shape,
            self.now,
            self.random & 1 == 1,
        )
    }

    pub(super) fn shape(&self, processes: &Slice<Process, LaunchedProcess>) -> u64 {
        self.salt.number(&Shape::of(processes))
    }

    /// True if the hardware must be known, to predict the gain from the traffic there.
    pub fn needs_machines(&self, processes: &Slice<Process, LaunchedProcess>) -> bool {
        self.next(self.shape(processes)).knowledge == Knowledge::Counted
    }

    pub(super) fn platform_key(&self, processes: &Slice<Process, LaunchedProcess>) -> Key {
        platform_key(self.salt, &self.library, &hosts(processes))
    }

    /// Returns the key of guard results in such an allocation, and the number of this program.
    pub(super) fn guards_key(&self, shape: u64) -> (Key, u64) {
        let program = self.salt.number(&self.identity.program());
        (guards_key(self.salt, &self.identity.mpi(), shape), program)
    }

    /// Returns guard results of other applications.
    pub(super) fn elsewhere(&self, key: Key, program: u64) -> Elsewhere {
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
}

/// Returns the start of this run, in seconds since 1970: later than all runs before it, even if the
/// clock has gone back a little since, or runs take less than a second.
fn now(clock: SystemTime, experience: &Experience) -> u64 {
    let clock = treepie_base::since_epoch(clock).as_secs();
    let behind = experience.runs.last().map_or(0, |run| run.began + 1);
    clock.max(behind.min(clock + MAX_AHEAD_SECONDS))
}

/// Returns the host of each process.
pub(super) fn hosts(processes: &Slice<Process, LaunchedProcess>) -> Vec<String> {
    processes.iter().map(|at| at.host.clone()).collect()
}

fn first(bytes: &[u8; 24]) -> [u8; 16] {
    std::array::from_fn(|at| bytes[at])
}

fn last(bytes: &[u8; 24]) -> [u8; 8] {
    std::array::from_fn(|at| bytes[16 + at])
}
