//! Search for the preloaded library.

use std::path::{Path, PathBuf};

use super::binary;
use super::environment::LIBRARY;
use crate::error::CommandError;

/// File name of the preloaded library.
const NAME: &str = "libtreepie.so";

/// File name of the library that opens hwloc for it.
pub const COMPANION: &str = "libtreepie_hwloc.so";

/// Finds the library: the file in `TREEPIE_LIBRARY`, or `lib/treepie/libtreepie.so` (installed
/// there by `scripts/install`) or `lib/libtreepie.so` next to the directory of this program, or in
/// the directory of this program.
///
/// # Errors
/// The file does not exist, or `LD_PRELOAD` cannot hold its path.
pub fn find() -> Result<PathBuf, CommandError> {
    let path = match std::env::var_os(LIBRARY) {
        Some(named) => named_by_user(Path::new(&named))?,
        None => installed()?,
    };
    let has_separator = |byte: &u8| *byte == b':' || byte.is_ascii_whitespace();
    if path
        .as_os_str()
        .as_encoded_bytes()
        .iter()
        .any(has_separator)
    {
        return Err(CommandError::failed(format!(
            "{}: LD_PRELOAD cannot hold a path with a space or a colon; install treepie in another directory",
            path.display()
        )));
    }
    Ok(path)
}

/// Describes what this program would preload, for `--version`: the library, the MPI for which it
/// was built, and its companion.
pub fn describe() -> String {
    let path = match find() {
        Ok(path) => path,
        Err(error) => return format!("  no library: {error}\n"),
    };
    let entries = binary::exported(&path);
    let counted = entries.iter().filter(|name| name.starts_with("MPI_"));
    let speaks = match counted.count() {
        0 => "is no library of treepie's".to_owned(),
        count => {
            format!("{count} procedures of Open MPI, of MPICH's family and of the standard ABI")
        }
    };
    let companion = path.with_file_name(COMPANION);
    let hwloc = if companion.is_file() {
        companion.display().to_string()
    } else {
        format!("no {COMPANION} beside it: jobs see no hardware")
    };
    format!("  {}: {speaks}\n  {hwloc}\n", path.display())
}

fn named_by_user(path: &Path) -> Result<PathBuf, CommandError> {
    let missing = |reason: &dyn std::fmt::Display| {
        CommandError::usage(format!(
            "{LIBRARY}: {}: {reason}; expected the path of {NAME}",
            path.display()
        ))
    };
    if path.is_dir() {
        return Err(missing(&"is a directory"));
    }
    path.canonicalize().map_err(|error| missing(&error.kind()))
}

fn installed() -> Result<PathBuf, CommandError> {
    let unknown =
        |error| CommandError::failed(format!("this program's own path is not known: {error}"));
    let program = std::env::current_exe().map_err(unknown)?;
    let directory = program.parent().unwrap_or(Path::new("/"));
    let candidates =
        ["../lib/treepie", "../lib", "."].map(|place| directory.join(place).join(NAME));
    let found = candidates.iter().find_map(|path| path.canonicalize().ok());
    found.ok_or_else(|| {
        CommandError::failed(format!(
            "{NAME} is neither in {}/../lib nor in {0}; build it with scripts/build, or name it in {LIBRARY}",
            directory.display()
        ))
    })
}
