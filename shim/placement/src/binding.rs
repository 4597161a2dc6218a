//! Core of each process if a placement is applied by binding instead of by permutation.

use std::collections::HashMap;

use thiserror::Error;

use treepie_base::{Leaf, List, Process, Slice};
use treepie_topology::Topology;

/// A running process of the job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchedProcess {
    /// Name of its host.
    pub host: String,
    /// Cores that it may use, ascending, as numbered by the operating system.
    pub allowed: Vec<usize>,
}

/// Reason why processes cannot be bound according to a placement.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BindingError {
    /// The process runs on another host, and binding does not move it.
    #[error(
        "process {process} runs on host {host} and belongs on {other}; binding moves no process to \
         another host: apply it with permute, or at the launch"
    )]
    OtherHost {
        /// The process.
        process: Process,
        /// The host on which it runs.
        host: String,
        /// The host of the placement.
        other: String,
    },
    /// The launcher does not allow the process to use the core.
    #[error(
        "process {process} belongs on core {core} of {host}, and the launcher lets it use {allowed} only; \
         start the job without binding (Open MPI: --bind-to none; Hydra: -bind-to none; Intel MPI: -genv I_MPI_PIN off)"
    )]
    NotAllowed {
        /// The process.
        process: Process,
        /// Number of the core in the operating system.
        core: usize,
        /// The host.
        host: String,
        /// Allowed cores, as a list.
        allowed: String,
    },
    /// The tree has more cores on a node than the job may use on the host.
    #[error(
        "process {process} belongs on core {core} of its node, and host {host} lets the job use {count}; map \
         again with the topology of the hosts, or allow the job more cores"
    )]
    NoSuchCore {
        /// The process.
        process: Process,
        /// Number of the core on its node, from 0.
        core: usize,
        /// The host.
        host: String,
        /// Number of cores that the job may use there.
        count: usize,
    },
    /// The number of processes differs from that of the placement.
    #[error("the placement is for {placement} processes and the job has {job}; map again")]
    Count {
        /// In the placement.
        placement: usize,
        /// In the job.
        job: usize,
    },
}

/// Returns the core of each process, as numbered by the operating system; `leaf_of_process` is the
/// leaf of `topology` that each process belongs on.
///
/// A tree that has hosts and numbers is trusted. In a bare shape, a node is the host on which its
/// processes run, and its n-th leaf is the n-th core that the job may use there.
///
/// # Errors
/// See [`BindingError`].
pub fn cores(
    topology: &Topology,
    leaf_of_process: &Slice<Process, Leaf>,
    processes: &Slice<Process, LaunchedProcess>,
) -> Result<List<Process, usize>, BindingError> {
    if leaf_of_process.len() != processes.len() {
        return Err(BindingError::Count {
            placement: leaf_of_process.len(),
            job: processes.len(),
        });
    }
    let nodes = Nodes::new(topology);
    nodes.check_hosts(topology, leaf_of_process, processes)?;
    let usable = usable_by_host(processes);
    let places = leaf_of_process.iter_enumerated().zip(processes);
    places
        .map(|((process, &leaf), at)| {
            let of_node = leaf.0 - nodes.first_leaf(topology, leaf);
            let usable = &usable[at.host.as_str()];
            let known = topology.leaf(leaf).os_index;
            let core = known.or_else(|| usable.get(of_node).copied());
            let core = core.ok_or_else(|| BindingError::NoSuchCore {
                process,
                core: of_node,
                host: at.host.clone(),
                count: usable.len(),
            })?;
            match at.allowed.contains(&core) {
                true => Ok(core),
                false => Err(BindingError::NotAllowed {
                    process,
                    core,
                    host: at.host.clone(),
                    allowed: in_words(&at.allowed),
                }),
            }
        })
        .collect()
}

/// The node of each leaf, by number: leaves with the same one share a host.
pub fn node_of_each(topology: &Topology, leaves: &Slice<Process, Leaf>) -> List<Process, usize> {
    let depth = Nodes::new(topology).depth;
    let nodes = leaves.iter().map(|&leaf| topology.ancestor(leaf, depth));
    nodes.collect()
}

/// Leaves that share a host: those below one node at this depth.
struct Nodes {
    depth: usize,
}

impl Nodes {
    fn new(topology: &Topology) -> Self {
        let names = ["node", "host", "machine"];
        let mut levels = topology.levels().iter();
        let level = levels.position(|level| names.contains(&level.name.as_str()));
        Nodes {
            depth: level.map_or(0, |level| level + 1),
        }
    }

    fn first_leaf(&self, topology: &Topology, leaf: Leaf) -> usize {
        let node = topology.ancestor(leaf, self.depth);
        topology.leaf_range(self.depth, node).start
    }

