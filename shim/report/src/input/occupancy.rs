//! Core of each process of a profiled job.
//!
//! A profile has the host of each process and the cores that it was allowed to use there; a
//! topology has hosts, cores and their physical numbers, or is only a shape, `4:2:2`, that
//! represents other machines. A process gets the first free core that agrees with all of this; for
//! a bare shape that is core `i` for process `i`.

use std::collections::HashMap;

use thiserror::Error;
use treepie_base::{Leaf, List, Process, Rank, Slice, list};
use treepie_placement::allocation::occupy;
use treepie_profile::Profile;
use treepie_topology::Topology;

/// The processes of a job do not fit on the cores of a topology.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{place} has {cores} cores and {processes} processes ran there; describe the machine that is meant \
     with --topology, or let cores take several ranks with --slots"
)]
pub struct TooFewCores {
    place: String,
    cores: usize,
    processes: usize,
}

/// The leaf of each process if only their number is known.
///
/// # Errors
/// There are more processes than leaves that may be used.
pub fn packed(topology: &Topology, processes: usize) -> Result<List<Process, Leaf>, TooFewCores> {
    let mut leaves = topology.allowed_leaves();
    if leaves.len() < processes {
        return Err(TooFewCores {
            place: "this topology".to_owned(),
            cores: leaves.len(),
            processes,
        });
    }
    leaves.truncate(processes);
    Ok(leaves.into())
}

/// The leaf of each process of the launcher in a profile.
///
/// # Errors
/// A host has more processes than leaves.
pub fn from_profile(
    topology: &Topology,
    profile: &Profile,
) -> Result<List<Process, Leaf>, TooFewCores> {
    let mut groups = groups_of_leaves(topology, profile.hosts.len());
    let Some(group_of_host) = match_hosts(&groups, profile)? else {
        return packed(topology, profile.ranks);
    };
    let mut leaf_of_process = List::from(vec![Leaf(0); profile.ranks]);
    for (host, group) in profile.hosts.iter().zip(group_of_host) {
        let free = std::mem::take(&mut groups[group].leaves);
        let allowed = host.processes.iter();
        let allowed: Vec<Vec<usize>> = allowed.map(|&p| allowed_numbers(profile, p)).collect();
        // There are at least as many leaves as processes: see `match_hosts`.
        for (&process, leaf) in host.processes.iter().zip(occupy(topology, free, &allowed)) {
            leaf_of_process[process] = leaf;
        }
    }
    Ok(leaf_of_process)
}

/// The leaf of each application rank: that of the process that ran it.
pub fn leaf_of_rank(
    leaf_of_process: &Slice<Process, Leaf>,
    process_of_rank: &Slice<Rank, Process>,
) -> List<Rank, Leaf> {
    process_of_rank
        .iter()
        .map(|&process| leaf_of_process[process])
        .collect()
}

/// The leaves of one machine.
struct Group {
    host: Option<String>,
    leaves: Vec<Leaf>,
}

/// The machines of a topology: by the names of hosts; for a bare shape, the parts below its root if
/// there are several hosts, else the whole tree.
fn groups_of_leaves(topology: &Topology, hosts: usize) -> Vec<Group> {
    let allowed = topology.allowed_leaves();
    let has_hosts = allowed
        .iter()
        .all(|&leaf| topology.leaf(leaf).host.is_some());
    let mut groups: Vec<Group> = Vec::new();
    let mut known: HashMap<(Option<String>, usize), usize> = HashMap::new();
    for leaf in allowed {
        let host = topology.leaf(leaf).host.clone();
        let part = if has_hosts || hosts < 2 {
            0
        } else {
            topology.ancestor(leaf, 1)
        };
        let name = if has_hosts { host.clone() } else { None };
        let group = *known.entry((name.clone(), part)).or_insert_with(|| {
            groups.push(Group {
                host: name,
                leaves: Vec::new(),
            });
            groups.len() - 1
        });
        groups[group].leaves.push(leaf);
    }
    groups
}

