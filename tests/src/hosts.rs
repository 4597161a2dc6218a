//! Jobs on several hosts: an emulated grid that exists during one command.

use crate::{Mpi, Outcome, artifacts, run_watched};
use std::ffi::OsString;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Hosts `NAME0`, `NAME1`, ... on one switch.
#[derive(Debug, Clone, Copy)]
pub struct Hosts {
    /// Prefix of their names.
    pub name: &'static str,
    /// Number of hosts.
    pub count: usize,
    /// Ranks that a launcher puts on each host by default.
    pub ranks_each: usize,
}

impl Hosts {
    /// Runs a command on the first of the hosts, whose launchers know the others. `folder` is for
    /// the grid's own files.
    ///
    /// # Panics
    /// Panics if the grid cannot be created, or the command does not end in time.
    #[track_caller]
    pub fn run<W: Into<OsString>>(
        self,
        folder: &Path,
        words: impl IntoIterator<Item = W>,
    ) -> Outcome {
        let file = folder.join("hosts.grid.yaml");
        let text = format!(
            "treepie: grid\nversion: 1\nclusters:\n- {{name: {}, hosts: {}, latency_us: 50, mbit: 1000}}\n",
            self.name, self.count
        );
        std::fs::write(&file, text).expect("the folder can be written");
        let mut state = OsString::from("TREEPIE_GRID_STATE=");
        state.push(folder.join("grid"));
        let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
        let mut command = Command::new("env");
        command
            .arg(state)
            .arg(artifacts::grid())
            .arg("run")
            .arg(file)
            .args(["--ranks", &self.ranks_each.to_string(), "--"])
            .args(&words);
        let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        let description = format!("{} on {} hosts", words.join(" "), self.count);
        run_watched(command, Duration::from_secs(90), &description)
    }

    /// The words that start a program of `ranks` ranks on these hosts; variables that the launcher
    /// needs are [`Mpi::environment`].
    #[track_caller]
    pub fn launcher(self, mpi: Mpi, ranks: usize) -> Vec<OsString> {
        let mut words = vec![mpi.launcher().into_os_string()];
        if matches!(mpi, Mpi::Mpich5 | Mpi::StandardAbi) {
            // The UCX included in these MPIs hangs or crashes between hosts here.
            let libfabric = [
                ("MPIR_CVAR_CH4_NETMOD", "ofi"),
                ("FI_PROVIDER", "tcp"),
                ("FI_TCP_IFACE", "eth0"),
            ];
            for (name, value) in libfabric {
                words.extend(["-genv", name, value].map(Into::into));
            }
        }
        words.extend(["-n".into(), ranks.to_string().into()]);
        words
    }
}

/// Runs its arguments with a separate `/dev/shm` for each host.
const OWN_MEMORY: &str = "#!/bin/sh
memory=$(dirname \"$0\")/memory.$(hostname)
mkdir -p \"$memory\"
exec unshare --mount sh -c 'mount --bind \"$0\" /dev/shm && exec \"$@\"' \"$memory\" \"$@\"
";

/// A remote shell: `remote HOST COMMAND...`.
const REMOTE: &str = "#!/bin/sh
here=$(dirname \"$0\")
host=$1; shift
TREEPIE_GRID_STATE=$here/grid exec \"GRID\" on \"$host\" -- \"$here/own_memory\" \"$@\"
";

/// Puts two commands into the folder of [`Hosts::run`]: `own_memory`, which runs its arguments with
/// a separate `/dev/shm` of a host, and `remote`, which does so on the host in its first argument.
///
/// # Panics
/// Panics if they cannot be written.
pub fn write_remote_shell(folder: &Path) {
    let remote = REMOTE.replace("GRID\"", &format!("{}\"", artifacts::grid().display()));
    for (name, text) in [("own_memory", OWN_MEMORY), ("remote", &remote)] {
        let file = folder.join(name);
        std::fs::write(&file, text)
            .and_then(|()| std::fs::set_permissions(&file, Permissions::from_mode(0o755)))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// Words that run the shell script that follows with permission to mount directories that other
/// processes do not see.
pub const WITH_OWN_MOUNTS: [&str; 6] = [
    "unshare",
    "--user",
    "--map-root-user",
    "--mount",
    "sh",
    "-c",
];

/// Words that run the shell script that follows as the first of processes that are killed with it.
pub const WITH_OWN_PROCESSES: [&str; 8] = [
    "unshare",
    "--user",
    "--map-root-user",
    "--pid",
    "--fork",
    "--mount-proc",
    "sh",
    "-c",
];

/// The location of each rank that the job `where` prints: its host and its cores, in the order of
/// the ranks.
pub fn places(outcome: &Outcome) -> Vec<(String, String)> {
    let place = |line: &str| {
        let mut words = line.strip_prefix("rank ")?.split(' ');
        let host = words.nth(2)?.to_owned();
        Some((host, words.nth(1)?.to_owned()))
    };
    outcome.stdout.lines().filter_map(place).collect()
}
