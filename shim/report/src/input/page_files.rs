//! Files of pages: where they are, and whether they are believed.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use treepie_base::open_no_link;
use treepie_base::own_directory::remove_files;
use treepie_jobstate::pages::{
    self, Page, PageError, rank_of, run_directory, run_of, usual_directory,
};

/// No page is longer.
pub(crate) const LONGEST: u64 = 1 << 20;

/// Directory of this user's pages.
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

pub(crate) fn page_files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| rank_of(path).is_some()).collect()
}

/// The owner of a page that is not believed.
pub(crate) fn stranger(path: &Path, is_usual: bool) -> Option<u32> {
    let owner = fs::symlink_metadata(path).ok()?.uid();
    let reader = rustix::process::geteuid().as_raw();
    (!is_believed(owner, reader, is_usual)).then_some(owner)
}

/// Whether a page is what it seems: anybody can make what has the name of another user's usual
/// directory, root's too, or put files where users share one. Root may look at all jobs.
pub(crate) fn is_believed(owner: u32, reader: u32, is_usual: bool) -> bool {
    owner == reader || !is_usual && (owner == 0 || reader == 0)
}

/// Reads a page; `None` is one that is not there any more, or not yet. A call that begins or ends
/// while it is read would leave words of two calls in it: what was read is right where a second
/// reading finds the same call, and otherwise that one tells of a rank that goes on.
pub(crate) fn read(path: &Path) -> Result<Page, Option<String>> {
    let first = read_once(path)?;
    let second = read_once(path)?;
    Ok(if first.state.is_in_the_calls_of(&second.state) {
        first
    } else {
        second
    })
}

pub(crate) fn read_once(path: &Path) -> Result<Page, Option<String>> {
    let mut bytes = Vec::new();
    // A file that has the name of a page in another user's directory may be anything.
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
