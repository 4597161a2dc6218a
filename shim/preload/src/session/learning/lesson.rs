//! What a run shows, and that it goes into the store: what it measured of its hosts, how long it
//! took, what its guards found.

use std::time::{Duration, Instant, SystemTime};

use once_cell::sync::OnceCell;
use treepie_guard::learning::End;
use treepie_mpi::share::{Group, ShareError, gather};
use treepie_plans::platform;
use treepie_process::log;
use treepie_process::machine::within;
use treepie_profile::GuardResults;
use treepie_profile::experience::{ExperienceFile, Guarded, Key, Store};

use crate::session::guard_results::guard_results;

/// A store that does not answer in this time, as on a file system that hangs, is not used.
const PATIENCE: Duration = Duration::from_millis(200);

/// One run in so many looks whether the store has grown too large.
const TRIMS: u64 = 100;

/// Results of guards that a run keeps.
const MOST_CELLS: usize = 200;

/// What this run does and is to show. On process 0.
#[derive(Debug, Clone)]
pub(super) struct Lesson {
    pub store: Store,
    pub key: Key,
    pub file: ExperienceFile,
    pub random: u64,
    /// Where a platform goes that is measured.
    pub platform: Key,
    /// Where results of guards go, for other applications, and the number of this program there.
    pub guards: Key,
    pub program: u64,
    /// The host of each process.
    pub hosts: Vec<String>,
}

/// This run, on each process.
#[derive(Debug)]
struct Watched {
    began: OnceCell<Instant>,
    lesson: Option<Lesson>,
}

static WATCHED: OnceCell<Watched> = OnceCell::new();

/// Does `work` on a thread of its own, and waits for it no longer than [`PATIENCE`].
pub(super) fn within_patience<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    within(PATIENCE, "learning", work)
}

impl Lesson {
    /// Writes this run's file; whether it is written.
    pub fn write(&self) -> bool {
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
    fn ended(mut self, seconds: f64, found: GuardResults) {
        if let Some(run) = self.file.experience.runs.first_mut() {
            run.end = End::Seconds(seconds);
            let GuardResults {
                collectives: mut cells,
                mut epochs,
            } = found;
            cells.retain(|cell| cell.plan.is_some());
            cells.truncate(MOST_CELLS);
            epochs.truncate(MOST_CELLS);
            if !cells.is_empty() || !epochs.is_empty() {
                self.file.guards.push(Guarded {
                    shape: run.shape,
                    made: run.began,
                    cells,
                    epochs,
                });
            }
        }
        self.write();
        within_patience(move || self.keep_up());
    }

    /// What comes after a run was written. A store that can't be written was told of.
    fn keep_up(self) {
        let Lesson {
            store,
            key,
            random,
            guards,
            program,
            file,
            ..
        } = self;
        let now = SystemTime::now();
        let run = file.experience.runs.first();
        let of_others = file.guards.into_iter().find(|one| !one.cells.is_empty());
        if let (Some(found), Some(run)) = (of_others, run) {
            let by = (&file.application, file.producer.as_str());
            let found = Guarded {
                shape: program,
                // Those are of the application's own windows.
                epochs: Vec::new(),
                ..found
            };
            let _ = store.keep_guards(guards, &run.name, by, found);
            let _ = store.merge(guards, now, random);
        }
        let _ = store.merge(key, now, random);
        if random % TRIMS == 0 {
            store.trim();
        }
    }
}

/// This run is kept in the store at its end, if its beginning could be written.
pub(super) fn watch(lesson: Option<Lesson>) {
    let began = OnceCell::new();
    let _ = WATCHED.set(Watched { began, lesson });
}

/// From now on this run is timed, on every process.
pub fn begin() {
    let watched = WATCHED.get_or_init(|| Watched {
        began: OnceCell::new(),
        lesson: None,
    });
    let _ = watched.began.set(Instant::now());
}

/// What this run has measured of its hosts goes into the store. Process 0 alone does it.
pub fn keep_platform() {
    let lesson = WATCHED.get().and_then(|watched| watched.lesson.as_ref());
    let (Some(lesson), Some(file)) = (lesson, platform::measured()) else {
        return;
    };
    let Some(run) = lesson.file.experience.runs.first() else {
        return;
    };
    let (lesson, name) = (lesson.clone(), run.name.clone());
    let kept = within_patience(move || {
        let Lesson {
            store,
            platform,
            hosts,
            ..
        } = lesson;
        store.keep_platform(platform, &name, (&hosts, file))
    });
    if let Some(Err(error)) = kept {
        log::info(&error.to_string());
    }
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
pub fn end(members: &impl Group, elapsed: Duration) -> Result<(), ShareError> {
    let mine = (elapsed.as_nanos() as u64, guard_results());
    let (all, found): (Vec<u64>, Vec<_>) = gather(members, &mine)?.into_iter().unzip();
    let found = GuardResults::together(found);
    let lesson = WATCHED.get().and_then(|watched| watched.lesson.as_ref());
    if let (Some(lesson), Some(longest)) = (lesson, all.iter().max()) {
        lesson.clone().ended(*longest as f64 / 1e9, found);
    }
    Ok(())
}
