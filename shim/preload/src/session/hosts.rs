//! Where the processes of the job are, gathered on process 0 when the job starts: hosts and cores;
//! what standard input brings to each; and, where that is wanted, the hardware of the hosts and
//! their places on the network.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use treepie_base::{List, Process, Slice, list};
use treepie_mpi::native::Native;
use treepie_mpi::share::{Group, Members, ShareError, gather, share};
use treepie_placement::binding::LaunchedProcess;
use treepie_process::machine::{allowed_cores, location, read_hardware};
use treepie_topology::Machine;
use treepie_topology::formats::HostLocation;

use super::input::Input;

/// Where a process is.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Located {
    host: String,
    /// As Linux lists them; nothing where it does not say.
    allowed_cores: String,
    input: Input,
}

impl From<Located> for LaunchedProcess {
    fn from(at: Located) -> LaunchedProcess {
        LaunchedProcess {
            host: at.host,
            allowed: list::parse(&at.allowed_cores).unwrap_or_default(),
        }
    }
}

/// The processes of the launcher's world.
pub type Processes = List<Process, LaunchedProcess>;

/// The host and the cores of each process, and its input, on process 0; nothing elsewhere. A
/// process that does not know its cores has none. Collective over the native world.
///
/// # Errors
/// As of [`gather`].
pub fn processes(
    native: &Native,
    world: &Members<'_>,
) -> Result<(Processes, List<Process, Input>), ShareError> {
    let mine = Located {
        host: native.processor_name(),
        allowed_cores: allowed_cores(),
        input: Input::here(),
    };
    let all = gather(world, &mine)?;
    let inputs = all.iter().map(|at| at.input).collect();
    Ok((all.into_iter().map(LaunchedProcess::from).collect(), inputs))
}

/// Which facts of hosts are wanted.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Wanted {
    /// Their hardware.
    pub machines: bool,
    /// Where they are on their network.
    pub locations: bool,
}

/// Facts of hosts, those that are wanted and can be read.
#[derive(Debug, Default)]
pub struct HostFacts {
    /// The hardware of hosts, by their names.
    pub machines: HashMap<String, Machine>,
    /// Where all hosts are on their network, as their systems tell; none if one tells nothing.
    pub locations: Vec<HostLocation>,
}

/// Facts of the hosts, read by the first process of each, on process 0, which alone has `processes`
/// and knows what is wanted. Collective over the native world.
///
/// # Errors
/// As of [`share`].
pub fn facts(
    world: &Members<'_>,
    processes: &Slice<Process, LaunchedProcess>,
    wanted: Wanted,
) -> Result<HostFacts, ShareError> {
    let any = wanted.machines || wanted.locations;
    let mut known = HashSet::new();
    let firsts = processes.iter().enumerate();
    let firsts = firsts.filter(|(_, at)| any && known.insert(at.host.as_str()));
    let firsts: Vec<usize> = firsts.map(|(process, _)| process).collect();
    let (readers, wanted) = share(world, (world.rank() == 0).then_some((firsts, wanted)))?;
    let mut facts = HostFacts::default();
    if readers.is_empty() {
        return Ok(facts);
    }
    let reads = readers.contains(&world.rank());
    let machine = (reads && wanted.machines).then(read_hardware);
    let at = (reads && wanted.locations).then(location);
    let all = gather(world, &(machine.flatten(), at.flatten()))?;
    for (process, (text, at)) in processes.iter().zip(all) {
        if let Some(machine) = text.and_then(|text| text.parse().ok()) {
            facts.machines.insert(process.host.clone(), machine);
        }
        facts.locations.extend(at.map(|at| at.of(&process.host)));
    }
    if facts.locations.len() != readers.len() {
        facts.locations.clear();
    }
    Ok(facts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_does_not_know_its_cores_has_none() {
        let located = |allowed_cores: &str| Located {
            host: "a host".into(),
            allowed_cores: allowed_cores.into(),
            input: Input::Nothing,
        };
        assert_eq!(LaunchedProcess::from(located("1,3-4")).allowed, [1, 3, 4]);
        assert_eq!(LaunchedProcess::from(located("")).allowed, [0; 0]);
    }
}
