//! Results of guards on collectives for any application, in a store: used for an application
//! without results of its own.
//!
//! The shape of the allocation and the MPI must be the same. Plans that the same program adopted
//! with other arguments are adopted again, and soon measured again; plans that other programs
//! adopted are only tried first.

use std::time::SystemTime;

use serde::Serialize;

use super::document::{Application, ExperienceFile, Guarded};
use super::key::{Key, Salt};
use super::store::{Store, StoreError};
use crate::guard::GuardedCell;

/// Maximum number of guard results that are read, over all programs.
const MOST_CELLS: usize = 400;

/// Guard results of runs of other applications.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Elsewhere {
    /// Those of the same program, with other arguments.
    pub same_program: Vec<GuardedCell>,
    /// Those of other programs.
    pub others: Vec<GuardedCell>,
}

/// Returns the key of guard results in a store, independent of the application: `mpi` contains all
/// inputs by which the MPI chooses its algorithms.
pub fn guards_key(salt: Salt, mpi: &impl Serialize, shape: u64) -> Key {
    salt.key(&("guards", mpi, shape))
}

impl Store {
    /// Keeps the guard results of a run, for other applications. In `guarded` the number of the
    /// program replaces the shape, which all results of this key share.
    ///
    /// # Errors
    /// A store that cannot be written, or is not the user's.
    pub fn keep_guards(
        &self,
        key: Key,
        name: &str,
        (application, producer): (&Application, &str),
        guarded: Guarded,
    ) -> Result<(), StoreError> {
        let file = ExperienceFile {
            producer: producer.to_owned(),
            application: Application {
                program: String::new(),
                ..application.clone()
            },
            guards: vec![guarded],
            ..ExperienceFile::default()
        };
        self.write(key, name, &file)
    }

    /// Returns guard results of other applications than the caller, which has the number `program`;
    /// of each program the newest.
    pub fn guards(&self, key: Key, program: u64, now: SystemTime) -> Elsewhere {
        let mut all = self.read(key, now).guards;
        all.sort_by_key(|guarded| std::cmp::Reverse(guarded.made));
        let (same, others): (Vec<Guarded>, Vec<Guarded>) = all
            .into_iter()
            .partition(|guarded| guarded.shape == program);
        let cells = |all: Vec<Guarded>| -> Vec<GuardedCell> {
            let cells = all.into_iter().flat_map(|guarded| guarded.cells);
            cells.take(MOST_CELLS).collect()
        };
        Elsewhere {
            same_program: cells(same),
            others: cells(others),
        }
    }

    /// Returns the keys of guard results in the user's own store that all applications share.
    pub fn guards_of_all(&self, now: SystemTime) -> Vec<Key> {
        let is_shared = |key: &Key| {
            let known = self.read(*key, now);
            known.experience.runs.is_empty() && !known.guards.is_empty()
        };
        let mut keys = self.applications();
        keys.retain(is_shared);
        keys
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;
    use std::time::Duration;

    use super::*;
    use treepie_collective::Operation;
    use treepie_guard::{Form, State};

    fn guarded(program: u64, made: u64, calls: u64) -> Guarded {
        let cell = GuardedCell {
            operation: Operation::Barrier,
            form: Form::Blocking,
            root: None,
            bytes: Some(0),
            ordered: false,
            ranks: 4,
            clusters: 2,
            plan: None,
            state: State::Warming,
            won: 0,
            lost: 0,
            native_seconds: None,
            plan_seconds: None,
            longest_seconds: 0.0,
            calls,
            seconds: 0.0,
            excess_seconds: 0.0,
            saved_seconds: 0.0,
        };
        Guarded {
            shape: program,
            made,
            cells: vec![cell],
            epochs: Vec::new(),
        }
    }

    #[test]
    fn of_each_program_the_newest_is_kept_and_merged_and_forgotten_without_its_name() {
        let directory = tempfile::tempdir().unwrap();
        let user = std::fs::metadata("/proc/self").unwrap().uid();
        let store = Store::new(directory.path().join("store").to_str().unwrap(), user);
        let salt = store.salt([1; 16]).unwrap();
        let key = guards_key(salt, &"MPI 4", 7);
        assert_ne!(key, guards_key(salt, &"MPI 5", 7));
        assert_ne!(key, guards_key(salt, &"MPI 4", 8));
        let application = Application {
            program: "cg".into(),
            ranks: 4,
            mpi: "MPI".into(),
        };
        let begin = 1_795_000_000;
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        for run in 0..40 {
            let made = begin + run;
            let name = super::super::run_name(at(made), run);
            let found = guarded(run % 3, made, run);
            let by = (&application, "treepie");
            store.keep_guards(key, &name, by, found).unwrap();
        }
        let calls =
            |cells: Vec<GuardedCell>| -> Vec<u64> { cells.iter().map(|cell| cell.calls).collect() };
        let now = at(begin + 50);
        for _ in 0..2 {
            let found = store.guards(key, 1, now);
            assert_eq!(calls(found.same_program), [37]);
            assert_eq!(calls(found.others), [39, 38]);
            // The second merge makes them one file.
            store.merge(key, now, 99).unwrap();
        }
        let files = store.files_of(&store.directory(key));
        assert_eq!(files.len(), 1, "{files:?}");
        let text = std::fs::read_to_string(&files[0]).unwrap();
        assert!(!text.contains("cg"), "{text}");
        assert_eq!(store.guards_of_all(now), [key]);
        assert_eq!(store.guards(key, 5, now).same_program, []);
    }
}
