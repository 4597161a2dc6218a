//! Directories that belong to the user, for the files that ranks write during a job.
//!
//! They are created beside the user's output, where others may be allowed to write: one of them may
//! have put a link, or another directory, under the same name. So a link is never followed, the
//! owner is read from the descriptor, and files in the directory are opened relative to it.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{self, AtFlags, CWD, Dir, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use rustix::path::Arg;
use thiserror::Error;

/// Users other than the owner who may use a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Nobody.
    Private,
    /// Those that the umask allows; with write access at most the group: a user who shares a
    /// project's directory with its group has chosen so.
    Umask,
    /// None when it is created; the group too, if the owner has allowed it since.
    Group,
}

impl Access {
    /// Returns the permissions of new directories.
    fn made(self) -> u32 {
        match self {
            Access::Private | Access::Group => 0o700,
            Access::Umask => 0o775,
        }
    }

    /// Returns permissions that nobody else may have.
    fn refused(self) -> u32 {
        match self {
            Access::Private => 0o022,
            Access::Umask | Access::Group => 0o002,
        }
    }
}

/// Treatment of an existing file with the name of a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Older {
    /// It is replaced.
    Goes,
    /// It stays, which is an error.
    Stays,
}

/// Reason why a directory is not used.
#[derive(Debug, Error)]
pub enum NotOwn {
    /// Another user made it, or may write to it; or it is a link, or not a directory.
    #[error("is a link, another user's directory, or one that others may write to; remove it")]
    Strange,
    /// An error of the system.
    #[error(transparent)]
    System(#[from] io::Error),
}

/// True if the user, or root, owns the object with these permissions, and not everybody may change
/// it.
pub fn is_own(owner: u32, mode: u32, user: u32) -> bool {
    (owner == user || owner == 0) && mode & 0o002 == 0
}

/// Open directory that belongs to the user.
#[derive(Debug)]
pub struct OwnDirectory {
    descriptor: OwnedFd,
}

impl OwnDirectory {
    /// Creates a directory if there is none, and opens it. With a C string for a path, no memory is
    /// allocated: callable in a signal handler.
    ///
    /// # Errors
    /// An error of the system, and a directory of another owner.
    pub fn make(path: impl Arg + Copy, access: Access) -> Result<Self, NotOwn> {
        OwnDirectory::make_at(CWD, path, access)
    }

    /// Creates a directory in this one. Otherwise as [`OwnDirectory::make`].
    ///
    /// # Errors
    /// Those of [`OwnDirectory::make`].
    pub fn make_in(&self, name: impl Arg + Copy, access: Access) -> Result<Self, NotOwn> {
        OwnDirectory::make_at(self.descriptor.as_fd(), name, access)
    }

    fn make_at(at: BorrowedFd<'_>, path: impl Arg + Copy, access: Access) -> Result<Self, NotOwn> {
        match fs::mkdirat(at, path, Mode::from_raw_mode(access.made())) {
            Err(error) if error != Errno::EXIST => Err(system(error)),
            _ => OwnDirectory::checked(open_at(at, path, OFlags::NOFOLLOW)?, access),
        }
    }

    /// Opens an existing directory. Otherwise as [`OwnDirectory::make`].
    ///
    /// # Errors
    /// Those of [`OwnDirectory::make`].
    pub fn open(path: impl Arg, access: Access) -> Result<Self, NotOwn> {
        OwnDirectory::checked(open_no_link(path)?, access)
    }

    /// Opens a directory that the user has named, which may be a link.
    ///
    /// # Errors
    /// Those of [`OwnDirectory::make`], except for a link.
    pub fn open_named(path: impl Arg, access: Access) -> Result<Self, NotOwn> {
        OwnDirectory::checked(open_at(CWD, path, OFlags::empty())?, access)
    }

    fn checked(descriptor: OwnedFd, access: Access) -> Result<Self, NotOwn> {
        let found = fs::fstat(&descriptor).map_err(system)?;
        let user = rustix::process::geteuid().as_raw();
        match is_own(found.st_uid, found.st_mode, user) && found.st_mode & access.refused() == 0 {
            true => Ok(OwnDirectory { descriptor }),
            false => Err(NotOwn::Strange),
        }
    }

    /// Writes a file that only the user may read, which appears completely or not at all. It is not
    /// synced.
    ///
    /// # Errors
    /// An error of the system. No file is left behind then.
    pub fn write(&self, name: impl Arg, bytes: &[u8], older: Older) -> io::Result<()> {
        let random = RandomState::new().hash_one(std::process::id());
        let temporary = &*format!(".treepie-{random:016x}.tmp");
        let mut file = self.create_new(temporary, 0o600)?;
        let written = file.write_all(bytes).and_then(|()| match older {
            Older::Goes => self.rename(temporary, name),
            Older::Stays => self.rename_beside(temporary, name),
        });
        if written.is_err() {
            self.remove(temporary);
        }
        written
    }

