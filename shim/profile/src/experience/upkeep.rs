//! Merging of files of runs, and removal of those that are too old or too many.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::document::{ExperienceFile, add_guards};
use super::key::Key;
use super::store::{PROFILE, Store, StoreError, not_own, run_name, seconds};
use treepie_guard::learning::{End, Experience, MAX_AGE_SECONDS, Run};

/// Number of files of an application above which they are merged.
const MOST_FILES: usize = 32;

/// Maximum number of runs in a file.
const MOST_RUNS: usize = 400;

/// Age in seconds after which a run that has not ended is merged as it is.
const ENDS_WITHIN: u64 = 7 * 86_400;

/// Maximum size of a store in bytes.
const LARGEST: u64 = 64 << 20;

impl Store {
    /// Merges the files of an application if they are many; `random` makes the new one's name.
    /// Several jobs may do so concurrently: a run that is in two files counts once.
    ///
    /// # Errors
    /// A store that cannot be written; then no file is removed.
    pub fn merge(&self, key: Key, now: SystemTime, random: u64) -> Result<(), StoreError> {
        let directory = self.directory(key);
        let files = self.files_until(&directory, now);
        if files.len() <= MOST_FILES {
            return Ok(());
        }
        let seconds = seconds(now);
        let is_over =
            |run: &Run| run.end != End::Open || run.began.saturating_add(ENDS_WITHIN) < seconds;
        let (mut merged, mut sources) = (ExperienceFile::default(), Vec::new());
        for path in files {
            let text = self.owner.read(&path).unwrap_or_default();
            let Ok(file) = ExperienceFile::from_text(&path, &text) else {
                continue;
            };
            if file.experience.runs.iter().all(is_over) {
                merged.producer = file.producer;
                merged.application = file.application;
                merged.experience.add(file.experience);
                add_guards(&mut merged.guards, file.guards);
                sources.push(path);
            }
        }
        if sources.len() < 2 {
            return Ok(());
        }
        shorten(&mut merged.experience, seconds);
        self.write(key, &run_name(now, random), &merged)?;
        self.remove(&sources);
        self.remove_profiles(&directory, &merged.experience);
        Ok(())
    }

    /// Removes the traffic of all counted runs except the newest.
    fn remove_profiles(&self, directory: &Path, experience: &Experience) {
        let Some(newest) = experience.counted() else {
            return;
        };
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let is_older = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            let of_profile =
                name.and_then(|name| name.split_once(PROFILE.trim_end_matches("yaml")));
            of_profile.is_some_and(|(run, _)| run < newest.name.as_str())
        };
        let older: Vec<PathBuf> = entries.map(|it| it.path()).filter(is_older).collect();
        self.remove(&older);
    }

    /// Removes an application's directory.
    ///
    /// # Errors
    /// The system refuses.
    pub fn forget(&self, key: Key) -> Result<(), StoreError> {
        let path = self.directory(key);
        let (above, name) = self.place_of(&path)?;
        above
            .remove_directory(name)
            .map_err(|error| not_own(&path, error))
    }

    /// Removes the applications that have not run for the longest time, until the store is small
    /// enough.
    pub fn trim(&self) {
        let mut all: Vec<(SystemTime, u64, Key)> = Vec::new();
        for key in self.applications() {
            let (newest, bytes) = extent(&self.directory(key));
            all.push((newest, bytes, key));
        }
        all.sort();
        let mut sum: u64 = all.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, bytes, key) in all {
            if sum <= LARGEST || self.forget(key).is_err() {
                return;
            }
            sum -= bytes;
        }
    }

    /// Returns the files of runs whose names end in `suffix`, of all applications.
    pub fn named(&self, suffix: &str) -> Vec<(Key, PathBuf)> {
        let end = format!("{suffix}.yaml");
        let mut found = Vec::new();
        for key in self.applications() {
            let files = self.files_of(&self.directory(key));
            let named = files.into_iter().filter(|path| {
                let name = path.file_name().and_then(|name| name.to_str());
                name.is_some_and(|name| name.ends_with(&end))
            });
            found.extend(named.map(|path| (key, path)));
        }
        found
    }
}

/// Keeps the newest runs, and the newest one that was counted.
fn shorten(experience: &mut Experience, now: u64) {
    let counted = experience.counted().map(|run| run.name.clone());
    let older = experience.runs.len().saturating_sub(MOST_RUNS);
    let mut at = 0;
    experience.runs.retain(|run| {
        at += 1;
        let is_kept = at > older && run.began.saturating_add(MAX_AGE_SECONDS) > now;
        is_kept || Some(&run.name) == counted.as_ref()
    });
    let runs = &experience.runs;
    let judgements = &mut experience.judgements;
    judgements.retain(|judgement| runs.iter().any(|run| run.shape == judgement.shape));
}

/// Returns the modification time of a directory's newest file, and the total bytes of all.
fn extent(directory: &Path) -> (SystemTime, u64) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| entry.metadata().ok());
    files.fold((SystemTime::UNIX_EPOCH, 0), |(newest, bytes), file| {
        let changed = file.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        (newest.max(changed), bytes + file.len())
    })
}
