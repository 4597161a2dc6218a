//! Locations of the job's processes, gathered on process 0 when the job starts: hosts and cores;
//! the standard input of each; and, on request, the hardware of the hosts and their locations on
//! the network.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use treepie_base::{List, Process, Slice, list};
use treepie_mpi::native::Native;
use treepie_mpi::share::{Group, Members, ShareError, gather, share};
use treepie_mpi::system::Detail;
use treepie_placement::binding::LaunchedProcess;
use treepie_process::machine::{allowed_cores, location, read_hardware};
use treepie_topology::Machine;
use treepie_topology::formats::HostLocation;

use super::input::Input;

/// Location of a process.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Located {
    host: String,
    /// List in Linux's format; empty if Linux gives none.
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

/// Processes of the launcher's world.
pub type Processes = List<Process, LaunchedProcess>;

/// Returns the host and the cores of each process, and its input, on process 0; nothing elsewhere.
/// A process that does not know its cores has none. Collective over the native world.
///
/// # Errors
/// Those of [`gather`].
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

/// Facts of hosts that are wanted.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct HostFactKinds {
    /// True for their hardware.
    pub machines: bool,
    /// True for their locations on the network.
    pub locations: bool,
}

/// Facts of hosts that are wanted and could be read.
#[derive(Debug, Default)]
pub struct HostFacts {
    /// Hardware of hosts, by their names.
    pub machines: HashMap<String, Machine>,
    /// Locations of all hosts on their network, as their systems report them; empty if one reports
    /// none.
    pub locations: Vec<HostLocation>,
}

/// Returns the facts of the hosts, read by the first process of each, on process 0, which alone has
/// `processes` and knows what is wanted. Collective over the native world.
///
/// # Errors
/// Those of [`share`].
pub fn facts(
    world: &Members<'_>,
    processes: &Slice<Process, LaunchedProcess>,
    wanted: HostFactKinds,
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
    let machine = (reads && wanted.machines).then(|| read_hardware(Detail::Cores));
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
