//! An emulated grid of two clusters of two hosts, for successive commands.

use std::path::PathBuf;
use std::process::{Command, Output};

use crate::{Mpi, artifacts};

/// Distant enough that measuring takes seconds.
const TWO: &str = "treepie: grid\nversion: 1\nwan_latency_us: 20000\nclusters:\n\
    - {name: a, hosts: 2, latency_us: 1000, mbit: 200, uplink_mbit: 100}\n\
    - {name: b, hosts: 2, latency_us: 1000, mbit: 200, uplink_mbit: 100}\n";

/// Seconds after which a command on the grid is ended.
pub const LIMIT: &str = "100";

/// A grid of two clusters, with a separate folder.
pub struct TwoClusters {
    folder: tempfile::TempDir,
}

impl Default for TwoClusters {
    fn default() -> Self {
        TwoClusters::new()
    }
}

impl TwoClusters {
    /// Writes the description of the grid in a new folder.
    ///
    /// # Panics
    /// Panics if it cannot be written.
    pub fn new() -> Self {
        Self::described(TWO)
    }

    /// Writes a grid in which a connection between the clusters gets less than a third of the
    /// uplink.
    ///
    /// # Panics
    /// Panics if it cannot be written.
    pub fn of_slow_connections() -> Self {
        let links =
            "links:\n- {between: [a, b], latency_us: 20000, mbit: 100, connection_mbit: 30}\n";
        Self::described(&format!("{TWO}{links}"))
    }

    fn described(grid: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary directory");
        std::fs::write(folder.path().join("two.grid.yaml"), grid).expect("a file");
        TwoClusters { folder }
    }

    /// A file in its folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `grid run` with one rank per host, or with `options`.
    pub fn run(&self, options: &[&str]) -> Command {
        let mut command = Command::new("timeout");
        command
            .arg(LIMIT)
            .arg(artifacts::grid())
            .arg("run")
            .arg(self.file("two.grid.yaml"))
            .args(options)
            .arg("--")
            .env("TREEPIE_GRID_STATE", self.file("state"));
        command
    }

    /// Runs a test job with its arguments on `ranks` ranks, with the library and these settings;
    /// `options` are those of [`TwoClusters::run`].
    ///
    /// # Panics
    /// Panics if the grid cannot be started.
    pub fn job(
        &self,
        options: &[&str],
        (mpi, ranks): (Mpi, usize),
        settings: &str,
        job: &[&str],
    ) -> Output {
        // The grid's own library stays preloaded after ours.
        let script = format!(
            "LD_PRELOAD={}:$LD_PRELOAD {settings} exec {} {}",
            artifacts::library().display(),
            artifacts::job(mpi, job[0]).display(),
            job[1..].join(" ")
        );
        self.run(options)
            .arg(mpi.launcher())
            .args(["-n", &ranks.to_string(), "sh", "-c", &script])
            .output()
            .expect("the grid starts")
    }
}
