//! Files appear whole or not at all.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::FileError;

/// Writes a file under a temporary name in the same directory, syncs it, and
/// renames it to `path`: a reader sees the old file or the new one, never a part.
///
/// A new file gets the permissions of any newly created file (0666 less the
/// umask); a file that was there keeps its own. A symbolic link is followed.
/// What is not an ordinary file (`/dev/stdout`, a named pipe) is written to
/// directly, as nothing can be renamed over it without harm.
///
/// # Errors
/// [`FileError::Unwritable`] when the directory or the file refuses, or when
/// `write` does. Nothing is left behind then, and an older file is unchanged.
pub fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), FileError> {
    let result = match fs::metadata(path) {
        Ok(old) if old.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Ok(old) if !old.is_file() => write_directly(path, write),
        Ok(old) if old.permissions().readonly() => Err(io::Error::other("it is write-protected")),
        Ok(old) => fs::canonicalize(path)
            .and_then(|target| write_and_rename(&target, Some(old.permissions()), write)),
        Err(_) => write_and_rename(path, None, write),
    };
    result.map_err(|error| FileError::writing(path, &error))
}

/// Whether [`write_atomically`] could write `path` now; nothing is left behind.
/// For callers that have hours of work before them.
///
/// # Errors
/// [`FileError::Unwritable`], as the write would give it.
pub fn check_writable(path: &Path) -> Result<(), FileError> {
    let result = match fs::metadata(path) {
        Ok(old) if old.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Ok(old) if !old.is_file() => Ok(()),
        Ok(old) if old.permissions().readonly() => Err(io::Error::other("it is write-protected")),
        Ok(_) => fs::canonicalize(path).and_then(|target| temporary_beside(&target).map(drop)),
        Err(_) => temporary_beside(path).map(drop),
    };
    result.map_err(|error| FileError::writing(path, &error))
}

/// Writes to something that is not an ordinary file.
fn write_directly(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut writer = BufWriter::new(OpenOptions::new().write(true).open(path)?);
    write(&mut writer)?;
    writer.flush()
}

/// Writes a temporary file beside `target` and renames it. The temporary file
/// goes away by itself on every early return.
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
    // The new name reaches the disk with the directory. Some file systems
    // cannot sync a directory; the file itself is already safe there.
    if let Ok(directory) = File::open(directory_of(target)) {
        let _ = directory.sync_all();
    }
    Ok(())
}

/// A new temporary file in the directory of `target`, which goes away by itself.
fn temporary_beside(target: &Path) -> io::Result<tempfile::NamedTempFile> {
    if target.file_name().is_none() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    tempfile::Builder::new()
        .prefix(".treepie-")
        .suffix(".tmp")
        // Less the umask, as for every created file; the default is 0600.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(directory_of(target))
}

/// The directory that holds `path`.
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
        std::os::unix::fs::symlink(&target, &link).unwrap();
        write_atomically(&link, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }
}
