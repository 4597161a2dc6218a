//! Placement computed at the start of a job, for the cores that its processes occupy.

use crate::allocation::error::AllocationError;
use crate::allocation::job::Allocation;
use crate::allocation::sparsify::sparsify;
use crate::best_of_strategies::place;
use crate::check::{identity, permutation, require_finite_sums};
use crate::constraints::request::Constraints;
use crate::effort::Effort;
use crate::error::PlacementError;
use crate::hardware::Hardware;
use crate::objective::choice::Objective;
use crate::options::{Options, Outcome};
use crate::seat;
use crate::strategy::Strategy;
use treepie_base::{Leaf, List, Process, Rank, Slice};
use treepie_topology::Topology;
use treepie_traffic::Matrix;

/// Largest number of ranks for the usual effort, which then takes less than a tenth of a second;
/// above it, the least effort is used.
const USUAL_UP_TO: usize = 1_536;

/// Largest number of ranks for the usual effort on networks that are not trees, where link loads
/// are counted.
const USUAL_ON_NETWORKS_UP_TO: usize = 64;

/// Movements that a method of applying a placement allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Movement {
    /// Ranks, from process to process: processes stay on their cores.
    Ranks,
    /// Processes, from core to core of their host: ranks stay with them.
    Processes,
}

/// A placement of the ranks of a job on its hosts.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    /// The tree of the hosts.
    pub topology: Topology,
    /// The leaf of each rank.
    pub leaf_of_rank: List<Rank, Leaf>,
    /// The leaf of each process.
    pub leaf_of_process: List<Process, Leaf>,
    /// The new rank of each process.
    pub permutation: List<Process, Rank>,
    /// Cost before and after: DistComm, or bytes times links on a network that is not a tree.
    pub costs: (f64, f64),
}

impl Allocation {
    /// Places the ranks of `matrix` on these hosts. Deterministic: the result does not depend on
    /// the load of the machine.
    ///
    /// # Errors
    /// The number of ranks differs from that of processes, or affinities are too large.
    pub fn placed(&self, matrix: &Matrix, movement: Movement) -> Result<Placed, AllocationError> {
        let job = self.leaf_of_process.len();
        if matrix.order() != job {
            return Err(AllocationError::Count {
                recorded: matrix.order(),
                job,
            });
        }
        let found = match movement {
            Movement::Ranks => on_leaves(
                Strategy::Best,
                matrix,
                self.hardware(),
                &self.leaf_of_process,
            )?,
            Movement::Processes => self.within_hosts(matrix)?,
        };
        self.as_placed(matrix, movement, found)
    }

    /// Like [`Allocation::placed`] for ranks, except that the ranks of the given processes keep
    /// their numbers.
    ///
    /// # Errors
    /// See [`Allocation::placed`].
    pub fn placed_around(
        &self,
        matrix: &Matrix,
        processes: &[Process],
    ) -> Result<Placed, AllocationError> {
        let at = |&process: &Process| (Rank(process.0), self.leaf_of_process[process]);
        let constraints = Constraints {
            fixed: processes.iter().map(at).collect(),
            slots: slots(&self.topology, &self.leaf_of_process).unwrap_or_default(),
            ..Constraints::default()
        };
        let usable = self
            .topology
            .clone()
            .allowing_only(&self.leaf_of_process.raw)?;
        let hardware = Hardware {
            topology: &usable,
            network: self.network(),
        };
        let options = options(&self.leaf_of_process, Some(&constraints), hardware);
        let found = place_within_startup_budget(matrix, hardware, &options)?;
        let mut placed = self.as_placed(matrix, Movement::Ranks, found)?;
        for &process in processes {
            // The rank is on the leaf of its process, which may have other ranks, too.
            seat::keep(&mut placed.permutation, process, None);
        }
        Ok(placed)
    }

    fn as_placed(
        &self,
        matrix: &Matrix,
        movement: Movement,
        found: Outcome,
    ) -> Result<Placed, AllocationError> {
        let job = self.leaf_of_process.len();
        let leaf_of_rank = found.placement.leaf_of_rank;
        let (leaf_of_process, permutation) = match movement {
            Movement::Ranks => (
                self.leaf_of_process.clone(),
                permutation(&leaf_of_rank, &self.leaf_of_process)?,
            ),
            Movement::Processes => (leaf_of_rank.raw.clone().into(), Rank::list(0..job)),
        };
        Ok(Placed {
            topology: self.topology.clone(),
            leaf_of_process,
            permutation,
            costs: (
                self.cost(matrix, identity(&self.leaf_of_process)),
                self.cost(matrix, &leaf_of_rank),
            ),
            leaf_of_rank,
        })
    }

