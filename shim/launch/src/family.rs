//! Detection of a launcher's MPI: the name `mpirun` is used by every MPI.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{search, timed};
use crate::error::{CommandError, Subject};

/// Time limit of a launcher to print its version.
const VERSION_LIMIT: Duration = Duration::from_secs(10);

/// Launchers by the form in which they take variables for the ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// `mpirun` and `mpiexec` of Open MPI (`orterun`, `prterun`): `-x NAME=VALUE`.
    OpenMpi,
    /// Hydra, of MPICH, Intel MPI and MVAPICH: `-genv NAME VALUE`.
    Hydra,
    /// Slurm's `srun`: `--export=ALL,NAME=VALUE`.
    Slurm,
    /// `flux run`: `--env=NAME=VALUE`.
    Flux,
    /// `mpiexec` of HPE's PALS, which passes on its own environment.
    Pals,
    /// `mpiexec` of ParaStation, which passes on the variables listed in `PSI_EXPORTS`.
    ParaStation,
    /// No known launcher: a plain program, or a script that calls a launcher. It gets the variables
    /// in its own environment.
    Plain,
}

impl fmt::Display for Family {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Family::OpenMpi => "Open MPI",
            Family::Hydra => "Hydra (MPICH family)",
            Family::Slurm => "Slurm",
            Family::Flux => "Flux",
            Family::Pals => "PALS",
            Family::ParaStation => "ParaStation",
            Family::Plain => "no known launcher",
        })
    }
}

/// The launcher identified from the first word of a job's command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launcher {
    /// The file that is started.
    pub path: PathBuf,
    /// Form in which it takes variables.
    pub family: Family,
}

impl Launcher {
    /// Finds the launcher that starts `command`.
    ///
    /// # Errors
    /// There is no command, the program does not exist, or the MPI of an `mpirun` is not known.
    pub fn detect(command: &[OsString]) -> Result<Self, CommandError> {
        let name = command
            .first()
            .ok_or_else(|| CommandError::usage("no job: write it after --"))?;
        let path = search::executable(name).ok_or_else(|| {
            CommandError::failed(format!(
                "{}: no such program; check its name and PATH, or write its whole path",
                name.display()
            ))
        })?;
        let family = family_of(&path).map_err(|error| error.about(Subject::Launcher))?;
        Ok(Launcher { path, family })
    }

    /// Short text of the launcher's version.
    pub fn version(&self) -> Option<String> {
        let text = timed::output(&self.path, &["--version"], VERSION_LIMIT)?;
        match self.family {
            Family::Hydra => hydra_version(&text),
            _ => first_words(&text),
        }
    }
}

/// The first line that is not an error message: `srun` without a cluster prints nothing else.
fn first_words(text: &str) -> Option<String> {
    let complains = |line: &str| {
        [": error: ", ": fatal: "]
            .iter()
            .any(|word| line.contains(word))
    };
    let mut lines = text.lines().map(str::trim);
    lines
        .find(|line| !line.is_empty() && !complains(line))
        .map(str::to_owned)
}

/// The family of an executable: by its own name, by the name of the file to which its links lead,
/// or by its output for `--version`.
fn family_of(path: &Path) -> Result<Family, CommandError> {
    let resolved = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    for file in [path, &resolved] {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if let Some(family) = family_of_name(&name) {
            return Ok(family);
        }
    }
    if !has_shared_name(path) && !has_shared_name(&resolved) {
        return Ok(Family::Plain);
    }
    if let Some(family) = family_of_place(path).or_else(|| family_of_place(&resolved)) {
        return Ok(family);
    }
    let text = timed::output(path, &["--version"], VERSION_LIMIT).unwrap_or_default();
    family_of_version(&text).ok_or_else(|| {
        CommandError::failed(format!(
            "{}: the MPI of this launcher is unknown; give the MPI's own launcher \
             (mpirun.openmpi, mpiexec.hydra, srun), or set LD_PRELOAD and the TREEPIE_ variables by hand",
            path.display()
        ))
    })
}

/// The family indicated by a file's name alone.
fn family_of_name(name: &str) -> Option<Family> {
    match name {
        "orterun" | "prterun" | "prun" => Some(Family::OpenMpi),
        "srun" => Some(Family::Slurm),
        "flux" => Some(Family::Flux),
        _ if name.ends_with(".openmpi") => Some(Family::OpenMpi),
        _ if name.ends_with(".hydra") || name.ends_with(".mpich") => Some(Family::Hydra),
        _ => None,
    }
}

