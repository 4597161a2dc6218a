//! Running a command on the first host, with variables that give the launchers of both MPIs the
//! other hosts: any `mpirun -n 16 ./app` works unchanged.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use treepie_platform::grid::Grid;

use crate::{GridError, namespaces, state};

/// Assignment of ranks to hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ranks {
    /// Ranks of each host.
    pub each: usize,
    /// True if consecutive ranks are on different clusters.
    pub cyclic: bool,
}

/// Builds the command to run on the first host.
///
/// # Errors
/// Host files cannot be written.
pub fn command(
    grid: &Grid,
    folder: &Path,
    ranks: Ranks,
    library: &Path,
    words: &[OsString],
) -> Result<Command, GridError> {
    let hosts = ordered(grid, ranks.cyclic);
    let (open_mpi, hydra) = (folder.join("hosts.openmpi"), folder.join("hosts.mpich"));
    let write = |path: &Path, line: &dyn Fn(&String) -> String| {
        let lines: Vec<String> = hosts.iter().map(line).collect();
        fs::write(path, lines.join("\n") + "\n").map_err(|error| {
            GridError::system(
                path.display().to_string(),
                error,
                "check the folder of the state",
            )
        })
    };
    write(&open_mpi, &|host| format!("{host} slots={}", ranks.each))?;
    write(&hydra, &|host| format!("{host}:{}", ranks.each))?;
    let agent = folder.join("agent");
    let first = hosts.first().cloned().unwrap_or_default();
    let mut command = on(folder, &first, words, false);
    for (name, value) in [
        ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        // Open MPI 4: frameworks and their parameters.
        ("OMPI_MCA_plm_rsh_no_tree_spawn", "1"),
        ("OMPI_MCA_oob_tcp_if_include", "10.77.0.0/16"),
        ("OMPI_MCA_btl_tcp_if_include", "10.77.0.0/16"),
        ("OMPI_MCA_pml", "ob1"),
        ("OMPI_MCA_btl", "tcp,self"),
        ("OMPI_MCA_mpi_yield_when_idle", "1"),
        ("OMPI_MCA_hwloc_base_binding_policy", "none"),
        // Open MPI 5: variables of its launcher.
        ("PRTE_MCA_prte_if_include", "eth0"),
        ("PRTE_MCA_hwloc_default_binding_policy", "none"),
        // Hydra and UCX.
        ("HYDRA_LAUNCHER", "ssh"),
        ("HYDRA_IFACE", "eth0"),
        ("UCX_TLS", "tcp,self"),
        ("UCX_NET_DEVICES", "eth0"),
        ("MPIR_CVAR_CH4_NETMOD", "ucx"),
    ] {
        command.env(name, value);
    }
    command
        .env("OMPI_MCA_plm_rsh_agent", &agent)
        .env("PRTE_MCA_plm_ssh_agent", &agent)
        .env("HYDRA_LAUNCHER_EXEC", &agent)
        .env("OMPI_MCA_orte_default_hostfile", &open_mpi)
        .env("PRTE_MCA_prte_default_hostfile", &open_mpi)
        .env("HYDRA_HOST_FILE", &hydra)
        .env("LD_PRELOAD", preload(library));
    Ok(command)
}

/// Libraries that are already preloaded stay in front.
fn preload(library: &Path) -> OsString {
    let mut all = std::env::var_os("LD_PRELOAD").unwrap_or_default();
    if !all.is_empty() {
        all.push(":");
    }
    all.push(library);
    all
}

/// The hosts cluster by cluster, or the first of each, the second of each, ...
fn ordered(grid: &Grid, cyclic: bool) -> Vec<String> {
    let mut numbered: Vec<(usize, usize, String)> = Vec::new();
    for (cluster, of) in grid.clusters.iter().enumerate() {
        numbered.extend((0..of.hosts).map(|n| (n, cluster, format!("{}{n}", of.name))));
    }
    if cyclic {
        numbered.sort();
    }
    numbered.into_iter().map(|(_, _, name)| name).collect()
}

/// A command on a host of the grid in `folder`: in its network, with its name, with the names of
/// the other hosts, and with separate shared memory. With `as_shell`, the words are joined and
/// parsed by a shell, like in a remote shell.
pub fn on(folder: &Path, host: &str, words: &[OsString], as_shell: bool) -> Command {
    let start = "mount --bind \"$1\" /etc/hosts && hostname \"$0\" || exit 1; shift;";
    let script = match as_shell {
        true => format!("{start} eval \"$*\""),
        false => format!("{start} exec \"$@\""),
    };
    let mut command = Command::new("ip");
    command
        .args(["netns", "exec"])
        .arg(namespaces::name(&state::tag(folder), host))
        .args(["unshare", "--uts", "--ipc", "sh", "-c", &script, host])
        .arg(state::hosts_file(folder))
        .args(words)
        // It is the grid's own; a job's library would not know it.
        .env_remove(state::VARIABLE);
    command
}

/// The remote shell of a launcher: `[options] HOST COMMAND...`. Replaces this process.
pub fn agent(folder: &Path, words: &[OsString], library: &Path) -> io::Error {
    let takes_value = |word: &OsStr| matches!(word.to_str(), Some("-l" | "-o" | "-p" | "-i"));
    let mut at = 0;
    while words
        .get(at)
        .is_some_and(|word| word.as_encoded_bytes().starts_with(b"-"))
    {
        at += if takes_value(&words[at]) { 2 } else { 1 };
    }
    let Some(host) = words.get(at) else {
        return io::Error::other("a remote shell needs a host");
    };
    on(folder, &host.to_string_lossy(), &words[at + 1..], true)
        .env("LD_PRELOAD", preload_once(library))
        .stdin(std::process::Stdio::null())
        .exec()
}

/// The daemons of a launcher that is preloaded already have it in their
/// environment.
fn preload_once(library: &Path) -> OsString {
    let now = std::env::var_os("LD_PRELOAD").unwrap_or_default();
    let named = library.as_os_str().as_encoded_bytes();
    let has = now
        .as_encoded_bytes()
        .split(|&byte| byte == b':')
        .any(|path| path == named);
    if has { now } else { preload(library) }
}
