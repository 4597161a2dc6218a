//! Directories that ranks in a container need: of the library, of what it reads, and of what it
//! writes.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::environment::Payload;
use crate::error::CommandError;

/// A directory that a container has under the same path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bound {
    /// Its path.
    pub(super) path: PathBuf,
    /// Whether nothing is written there.
    pub(super) is_read_only: bool,
}

impl Bound {
    /// `DIR:DIR`, or `DIR:DIR:ro`.
    pub(super) fn joined(&self) -> OsString {
        let mut text = self.path.clone().into_os_string();
        text.push(":");
        text.push(&self.path);
        if self.is_read_only {
            text.push(":ro");
        }
        text
    }
}

/// The directories of a payload, each once, those inside others behind them.
///
/// # Errors
/// One that cannot be bound: the root, or a name that run-times would take apart.
pub(super) fn directories(payload: &Payload) -> Result<Vec<Bound>, CommandError> {
    let values = payload.variables.settings.values();
    let named = values.flat_map(|value| paths_in(value)).collect::<Vec<_>>();
    let written = named.iter().chain(&payload.directories);
    let mut written: Vec<PathBuf> = written.map(|path| existing(path)).collect();
    written.sort();
    written.dedup();
    let mut bound: Vec<Bound> = Vec::new();
    for path in written {
        check(&path)?;
        if !bound.iter().any(|outer| path.starts_with(&outer.path)) {
            bound.push(Bound {
                path,
                is_read_only: false,
            });
        }
    }
    let library = payload.library.as_deref().and_then(Path::parent);
    if let Some(library) = library
        && !bound.iter().any(|outer| library.starts_with(&outer.path))
    {
        check(library)?;
        // First: one that is written may be inside it.
        bound.insert(
            0,
            Bound {
                path: library.to_owned(),
                is_read_only: true,
            },
        );
    }
    Ok(bound)
}

fn check(path: &Path) -> Result<(), CommandError> {
    let separates = |byte: &u8| [b':', b',', b';'].contains(byte);
    let reason = match path.as_os_str().as_encoded_bytes() {
        b"/" => "the root of the file system replaces the container",
        bytes if bytes.iter().any(separates) => "a name with a colon, comma or semicolon",
        _ => return Ok(()),
    };
    Err(CommandError::usage(format!(
        "{}: cannot be bound into a container: {reason}; choose another directory",
        path.display()
    )))
}

/// The absolute paths in a value, which may be a list with colons.
fn paths_in(value: &OsStr) -> impl Iterator<Item = PathBuf> {
    let parts = value.as_bytes().split(|byte| *byte == b':');
    let paths = parts.map(|part| Path::new(OsStr::from_bytes(part)));
    paths.filter(|path| path.is_absolute()).map(Path::to_owned)
}

/// The innermost directory of a path that is there, outside of placeholders such as `%j`.
fn existing(path: &Path) -> PathBuf {
    let is_fixed = |part: &Component| !part.as_os_str().as_encoded_bytes().contains(&b'%');
    let fixed: PathBuf = path.components().take_while(is_fixed).collect();
    let mut outer = fixed.ancestors();
    let found = outer.find(|path| path.is_dir());
    found.unwrap_or(Path::new("/")).to_owned()
}

/// Checks whether the user's own options bind something to this path.
pub(super) fn is_bound_by_user(path: &Path, options: &[OsString]) -> bool {
    let names_it = |text: &str| Path::new(text) == path;
    options.iter().any(|word| {
        let text = word.to_string_lossy();
        let values = text.split(',');
        values.map(value_of).any(|value| {
            let mut parts = value.split(':');
            let (source, target) = (parts.next(), parts.next());
            target.or(source).is_some_and(names_it)
        })
    })
}

/// Text after the last `=`, as in `--volume=/a:/b` and `target=/b`, or the whole word.
fn value_of(text: &str) -> &str {
    text.rsplit_once('=').map_or(text, |(_, value)| value)
}
