//! Directories and files of a store.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;
use thiserror::Error;

use super::document::{Application, ExperienceFile, Guarded, add_guards};
use super::key::{Key, Salt};
use super::owner::Owner;
use crate::profile::Profile;
use treepie_base::own_directory::{Access, NotOwn, Older, OwnDirectory};
use treepie_base::{FileError, FileErrorKind};
use treepie_guard::learning::{Experience, MAX_AGE_SECONDS, MAX_AHEAD_SECONDS, Run};

/// Version of the layout.
pub(super) const VERSION: &str = "v1";

/// Ending of the name of the profile of a counted run.
pub(super) const PROFILE: &str = ".profile.yaml";

/// Maximum number of an application's files that are read, newest first.
const MOST_READ: usize = 64;

/// Store: a directory of the user's own, and others that are only read.
#[derive(Debug, Clone)]
pub struct Store {
    pub(super) own: PathBuf,
    read_only: Vec<PathBuf>,
    pub(super) owner: Owner,
}

/// Reason why a store is not used.
#[derive(Debug, Error)]
pub enum StoreError {
    /// It does not belong to the user.
    #[error(
        "{path}: is no directory of yours that only you may write to; learning is off: make one with \
         `mkdir -m 700`, or name another in TREEPIE_STORE"
    )]
    NotOwn {
        /// The directory.
        path: PathBuf,
    },
    /// A system call failed.
    #[error("{path}: {reason}; learning is off: name another directory in TREEPIE_STORE")]
    System {
        /// Path that was to be created or written.
        path: PathBuf,
        /// Message of the operating system.
        reason: String,
    },
    /// A file could not be written.
    #[error(transparent)]
    File(#[from] FileError),
}

fn refused(path: &Path, error: &io::Error) -> StoreError {
    let path = path.to_owned();
    let reason = error.to_string();
    StoreError::System { path, reason }
}

pub(super) fn not_own(path: &Path, error: NotOwn) -> StoreError {
    match error {
        NotOwn::Strange => StoreError::NotOwn {
            path: path.to_owned(),
        },
        NotOwn::System(error) => refused(path, &error),
    }
}

/// Knowledge about an application, and the files that could not be read.
#[derive(Debug, Default)]
pub struct StoreContents {
    /// The application; empty if nothing is known.
    pub application: Application,
    /// Knowledge about it.
    pub experience: Experience,
    /// Guard results, of each shape the newest.
    pub guards: Vec<Guarded>,
    /// A line for each file that was set aside.
    pub damaged: Vec<String>,
}

impl Store {
    /// Opens the store of a setting: directories separated by `:`, of which the first is the user's
    /// own. `user` is the user's number. No file is created or read yet.
    pub fn new(setting: &str, user: u32) -> Store {
        let mut paths = setting
            .split(':')
            .filter(|path| !path.is_empty())
            .map(PathBuf::from);
        Store {
            own: paths.next().unwrap_or_default(),
            read_only: paths.collect(),
            owner: Owner { user },
        }
    }

    /// Returns the directory of the user's store if no setting names one: by the value of
    /// `XDG_STATE_HOME` or `HOME`, which `variable` returns.
    pub fn usual(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
        let set = |name| variable(name).filter(|path| path.starts_with('/'));
        let state = set("XDG_STATE_HOME").or_else(|| Some(set("HOME")? + "/.local/state"));
        state.map(|state| state + "/treepie")
    }

    /// Returns the user's own directory.
    pub fn path(&self) -> &Path {
        &self.own
    }

    /// Returns all directories, the user's own first.
    fn roots(&self) -> impl Iterator<Item = &Path> {
        let all = std::iter::once(&self.own).chain(&self.read_only);
        all.map(PathBuf::as_path)
            .filter(|root| self.owner.trusts_root(root))
    }

