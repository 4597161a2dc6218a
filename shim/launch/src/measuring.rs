//! Our own MPI programs, which measure: their location, and the MPI that they open.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use treepie_profile::settings::MPI_LIBRARY_VARIABLE as LIBRARY;

use super::family::{Family, Launcher};
use crate::error::CommandError;

/// The library of Open MPI 4 to 6.
const OPEN_MPI: &[&str] = &["libmpi.so.40"];

/// The libraries of the MPICH family: of Debian and of the others.
const MPICH: &[&str] = &["libmpich.so.12", "libmpi.so.12"];

/// Finds the program `name`, or the one in the variable `variable`.
///
/// # Errors
/// The program does not exist.
pub fn program(name: &str, variable: &str) -> Result<PathBuf, CommandError> {
    if let Some(named) = std::env::var_os(variable) {
        let path = PathBuf::from(named);
        return path.canonicalize().map_err(|error| {
            CommandError::usage(format!(
                "{variable}: {}: {error}; name the program `{name}` that scripts/build makes",
                path.display()
            ))
        });
    }
    let own = std::env::current_exe().unwrap_or_default();
    let own = own.parent().unwrap_or(Path::new("/"));
    // Installed there by scripts/install, or built there.
    let places = ["../lib/treepie", "../lib"].map(|place| own.join(place).join(name));
    let mut found = places.iter().filter_map(|path| path.canonicalize().ok());
    found.next().ok_or_else(|| {
        CommandError::failed(format!(
            "the program that measures is not in {}/../lib; build it with scripts/build, or name \
             it in {variable}",
            own.display()
        ))
    })
}

/// The MPI libraries among which a measuring program finds that of the job, in the form of its
/// option: those of one family are separated by colons, two families by a bar.
///
/// # Errors
/// The file in the variable is not a library.
pub fn libraries(launcher: &Launcher) -> Result<OsString, CommandError> {
    if let Some(named) = std::env::var_os(LIBRARY) {
        return named_by_user(Path::new(&named));
    }
    let families: &[&[&str]] = match launcher.family {
        Family::OpenMpi => &[OPEN_MPI],
        Family::Hydra | Family::Pals | Family::ParaStation => &[MPICH],
        Family::Slurm | Family::Flux | Family::Plain => &[OPEN_MPI, MPICH],
    };
    let of_family = |names: &&[&str]| {
        let beside = beside(&launcher.path, names);
        let searched = names.iter().map(|name| (*name).to_owned());
        beside
            .into_iter()
            .chain(searched)
            .collect::<Vec<_>>()
            .join(":")
    };
    let families: Vec<String> = families.iter().map(of_family).collect();
    Ok(families.join("|").into())
}

fn named_by_user(path: &Path) -> Result<OsString, CommandError> {
    let refused = |reason: String| {
        CommandError::usage(format!(
            "{LIBRARY}: {}: {reason}; name the job's libmpi, such as libmpi.so.40 or the path of one",
            path.display()
        ))
    };
    let has_separator = |byte: &u8| [b':', b'|'].contains(byte);
    if path
        .as_os_str()
        .as_encoded_bytes()
        .iter()
        .any(has_separator)
    {
        return Err(refused("has a colon or a bar".to_owned()));
    }
    if path.components().nth(1).is_none() {
        return Ok(path.into()); // a name, for which the dynamic linker searches
    }
    match path.canonicalize() {
        Ok(file) if file.is_file() => Ok(file.into()),
        Ok(_) => Err(refused("is no file".to_owned())),
        Err(error) => Err(refused(error.to_string())),
    }
}

/// The first of these libraries in the launcher's own installation, which is often not in the
/// search path of the dynamic linker.
fn beside(launcher: &Path, names: &[&str]) -> Option<String> {
    let resolved = launcher.canonicalize().ok()?;
    let root = resolved.parent()?.parent()?;
    let places = ["lib", "lib64", "lib/release"].map(|place| root.join(place));
    let files = names
        .iter()
        .flat_map(|name| places.iter().map(move |place| place.join(name)));
    let mut found = files.filter(|file| file.is_file());
    let text = found.next()?.into_os_string().into_string().ok()?;
    (!text.contains([':', '|'])).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launcher(path: PathBuf, family: Family) -> Launcher {
        Launcher { path, family }
    }

    #[test]
    fn the_library_beside_a_launcher_comes_before_the_one_that_is_searched_for() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let root = root.path().canonicalize().expect("its path");
        for folder in ["bin", "lib"] {
            std::fs::create_dir(root.join(folder)).expect("a folder");
        }
        let program = root.join("bin/mpirun");
        let library = root.join("lib/libmpi.so.40");
        for file in [&program, &library] {
            std::fs::write(file, "").expect("a file");
        }
        let found = libraries(&launcher(program.clone(), Family::OpenMpi)).expect("a list");
        assert_eq!(
            found.to_string_lossy(),
            format!("{}:libmpi.so.40", library.display())
        );
        let found = libraries(&launcher(program, Family::Hydra)).expect("a list");
        assert_eq!(found, "libmpich.so.12:libmpi.so.12");
    }

    #[test]
    fn where_the_family_is_open_both_are_named() {
        let found = libraries(&launcher("/usr/bin/srun".into(), Family::Slurm)).expect("a list");
        assert_eq!(found, "libmpi.so.40|libmpich.so.12:libmpi.so.12");
    }

    #[test]
    fn what_the_user_names_is_a_name_or_a_file() {
        let name = named_by_user(Path::new("libmpi_cray.so.12")).expect("a name");
        assert_eq!(name, "libmpi_cray.so.12");
        for wrong in ["/nowhere/libmpi.so", "/tmp", "a:b"] {
            let said = named_by_user(Path::new(wrong)).expect_err("no library");
            assert!(said.to_string().contains(LIBRARY), "{said}");
        }
    }
}
