//! Machines below the hosts of a network.

use std::sync::Arc;

use treepie_launch::error::CommandError;
use treepie_placement::NetworkNodes;
use treepie_topology::Topology;
use treepie_topology::networks::Site;

use crate::words::pluralize;

/// Names of the level whose nodes are machines.
pub(crate) const MACHINE_LEVELS: [&str; 3] = ["node", "host", "machine"];

pub(crate) fn is_machine(level: &str) -> bool {
    MACHINE_LEVELS.contains(&level)
}

/// The machines of a topology: the parts below the level with such a name, or the whole tree.
pub(crate) fn machines(topology: Topology) -> Result<Vec<Topology>, CommandError> {
    let levels = topology.levels();
    let depth = levels.iter().position(|level| is_machine(&level.name));
    Ok(match depth {
        Some(level) => topology.parts(level + 1)?,
        None => vec![topology],
    })
}

/// Puts the machines of a topology under a network. Levels above the machines are left out.
pub(crate) fn under(
    topology: Topology,
    network: &Topology,
    name: &str,
    for_job: &[&str],
) -> Result<Topology, CommandError> {
    let parts = machines(topology)?;
    let hosts = hosts_of(&parts, &network.hosts(), name, for_job)?;
    // One description of a machine is used for all hosts.
    let machines = hosts.into_iter().enumerate();
    let machines = machines.map(|(place, host)| (host, parts[place % parts.len()].clone()));
    Ok(Topology::networked(network, machines.collect())?)
}

/// The machines of a topology in one row, and their positions on a network that is not a tree.
pub(crate) fn attached(
    parts: Vec<Topology>,
    site: &Site,
    name: &str,
    for_job: &[&str],
) -> Result<(Topology, NetworkNodes), CommandError> {
    let known: Vec<&str> = site.hosts().iter().map(|host| host.name.as_str()).collect();
    let count = match (parts.len(), for_job.len()) {
        (1, 0) => site.nodes(),
        (1, hosts) => hosts,
        (machines, _) => machines,
    };
    let own: Vec<&str> = parts.iter().flat_map(|part| part.hosts()).collect();
    let names: Option<Vec<String>> = if known.is_empty() {
        [own.as_slice(), for_job]
            .into_iter()
            .find(|names| names.len() == count)
            .map(|names| names.iter().map(|&host| host.to_owned()).collect())
    } else {
        Some(hosts_of(&parts, &known, name, for_job)?)
    };
    // Nodes of a network without names are taken in order.
    let positions = match (&names, known.is_empty()) {
        (Some(names), false) => {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            site.positions_of(&names)?
        }
        _ => site.first(count)?,
    };
    // One description of a machine is used for all hosts.
    let machine = |place: usize| parts[place % parts.len()].clone();
    let topology = match names {
        Some(names) => {
            let machines = names.into_iter().enumerate();
            Topology::cluster(
                machines
                    .map(|(place, host)| (host, machine(place)))
                    .collect(),
            )?
        }
        None => Topology::join("node", &(0..count).map(machine).collect::<Vec<_>>())?,
    };
    let network = Arc::new(site.network().clone());
    let nodes = NetworkNodes::new(network, &topology, 1, &positions)?;
    Ok((topology, nodes))
}

/// The names of the machines: their own, those of the hosts on which the job ran, or those of the
/// network, in order.
pub(crate) fn hosts_of(
    parts: &[Topology],
    known: &[&str],
    name: &str,
    for_job: &[&str],
) -> Result<Vec<String>, CommandError> {
    let own: Vec<&str> = parts.iter().flat_map(|part| part.hosts()).collect();
    let one = parts.len() == 1;
    for names in [own.as_slice(), for_job, known] {
        if names.len() == parts.len() || (one && !names.is_empty()) {
            return Ok(names.iter().map(|&name| name.to_owned()).collect());
        }
    }
    Err(CommandError::failed(format!(
        "{name}: has {}, and the topology {}: name the hosts in a topology file, or describe as many",
        pluralize(known.len(), "host"),
        pluralize(parts.len(), "machine")
    )))
}