    /// Returns the salt of the store. It is first created from `random`, unless a store that is
    /// only read has one.
    ///
    /// # Errors
    /// A store that cannot be created, or is not the user's.
    pub fn salt(&self, random: [u8; 16]) -> Result<Salt, StoreError> {
        if let Some(salt) = self.roots().find_map(|root| self.salt_of(root)) {
            return Ok(salt);
        }
        let path = self.own.join(VERSION).join("salt");
        let (directory, name) = self.place_of(&path)?;
        let text = format!("{}\n", Salt::new(random));
        // If several jobs create one concurrently, one succeeds; the others use it.
        let written = directory
            .write(name, text.as_bytes(), Older::Stays)
            .map_err(|error| refused(&path, &error));
        match self.salt_of(&self.own) {
            Some(salt) => Ok(salt),
            None => Err(written.err().unwrap_or(StoreError::NotOwn { path })),
        }
    }

    fn salt_of(&self, root: &Path) -> Option<Salt> {
        let text = self.owner.read(&root.join(VERSION).join("salt")).ok()?;
        text.parse().ok()
    }

    /// Returns the user's own directory of an application.
    pub fn directory(&self, key: Key) -> PathBuf {
        directory_in(&self.own, key)
    }

    /// Returns the knowledge about an application at a time. Files that cannot be read are set
    /// aside; files dated in the future are ignored until then.
    pub fn read(&self, key: Key, now: SystemTime) -> StoreContents {
        let mut known = StoreContents::default();
        for root in self.roots() {
            let directory = directory_in(root, key);
            let files = self.files_until(&directory, now);
            for path in files.iter().rev().take(MOST_READ) {
                self.read_into(&mut known, path, root == self.own);
            }
        }
        let oldest = seconds(now).saturating_sub(MAX_AGE_SECONDS);
        known.guards.retain(|guarded| guarded.made > oldest);
        known
    }

    fn read_into(&self, known: &mut StoreContents, path: &Path, is_own: bool) {
        let text = match self.owner.read(path) {
            Ok(text) => text,
            // Another job has merged it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => return known.damaged.push(format!("{}: {error}", path.display())),
        };
        match ExperienceFile::from_text(path, &text) {
            Ok(file) => {
                known.application = file.application;
                known.experience.add(file.experience);
                add_guards(&mut known.guards, file.guards);
            }
            // A file of a newer treepie is ignored.
            Err(error) if matches!(error.kind, FileErrorKind::NewerVersion { .. }) => (),
            Err(error) => {
                if is_own && let Ok((directory, name)) = self.place_of(path) {
                    let damaged = Path::new(name).with_extension("yaml.damaged");
                    let _ = directory.rename(name, &damaged);
                }
                known.damaged.push(error.to_string());
            }
        }
    }

    /// Returns the files with runs in the directory of an application, the oldest first.
    pub(super) fn files_of(&self, directory: &Path) -> Vec<PathBuf> {
        if !self.is_trusted(directory) {
            return Vec::new();
        }
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries
            .filter(|entry| {
                let name = entry.file_name();
                let stem = name.to_str().and_then(|name| name.strip_suffix(".yaml"));
                stem.is_some_and(Run::is_name)
            })
            .map(|entry| entry.path())
            .collect();
        files.sort();
        files
    }

    /// True if the directory of an application, and those above it, belong to the user.
    pub(super) fn is_trusted(&self, directory: &Path) -> bool {
        let mut parents = directory.ancestors().take(3);
        parents.all(|it| self.owner.trusts_directory(it))
    }

    /// Returns the files of runs, except those dated in the future: a clock was wrong, or is.
    pub(super) fn files_until(&self, directory: &Path, now: SystemTime) -> Vec<PathBuf> {
        let mut files = self.files_of(directory);
        let latest = seconds(now).saturating_add(MAX_AHEAD_SECONDS);
        files.retain(|path| began(path).is_none_or(|began| began <= latest));
        files
    }

    /// Writes the file of a run, or rewrites it at its end.
    ///
    /// # Errors
    /// A store that cannot be written, or is not the user's.
    pub fn write(&self, key: Key, name: &str, file: &ExperienceFile) -> Result<(), StoreError> {
        let path = self.directory(key).join(format!("{name}.yaml"));
        self.write_text(&path, &file.to_text(&path)?)
    }

