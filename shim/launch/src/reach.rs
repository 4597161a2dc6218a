//! Checks of whether the library can be preloaded into the programs of a job: known obstacles are
//! reported before the job starts, and not after it has used its time.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use treepie_base::note;

use super::binary::{self, Program};
use super::environment::Payload;
use super::family::{Family, Launcher};
use super::{container, injection, program, search};
use crate::error::CommandError;

/// Obstacle that keeps the library out of a program, or makes it useless there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obstacle {
    /// The program runs with the rights of another user.
    ChangesUser,
    /// The program is linked statically, including MPI.
    Static,
    /// The program is linked dynamically, but contains MPI.
    MpiInside,
    /// The program does not use MPI, and starts no other program.
    NoMpi,
    /// The program is for processors other than the library's.
    OtherMachine,
    /// The MPI of the program is of an unknown family.
    UnknownMpi(PathBuf),
}

impl fmt::Display for Obstacle {
    /// Continues a sentence that begins with the name of the program.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Obstacle::ChangesUser => out.write_str(
                "changes its user (setuid), so nothing can be preloaded into it; run a copy without that bit",
            ),
            Obstacle::Static => out.write_str(
                "is linked statically, so nothing can be preloaded into it; link it dynamically",
            ),
            Obstacle::MpiInside => out.write_str(
                "has its MPI linked in statically, where no library can step between; link it to the \
                 shared MPI library",
            ),
            Obstacle::NoMpi => out.write_str(
                "is linked to no MPI library and can start no other program: there is nothing to do in \
                 it; give the MPI program itself",
            ),
            Obstacle::OtherMachine => out.write_str(
                "is made for other processors than libtreepie.so; build treepie for them, and name the \
                 library in TREEPIE_LIBRARY",
            ),
            Obstacle::UnknownMpi(library) => write!(
                out,
                "uses {}, which is neither Open MPI, nor of the MPICH family, nor of the MPI-5.0 standard \
                 ABI; link it to one of these",
                library.display()
            ),
        }
    }
}

/// Refuses a job with a program into which the library is known not to be loaded. Unknown cases,
/// such as scripts, are run; a program of another MPI than the launcher's is run with a warning.
///
/// # Errors
/// The first such program and the reason: usage.
pub(crate) fn require_reachable(
    launcher: &Launcher,
    command: &[OsString],
    payload: &Payload,
) -> Result<(), CommandError> {
    // What a container has is not to be seen from here.
    if container::runtime_of_job(launcher.family, command).is_some() {
        return Ok(());
    }
    let Some(library) = payload.library.as_deref() else {
        return Ok(());
    };
    let words = match launcher.family {
        Family::Plain => command,
        _ => command.get(1..).unwrap_or_default(),
    };
    for words in injection::programs(launcher.family, words) {
        let place = program::position(launcher.family, words);
        let path = place.and_then(|place| search::executable(&words[place]));
        // A missing program is reported by the launcher.
        let Some(path) = path else { continue };
        let name = path.display();
        if let Some(obstacle) = obstacle(&path, library) {
            return Err(CommandError::usage(format!("{name}: {obstacle}")));
        }
        if let Some((mpi, family)) = binary::mpi_of(&path)
            && let Some(problem) = other_mpi(launcher, &mpi, family)
        {
            note!("{name}: {problem}; {OTHER_MPI_REMEDY}");
        }
    }
    Ok(())
}

/// Remedy for [`other_mpi`].
pub const OTHER_MPI_REMEDY: &str = "use the launcher of that MPI";

/// Consequence for a program of `mpi`, of this family, if the launcher is another MPI's; continues
/// a sentence that begins with the name of the program.
pub fn other_mpi(launcher: &Launcher, mpi: &Path, family: Family) -> Option<String> {
    let has_one = matches!(launcher.family, Family::OpenMpi | Family::Hydra);
    (has_one && family != launcher.family).then(|| {
        format!(
            "uses {} ({family}), and the launcher is of {}: each process is a job of its own",
            mpi.display(),
            launcher.family
        )
    })
}

/// Obstacle, as far as the program's file shows one.
pub fn obstacle(path: &Path, library: &Path) -> Option<Obstacle> {
    if binary::changes_user(path) {
        return Some(Obstacle::ChangesUser);
    }
    let facts = binary::facts(path)?;
    let other = binary::facts(library).is_some_and(|library| library.machine != facts.machine);
    match facts.kind {
        Program::Static if facts.names_mpi => Some(Obstacle::Static),
        Program::Dynamic if other => Some(Obstacle::OtherMachine),
        Program::Dynamic => {
            let linked = binary::mpi_libraries(path);
            match linked.first() {
                Some((mpi, None)) => Some(Obstacle::UnknownMpi(mpi.clone())),
                Some(_) => None,
                None if facts.defines_mpi => Some(Obstacle::MpiInside),
                None if facts.is_alone => Some(Obstacle::NoMpi),
                None => None,
            }
        }
        _ => None,
    }
}
