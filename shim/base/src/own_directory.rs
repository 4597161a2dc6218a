//! Directories of ours: for the files that ranks leave while a job runs.
//!
//! They are made beside the user's output, where others may be allowed to write: one of them can
//! have put a link, or a directory of his own, where ours is going to be. So a link is never
//! followed, the descriptor says whose a directory is, and what is in it is reached through that.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{self, AtFlags, Dir, Mode, OFlags};
use rustix::io::Errno;
use rustix::path::Arg;
use thiserror::Error;

/// Users beside the owner who may use a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Nobody.
    Private,
    /// Those whom the umask lets; to write, his group at most: whoever shares a project's directory
    /// with its group has chosen so.
    Umask,
}

/// Why a directory is not used.
#[derive(Debug, Error)]
pub enum NotOwn {
    /// Somebody else made it, or may write to it; or it is a link, or no directory.
    #[error("is a link, another user's directory, or one that others may write to; remove it")]
    Strange,
    /// An error of the system.
    #[error(transparent)]
    System(#[from] io::Error),
}

/// Whether the user, or root, made what has this owner and these permissions, and not everybody may
/// change it.
pub fn is_own(owner: u32, mode: u32, user: u32) -> bool {
    (owner == user || owner == 0) && mode & 0o002 == 0
}

/// A directory of ours, which is open.
#[derive(Debug)]
pub struct OwnDirectory {
    descriptor: OwnedFd,
}

impl OwnDirectory {
    /// Makes a directory where there is none, and opens it. With a C string for a path, no memory
    /// is taken: callable in a signal handler.
    ///
    /// # Errors
    /// An error of the system, and a directory that is not ours.
    pub fn make(path: impl Arg + Copy, access: Access) -> Result<Self, NotOwn> {
        let mode = match access {
            Access::Private => 0o700,
            Access::Umask => 0o775,
        };
        match fs::mkdir(path, Mode::from_raw_mode(mode)) {
            Err(error) if error != Errno::EXIST => Err(system(error)),
            _ => OwnDirectory::open(path, access),
        }
    }

    /// Opens a directory that is there. As [`OwnDirectory::make`] otherwise.
    ///
    /// # Errors
    /// As of [`OwnDirectory::make`].
    pub fn open(path: impl Arg, access: Access) -> Result<Self, NotOwn> {
        let descriptor = open_no_link(path)?;
        let found = fs::fstat(&descriptor).map_err(system)?;
        let user = rustix::process::geteuid().as_raw();
        let others = match access {
            Access::Private => 0o022,
            Access::Umask => 0o002,
        };
        match is_own(found.st_uid, found.st_mode, user) && found.st_mode & others == 0 {
            true => Ok(OwnDirectory { descriptor }),
            false => Err(NotOwn::Strange),
        }
    }

    /// Makes a file to write; one that has the name already goes. The permissions are these less
    /// the umask.
    ///
    /// # Errors
    /// An error of the system.
    pub fn create(&self, name: impl Arg + Copy, mode: u32) -> io::Result<File> {
        let _ = fs::unlinkat(&self.descriptor, name, AtFlags::empty());
        self.create_new(name, mode)
    }

    /// The same, where no file has the name.
    ///
    /// # Errors
    /// An error of the system.
    pub fn create_new(&self, name: impl Arg, mode: u32) -> io::Result<File> {
        let new = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR;
        self.open_with(name, new, mode)
    }

    /// Opens a file that is there, to write.
    ///
    /// # Errors
    /// An error of the system; a link.
    pub fn open_file(&self, name: impl Arg) -> io::Result<File> {
        self.open_with(name, OFlags::RDWR, 0)
    }

    /// The same, to write behind what is in it.
    ///
    /// # Errors
    /// As of [`OwnDirectory::open_file`].
    pub fn append_to(&self, name: impl Arg) -> io::Result<File> {
        self.open_with(name, OFlags::WRONLY | OFlags::APPEND, 0)
    }

    fn open_with(&self, name: impl Arg, flags: OFlags, mode: u32) -> io::Result<File> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(mode);
        Ok(fs::openat(&self.descriptor, name, flags, mode)?.into())
    }

    /// Gives a file another name, which another one may have had.
    ///
    /// # Errors
    /// An error of the system.
    pub fn rename(&self, from: impl Arg, to: impl Arg) -> io::Result<()> {
        Ok(fs::renameat(&self.descriptor, from, &self.descriptor, to)?)
    }

    /// Removes a file, if it is there.
    pub fn remove(&self, name: impl Arg) {
        let _ = fs::unlinkat(&self.descriptor, name, AtFlags::empty());
    }
}

fn open_no_link(path: impl Arg) -> Result<OwnedFd, NotOwn> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    fs::open(path, flags, Mode::empty()).map_err(|error| match error {
        Errno::LOOP | Errno::NOTDIR => NotOwn::Strange,
        other => system(other),
    })
}

fn system(error: Errno) -> NotOwn {
    NotOwn::System(error.into())
}

