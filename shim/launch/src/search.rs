//! Search for an executable like in a shell.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The file that `name` starts: itself if it has a slash, else the first executable with that name
/// in `PATH`.
pub fn executable(name: &OsStr) -> Option<PathBuf> {
    let path = Path::new(name);
    if path.components().count() > 1 || name.as_encoded_bytes().contains(&b'/') {
        return is_executable(path).then(|| path.to_owned());
    }
    directories()
        .map(|directory| directory.join(name))
        .find(|candidate| is_executable(candidate))
}

/// The directories of `PATH`, in order.
pub fn directories() -> impl Iterator<Item = PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories: Vec<PathBuf> = std::env::split_paths(&path).collect();
    directories.into_iter()
}

/// True if this is a file with a permission to execute.
pub fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}
