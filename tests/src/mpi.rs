//! The MPIs that the tests run under.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

/// An MPI of Debian's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mpi {
    /// Open MPI 4.
    OpenMpi,
    /// MPICH 4.
    Mpich,
}

impl fmt::Display for Mpi {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Mpi::OpenMpi => "Open MPI",
            Mpi::Mpich => "MPICH",
        })
    }
}

impl Mpi {
    /// All of them.
    pub const ALL: [Mpi; 2] = [Mpi::OpenMpi, Mpi::Mpich];

    /// The name that Debian's alternatives and our folders use.
    pub fn name(self) -> &'static str {
        match self {
            Mpi::OpenMpi => "openmpi",
            Mpi::Mpich => "mpich",
        }
    }

    /// The launcher's path.
    ///
    /// # Panics
    /// If it is not installed: the test fails, and says how to install it.
    #[track_caller]
    pub fn launcher(self) -> PathBuf {
        let (name, packages) = match self {
            Mpi::OpenMpi => ("mpirun.openmpi", "openmpi-bin libopenmpi-dev"),
            Mpi::Mpich => ("mpiexec.mpich", "mpich libmpich-dev"),
        };
        match find_command(name) {
            Some(path) => path,
            None => panic!(
                "{name} is not installed; run scripts/setup run (or apt-get install -y {packages})"
            ),
        }
    }

    /// The launcher with `ranks` processes on this machine, whose cores they
    /// may outnumber, and with `variables` set in them.
    #[track_caller]
    pub fn launch(self, ranks: usize, variables: &[(String, String)]) -> Vec<OsString> {
        let mut command = vec![self.launcher().into_os_string()];
        let common: &[&str] = match self {
            // Waiting processes must let the others run.
            Mpi::OpenMpi => &[
                "--oversubscribe",
                "--bind-to",
                "none",
                "--mca",
                "mpi_yield_when_idle",
                "1",
            ],
            Mpi::Mpich => &[],
        };
        command.extend(common.iter().map(OsString::from));
        command.push("-n".into());
        command.push(ranks.to_string().into());
        for (name, value) in variables {
            match self {
                Mpi::OpenMpi => command.extend(["-x".into(), format!("{name}={value}").into()]),
                Mpi::Mpich => command.extend(["-genv".into(), name.into(), value.into()]),
            }
        }
        command
    }
}

/// A command's path, as the shell would find it.
pub fn find_command(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|directory| directory.join(name))
        .find(|path| path.is_file())
}