/// The group of each host of the profile: the one with its name, else the next one that no name
/// claims. `None` if a bare shape does not resemble these hosts, so that only the order of the
/// processes is known.
fn match_hosts(groups: &[Group], profile: &Profile) -> Result<Option<Vec<usize>>, TooFewCores> {
    let named = |name: &str| {
        groups
            .iter()
            .position(|group| group.host.as_deref() == Some(name))
    };
    let claimed: Vec<Option<usize>> = profile.hosts.iter().map(|host| named(&host.name)).collect();
    let mut unclaimed = (0..groups.len()).filter(|group| !claimed.contains(&Some(*group)));
    let mut matched = Vec::new();
    for (host, claim) in profile.hosts.iter().zip(&claimed) {
        let Some(group) = claim.or_else(|| unclaimed.next()) else {
            return Ok(None);
        };
        let cores = groups[group].leaves.len();
        if host.processes.len() > cores {
            if profile.hosts.len() > 1 && groups[group].host.is_none() {
                return Ok(None);
            }
            return Err(TooFewCores {
                place: host.name.clone(),
                cores,
                processes: host.processes.len(),
            });
        }
        matched.push(group);
    }
    Ok(Some(matched))
}

/// The cores that a process may use, as numbered by the operating system; empty if the profile does
/// not have them.
fn allowed_numbers(profile: &Profile, process: Process) -> Vec<usize> {
    let text = profile.allowed_cores.get(process);
    text.and_then(|text| list::parse(text).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use treepie_profile::Host;

    fn profile(hosts: &[(&str, &[usize])]) -> Profile {
        let mut profile = Profile::new(hosts.iter().map(|(_, processes)| processes.len()).sum());
        let host = |(name, processes): &(&str, &[usize])| Host {
            name: (*name).to_owned(),
            processes: processes.iter().copied().map(Process).collect(),
        };
        profile.hosts = hosts.iter().map(host).collect();
        profile
    }

    fn machine(numbers: &[usize]) -> Topology {
        let machine = Topology::from_arities(&format!("2:{}", numbers.len() / 2)).unwrap();
        machine.with_os_indices(numbers).unwrap()
    }

    #[test]
    fn on_a_bare_shape_process_i_has_core_i() {
        let tree = Topology::from_arities("4:2:2").unwrap();
        let found = from_profile(&tree, &profile(&[("here", &[0, 1, 2])])).unwrap();
        assert_eq!(found, Leaf::list([0, 1, 2]));
    }

    #[test]
    fn processes_that_a_launcher_dealt_out_in_turn_are_on_their_own_nodes() {
        let tree = Topology::from_arities("2:2").unwrap();
        let dealt = profile(&[("a", &[0, 2]), ("b", &[1, 3])]);
        assert_eq!(
            from_profile(&tree, &dealt).unwrap(),
            Leaf::list([0, 2, 1, 3])
        );
    }

    #[test]
    fn hosts_are_found_by_their_names() {
        let named = |name: &str| (name.to_owned(), Topology::from_arities("2").unwrap());
        let cluster = Topology::cluster(vec![named("a"), named("b"), named("c")]).unwrap();
        let found = from_profile(&cluster, &profile(&[("c", &[0, 1]), ("other", &[2])])).unwrap();
        assert_eq!(found, Leaf::list([4, 5, 0]));
    }

    #[test]
    fn a_process_that_is_bound_has_the_core_it_is_bound_to() {
        let mut bound = profile(&[("here", &[0, 1, 2])]);
        bound.allowed_cores = vec!["0-3".into(), "1".into(), "0".into()].into();
        let found = from_profile(&machine(&[0, 2, 1, 3]), &bound).unwrap();
        assert_eq!(found, Leaf::list([1, 2, 0]));
    }

    #[test]
    fn more_processes_than_cores_are_refused_with_the_name_of_the_host() {
        let crowded = profile(&[("here", &[0, 1, 2])]);
        let error = from_profile(&Topology::from_arities("2").unwrap(), &crowded).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("here has 2 cores and 3 processes ran there")
        );
    }

    #[test]
    fn a_shape_that_does_not_look_like_the_hosts_is_filled_in_order() {
        let tree = Topology::from_arities("2:4").unwrap();
        let four = profile(&[
            ("a", &[0, 4]),
            ("b", &[1, 5]),
            ("c", &[2, 6]),
            ("d", &[3, 7]),
        ]);
        assert_eq!(from_profile(&tree, &four).unwrap(), Leaf::list(0..8));
    }
}
