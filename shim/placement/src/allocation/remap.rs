//! A placement of another run, remapped to the hosts of this one: a host replaces a similar one,
//! and its processes take the ranks that belong there.

use std::collections::{BTreeMap, HashMap};

use crate::allocation::error::AllocationError;
use crate::allocation::job::Allocation;
use crate::allocation::occupied::only;
use crate::binding::LaunchedProcess;
use crate::check::permutation;
use treepie_base::{Leaf, List, Process, Rank, Slice};
use treepie_topology::{ProcessingUnit, Topology, TopologyError};

/// Recorded placement.
#[derive(Debug, Clone, Copy)]
pub struct Recorded<'a> {
    /// The recorded tree.
    pub topology: &'a Topology,
    /// The leaf of each rank.
    pub leaf_of_rank: &'a Slice<Rank, Leaf>,
    /// The leaf of each process at the time of recording.
    pub leaf_of_process: &'a Slice<Process, Leaf>,
}

/// A placement remapped to this job.
#[derive(Debug, Clone, PartialEq)]
pub struct Remapped {
    /// The tree, with the hosts of this job if it has names.
    pub topology: Topology,
    /// The leaf of each rank.
    pub leaf_of_rank: List<Rank, Leaf>,
    /// The leaf of each process of this job.
    pub leaf_of_process: List<Process, Leaf>,
    /// The new rank of each process.
    pub permutation: List<Process, Rank>,
    /// True if hosts or processes differ from those of the placement.
    pub moved: bool,
    /// On a network: ratio of the distances between near hosts now to those of the placement. 1 if
    /// all distances are the same.
    pub stretch: Option<f64>,
}

/// True if the hardware of the hosts decides whether a placement can be remapped: not for a bare
/// shape, which has no hardware, and not on the hosts of the placement.
pub fn needs_machines(topology: &Topology, processes: &Slice<Process, LaunchedProcess>) -> bool {
    match LeafNames::new(topology) {
        LeafNames::Bare => false,
        LeafNames::Unnamed => true,
        LeafNames::Named => {
            let known = topology.hosts();
            processes.iter().any(|at| !known.contains(&&*at.host))
        }
    }
}

/// Names by which a recorded tree locates its leaves.
enum LeafNames {
    /// No names: a shape such as `4:2:2`.
    Bare,
    /// Numbers on one machine without a name.
    Unnamed,
    /// Names of hosts.
    Named,
}

impl LeafNames {
    fn new(topology: &Topology) -> LeafNames {
        let all = |known: fn(&ProcessingUnit) -> bool| topology.leaves().iter().all(known);
        if all(|leaf| leaf.host.is_some()) {
            LeafNames::Named
        } else if all(|leaf| leaf.os_index.is_some()) {
            LeafNames::Unnamed
        } else {
            LeafNames::Bare
        }
    }
}

/// Part of a recorded tree that was one host.
pub(super) struct Part {
    pub(super) name: Option<String>,
    /// Its leaves.
    pub(super) leaves: Vec<Leaf>,
    /// Leaves that have ranks, once for each rank, ascending.
    pub(super) used: Vec<Leaf>,
}

impl Allocation {
    /// Remaps the placement to this job. A placement for a bare shape is trusted if all processes
    /// are on one host, because that host then represents machines that are not there.
    ///
    /// # Errors
    /// Hosts, cores or processes have another shape.
    pub fn remap(&self, recorded: Recorded) -> Result<Remapped, AllocationError> {
        let job = self.leaf_of_process.len();
        let ranks = recorded.leaf_of_rank.len();
        if ranks != job {
            return Err(AllocationError::Count {
                recorded: ranks,
                job,
            });
        }
        match LeafNames::new(recorded.topology) {
            LeafNames::Bare => self.carried_by_count(recorded),
            LeafNames::Unnamed => {
                self.carried_by_shape(recorded, parts(recorded, |_| None::<String>))
            }
            LeafNames::Named => {
                let host = |leaf: Leaf| recorded.topology.leaf(leaf).host.clone();
                self.carried_by_shape(recorded, parts(recorded, host))
            }
        }
    }