    /// Checks that each node is one host, by name if it has one, and that no two nodes are the same
    /// host.
    fn check_hosts(
        &self,
        topology: &Topology,
        leaf_of_process: &Slice<Process, Leaf>,
        processes: &Slice<Process, LaunchedProcess>,
    ) -> Result<(), BindingError> {
        let mut host_of_node: HashMap<usize, &str> = HashMap::new();
        let mut node_of_host: HashMap<&str, usize> = HashMap::new();
        for ((process, &leaf), at) in leaf_of_process.iter_enumerated().zip(processes) {
            let host = at.host.as_str();
            let node = topology.ancestor(leaf, self.depth);
            let named = topology.leaf(leaf).host.as_deref();
            let expected = match named {
                Some(name) => name,
                None => host_of_node.entry(node).or_insert(host),
            };
            let here = *node_of_host.entry(host).or_insert(node);
            let other = match (same_host(expected, host), here == node) {
                (true, true) => continue,
                (false, _) => expected.to_owned(),
                (true, false) => format!("another host (node {node} of the topology)"),
            };
            let host = host.to_owned();
            return Err(BindingError::OtherHost {
                process,
                host,
                other,
            });
        }
        Ok(())
    }
}

/// Compares names; without their domains if one of them has none.
fn same_host(one: &str, other: &str) -> bool {
    let short = |name: &str| name.split('.').next().map(str::to_owned);
    one == other || ((one.contains('.') != other.contains('.')) && short(one) == short(other))
}

/// The cores that the job may use on each host, ascending.
fn usable_by_host(processes: &Slice<Process, LaunchedProcess>) -> HashMap<&str, Vec<usize>> {
    let mut usable: HashMap<&str, Vec<usize>> = HashMap::new();
    for process in processes {
        let cores = usable.entry(&process.host).or_default();
        cores.extend(&process.allowed);
    }
    for cores in usable.values_mut() {
        cores.sort_unstable();
        cores.dedup();
    }
    usable
}

fn in_words(cores: &[usize]) -> String {
    let numbers: Vec<String> = cores.iter().map(usize::to_string).collect();
    match numbers.len() {
        0 => "no core".to_owned(),
        1 => format!("core {}", numbers[0]),
        _ => format!("the cores {}", numbers.join(",")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use treepie_base::{Leaf, List, Process};

    fn on(hosts: &[&str], allowed: &[usize]) -> List<Process, LaunchedProcess> {
        let process = |host: &&str| LaunchedProcess {
            host: (*host).to_owned(),
            allowed: allowed.to_vec(),
        };
        hosts.iter().map(process).collect()
    }

    #[test]
    fn in_a_bare_shape_the_nth_leaf_is_the_nth_core_that_may_be_used() {
        let tree = Topology::from_arities("2:1:2").unwrap();
        let job = on(&["b", "b", "a", "a"], &[4, 6]);
        assert_eq!(
            cores(&tree, &Leaf::list([1, 0, 2, 3]), &job).unwrap().raw,
            [6, 4, 4, 6]
        );
    }

    #[test]
    fn numbers_and_hosts_that_the_tree_knows_are_taken_at_their_word() {
        let machine = Topology::from_arities("2:2").unwrap();
        let machine = machine.with_os_indices(&[0, 2, 1, 3]).unwrap();
        let tree = Topology::cluster(vec![("a".into(), machine.clone()), ("b".into(), machine)]);
        let tree = tree.unwrap();
        let job = on(&["a", "b.site.org"], &[0, 1, 2, 3]);
        assert_eq!(cores(&tree, &Leaf::list([1, 6]), &job).unwrap().raw, [2, 1]);
        let elsewhere = cores(&tree, &Leaf::list([1, 2]), &job).unwrap_err();
        assert!(elsewhere.to_string().starts_with(
            "process 1 runs on host b.site.org and belongs on a; binding moves no process"
        ));
    }

    #[test]
    fn a_core_outside_the_launchers_set_is_refused() {
        let tree = Topology::from_arities("1:4").unwrap();
        let tree = tree.with_os_indices(&[0, 1, 2, 3]).unwrap();
        let bound: List<Process, LaunchedProcess> = vec![
            LaunchedProcess {
                host: "a".into(),
                allowed: vec![0],
            },
            LaunchedProcess {
                host: "a".into(),
                allowed: vec![1],
            },
        ]
        .into();
        let error = cores(&tree, &Leaf::list([1, 0]), &bound)
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with(
                "process 0 belongs on core 1 of a, and the launcher lets it use core 0 only"
            ),
            "{error}"
        );
    }

    #[test]
    fn two_nodes_of_a_shape_on_one_host_are_refused() {
        let tree = Topology::from_arities("2:1:2").unwrap();
        let one = on(&["a", "a", "a", "a"], &[0, 1, 2, 3]);
        let error = cores(&tree, &Leaf::list([0, 1, 2, 3]), &one).unwrap_err();
        assert!(
            matches!(
                error,
                BindingError::OtherHost {
                    process: Process(2),
                    ..
                }
            ),
            "{error}"
        );
    }

    #[test]
    fn a_shape_with_more_cores_than_the_job_may_use_is_refused() {
        let tree = Topology::from_arities("4").unwrap();
        let error = cores(&tree, &Leaf::list([3]), &on(&["a"], &[0, 1])).unwrap_err();
        assert!(error.to_string().contains("host a lets the job use 2"));
        let count = cores(&tree, &Leaf::list([3]), &List::new()).unwrap_err();
        assert_eq!(
            count,
            BindingError::Count {
                placement: 1,
                job: 0
            }
        );
    }
}
