//! The MPI that Python would load: mpi4py is linked to it, and Python is not.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::family::Family;
use super::{binary, search, timed};

/// Time limit for Python to find a module.
const LIMIT: Duration = Duration::from_secs(20);

/// Prints the location of mpi4py's MPI module without loading it, which would start MPI.
const FIND: &str =
    "import importlib.util as u; s = u.find_spec('mpi4py.MPI'); print('module', s.origin)";

/// True if a program is Python, by its name.
pub fn is_one(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let version = name.strip_prefix("python");
    version.is_some_and(|version| version.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

/// The Python in a script's first line: `/usr/bin/python3 -u`, `/usr/bin/env python3`.
pub fn behind(interpreter: &str) -> Option<PathBuf> {
    let mut words = interpreter.split_whitespace();
    let mut path = PathBuf::from(words.next()?);
    if path.file_name()? == "env" {
        let name = words.find(|word| !word.starts_with('-'))?;
        path = search::executable(name.as_ref())?;
    }
    is_one(&path).then_some(path)
}

/// The MPI library of a Python's mpi4py.
pub fn mpi_of(python: &Path) -> Option<(PathBuf, Family)> {
    let said = timed::output(python, &["-c", FIND], LIMIT)?;
    let module = said.lines().find_map(|line| line.strip_prefix("module "))?;
    binary::mpi_of(Path::new(module))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn python_is_known_by_its_name() {
        for (name, expected) in [
            ("/usr/bin/python3", true),
            ("python3.11", true),
            ("/usr/bin/python3-config", false),
            ("/bin/sh", false),
        ] {
            assert_eq!(is_one(Path::new(name)), expected, "{name}");
        }
        assert_eq!(behind("/bin/sh -e"), None);
        assert_eq!(
            behind("/usr/bin/python3 -u"),
            Some("/usr/bin/python3".into())
        );
    }
}