    /// Places each rank on a core of the host that it is on.
    fn within_hosts(&self, matrix: &Matrix) -> Result<Outcome, AllocationError> {
        let mut usable = self.leaf_of_process.raw.clone();
        let mut constraints = Constraints::default();
        if slots(&self.topology, &self.leaf_of_process).is_some() {
            // Moving processes between shared cores gains nothing.
            return on_leaves(
                Strategy::Identity,
                matrix,
                self.hardware(),
                &self.leaf_of_process,
            );
        }
        for (number, host) in self.hosts.iter().enumerate() {
            for (&process, may_use) in host.processes.iter().zip(&host.allowed) {
                let leaves = self.leaves_of(number);
                let may_use = |leaf: &Leaf| {
                    let core = self.topology.leaf(*leaf).os_index;
                    core.is_none_or(|core| may_use.contains(&core))
                };
                let leaves: Vec<Leaf> = leaves.filter(may_use).collect();
                usable.extend(&leaves);
                constraints.allowed.insert(Rank(process.0), leaves);
            }
        }
        let usable = self.topology.clone().allowing_only(&usable)?;
        // Distances between hosts do not matter: no rank leaves its host.
        let tree = Hardware::from(&usable);
        let options = options(&self.leaf_of_process, Some(&constraints), tree);
        Ok(place_within_startup_budget(matrix, tree, &options)?)
    }
}

/// Computes a new rank for each member of a communicator, whose members are on these leaves, so
/// that the nodes of a graph are close to their neighbours: the member with rank `i` does the work
/// of node `i`. `None` if the present ranks are good enough. If `graph` has fewer nodes than there
/// are members, the remaining members have no neighbours.
///
/// # Errors
/// There are more nodes than members, or weights are too large.
pub fn reordered(
    graph: &Matrix,
    topology: &Topology,
    leaf_of_member: &Slice<Process, Leaf>,
) -> Result<Option<List<Process, Rank>>, AllocationError> {
    let members = leaf_of_member.len();
    let matrix = Matrix::from_entries(members, graph.entries()).map_err(PlacementError::from)?;
    let found = on_leaves(Strategy::Best, &matrix, topology.into(), leaf_of_member)?;
    if found.cost >= found.identity_cost {
        return Ok(None);
    }
    Ok(Some(permutation(
        &found.placement.leaf_of_rank,
        leaf_of_member,
    )?))
}

/// Places ranks on the leaves where processes are, one rank for each process of a leaf.
fn on_leaves(
    strategy: Strategy,
    matrix: &Matrix,
    hardware: Hardware,
    leaf_of_process: &Slice<Process, Leaf>,
) -> Result<Outcome, AllocationError> {
    let topology = hardware.topology;
    let usable = topology.clone().allowing_only(&leaf_of_process.raw)?;
    let usable = Hardware {
        topology: &usable,
        ..hardware
    };
    let constraints = slots(topology, leaf_of_process).map(|slots| Constraints {
        slots,
        ..Constraints::default()
    });
    let options = options(leaf_of_process, constraints.as_ref(), usable);
    Ok(match strategy {
        Strategy::Best => place_within_startup_budget(matrix, usable, &options)?,
        _ => place(strategy, matrix, usable, &options)?,
    })
}

/// Computes the best placement found in a tenth of a second. A dense matrix is reduced to its
/// heaviest entries for the search; the result is judged by all entries, and rejected unless it is
/// better by these, too.
fn place_within_startup_budget(
    matrix: &Matrix,
    usable: Hardware,
    options: &Options,
) -> Result<Outcome, PlacementError> {
    let Some(light) = sparsify(matrix) else {
        return place(Strategy::Best, matrix, usable, options);
    };
    require_finite_sums(matrix)?;
    let effort = Effort::Fast;
    let less = Options { effort, ..*options };
    let found = place(Strategy::Best, &light, usable, &less)?;
    // On trees, hop-bytes alone decide.
    let costs = |leaf_of_rank: &Slice<Rank, Leaf>| {
        let load = usable
            .network
            .map(|_| usable.max_link_load(matrix, leaf_of_rank));
        (
            usable.hop_bytes(matrix, leaf_of_rank),
            load.unwrap_or_default(),
        )
    };
    let (cost, load) = costs(&found.placement.leaf_of_rank);
    let (identity_cost, identity_load) = options
        .current
        .map_or((f64::INFINITY, f64::INFINITY), costs);
    if cost >= identity_cost || load > identity_load {
        return place(Strategy::Identity, matrix, usable, options);
    }
    Ok(Outcome {
        cost,
        identity_cost,
        ..found
    })
}

/// Number of processes of each leaf; `None` if no leaf has several.
fn slots(topology: &Topology, leaf_of_process: &Slice<Process, Leaf>) -> Option<List<Leaf, usize>> {
    let mut processes_on: List<Leaf, usize> = vec![0; topology.leaf_count()].into();
    for &leaf in leaf_of_process {
        processes_on[leaf] += 1;
    }
    let shared = processes_on.iter().any(|&processes| processes > 1);
    shared.then_some(processes_on)
}

fn options<'a>(
    leaf_of_process: &'a Slice<Process, Leaf>,
    constraints: Option<&'a Constraints>,
    hardware: Hardware,
) -> Options<'a> {
    let usual = match hardware.network {
        Some(_) => USUAL_ON_NETWORKS_UP_TO,
        None => USUAL_UP_TO,
    };
    Options {
        current: Some(identity(leaf_of_process)),
        objective: Objective::usual(hardware.network),
        effort: match leaf_of_process.len() <= usual {
            true => Effort::Normal,
            false => Effort::Fast,
        },
        constraints,
        ..Options::default()
    }
}
