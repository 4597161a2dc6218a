//! Atomic writes: files appear completely or not at all.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::input;
use crate::error::FileError;

/// Maximum number of links that one name may lead through, as Linux counts them.
const MOST_LINKS: usize = 40;

/// Time that a job waits for the reader of a full pipe.
const PATIENCE: Duration = Duration::from_secs(5);
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

/// Writes a file under a temporary name in the same directory, syncs it, and renames it to `path`:
/// a reader sees the old file or the new one, never a partial one.
///
/// A new file gets the permissions of any newly created file (0666 less the umask); an existing
/// file keeps its own. A symbolic link is followed, also to a name that does not exist yet, unless
/// another user has put it into a directory that all may write to. Anything other than a regular
/// file (`/dev/stdout`, a named pipe) is written to directly, since a rename over it would do harm;
/// a job does not wait until a pipe is opened, and only briefly until it is read.
///
/// # Errors
/// [`FileErrorKind::Unwritable`](crate::FileErrorKind::Unwritable) when the directory or the file
/// refuses, or when `write` does. Nothing is left behind then, and an older file is unchanged.
pub fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), FileError> {
    let result = match Output::at(path) {
        Ok(Output::Stream(path)) => write_directly(&path, write),
        Ok(Output::File(target, permissions)) => write_and_rename(&target, permissions, write),
        Err(error) => Err(error),
    };
    result.map_err(|error| FileError::writing(path, &error))
}

/// Checks that [`write_atomically`] could write `path` now; no file is left behind. For callers
/// that have hours of work before them.
///
/// # Errors
/// [`FileErrorKind::Unwritable`](crate::FileErrorKind::Unwritable), as for the write.
pub fn check_writable(path: &Path) -> Result<(), FileError> {
    let result = match Output::at(path) {
        Ok(Output::Stream(_)) => Ok(()),
        Ok(Output::File(target, _)) => temporary_beside(&target).map(drop),
        Err(error) => Err(error),
    };
    result.map_err(|error| FileError::writing(path, &error))
}

/// True if a write to `path` goes to a pipe, a device or a standard stream: no other file can be
/// beside it.
pub fn is_stream(path: &Path) -> bool {
    input::is_stream(path) || standard_stream(path).is_some()
}

/// Destination of a write.
enum Output {
    /// A pipe, a device, or a standard stream.
    Stream(PathBuf),
    /// A file, with its existing permissions.
    File(PathBuf, Option<Permissions>),
}

impl Output {
    /// Returns the output of this name.
    fn at(path: &Path) -> io::Result<Output> {
        let place = followed(path)?;
        if is_stream(&place) {
            return Ok(Output::Stream(place));
        }
        match fs::metadata(&place) {
            Ok(old) if old.is_dir() => Err(ErrorKind::IsADirectory.into()),
            Ok(old) if old.permissions().readonly() => {
                Err(io::Error::other("it is write-protected"))
            }
            Ok(old) => Ok(Output::File(
                fs::canonicalize(&place)?,
                Some(old.permissions()),
            )),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Output::File(place, None)),
            Err(error) => Err(error),
        }
    }
}

/// Returns the name that `path` leads to if it is a link, whether or not that name exists.
fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut place = path.to_owned();
    for _ in 0..MOST_LINKS {
        if standard_stream(&place).is_some() {
            return Ok(place);
        }
        match fs::symlink_metadata(&place) {
            Ok(link) if link.is_symlink() => check_link(&link, &directory_of(&place))?,
            // The caller that uses the name reports the error.
            _ => return Ok(place),
        }
        let next = directory_of(&place).join(fs::read_link(&place)?);
        if fs::symlink_metadata(&next).is_err() && place.exists() {
            // A descriptor's link in /proc is not a name.
            return Ok(place);
        }
        place = next;
    }
    Err(io::Error::from_raw_os_error(libc::ELOOP))
}

