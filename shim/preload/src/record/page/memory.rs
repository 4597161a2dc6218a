//! The file of a page: where it is, who may read it, and when it goes.
//!
//! ```text
//! /dev/shm/treepie-UID/RUN/RANK.page       or below the directory that the user names
//! ```
//!
//! Directories and files are the user's alone. A page stays when its process is killed: the memory
//! is the system's. It goes when `MPI_Finalize` has returned.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use thiserror::Error;
use treepie_core::files::pages::layout::WORDS;
use treepie_core::files::pages::{file_name, run_directory, usual_directory};

use super::words::Words;
use crate::machine::file_limit;

/// Why this rank has no page.
#[derive(Debug, Error)]
pub enum PageError {
    /// The system refused something.
    #[error("pages: {path}: {problem}; set TREEPIE_PAGES to a directory of yours")]
    System {
        /// Where.
        path: PathBuf,
        /// What it says.
        problem: io::Error,
    },
    /// Somebody else made what has our name.
    #[error("pages: {path}: is not a directory of yours that only you may write; remove it")]
    Strange {
        /// Where.
        path: PathBuf,
    },
}

/// The file of this process's page.
pub struct PageFile {
    path: PathBuf,
    /// Where it is in memory.
    pub words: Words,
    /// The process that made it: a fork of it has none.
    pub process: u32,
}

impl PageFile {
    /// Makes the page of a rank, all zeros, with `names` behind.
    ///
    /// # Errors
    /// A directory or file that cannot be made; no memory.
    pub fn create(
        directory: Option<&Path>,
        run: u64,
        rank: usize,
        names: &str,
    ) -> Result<PageFile, PageError> {
        let base = match directory {
            Some(directory) => directory.to_owned(),
            None => {
                // SAFETY: geteuid has no conditions.
                let user = unsafe { libc::geteuid() };
                let base = usual_directory(Path::new("/dev/shm"), user);
                make_directory(&base, user)?;
                base
            }
        };
        let run = run_directory(&base, run);
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |problem| PageError::System { path, problem }
        };
        let mut builder = DirBuilder::new();
        builder
            .recursive(true)
            .mode(0o700)
            .create(&run)
            .map_err(failed(&run))?;
        let path = run.join(file_name(rank));
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(0o600);
        let file = options.open(&path).map_err(failed(&path))?;
        let made = reserve(&file, WORDS * 8 + names.len())
            .and_then(|()| write_at(&file, names.as_bytes(), WORDS * 8))
            .and_then(|()| map(&file));
        match made {
            Ok(words) => Ok(PageFile {
                path,
                words,
                process: std::process::id(),
            }),
            Err(problem) => {
                let _ = fs::remove_file(&path);
                Err(PageError::System { path, problem })
            }
        }
    }

    /// Removes the file, and the run's directory with the last one.
    pub fn remove(&self) {
        if self.process != std::process::id() {
            return;
        }
        let _ = fs::remove_file(&self.path);
        if let Some(run) = self.path.parent() {
            let _ = fs::remove_dir(run);
        }
    }
}

/// Makes the directory where pages usually are, in a directory that all users may write.
fn make_directory(base: &Path, user: u32) -> Result<(), PageError> {
    let path = base.to_owned();
    match DirBuilder::new().mode(0o700).create(base) {
        Err(problem) if problem.kind() != io::ErrorKind::AlreadyExists => {
            return Err(PageError::System { path, problem });
        }
        _ => (),
    }
    let own = fs::symlink_metadata(base)
        .is_ok_and(|it| it.is_dir() && it.uid() == user && it.mode() & 0o022 == 0);
    match own {
        true => Ok(()),
        false => Err(PageError::Strange { path }),
    }
}

/// Memory that is only promised would end the process when there is none.
fn reserve(file: &File, bytes: usize) -> io::Result<()> {
    if bytes as u64 > file_limit() {
        return Err(io::Error::other("files may not be so large (ulimit -f)"));
    }
    // SAFETY: the descriptor is ours.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, bytes as libc::off_t) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

fn write_at(file: &File, bytes: &[u8], at: usize) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at as u64)
}

fn map(file: &File) -> io::Result<Words> {
    let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
    // SAFETY: a new mapping of a file that is so long.
    let base = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            WORDS * 8,
            access,
            flags,
            file.as_raw_fd(),
            0,
        )
    };
    if base == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the mapping is so long, aligned to a page of memory, never unmapped, and used by
    // atomic accesses alone.
    Ok(Words(unsafe { &*base.cast() }))
}
