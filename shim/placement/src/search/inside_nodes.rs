//! Placement of the ranks of every node on its cores, by the strategies for trees.

use crate::error::PlacementError;
use crate::options::Options;
use crate::search::tree::place_on_tree;
use crate::strategy::Strategy;
use crate::target::network::NetworkTarget;
use treepie_base::{Leaf, List, Rank, Slot};
use treepie_traffic::Matrix;

/// Moves the ranks of every node among their slots on it. Nodes whose ranks have constraints stay
/// as they are.
///
/// # Errors
/// None for a placement that fits.
pub(crate) fn arrange_inside_nodes(
    target: &NetworkTarget,
    matrix: &Matrix,
    options: &Options,
    slot_of_rank: List<Rank, Slot>,
) -> Result<List<Rank, Slot>, PlacementError> {
    let tree = target.slot_tree.topology();
    let depth = target.nodes.depth();
    if !target.slot_tree.is_free() || depth + 1 >= tree.depth() {
        // With one level below the nodes, all distances are equal.
        return Ok(slot_of_rank);
    }
    let mut slots = slot_of_rank;
    let mut of_node: Vec<Vec<Rank>> = vec![Vec::new(); target.nodes.count()];
    for (rank, &slot) in slots.iter_enumerated() {
        of_node[target.node_of_slot[slot.0] as usize].push(rank);
    }
    let parts = tree.parts(depth)?;
    let mut number: List<Rank, usize> = vec![usize::MAX; matrix.order()].into();
    for (node, ranks) in of_node.iter().enumerate() {
        if ranks.len() < 2 {
            continue;
        }
        let first = tree.leaf_range(depth, node).start;
        for (at, &rank) in ranks.iter().enumerate() {
            number[rank] = at;
        }
        let entries = ranks.iter().flat_map(|&rank| {
            let row = matrix
                .row(rank.0)
                .map(|(to, value)| (number[Rank(to)], value));
            let inside = row.filter(|&(to, _)| to != usize::MAX);
            let from = number[rank];
            inside.map(move |(to, value)| (from, to, value))
        });
        let inner = Matrix::from_entries(ranks.len(), entries.collect::<Vec<_>>())?;
        ranks.iter().for_each(|&rank| number[rank] = usize::MAX);
        if inner.non_zeros() == 0 {
            continue;
        }
        let current = Leaf::list(ranks.iter().map(|&rank| slots[rank].0 - first));
        let options = Options {
            current: Some(&current),
            seed: options.seed,
            effort: options.effort,
            ..Options::default()
        };
        let placed = place_on_tree(Strategy::Best, &inner, &parts[node], &options)?;
        for (&rank, leaf) in ranks.iter().zip(placed.placement.leaf_of_rank) {
            slots[rank] = Slot(first + leaf.0);
        }
    }
    Ok(slots)
}
