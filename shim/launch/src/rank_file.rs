//! Placements applied by the launcher, which starts each rank on its core.
//!
//! | launcher | file | options |
//! |---|---|---|
//! | Open MPI 4 | rank file | `--rankfile FILE` |
//! | Open MPI 5 | rank file | `--map-by rankfile:file=FILE --bind-to core` |
//! | Hydra | host file | `-f FILE -bind-to user:LIST`; for Intel MPI `-machinefile FILE` and `I_MPI_PIN_PROCESSOR_LIST` |
//! | Slurm | host file | `SLURM_HOSTFILE=FILE`, `--distribution=arbitrary --cpu-bind=map_cpu:LIST` |
//! | Flux | host file | `--taskmap=hostfile:FILE -o cpu-affinity=map:LIST` |
//! | PALS | hosts, order of ranks | `--hostfile FILE --ppn N --cpu-bind list:LIST`, `MPICH_RANK_...` |
//! | ParaStation | host file | `PSI_HOSTFILE=FILE PSI_NODES_SORT=none`; the library binds |
//!
//! Hydra, Slurm, Flux and PALS take one list of cores for all hosts, and Hydra starts the list
//! again each time that its file returns to a host. If a placement does not fit this, ranks are
//! started on their hosts, and the library binds each process to its core.

use std::ffi::OsString;
use std::io::Write;

use tempfile::NamedTempFile;
use treepie_base::{Rank, Slice};
use treepie_placement::file::PlacementFile;
use treepie_topology::rank_files::{Binding, Form, LauncherSlot, slots, write};

use super::family::{Family, Launcher};
use super::injection::Invocation;
use super::program;
use crate::error::CommandError;

/// Options and file by which a launcher places ranks. It must exist until the job has ended:
/// dropping it deletes the file.
#[derive(Debug)]
pub struct RankFile {
    options: Vec<OsString>,
    environment: Vec<(String, OsString)>,
    family: Family,
    /// Reason why the launcher cannot bind, if the library has to.
    pub library_binds: Option<&'static str>,
    _files: Vec<NamedTempFile>,
}

impl RankFile {
    /// Writes the placement in the format of `launcher`. `hosts` names the nodes of a placement on
    /// a bare shape.
    ///
    /// # Errors
    /// The launcher has no such format, options of the job conflict, hosts have no names, or cores
    /// differ between hosts and the launcher takes one list for all.
    pub fn new(
        placement: &PlacementFile,
        launcher: &Launcher,
        command: &[OsString],
        hosts: Option<&[String]>,
    ) -> Result<Self, CommandError> {
        let form = form_of(launcher)?;
        if let Some(option) = contradiction(launcher.family, command) {
            return Err(CommandError::usage(format!(
                "{option}: places ranks, as --apply launch does; remove one of them"
            )));
        }
        let slots = slots(&placement.topology, &placement.assignment, hosts)
            .map_err(|error| CommandError::usage(format!("--apply launch: {error}")))?;
        let file = saved(&write(form, &slots))?;
        let path = file.path().as_os_str().to_owned();
        let mut files = vec![file];
        // PALS numbers slots core by core, and Cray MPICH assigns ranks to them.
        let list = match launcher.family {
            Family::Pals => Binding::new(&in_order_of_places(&slots)),
            _ => Binding::new(&slots.raw),
        };
        let fits = launcher.family != Family::Hydra || comes_to_each_host_once(&slots);
        let library_binds = match (launcher.family, &list, fits) {
            (Family::ParaStation, ..) => Some("takes no list of cores"),
            (Family::OpenMpi, ..) | (_, Some(_), true) => None,
            (_, None, _) => {
                Some("takes one list of cores for all hosts, and these need different ones")
            }
            (_, Some(_), false) => {
                Some("begins its list of cores anew each time it comes back to a host")
            }
        };
        let list = list.filter(|_| library_binds.is_none());
        let (options, environment) = match launcher.family {
            Family::OpenMpi => (open_mpi(launcher, path), Vec::new()),
            Family::Slurm => {
                let binding = list.map_or("none".to_owned(), |list| list.slurm());
                let options = [
                    "--distribution=arbitrary".into(),
                    format!("--cpu-bind={binding}").into(),
                ];
                (options.into(), vec![("SLURM_HOSTFILE".to_owned(), path)])
            }
            Family::Flux => {
                let mut map = OsString::from("--taskmap=hostfile:");
                map.push(path);
                let affinity = list.map_or("cpu-affinity=off".to_owned(), |list| list.flux());
                (vec![map, "-o".into(), affinity.into()], Vec::new())
            }
            Family::Pals => {
                let (hosts, each) = hosts_alike(&slots)?;
                let hosts = saved(&hosts)?;
                let binding = list.map_or("none".to_owned(), |list| list.pals());
                let options = vec![
                    "--hostfile".into(),
                    hosts.path().as_os_str().to_owned(),
                    "--ppn".into(),
                    each.to_string().into(),
                    "--cpu-bind".into(),
                    binding.into(),
                ];
                files.push(hosts);
                let order = [
                    ("MPICH_RANK_REORDER_METHOD".to_owned(), OsString::from("3")),
                    ("MPICH_RANK_REORDER_FILE".to_owned(), path),
                ];
                (options, order.into())
            }
            Family::ParaStation => {
                let own = [
                    ("PSI_HOSTFILE".to_owned(), path),
                    ("PSI_NODES_SORT".to_owned(), OsString::from("none")),
                ];
                (Vec::new(), own.into())
            }
            _ => (hydra(launcher, path, list.as_ref()), Vec::new()),
        };
        Ok(RankFile {
            options,
            environment,
            library_binds,
            family: launcher.family,
            _files: files,
        })
    }