    /// Remaps between hosts of real machines, whose shapes must agree.
    fn carried_by_shape(
        &self,
        recorded: Recorded,
        parts: Vec<Part>,
    ) -> Result<Remapped, AllocationError> {
        let used: Vec<&Part> = parts.iter().filter(|part| !part.used.is_empty()).collect();
        let host_of_part = self.matched(recorded.topology, &used)?;
        let (host_of_part, stretch) = self.by_distances(recorded.topology, &used, host_of_part)?;
        let mut leaves = recorded.topology.leaves().to_owned();
        let mut leaf_of_process = List::from(vec![Leaf(0); self.leaf_of_process.len()]);
        // Another part may take the name of a host that has no ranks.
        let is_of_job = |part: &&Part| {
            part.used.is_empty()
                && self
                    .hosts
                    .iter()
                    .any(|host| part.name.as_ref() == Some(&host.name))
        };
        for part in parts.iter().filter(is_of_job) {
            part.leaves
                .iter()
                .for_each(|&leaf| leaves[leaf] = ProcessingUnit::default());
        }
        for (part, host) in used.iter().zip(host_of_part) {
            let slots = self.slots(recorded.topology, part, host)?;
            for (&process, slot) in self.hosts[host].processes.iter().zip(slots) {
                leaf_of_process[process] = slot;
            }
            // A tree is trusted on the hosts that it names.
            let name = &self.hosts[host].name;
            if part.name.as_ref().is_some_and(|known| known != name) {
                let here = self.leaves_of(host);
                for (&leaf, here) in part.leaves.iter().zip(here) {
                    leaves[leaf].host = Some(name.clone());
                    leaves[leaf].os_index = self.topology.leaf(here).os_index;
                }
            }
        }
        let topology = renamed(recorded.topology, leaves)?;
        Ok(Remapped {
            stretch,
            ..remapped(recorded, topology, leaf_of_process)?
        })
    }

    /// Assigns a leaf of the recorded tree to each process of a host: the leaf that it is bound to,
    /// or else one of the remaining leaves that the placement uses.
    fn slots(
        &self,
        recorded: &Topology,
        part: &Part,
        host: usize,
    ) -> Result<Vec<Leaf>, AllocationError> {
        let processes = &self.hosts[host].processes;
        let mut free = part.used.clone();
        let mut slots = vec![None; processes.len()];
        for (place, &process) in processes.iter().enumerate() {
            let Some(core) = self.core_in(recorded, part, host, place) else {
                continue;
            };
            let required = part.leaves.get(core);
            let found = free.iter().position(|leaf| Some(leaf) == required);
            let found = found.ok_or_else(|| AllocationError::Core {
                process,
                host: self.hosts[host].name.clone(),
                core,
            })?;
            slots[place] = Some(free.remove(found));
        }
        let mut free = free.into_iter();
        // The number of used leaves equals that of processes: see `matched`.
        Ok(slots
            .into_iter()
            .filter_map(|slot| slot.or_else(|| free.next()))
            .collect())
    }

    /// The core of a part that a process is bound to exclusively: by its number on the host that
    /// the placement names, by its position in the tree on any other.
    fn core_in(
        &self,
        recorded: &Topology,
        part: &Part,
        host: usize,
        place: usize,
    ) -> Option<usize> {
        if part.name.as_ref() != Some(&self.hosts[host].name) {
            return self.bound_to(host, place);
        }
        let allowed = &self.hosts[host].allowed[place];
        only(part.leaves.iter().enumerate().filter_map(|(core, &leaf)| {
            let number = recorded.leaf(leaf).os_index?;
            allowed.contains(&number).then_some(core)
        }))
    }