/// The family of a launcher without a version text, by its installation directory:
/// `/opt/cray/pals/1.2/bin/mpiexec`, `/opt/parastation/bin/mpiexec`.
fn family_of_place(path: &Path) -> Option<Family> {
    let mut parts = path.parent()?.iter();
    parts.find_map(|part| match part.to_str()? {
        "pals" => Some(Family::Pals),
        "parastation" | "psmpi" | "psmgmt" => Some(Family::ParaStation),
        _ => None,
    })
}

/// True for names that several MPIs use, such as `mpirun`, `mpiexec`, `mpirun-4.1` and so on.
fn has_shared_name(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("mpirun") || name.starts_with("mpiexec")
}

/// The family indicated by the output of `--version`.
fn family_of_version(text: &str) -> Option<Family> {
    let known = [
        ("Open MPI", Family::OpenMpi),
        ("OpenRTE", Family::OpenMpi),
        ("PRRTE", Family::OpenMpi),
        ("HYDRA", Family::Hydra),
        ("Intel(R) MPI", Family::Hydra),
        ("slurm ", Family::Slurm),
        ("PALS", Family::Pals),
        ("ParaStation", Family::ParaStation),
    ];
    known
        .iter()
        .find(|(mark, _)| text.contains(mark))
        .map(|&(_, family)| family)
}

/// `Version: 4.0.2` of Hydra's build details, or Intel's first line.
fn hydra_version(text: &str) -> Option<String> {
    let mut lines = text.lines().map(str::trim);
    let version = lines.clone().find_map(|line| line.strip_prefix("Version:"));
    match version {
        Some(version) => Some(format!("HYDRA {}", version.trim())),
        None => lines.find(|line| !line.is_empty()).map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_are_no_version() {
        let srun = "srun: error: fetch_config: DNS SRV lookup failed\nsrun: fatal: Could not\n";
        assert_eq!(first_words(srun), None);
        let said = first_words("\nslurm-wlm 22.05.8\n");
        assert_eq!(said.as_deref(), Some("slurm-wlm 22.05.8"));
    }

    #[test]
    fn names_that_belong_to_one_mpi_need_no_question() {
        for (name, family) in [
            ("orterun", Some(Family::OpenMpi)),
            ("prterun", Some(Family::OpenMpi)),
            ("mpiexec.openmpi", Some(Family::OpenMpi)),
            ("mpiexec.hydra", Some(Family::Hydra)),
            ("mpirun.mpich", Some(Family::Hydra)),
            ("srun", Some(Family::Slurm)),
            ("flux", Some(Family::Flux)),
            ("mpirun", None),
            ("python3", None),
        ] {
            assert_eq!(family_of_name(name), family, "{name}");
        }
    }

    #[test]
    fn each_launcher_is_known_by_what_it_says_of_its_version() {
        for (text, family) in [
            ("mpirun (Open MPI) 4.1.4\n", Some(Family::OpenMpi)),
            ("mpirun.openmpi (OpenRTE) 4.1.4\n", Some(Family::OpenMpi)),
            ("prterun (PRRTE) 3.0.8\n", Some(Family::OpenMpi)),
            (
                "HYDRA build details:\n    Version:  4.0.2\n",
                Some(Family::Hydra),
            ),
            (
                "Intel(R) MPI Library for Linux* OS, Version 2021.18",
                Some(Family::Hydra),
            ),
            ("slurm 22.05.8", Some(Family::Slurm)),
            ("PALS 1.2.12", Some(Family::Pals)),
            (
                "ParaStation process management 5.1",
                Some(Family::ParaStation),
            ),
            ("mpirun of our own 1.0", None),
        ] {
            assert_eq!(family_of_version(text), family, "{text}");
        }
    }

    #[test]
    fn launchers_that_say_nothing_are_known_by_where_they_are() {
        for (path, family) in [
            ("/opt/cray/pals/1.2/bin/mpiexec", Some(Family::Pals)),
            ("/opt/parastation/bin/mpiexec", Some(Family::ParaStation)),
            ("/usr/bin/mpiexec", None),
        ] {
            assert_eq!(family_of_place(Path::new(path)), family, "{path}");
        }
    }

    #[test]
    fn hydra_tells_its_version_in_its_build_details() {
        let text = "HYDRA build details:\n    Version:                   4.0.2\n    CC: gcc\n";
        assert_eq!(hydra_version(text).as_deref(), Some("HYDRA 4.0.2"));
    }
}
