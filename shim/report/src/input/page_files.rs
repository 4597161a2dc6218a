//! Files of pages: their location, and whether they are trusted.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use treepie_base::open_no_link;
use treepie_base::own_directory::remove_files;
use treepie_jobstate::pages::{
    self, Page, PageError, rank_of, run_directory, run_of, usual_directory,
};

/// Maximum length of a page in bytes.
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

/// Removes the files of a run.
pub fn remove(base: &Path, run: u64) {
    remove_files(&run_directory(base, run), |name| rank_of(name).is_some());
}

pub(crate) fn page_files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| rank_of(path).is_some()).collect()
}

/// The owner of a page that is not trusted.
pub(crate) fn stranger(path: &Path, is_usual: bool) -> Option<u32> {
    let owner = fs::symlink_metadata(path).ok()?.uid();
    let reader = rustix::process::geteuid().as_raw();
    (!is_believed(owner, reader, is_usual)).then_some(owner)
}

/// True if a page is trusted: any user can create a file with the name of another user's usual
/// directory, including root's, or put files into shared directories. Root may read all jobs.
pub(crate) fn is_believed(owner: u32, reader: u32, is_usual: bool) -> bool {
    owner == reader || !is_usual && (owner == 0 || reader == 0)
}

/// Reads a page; `None` if it does not exist any more, or not yet. If a call begins or ends during
/// the reading, the result would mix words of two calls: the result is valid if a second reading
/// finds the same call, and otherwise the second one shows a rank that continues.
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
    // A file with the name of a page in another user's directory may be of any kind.
    let read = open_no_link(path).and_then(|file| file.take(LONGEST).read_to_end(&mut bytes));
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(None),
        // Not an error of the system.
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
