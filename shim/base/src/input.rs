//! Inputs that a user names: only regular files are read like files.
//!
//! A job never waits. Its inputs are regular files; a pipe whose writer may never come, or a device
//! without an end, is rejected immediately. A command accepts pipes and devices, too (`treepie show
//! <(...)`), and waits for them as any Unix tool does. Neither reads more than a limit.

use std::collections::BTreeMap;
use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use thiserror::Error;

/// Maximum size of a text in bytes.
pub(super) const LARGEST_TEXT: u64 = 256 << 20;

/// Contents of pipes and devices, which can be read only once, while a command may read an input
/// more than once. Not set in a job.
static STREAMS: OnceLock<Mutex<BTreeMap<PathBuf, Vec<u8>>>> = OnceLock::new();

/// Reason why something that can be opened is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Unfit {
    /// It is not a file, but of this kind.
    #[error("is {0}, not a file; name a regular file")]
    NoFile(&'static str),
    /// It is longer than this limit in MiB, or has no end.
    #[error("is larger than {0} MiB, the limit for input files; check its name")]
    TooLarge(u64),
}

impl From<Unfit> for io::Error {
    fn from(unfit: Unfit) -> Self {
        io::Error::other(unfit)
    }
}

/// Lets this process wait for pipes and devices from now on, as a command may: its user can
/// interrupt it.
pub fn wait_for_streams() {
    STREAMS.get_or_init(Mutex::default);
}

/// True if this process waits for pipes and devices.
pub(super) fn waits() -> bool {
    STREAMS.get().is_some()
}

/// True if this is the name of a pipe or a device.
pub(super) fn is_stream(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|it| !it.is_file() && !it.is_dir())
}

/// Opens a regular file to read it.
///
/// # Errors
/// An error of the system; [`Unfit::NoFile`] for anything else that has the name, without waiting
/// for it.
pub fn open(path: &Path) -> io::Result<File> {
    open_with(path, 0)
}

/// Opens a regular file if the last name is not a link, which others may have put there.
///
/// # Errors
/// Those of [`open`].
pub fn open_no_link(path: &Path) -> io::Result<File> {
    open_with(path, libc::O_NOFOLLOW)
}

fn open_with(path: &Path, flags: libc::c_int) -> io::Result<File> {
    let open = |flags| {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(flags).open(path)
    };
    let opened = match open(flags | libc::O_NONBLOCK) {
        // A file server must first take back a lease from another host.
        Err(error) if error.kind() == io::ErrorKind::WouldBlock && !is_stream(path) => open(flags),
        opened => opened,
    };
    let file = opened?;
    let kind = file.metadata()?.file_type();
    match kind {
        _ if kind.is_file() => Ok(file),
        _ if kind.is_dir() => Err(io::Error::from_raw_os_error(libc::EISDIR)),
        _ => Err(Unfit::NoFile(name_of(kind)).into()),
    }
}

fn name_of(kind: FileType) -> &'static str {
    match kind {
        _ if kind.is_fifo() => "a pipe",
        _ if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

/// Returns all bytes of an input, at most `most`.
///
/// # Errors
/// An error of the system; [`Unfit`].
pub fn bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    match STREAMS.get() {
        Some(streams) if is_stream(path) => {
            let mut streams = streams.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(given) = streams.get(path) {
                return Ok(given.clone());
            }
            let given = to_the_end(File::open(path)?, most)?;
            streams.insert(path.to_owned(), given.clone());
            Ok(given)
        }
        _ => to_the_end(open(path)?, most),
    }
}

/// Returns all bytes of an open file.
///
/// # Errors
/// Those of [`bytes`].
pub fn to_the_end(file: File, most: u64) -> io::Result<Vec<u8>> {
    let too_large = || Unfit::TooLarge(most >> 20);
    let length = file.metadata()?.len();
    if length > most {
        return Err(too_large().into());
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(usize::try_from(length).map_err(|_| too_large())?)?;
    file.take(most + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > most {
        true => Err(too_large().into()),
        false => Ok(bytes),
    }
}

/// True if an input begins with `start`.
pub fn starts_with(path: &Path, start: &[u8]) -> bool {
    if waits() && is_stream(path) {
        return bytes(path, LARGEST_TEXT).is_ok_and(|bytes| bytes.starts_with(start));
    }
    let mut found = vec![0; start.len()];
    let read = open(path).and_then(|mut file| file.read_exact(&mut found));
    read.is_ok() && found == start
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// In a job: tests never call `wait_for_streams`.
    #[test]
    fn what_is_no_file_is_refused_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        for (path, what) in [
            (&*pipe, "a pipe"),
            (Path::new("/dev/zero"), "a device"),
            (Path::new("/dev/full"), "a device"),
        ] {
            let said = bytes(path, LARGEST_TEXT).unwrap_err().to_string();
            assert!(
                said.starts_with(&format!("is {what}, not a file")),
                "{said}"
            );
            assert!(!starts_with(path, b"\0"));
        }
    }

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let mebibyte = vec![7; 1 << 20];
        fs::write(&path, &mebibyte).unwrap();
        assert_eq!(bytes(&path, 1 << 20).unwrap(), mebibyte);
        fs::write(&path, [&*mebibyte, &[7]].concat()).unwrap();
        let said = bytes(&path, 1 << 20).unwrap_err().to_string();
        assert_eq!(
            said,
            "is larger than 1 MiB, the limit for input files; check its name"
        );
        // The length of a device is not known in advance.
        let said = to_the_end(File::open("/dev/zero").unwrap(), 1 << 20).unwrap_err();
        assert!(said.to_string().contains("1 MiB"), "{said}");
    }

    #[test]
    fn links_are_followed_where_the_user_gave_the_name() {
        let directory = tempfile::tempdir().unwrap();
        let (path, link) = (directory.path().join("a"), directory.path().join("b"));
        fs::write(&path, "text").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(open(&link).is_ok() && open_no_link(&path).is_ok());
        assert!(open_no_link(&link).is_err());
    }
}
