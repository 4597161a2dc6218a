//! Ranks of every node on its cores, by the strategies for trees.

use crate::error::PlacementError;
use crate::options::Options;
use crate::search::tree::place_on_tree;
use crate::strategy::Strategy;
use crate::target::network::NetworkTarget;
use treepie_traffic::Matrix;

/// Moves the ranks of every node among the slots that they have there. Nodes whose ranks are under
/// constraints stay as they are.
///
/// # Errors
/// None for a placement that fits.
pub(crate) fn arrange_inside_nodes(
    target: &NetworkTarget,
    matrix: &Matrix,
    options: &Options,
    slot_of_rank: Vec<usize>,
) -> Result<Vec<usize>, PlacementError> {
    let tree = target.slot_tree.topology();
    let depth = target.nodes.depth();
    if !target.slot_tree.is_free() || depth + 1 >= tree.depth() {
        // One level below the nodes has no near and far.
        return Ok(slot_of_rank);
    }
    let mut slots = slot_of_rank;
    let mut of_node: Vec<Vec<u32>> = vec![Vec::new(); target.nodes.count()];
    for (rank, &slot) in slots.iter().enumerate() {
        of_node[target.node_of_slot[slot] as usize].push(rank as u32);
    }
    let parts = tree.parts(depth)?;
    let mut number = vec![usize::MAX; matrix.order()];
    for (node, ranks) in of_node.iter().enumerate() {
        if ranks.len() < 2 {
            continue;
        }
        let first = tree.leaves_below(depth, node).start;
        for (at, &rank) in ranks.iter().enumerate() {
            number[rank as usize] = at;
        }
        let entries = ranks.iter().flat_map(|&rank| {
            let row = matrix.row(rank as usize);
            let inside = row.filter(|&(to, _)| number[to] != usize::MAX);
            let number = &number;
            inside.map(move |(to, value)| (number[rank as usize], number[to], value))
        });
        let inner = Matrix::from_entries(ranks.len(), entries.collect::<Vec<_>>())?;
        ranks
            .iter()
            .for_each(|&rank| number[rank as usize] = usize::MAX);
        if inner.non_zeros() == 0 {
            continue;
        }
        let current: Vec<usize> = ranks
            .iter()
            .map(|&rank| slots[rank as usize] - first)
            .collect();
        let options = Options {
            current: Some(&current),
            seed: options.seed,
            effort: options.effort,
            ..Options::default()
        };
        let placed = place_on_tree(Strategy::Best, &inner, &parts[node], &options)?;
        for (&rank, leaf) in ranks.iter().zip(placed.placement.leaf_of_rank) {
            slots[rank as usize] = first + leaf;
        }
    }
    Ok(slots)
}
