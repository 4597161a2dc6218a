//! TMLB_TREEBASED (thesis 3.4.2, algorithm 4), for applications that communicate more than they
//! compute.

use crate::balance::deal::deal_by_load;
use crate::balance::fake::FakeTree;
use crate::balance::situation::Situation;
use crate::constraints::resolved::shared_depth;
use crate::error::PlacementError;
use crate::options::Options;
use crate::search::tree::place_on_tree;
use crate::strategy::Strategy;
use crate::treematch::aggregate::aggregated;
use crate::treematch::top_down::submatrix;
use treepie_base::{Leaf, List, Rank};
use treepie_topology::Topology;
use treepie_traffic::Matrix;

/// Computes the leaf of each rank. First, all ranks of a leaf move together, to the leaf that
/// TreeMatch assigns by the traffic between leaves. Then, inside each node (the whole tree, if no
/// level has that name), its ranks are ordered by affinity on a fake tree of twos and threes and
/// dealt to its leaves by load.
///
/// # Errors
/// No leaf may be used, or sums are not finite.
pub fn tree_based(
    situation: &Situation,
    topology: &Topology,
    seed: u64,
) -> Result<List<Rank, Leaf>, PlacementError> {
    let machine = topology.pruned()?;
    let moved = move_whole_leaves(situation, topology, &machine, seed)?;
    let depth = shared_depth(&machine);
    let mut ranks_on = vec![Vec::new(); machine.node_count(depth)];
    for (rank, &leaf) in moved.iter_enumerated() {
        ranks_on[machine.ancestor(leaf, depth)].push(rank);
    }
    let mut leaf_of_rank = moved;
    for (node, ranks) in ranks_on.iter().enumerate() {
        let leaves = machine.leaves_below(depth, node);
        let members: Vec<usize> = ranks.iter().map(|rank| rank.0).collect();
        let matrix = submatrix(situation.matrix, &members)?;
        let loads: List<Rank, f64> = ranks.iter().map(|&rank| situation.loads[rank]).collect();
        let fake = FakeTree::from_twos_and_threes(ranks.len())?;
        let ordered = fake.leaf_of_rank(&matrix, seed)?;
        let dealt = deal_by_load(&ordered, fake.topology(), &loads, leaves.len());
        for (leaf, members) in leaves.zip(dealt) {
            members
                .iter()
                .for_each(|at| leaf_of_rank[ranks[at.0]] = leaf);
        }
    }
    let allowed = topology.allowed_leaves();
    Ok(leaf_of_rank
        .into_iter()
        .map(|leaf| allowed[leaf.0])
        .collect())
}

/// Step 1: the leaf of each rank on `machine`, the tree of usable leaves, if the ranks of a leaf
/// stay together. Ranks on an unusable leaf join those of the next one.
fn move_whole_leaves(
    situation: &Situation,
    topology: &Topology,
    machine: &Topology,
    seed: u64,
) -> Result<List<Rank, Leaf>, PlacementError> {
    let allowed = topology.allowed_leaves();
    let usable = |&leaf: &Leaf| {
        allowed
            .partition_point(|&a| a < leaf)
            .min(allowed.len() - 1)
    };
    let current: Vec<usize> = situation.current.iter().map(usable).collect();
    let mut ranks_on = vec![Vec::new(); allowed.len()];
    for (rank, &leaf) in current.iter().enumerate() {
        ranks_on[leaf].push(rank);
    }
    let between: Matrix = aggregated(situation.matrix, &ranks_on)?;
    let options = Options {
        seed,
        ..Options::default()
    };
    let placed = place_on_tree(Strategy::TreeMatch, &between, machine, &options)?;
    let new_leaf = placed.placement.leaf_of_rank;
    Ok(current
        .into_iter()
        .map(|leaf| new_leaf[Rank(leaf)])
        .collect())
}
