//! File of a page: its path, permissions and lifetime.
//!
//! ```text
//! /dev/shm/treepie-UID/RUN/RANK.page       or below the directory that the user names
//! ```
//!
//! Only the user can access directories and files. A page stays when its process is killed: the
//! memory belongs to the system. It is removed when `MPI_Finalize` has returned.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use thiserror::Error;
use treepie_base::Rank;
use treepie_base::own_directory::{Access, NotOwn, OwnDirectory};
use treepie_jobstate::pages::layout::WORDS;
use treepie_jobstate::pages::{file_name, run_directory, usual_directory};
use treepie_mpi::system::map_words;
use treepie_process::machine::reserve;

use super::words::PageWords;

/// Reason why this rank has no page.
#[derive(Debug, Error)]
pub enum PageError {
    /// A system call failed.
    #[error("pages: {path}: {problem}; set TREEPIE_PAGES to a directory that you own")]
    System {
        /// Path of the file or directory.
        path: PathBuf,
        /// The system's error.
        problem: io::Error,
    },
    /// Another user has made a file with this name.
    #[error("pages: {path}: {}", NotOwn::Strange)]
    Strange {
        /// Path of the file or directory.
        path: PathBuf,
    },
}

/// File of this process's page.
pub struct PageFile {
    path: PathBuf,
    /// Its mapped words.
    pub words: PageWords,
    /// Process that made it: a fork of it has none.
    pub process: u32,
}

impl PageFile {
    /// Creates the page of a rank, all zeros, followed by `names`.
    ///
    /// # Errors
    /// A directory or file that cannot be made; no memory.
    pub fn create(
        directory: Option<&Path>,
        run: u64,
        rank: Rank,
        names: &str,
    ) -> Result<PageFile, PageError> {
        let base = match directory {
            Some(directory) => {
                make_users(directory)?;
                directory.to_owned()
            }
            None => {
                let user = rustix::process::geteuid().as_raw();
                let base = usual_directory(Path::new("/dev/shm"), user);
                make_own(&base)?;
                base
            }
        };
        let run = run_directory(&base, run);
        let own = make_own(&run)?;
        let name = file_name(rank);
        let path = run.join(&name);
        let file = own.create_new(&name, 0o600).map_err(system(&run))?;
        let made = reserve(&file, WORDS * 8 + names.len())
            .and_then(|()| write_at(&file, names.as_bytes(), WORDS * 8))
            .and_then(|()| map_words(&file).map(PageWords));
        match made {
            Ok(words) => Ok(PageFile {
                path,
                words,
                process: std::process::id(),
            }),
            Err(problem) => {
                own.remove(&name);
                Err(system(&run)(problem))
            }
        }
    }

    /// Removes the file, and the run's directory with the last one.
    pub fn remove(&self) {
        if self.process != std::process::id() {
            return;
        }
        if let (Some(run), Some(name)) = (self.path.parent(), self.path.file_name())
            && let Ok(own) = OwnDirectory::open(run, Access::Private)
        {
            own.remove(name);
            let _ = fs::remove_dir(run);
        }
    }
}

fn system(path: &Path) -> impl Fn(io::Error) -> PageError {
    let path = path.to_owned();
    move |problem| PageError::System {
        path: path.clone(),
        problem,
    }
}

/// Makes a directory that the user named, and those above it.
fn make_users(directory: &Path) -> Result<(), PageError> {
    let mut builder = DirBuilder::new();
    let made = builder.recursive(true).mode(0o700).create(directory);
    made.map_err(system(directory))
}

/// Creates a directory that belongs to this user, although other users may have made one of this
/// name.
fn make_own(path: &Path) -> Result<OwnDirectory, PageError> {
    OwnDirectory::make(path, Access::Private).map_err(|refused| match refused {
        NotOwn::System(problem) => system(path)(problem),
        NotOwn::Strange => PageError::Strange {
            path: path.to_owned(),
        },
    })
}

fn write_at(file: &File, bytes: &[u8], at: usize) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at as u64)
}
