//! Stores of experiences: the files of jobs in them.

use std::fs;
use std::path::{Path, PathBuf};

use treepie_profile::experience::ExperienceFile;

/// All files in a directory and those below it, sorted.
pub fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        match entry.path().is_dir() {
            true => files.extend(files_below(&entry.path())),
            false => files.push(entry.path()),
        }
    }
    files.sort();
    files
}

/// True if this is the file of a run.
pub fn is_run(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".yaml") && !name.contains(".p")
}

/// The files of runs in a store, in the order of their names.
///
/// # Panics
/// Panics if one is not.
#[track_caller]
pub fn runs(store: &Path) -> Vec<(PathBuf, ExperienceFile)> {
    let mut files = files_below(store);
    files.retain(|file| is_run(file));
    files.sort_by_key(|file| file.file_name().map(ToOwned::to_owned));
    let read = |file: PathBuf| {
        let found = ExperienceFile::read(&file).unwrap_or_else(|error| panic!("{error}"));
        (file, found)
    };
    files.into_iter().map(read).collect()
}