    /// Renames a file if the new name does not exist.
    fn rename_beside(&self, from: &str, to: impl Arg) -> io::Result<()> {
        let to = to.as_cow_c_str()?;
        let at = &self.descriptor;
        match fs::renameat_with(at, from, at, &*to, RenameFlags::NOREPLACE) {
            // Not every file system supports that.
            Err(Errno::INVAL | Errno::NOSYS) => {
                fs::linkat(at, from, at, &*to, AtFlags::empty())?;
                self.remove(from);
                Ok(())
            }
            renamed => Ok(renamed?),
        }
    }

    /// Creates a file to write; an existing one with the name is removed. The permissions are
    /// `mode` less the umask.
    ///
    /// # Errors
    /// An error of the system.
    pub fn create(&self, name: impl Arg + Copy, mode: u32) -> io::Result<File> {
        let _ = fs::unlinkat(&self.descriptor, name, AtFlags::empty());
        self.create_new(name, mode)
    }

    /// Creates a file to write, if none has the name.
    ///
    /// # Errors
    /// An error of the system.
    pub fn create_new(&self, name: impl Arg, mode: u32) -> io::Result<File> {
        let new = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR;
        self.open_with(name, new, mode)
    }

    /// Opens an existing file to write.
    ///
    /// # Errors
    /// An error of the system; a link.
    pub fn open_file(&self, name: impl Arg) -> io::Result<File> {
        self.open_with(name, OFlags::RDWR, 0)
    }

    /// Opens an existing file to append to it.
    ///
    /// # Errors
    /// Those of [`OwnDirectory::open_file`].
    pub fn append_to(&self, name: impl Arg) -> io::Result<File> {
        self.open_with(name, OFlags::WRONLY | OFlags::APPEND, 0)
    }

    fn open_with(&self, name: impl Arg, flags: OFlags, mode: u32) -> io::Result<File> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(mode);
        Ok(fs::openat(&self.descriptor, name, flags, mode)?.into())
    }

    /// Renames a file, and replaces another one with the new name.
    ///
    /// # Errors
    /// An error of the system.
    pub fn rename(&self, from: impl Arg, to: impl Arg) -> io::Result<()> {
        Ok(fs::renameat(&self.descriptor, from, &self.descriptor, to)?)
    }

    /// Removes a file, if it exists.
    pub fn remove(&self, name: impl Arg) {
        let _ = fs::unlinkat(&self.descriptor, name, AtFlags::empty());
    }

    /// Removes a directory and the files in it, if it exists.
    ///
    /// # Errors
    /// Those of [`OwnDirectory::make`]; it contains more than files.
    pub fn remove_directory(&self, name: impl Arg + Copy) -> Result<(), NotOwn> {
        let opened = open_at(self.descriptor.as_fd(), name, OFlags::NOFOLLOW);
        if !is_missing(&opened) {
            remove_files_in(&opened?, |_| true);
            fs::unlinkat(&self.descriptor, name, AtFlags::REMOVEDIR).map_err(system)?;
        }
        Ok(())
    }
}

fn is_missing<T>(opened: &Result<T, NotOwn>) -> bool {
    matches!(opened, Err(NotOwn::System(error)) if error.kind() == io::ErrorKind::NotFound)
}

fn open_no_link(path: impl Arg) -> Result<OwnedFd, NotOwn> {
    open_at(CWD, path, OFlags::NOFOLLOW)
}

fn open_at(at: BorrowedFd<'_>, path: impl Arg, link: OFlags) -> Result<OwnedFd, NotOwn> {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | link;
    fs::openat(at, path, flags, Mode::empty()).map_err(|error| match error {
        Errno::LOOP | Errno::NOTDIR => NotOwn::Strange,
        other => system(other),
    })
}

fn system(error: Errno) -> NotOwn {
    NotOwn::System(error.into())
}

/// Checks that the object with this name, if it exists, is a directory of the user.
///
/// # Errors
/// Those of [`OwnDirectory::open`].
pub fn check(path: &Path) -> Result<(), NotOwn> {
    let opened = OwnDirectory::open(path, Access::Umask);
    match is_missing(&opened) {
        true => Ok(()),
        false => opened.map(drop),
    }
}

/// Removes the files in a directory whose names `goes` accepts, and the directory if it is empty
/// then. Does nothing for a link, or if it does not exist.
pub fn remove_files(path: &Path, goes: impl Fn(&Path) -> bool) {
    let Ok(directory) = open_no_link(path) else {
        return;
    };
    remove_files_in(&directory, goes);
    let _ = std::fs::remove_dir(path);
}

fn remove_files_in(directory: &OwnedFd, goes: impl Fn(&Path) -> bool) {
    let entries = Dir::read_from(directory).into_iter().flatten().flatten();
    let names: Vec<CString> = entries.map(|entry| entry.file_name().to_owned()).collect();
    for name in names {
        if goes(Path::new(OsStr::from_bytes(name.to_bytes()))) {
            let _ = fs::unlinkat(directory, &*name, AtFlags::empty());
        }
    }
}

#[cfg(test)]
mod tests;