/// Rejects a link that another user has put into a directory that all may write to, as Linux does
/// if `fs.protected_symlinks` is set: it may lead to any file of the user.
fn check_link(link: &Metadata, directory: &Path) -> io::Result<()> {
    let user = rustix::process::geteuid().as_raw();
    let is_own = link.uid() == user || link.uid() == 0;
    match is_own || fs::metadata(directory)?.mode() & 0o002 == 0 {
        true => Ok(()),
        false => Err(io::Error::other(format!(
            "it is a symbolic link of user {} in a directory that all may write to",
            link.uid()
        ))),
    }
}

/// Returns a standard stream of this process: opening its name would create a new description, and
/// write from the beginning if it is a file.
fn standard_stream(path: &Path) -> Option<File> {
    let stream = match path.to_str()? {
        "/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1" => {
            io::stdout().as_fd().try_clone_to_owned()
        }
        "/dev/stderr" | "/dev/fd/2" | "/proc/self/fd/2" => {
            io::stderr().as_fd().try_clone_to_owned()
        }
        _ => return None,
    };
    stream.ok().map(File::from)
}

/// Writes to an output that is not a regular file.
fn write_directly(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let stream = match standard_stream(path) {
        Some(stream) => {
            io::stdout().flush()?;
            stream
        }
        None => open_stream(path)?,
    };
    let mut writer = BufWriter::new(Patient(stream));
    write(&mut writer)?;
    writer.flush()
}

fn open_stream(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true);
    if !input::waits() {
        options.custom_flags(libc::O_NONBLOCK);
    }
    options
        .open(path)
        .map_err(|error| match error.raw_os_error() {
            Some(libc::ENXIO) => io::Error::other("nobody reads from it"),
            _ => error,
        })
}

/// Stream that may be full for a while.
struct Patient(File);