    /// Adds it to a job's command line, before the user's own options.
    pub fn apply(&self, invocation: &mut Invocation) {
        let own = self.options.iter().cloned();
        let start = program::subcommands(self.family, &invocation.arguments);
        invocation.arguments.splice(start..start, own);
        invocation.environment.extend(self.environment.clone());
    }
}

fn form_of(launcher: &Launcher) -> Result<Form, CommandError> {
    match launcher.family {
        Family::OpenMpi => Ok(Form::OpenMpi),
        Family::Hydra => Ok(Form::Hydra),
        Family::Slurm => Ok(Form::Slurm),
        Family::Flux => Ok(Form::Flux),
        Family::Pals => Ok(Form::Cray),
        Family::ParaStation => Ok(Form::ParaStation),
        Family::Plain => Err(CommandError::usage(format!(
            "--apply launch: {} is no launcher that is known; use --apply permute, or write the \
             launcher's file with `treepie convert`",
            launcher.path.display()
        ))),
    }
}

/// The form of Open MPI's option changed with version 5.
fn open_mpi(launcher: &Launcher, file: OsString) -> Vec<OsString> {
    let version = launcher.version().unwrap_or_default();
    let mut numbers = version
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|digits| digits.parse::<u32>().ok());
    // PRRTE 3 is the launcher of Open MPI 5.
    let newer = if version.contains("PRRTE") {
        true
    } else {
        numbers.next().is_some_and(|major| major >= 5)
    };
    if newer {
        let mut value = OsString::from("rankfile:file=");
        value.push(file);
        // A site may have disabled binding; the file would then only determine hosts.
        vec!["--map-by".into(), value, "--bind-to".into(), "core".into()]
    } else {
        vec!["--rankfile".into(), file]
    }
}

/// Intel's Hydra fills the hosts of `-f` one after the other.
fn hydra(launcher: &Launcher, file: OsString, binding: Option<&Binding>) -> Vec<OsString> {
    let version = launcher.version().unwrap_or_default();
    let is_of_intel = version.contains("Intel");
    let named = if is_of_intel { "-machinefile" } else { "-f" };
    let mut options = vec![OsString::from(named), file];
    let words: [OsString; 3] = match (is_of_intel, binding) {
        (true, Some(list)) => [
            "-genv".into(),
            "I_MPI_PIN_PROCESSOR_LIST".into(),
            list.list().into(),
        ],
        (true, None) => ["-genv".into(), "I_MPI_PIN".into(), "off".into()],
        (false, binding) => {
            let how = binding.map_or("none".to_owned(), Binding::hydra);
            options.extend(["-bind-to".into(), how.into()]);
            return options;
        }
    };
    options.extend(words);
    options
}

/// Slots node by node and core by core.
fn in_order_of_places(slots: &Slice<Rank, LauncherSlot>) -> Vec<LauncherSlot> {
    let mut places = slots.raw.to_vec();
    places.sort_by_key(|slot| (slot.node, slot.leaf_of_host));
    places
}

/// The hosts, one per line, and the number of ranks of each, which PALS requires to be equal.
fn hosts_alike(slots: &Slice<Rank, LauncherSlot>) -> Result<(String, usize), CommandError> {
    let places = in_order_of_places(slots);
    let runs = places.chunk_by(|one, next| one.node == next.node);
    let runs: Vec<&[LauncherSlot]> = runs.collect();
    let each = runs.first().map_or(0, |run| run.len());
    if let Some(other) = runs.iter().find(|run| run.len() != each) {
        return Err(CommandError::usage(format!(
            "--apply launch: {} gets {} ranks and {} gets {each}, and PALS starts as many on each \
             host; use --apply permute",
            other[0].host,
            other.len(),
            runs[0][0].host
        )));
    }
    let hosts = runs.iter().map(|run| format!("{}\n", run[0].host));
    Ok((hosts.collect(), each))
}

/// True if the ranks of each host are consecutive.
fn comes_to_each_host_once(slots: &Slice<Rank, LauncherSlot>) -> bool {
    let mut nodes: Vec<usize> = slots.iter().map(|slot| slot.node).collect();
    nodes.dedup();
    let runs = nodes.len();
    nodes.sort_unstable();
    nodes.dedup();
    nodes.len() == runs
}

