//! Lower bound of hop-bytes on networks.

use crate::bound::tree::lower_bound_on_tree;
use crate::constraints::request::Constraints;
use crate::constraints::slot_tree::SlotTree;
use crate::error::PlacementError;
use crate::target::network::NetworkTarget;
use crate::target::nodes::NetworkNodes;
use treepie_base::{Leaf, List, Rank, Slice, Slot};
use treepie_topology::networks::Network;
use treepie_topology::{ProcessingUnit, Topology, Tree};
use treepie_traffic::Matrix;

/// Largest number of nodes for which all pairs are examined.
const ALL_PAIRS: usize = 2048;

/// The larger of two bounds for ranks on the allowed leaves of `topology`. `placed` is a placement;
/// the search for a better bound ends at its cost.
///
/// *Neighbours*: each rank has its heaviest partners at the nearest slots that any node has.
/// *Groups*: nodes exchange at least the traffic that must leave groups of their size, over at
/// least the shortest distance.
///
/// # Errors
/// There are more ranks than leaves.
pub(crate) fn lower_bound_on_network(
    matrix: &Matrix,
    topology: &Topology,
    nodes: &NetworkNodes,
    placed: &Slice<Rank, Leaf>,
) -> Result<f64, PlacementError> {
    let unconstrained = Constraints::default();
    let slot_tree = SlotTree::new(&unconstrained, matrix.order(), topology)?;
    let target = NetworkTarget::new(matrix, nodes, &slot_tree);
    let mut best = neighbours(&target);
    // Without constraints, slots are leaves.
    let placed = SlotTree::from_own_leaves(placed.to_owned());
    let value = target.cost(&placed);
    if best < value * (1.0 - 1e-9) {
        best = best.max(groups(matrix, &target, &placed)?);
    }
    Ok(best.min(value))
}

/// Least distance to the i-th nearest other slot, over all nodes.
fn profile(target: &NetworkTarget, degree: usize) -> Option<Vec<f64>> {
    let nodes = target.nodes;
    let count = nodes.count();
    let one_for_all = match nodes.network() {
        // Every node of a full torus has the same distances.
        Network::Lattice(lattice) => {
            let whole = count == lattice.sizes().iter().product::<usize>();
            whole
                && lattice
                    .wraps()
                    .iter()
                    .zip(lattice.sizes())
                    .all(|(&w, &s)| w || s <= 2)
        }
        _ => false,
    };
    if count > ALL_PAIRS && !one_for_all {
        return None;
    }
    let starts = if one_for_all { 1 } else { count };
    let mut profile = vec![f64::INFINITY; degree];
    let mut at = Vec::new();
    for node in (0..starts).filter(|&node| !target.slots_of(node).is_empty()) {
        at.clear();
        for other in 0..count {
            let slots = target.slots_of(other).len() - usize::from(other == node);
            let distance = nodes.distance(node, other);
            at.extend(std::iter::repeat_n(distance, slots));
        }
        let most = degree.min(at.len());
        if most == 0 {
            continue;
        }
        at.select_nth_unstable(most - 1);
        at.truncate(most);
        at.sort_unstable();
        for (least, &distance) in profile.iter_mut().zip(&at) {
            *least = least.min(f64::from(distance));
        }
    }
    Some(profile)
}

fn neighbours(target: &NetworkTarget) -> f64 {
    let graph = &target.graph;
    let degree = (0..target.ranks)
        .map(|rank| graph.degree(rank))
        .max()
        .unwrap_or(0);
    let Some(profile) = profile(target, degree) else {
        return 0.0;
    };
    let mut sum = 0.0;
    for rank in 0..target.ranks {
        let mut weights = graph.weights(rank).to_vec();
        weights.sort_by(|a, b| b.total_cmp(a));
        sum += weights
            .iter()
            .zip(&profile)
            .map(|(w, d)| w * d)
            .sum::<f64>();
    }
    sum / 2.0
}

/// Applies the bound for trees to the tree of nodes and positions with the shortest distances.
fn groups(
    matrix: &Matrix,
    target: &NetworkTarget,
    placed: &Slice<Rank, Slot>,
) -> Result<f64, PlacementError> {
    let nodes = target.nodes;
    let mut order: Vec<usize> = (0..nodes.count())
        .filter(|&node| !target.slots_of(node).is_empty())
        .collect();
    order.sort_by_key(|&node| (nodes.position(node), node));
    let mut leaf_of_slot = List::from(vec![Leaf(usize::MAX); target.node_of_slot.len()]);
    let mut next = 0;
    let mut trees = Vec::new();
    for at_position in order.chunk_by(|&a, &b| nodes.position(a) == nodes.position(b)) {
        let mut inner = Vec::new();
        for &node in at_position {
            for &slot in target.slots_of(node) {
                leaf_of_slot[Slot(slot as usize)] = Leaf(next);
                next += 1;
            }
            let leaves = vec![Tree::Leaf(ProcessingUnit::default()); target.slots_of(node).len()];
            inner.push(Tree::Inner(leaves));
        }
        trees.push(Tree::Inner(inner));
    }
    let positions: Vec<usize> = order
        .chunk_by(|&a, &b| nodes.position(a) == nodes.position(b))
        .map(|there| nodes.position(there[0]))
        .collect();
    let Some((same, other)) = shortest(nodes.network(), &positions, order.len()) else {
        return Ok(0.0);
    };
    let tree = Topology::from_tree(&Tree::Inner(trees), None)?;
    let tree = tree.with_level_distances(&[other.max(same), same, 0.0])?;
    let placed: List<Rank, Leaf> = placed.iter().map(|&slot| leaf_of_slot[slot]).collect();
    Ok(lower_bound_on_tree(matrix, &tree, &placed))
}

/// Shortest distances between nodes at one position, and at two.
fn shortest(network: &Network, positions: &[usize], nodes: usize) -> Option<(f64, f64)> {
    let same = match nodes > positions.len() {
        true => network.distance(positions[0], positions[0]),
        false => 0,
    };
    if positions.len() > ALL_PAIRS {
        return None;
    }
    let mut other = u32::MAX;
    for (at, &a) in positions.iter().enumerate() {
        for &b in &positions[..at] {
            other = other.min(network.distance(a, b));
        }
    }
    let other = if other == u32::MAX { same } else { other };
    Some((f64::from(same), f64::from(other)))
}