    /// Remaps a bare shape: its nodes at some level are the hosts.
    fn carried_by_count(&self, recorded: Recorded) -> Result<Remapped, AllocationError> {
        let topology = recorded.topology;
        let as_recorded = || {
            remapped(
                recorded,
                topology.clone(),
                recorded.leaf_of_process.to_owned(),
            )
        };
        if self.hosts.len() == 1 {
            return as_recorded();
        }
        let depths = 1..=topology.depth();
        if depths
            .clone()
            .any(|depth| self.is_as_recorded(recorded, depth))
        {
            return as_recorded();
        }
        for depth in depths {
            let parts = parts(recorded, |leaf| Some(topology.ancestor(leaf, depth)));
            let used: Vec<&Part> = parts.iter().filter(|part| !part.used.is_empty()).collect();
            let sizes = |parts: Vec<usize>| {
                let mut parts = parts;
                parts.sort_unstable();
                parts
            };
            let of_parts = sizes(used.iter().map(|part| part.used.len()).collect());
            let of_hosts = sizes(self.hosts.iter().map(|host| host.processes.len()).collect());
            if of_parts != of_hosts {
                continue;
            }
            let mut free: Vec<Option<&Part>> = used.into_iter().map(Some).collect();
            let mut leaf_of_process = List::from(vec![Leaf(0); self.leaf_of_process.len()]);
            for host in &self.hosts {
                let fits = |part: &&mut Option<&Part>| {
                    part.is_some_and(|part| part.used.len() == host.processes.len())
                };
                let part = free.iter_mut().find(fits).and_then(Option::take);
                for (&process, &leaf) in
                    host.processes.iter().zip(part.iter().flat_map(|p| &p.used))
                {
                    leaf_of_process[process] = leaf;
                }
            }
            return remapped(recorded, topology.clone(), leaf_of_process);
        }
        let sizes: Vec<String> = self
            .hosts
            .iter()
            .map(|host| host.processes.len().to_string())
            .collect();
        let levels = topology.levels().iter().zip(topology.widest_arities());
        let shape: Vec<String> = levels
            .map(|(level, arity)| format!("{arity} {}s", level.name))
            .collect();
        Err(AllocationError::Shape {
            shape: shape.join(" of "),
            job: shortened(&sizes),
        })
    }

    /// True if the processes of each host are those of one node at `depth`.
    fn is_as_recorded(&self, recorded: Recorded, depth: usize) -> bool {
        let mut node_of_host = HashMap::new();
        let mut host_of_node = HashMap::new();
        let hosts = self.hosts.iter().enumerate();
        let mut slots =
            hosts.flat_map(|(host, at)| at.processes.iter().map(move |&process| (host, process)));
        slots.all(|(host, process)| {
            let node = recorded
                .topology
                .ancestor(recorded.leaf_of_process[process], depth);
            *node_of_host.entry(host).or_insert(node) == node
                && *host_of_node.entry(node).or_insert(host) == host
        })
    }
}

/// Joins words as `4, 4, 2` and truncates long lists.
fn shortened(words: &[String]) -> String {
    const MOST: usize = 8;
    let more = if words.len() > MOST { ", ..." } else { "" };
    words[..words.len().min(MOST)].join(", ") + more
}

fn remapped(
    recorded: Recorded,
    topology: Topology,
    leaf_of_process: List<Process, Leaf>,
) -> Result<Remapped, AllocationError> {
    let moved = *leaf_of_process != *recorded.leaf_of_process || topology != *recorded.topology;
    Ok(Remapped {
        permutation: permutation(recorded.leaf_of_rank, &leaf_of_process)?,
        leaf_of_rank: recorded.leaf_of_rank.to_owned(),
        topology,
        leaf_of_process,
        moved,
        stretch: None,
    })
}

fn renamed(
    topology: &Topology,
    leaves: List<Leaf, ProcessingUnit>,
) -> Result<Topology, TopologyError> {
    match *topology.leaves() == *leaves {
        true => Ok(topology.clone()),
        false => topology.clone().with_leaves(leaves),
    }
}

/// Groups the leaves of a recorded tree by a name of their location, from the left.
fn parts<N: Ord + ToString>(recorded: Recorded, name_of: impl Fn(Leaf) -> Option<N>) -> Vec<Part> {
    let mut place_of: BTreeMap<Option<N>, usize> = BTreeMap::new();
    let mut parts: Vec<Part> = Vec::new();
    for leaf in recorded.topology.leaves().keys() {
        let name = name_of(leaf);
        let text = name.as_ref().map(ToString::to_string);
        let place = *place_of.entry(name).or_insert_with(|| {
            parts.push(Part {
                name: text,
                leaves: Vec::new(),
                used: Vec::new(),
            });
            parts.len() - 1
        });
        parts[place].leaves.push(leaf);
    }
    let mut part_of_leaf: List<Leaf, usize> = vec![0; recorded.topology.leaf_count()].into();
    for (number, part) in parts.iter().enumerate() {
        for &leaf in &part.leaves {
            part_of_leaf[leaf] = number;
        }
    }
    for &leaf in recorded.leaf_of_rank {
        parts[part_of_leaf[leaf]].used.push(leaf);
    }
    for part in &mut parts {
        part.used.sort_unstable();
    }
    parts
}