/// Checks that what has this name, if anything does, is a directory of ours.
///
/// # Errors
/// As of [`OwnDirectory::open`].
pub fn check(path: &Path) -> Result<(), NotOwn> {
    match OwnDirectory::open(path, Access::Umask) {
        Err(NotOwn::System(error)) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        opened => opened.map(drop),
    }
}

/// Removes the files in a directory whose names `goes` holds for, and the directory, unless there
/// is more in it. Nothing happens to a link, or where nothing is.
pub fn remove_files(path: &Path, goes: impl Fn(&Path) -> bool) {
    let Ok(directory) = open_no_link(path) else {
        return;
    };
    let entries = Dir::read_from(&directory).into_iter().flatten().flatten();
    let names: Vec<CString> = entries.map(|entry| entry.file_name().to_owned()).collect();
    for name in names {
        if goes(Path::new(OsStr::from_bytes(name.to_bytes()))) {
            let _ = fs::unlinkat(&directory, &*name, AtFlags::empty());
        }
    }
    let _ = std::fs::remove_dir(path);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::fs::{create_dir, read_to_string, set_permissions, symlink_metadata, write};
    use std::io::Write;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::PathBuf;

    fn modes(path: &Path, mode: u32) {
        set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    }

    fn is_strange(path: &Path, access: Access) -> bool {
        matches!(OwnDirectory::make(path, access), Err(NotOwn::Strange))
    }

    #[test]
    fn a_link_a_file_and_what_others_may_write_to_are_no_directories_of_ours() {
        let base = tempfile::tempdir().unwrap();
        let named = |name: &str| -> PathBuf { base.path().join(name) };
        create_dir(named("other")).unwrap();
        symlink(named("other"), named("link")).unwrap();
        write(named("file"), "").unwrap();
        for name in ["link", "file"] {
            assert!(is_strange(&named(name), Access::Umask), "{name}");
        }
        let own = named("own");
        for (mode, umask, private) in [
            (0o700, false, false),
            (0o755, false, false),
            (0o2775, false, true),
            (0o777, true, true),
            (0o1777, true, true),
        ] {
            let _ = create_dir(&own);
            modes(&own, mode);
            assert_eq!(is_strange(&own, Access::Umask), umask, "{mode:o}");
            assert_eq!(is_strange(&own, Access::Private), private, "{mode:o}");
        }
    }

    #[test]
    fn a_directory_of_another_user_is_not_roots_and_one_of_root_is_everybodys() {
        let is_root = rustix::process::geteuid().is_root();
        assert!(is_root, "only root can give files away: run this as root");
        let base = tempfile::tempdir().unwrap();
        let path = base.path().join("own");
        create_dir(&path).unwrap();
        // Of a member of the group, with which root shares what is his own.
        std::os::unix::fs::chown(&path, Some(65534), None).unwrap();
        for mode in [0o700, 0o2775] {
            modes(&path, mode);
            for access in [Access::Umask, Access::Private] {
                assert!(is_strange(&path, access), "{mode:o}");
            }
            assert!(check(&path).is_err());
        }
        let of_user = |owner, mode| is_own(owner, mode, 1000);
        assert!(of_user(1000, 0o775) && of_user(0, 0o775));
        assert!(!of_user(1001, 0o775) && !of_user(1000, 0o777) && !of_user(0, 0o777));
    }

    #[test]
    fn a_new_directory_is_ours_and_a_missing_one_is_no_strangers() {
        let base = tempfile::tempdir().unwrap();
        let path = base.path().join("own");
        assert!(check(&path).is_ok());
        OwnDirectory::make(&*path, Access::Umask).unwrap();
        assert_eq!(
            symlink_metadata(&path).unwrap().permissions().mode() & 0o002,
            0
        );
        assert!(check(&path).is_ok());
        let missing = OwnDirectory::make(&*path.join("a/b"), Access::Umask);
        assert!(matches!(missing, Err(NotOwn::System(_))));
    }

    #[test]
    fn a_link_that_has_the_name_of_a_file_goes_and_its_target_stays() {
        let base = tempfile::tempdir().unwrap();
        let (path, target) = (base.path().join("own"), base.path().join("target"));
        write(&target, "precious").unwrap();
        let own = OwnDirectory::make(&*path, Access::Umask).unwrap();
        symlink(&target, path.join("a")).unwrap();
        assert!(own.open_file("a").is_err() && own.append_to("a").is_err());
        own.create("a", 0o666).unwrap().write_all(b"new").unwrap();
        own.rename("a", "b").unwrap();
        assert_eq!(read_to_string(path.join("b")).unwrap(), "new");
        assert_eq!(read_to_string(&target).unwrap(), "precious");
        remove_files(&path, |name| name == Path::new("b"));
        assert!(!path.exists());
    }

    #[test]
    fn what_a_link_leads_to_is_not_removed() {
        let base = tempfile::tempdir().unwrap();
        let (path, link) = (base.path().join("own"), base.path().join("link"));
        create_dir(&path).unwrap();
        write(path.join("a"), "").unwrap();
        symlink(&path, &link).unwrap();
        remove_files(&link, |_| true);
        assert!(path.join("a").exists() && symlink_metadata(&link).is_ok());
        remove_files(&path, |name| name != Path::new("a"));
        assert!(path.join("a").exists());
    }
}