/// The first option of a command line that conflicts with a placement of the ranks.
pub fn contradiction(family: Family, command: &[OsString]) -> Option<String> {
    let contradicting: &[&str] = match family {
        Family::OpenMpi => &[
            "rankfile",
            "rf",
            "map-by",
            "bind-to",
            "bind-to-core",
            "bynode",
            "npernode",
            "N",
            "ppr",
        ],
        Family::Hydra => &[
            "f",
            "hostfile",
            "machinefile",
            "hosts",
            "host",
            "bind-to",
            "map-by",
            "ppn",
            "perhost",
        ],
        Family::Slurm => &["distribution", "m", "cpu-bind", "w", "nodelist"],
        Family::Flux => &["taskmap"],
        Family::Pals => &[
            "ppn", "host", "hosts", "hostlist", "hostfile", "f", "cpu-bind",
        ],
        Family::ParaStation => &["N", "nodes", "H", "hosts", "f", "hostfile", "S", "sort"],
        Family::Plain => &[],
    };
    program::first_option(family, command, contradicting)
}

fn saved(text: &str) -> Result<NamedTempFile, CommandError> {
    let written = tempfile::Builder::new()
        .prefix("treepie-")
        .suffix(".ranks")
        .tempfile()
        .and_then(|mut file| file.write_all(text.as_bytes()).map(|()| file));
    written.map_err(|error| {
        CommandError::failed(format!(
            "the launcher's file cannot be written: {error}; set TMPDIR to a directory with room"
        ))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use treepie_base::{Header, Leaf};
    use treepie_placement::file::StoredPlacement;
    use treepie_topology::Topology;

    use super::*;

    /// Ranks crossed between two hosts of two cores.
    fn placement(assignment: &[usize]) -> PlacementFile {
        let machine = || Topology::from_arities("2").unwrap();
        let hosts = ["a", "b"].map(|name| (name.to_owned(), machine()));
        let ranks = assignment.len();
        let body = StoredPlacement {
            profile: None,
            ranks,
            strategy: "grid".into(),
            costs: None,
            bytes_by_level: Vec::new(),
            topology: Topology::cluster(hosts.into()).unwrap(),
            assignment: Leaf::list(assignment.iter().copied()),
            leaf_of_process: Leaf::list(assignment.iter().copied()),
            permutation: Rank::list(0..ranks),
        };
        let header = Header::default();
        PlacementFile { header, body }
    }

    /// The command line, with files replaced by their contents.
    fn told(family: Family, command: &str, assignment: &[usize]) -> Result<String, String> {
        let command: Vec<OsString> = command.split_whitespace().map(OsString::from).collect();
        let launcher = Launcher {
            path: "/usr/bin/launcher".into(),
            family,
        };
        let made = RankFile::new(&placement(assignment), &launcher, &command, None);
        let made = made.map_err(|error| error.to_string())?;
        let mut invocation = Invocation {
            program: launcher.path,
            name: command[0].clone(),
            arguments: command[1..].to_vec(),
            environment: Vec::new(),
        };
        made.apply(&mut invocation);
        let mut text = invocation.to_string();
        for file in &made._files {
            let path = file.path().display().to_string();
            let lines = std::fs::read_to_string(&path).unwrap();
            text = text.replace(&path, &lines.trim().replace('\n', "/"));
        }
        Ok(text)
    }

    #[test]
    fn launchers_without_rank_files_get_hosts_cores_and_orders() {
        let crossed = [0, 2, 1, 3];
        assert_eq!(
            told(Family::Flux, "flux run -n4 /bin/sh", &crossed).unwrap(),
            "flux run --taskmap=hostfile:a/b/a/b -o 'cpu-affinity=map:0;1' -n4 /bin/sh"
        );
        assert_eq!(
            told(Family::Pals, "mpiexec -n 4 /bin/sh", &crossed).unwrap(),
            "MPICH_RANK_REORDER_METHOD=3 MPICH_RANK_REORDER_FILE=0,2,1,3 mpiexec --hostfile a/b \
             --ppn 2 --cpu-bind list:0:1 -n 4 /bin/sh"
        );
        assert_eq!(
            told(Family::ParaStation, "mpiexec -n 4 /bin/sh", &crossed).unwrap(),
            "PSI_HOSTFILE=a/b/a/b PSI_NODES_SORT=none mpiexec -n 4 /bin/sh"
        );
        let uneven = told(Family::Pals, "mpiexec -n 3 /bin/sh", &[0, 1, 2]).unwrap_err();
        assert!(uneven.contains("b gets 1 ranks and a gets 2"), "{uneven}");
        let twice = told(Family::Flux, "flux run --taskmap=cyclic /bin/sh", &crossed);
        assert!(
            twice
                .unwrap_err()
                .starts_with("--taskmap=cyclic: places ranks")
        );
    }
}
