//! Results of a run, and their way into the store: measurements of its hosts, its duration, the
//! findings of its guards.

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

/// Time limit for the store: one that does not answer within it, as on a file system that hangs, is
/// not used.
const PATIENCE: Duration = Duration::from_millis(200);

/// One in this many runs checks whether the store has grown too large.
const TRIMS: u64 = 100;

/// Maximum number of guard results that a run keeps.
const MOST_CELLS: usize = 200;

/// This run's actions and expected results. On process 0.
#[derive(Debug, Clone)]
pub(super) struct Lesson {
    pub store: Store,
    pub key: Key,
    pub file: ExperienceFile,
    pub random: u64,
    /// Key of a measured platform.
    pub platform: Key,
    /// Key of guard results, shared with other applications, and the number of this program there.
    pub guards: Key,
    pub program: u64,
    /// Host of each process.
    pub hosts: Vec<String>,
}

/// This run, on each process.
#[derive(Debug)]
struct Watched {
    began: OnceCell<Instant>,
    lesson: Option<Lesson>,
}

static WATCHED: OnceCell<Watched> = OnceCell::new();

/// Runs `work` on a separate thread, and waits for it no longer than [`PATIENCE`].
pub(super) fn within_patience<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    within(PATIENCE, "learning", work)
}

impl Lesson {
    /// Writes this run's file; true on success.
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

    /// Writes the end of this run.
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

    /// Maintains the store after a run was written. A store that cannot be written was reported
    /// before.
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
                // Epochs concern the application's own windows.
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

/// Keeps this run in the store at its end, if its beginning could be written.
pub(super) fn watch(lesson: Option<Lesson>) {
    let began = OnceCell::new();
    let _ = WATCHED.set(Watched { began, lesson });
}

/// Starts the timer of this run, on every process.
pub fn begin() {
    let watched = WATCHED.get_or_init(|| Watched {
        began: OnceCell::new(),
        lesson: None,
    });
    let _ = watched.began.set(Instant::now());
}

/// Writes this run's measurements of its hosts to the store. Only process 0 does.
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

/// Returns the time that the application has run; `None`, on all processes, if nothing is learnt.
pub fn elapsed() -> Option<Duration> {
    let began = WATCHED.get()?.began.get()?;
    Some(began.elapsed())
}

/// Writes the duration of the application, which has ended, to the store. Collective.
///
/// # Errors
/// Those of [`gather`].
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