impl Write for Patient {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let until = Instant::now() + PATIENCE;
        loop {
            match self.0.write(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => (),
                written => return written,
            }
            if Instant::now() >= until {
                return Err(io::Error::other("nobody reads from it any more"));
            }
            thread::sleep(BETWEEN_TRIES);
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a temporary file beside `target` and renames it. The temporary file is removed
/// automatically on every early return.
fn write_and_rename(
    target: &Path,
    permissions: Option<Permissions>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut temporary = temporary_beside(target)?;
    let mut writer = BufWriter::new(temporary.as_file_mut());
    write(&mut writer)?;
    writer.flush()?;
    drop(writer);
    if let Some(permissions) = permissions {
        temporary.as_file().set_permissions(permissions)?;
    }
    temporary.as_file().sync_all()?;
    temporary.persist(target).map_err(|refused| refused.error)?;
    // Syncing the directory makes the new name persistent. Some file systems cannot sync a
    // directory; the file itself is already safe there.
    if let Ok(directory) = File::open(directory_of(target)) {
        let _ = directory.sync_all();
    }
    Ok(())
}

/// Returns a new temporary file in the directory of `target`, which is removed automatically.
fn temporary_beside(target: &Path) -> io::Result<tempfile::NamedTempFile> {
    if target.file_name().is_none() {
        return Err(ErrorKind::IsADirectory.into());
    }
    tempfile::Builder::new()
        .prefix(".treepie-")
        .suffix(".tmp")
        // Less the umask, as for every created file; the default is 0600.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(directory_of(target))
}

/// Returns the directory that contains `path`.
fn directory_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::io::Read;
    use std::os::unix::fs::{FileTypeExt, symlink};

    fn names_in(directory: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn mode_of(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn a_written_file_is_whole_and_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.yaml");
        write_atomically(&path, |out| out.write_all(b"whole")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
        assert_eq!(names_in(directory.path()), ["a.yaml"]);
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.yaml");
        fs::write(&path, "old").unwrap();
        let failed = write_atomically(&path, |out| {
            out.write_all(b"half of the ne")?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        });
        assert!(failed.is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names_in(directory.path()), ["a.yaml"]);
    }

    #[test]
    fn a_new_file_has_the_permissions_of_any_created_file() {
        let directory = tempfile::tempdir().unwrap();
        let ordinary = directory.path().join("ordinary");
        fs::write(&ordinary, "").unwrap();
        let path = directory.path().join("a.yaml");
        write_atomically(&path, |_| Ok(())).unwrap();
        assert_eq!(mode_of(&path), mode_of(&ordinary));
    }

    #[test]
    fn a_replaced_file_keeps_its_permissions() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.yaml");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        write_atomically(&path, |out| out.write_all(b"new")).unwrap();
        assert_eq!(mode_of(&path), 0o640);
    }

    #[test]
    fn a_missing_directory_is_named_and_stays_missing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("none/a.yaml");
        let error = write_atomically(&path, |_| Ok(())).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "{}: cannot be written: No such file or directory; choose a file in a directory \
                 that exists and that you may write to",
                path.display()
            )
        );
        assert_eq!(names_in(directory.path()), Vec::<String>::new());
    }

    #[test]
    fn a_directory_a_protected_file_and_a_full_device_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let protected = directory.path().join("a.yaml");
        fs::write(&protected, "old").unwrap();
        fs::set_permissions(&protected, Permissions::from_mode(0o444)).unwrap();
        for (path, reason) in [
            (directory.path(), "is a directory"),
            (&protected, "it is write-protected"),
            (Path::new("/dev/full"), "No space left on device"),
        ] {
            let error = write_atomically(path, |out| out.write_all(b"new")).unwrap_err();
            let expected = format!("{}: cannot be written: {reason};", path.display());
            assert!(error.to_string().starts_with(&expected), "{error}");
        }
        assert_eq!(fs::read_to_string(&protected).unwrap(), "old");
    }

    #[test]
    fn what_can_be_written_is_told_before_and_stays_as_it_was() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.yaml");
        check_writable(&path).unwrap();
        assert_eq!(names_in(directory.path()), Vec::<String>::new());
        fs::write(&path, "old").unwrap();
        check_writable(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        for refused in [
            directory.path().join("none/a.yaml"),
            directory.path().into(),
        ] {
            let told = check_writable(&refused).unwrap_err();
            let met = write_atomically(&refused, |_| Ok(())).unwrap_err();
            assert_eq!(told, met);
        }
    }

    #[test]
    fn a_link_is_followed_and_stays_a_link() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("target");
        let link = directory.path().join("link");
        fs::write(&target, "old").unwrap();
        symlink(&target, &link).unwrap();
        write_atomically(&link, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn a_link_to_nothing_is_followed_and_one_to_itself_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let named = |name: &str| directory.path().join(name);
        symlink("second", named("first")).unwrap();
        symlink("target", named("second")).unwrap();
        check_writable(&named("first")).unwrap();
        write_atomically(&named("first"), |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read_to_string(named("target")).unwrap(), "new");
        assert!(fs::symlink_metadata(named("first")).unwrap().is_symlink());
        symlink("loop", named("loop")).unwrap();
        let told = check_writable(&named("loop")).unwrap_err();
        let met = write_atomically(&named("loop"), |_| Ok(())).unwrap_err();
        assert_eq!(told, met);
        assert!(met.to_string().contains("Too many levels"), "{met}");
        assert_eq!(
            names_in(directory.path()),
            ["first", "loop", "second", "target"]
        );
    }

    /// In a job: tests never call `wait_for_streams`.
    #[test]
    fn a_pipe_that_nobody_reads_is_refused_and_one_that_somebody_reads_is_written_and_stays() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pipe");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let said = write_atomically(&path, |out| out.write_all(b"text")).unwrap_err();
        assert!(said.to_string().contains("nobody reads from it;"), "{said}");
        let mut options = OpenOptions::new();
        let options = options.read(true).custom_flags(libc::O_NONBLOCK);
        let mut reader = options.open(&path).unwrap();
        write_atomically(&path, |out| out.write_all(b"text")).unwrap();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "text");
        assert!(is_stream(&path));
        assert_eq!(names_in(directory.path()), ["pipe"]);
    }

    #[test]
    fn devices_stay_devices() {
        for name in ["/dev/null", "/dev/zero"] {
            let path = Path::new(name);
            let directory = tempfile::tempdir().unwrap();
            let link = directory.path().join("link");
            symlink(path, &link).unwrap();
            for path in [path, &link] {
                check_writable(path).unwrap();
                write_atomically(path, |out| out.write_all(b"text")).unwrap();
                assert!(is_stream(path));
            }
            assert!(fs::metadata(path).unwrap().file_type().is_char_device());
        }
    }
}