    /// Writes or rewrites a file of an application's directory.
    pub(super) fn write_text(&self, path: &Path, text: &str) -> Result<(), StoreError> {
        let (directory, name) = self.place_of(path)?;
        // Not synced: a job does not wait for a disk, and a file that a crash of the machine
        // truncates is set aside.
        let written = directory.write(name, text.as_bytes(), Older::Goes);
        // A network file system may have renamed it, lost its answer, and report that the file to
        // rename does not exist.
        match written {
            Err(error) if self.owner.read(path).ok().as_deref() != Some(text) => {
                Err(refused(path, &error))
            }
            _ => Ok(()),
        }
    }

    /// Returns the path for the traffic of a counted run.
    pub fn profile_path(&self, key: Key, name: &str) -> PathBuf {
        self.directory(key).join(format!("{name}{PROFILE}"))
    }

    /// Reads the traffic of a counted run, from any store that has it.
    pub fn profile(&self, key: Key, name: &str) -> Option<Profile> {
        self.roots().find_map(|root| {
            let path = directory_in(root, key).join(format!("{name}{PROFILE}"));
            let text = self.owner.read(&path).ok()?;
            Profile::from_text(&path, &text).ok()
        })
    }

    /// Returns all applications of the user's own store.
    pub fn applications(&self) -> Vec<Key> {
        let names = |directory: &Path| -> Vec<(PathBuf, String)> {
            let entries = fs::read_dir(directory).into_iter().flatten().flatten();
            let named = entries.filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                Some((entry.path(), name))
            });
            named.collect()
        };
        let mut keys: Vec<Key> = names(&self.own.join(VERSION))
            .iter()
            .flat_map(|(path, _)| names(path))
            .filter_map(|(_, name)| Key::from_name(&name))
            .collect();
        keys.sort();
        keys
    }

    /// Creates a directory of the store, and those above it, accessible only to the user. From the
    /// store's root down, each is opened relative to the one before.
    fn make(&self, directory: &Path) -> Result<OwnDirectory, StoreError> {
        let mut made = DirBuilder::new();
        made.recursive(true).mode(0o700);
        made.create(&self.own)
            .map_err(|error| refused(directory, &error))?;
        let refused = |error| not_own(directory, error);
        let mut opened = OwnDirectory::open_named(&self.own, Access::Group).map_err(refused)?;
        for name in directory.strip_prefix(&self.own).unwrap_or(directory) {
            opened = opened.make_in(name, Access::Group).map_err(refused)?;
        }
        Ok(opened)
    }

    /// Returns the open directory of a file of the user's own store, and the file's name there.
    pub(super) fn place_of<'a>(
        &self,
        path: &'a Path,
    ) -> Result<(OwnDirectory, &'a OsStr), StoreError> {
        let directory = self.make(path.parent().unwrap_or(&self.own))?;
        Ok((directory, path.file_name().unwrap_or_default()))
    }

    /// Removes files of the user's own store, if they are there.
    pub(super) fn remove<'a>(&self, files: impl IntoIterator<Item = &'a PathBuf>) {
        for path in files {
            if let Ok((directory, name)) = self.place_of(path) {
                directory.remove(name);
            }
        }
    }
}

fn directory_in(root: &Path, key: Key) -> PathBuf {
    let name = key.to_string();
    root.join(VERSION).join(&name[..2]).join(name)
}

/// Returns the name of a run that begins now, made unique by `random`: names are in the order in
/// which runs began.
pub fn run_name(now: SystemTime, random: u64) -> String {
    let since = i64::try_from(seconds(now)).unwrap_or(0);
    let time = Timestamp::from_second(since).unwrap_or_default();
    let digits: String = format!("{time:.0}")
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    format!("{digits}-{random:016x}")
}

/// Returns the start of the run whose file has this name, in seconds since 1970.
pub(super) fn began(path: &Path) -> Option<u64> {
    let (time, _) = path.file_stem()?.to_str()?.split_once('-')?;
    let time: Timestamp = time.parse().ok()?;
    u64::try_from(time.as_second()).ok()
}

/// Converts a time to seconds since 1970.
pub(super) fn seconds(time: SystemTime) -> u64 {
    treepie_base::since_epoch(time).as_secs()
}
