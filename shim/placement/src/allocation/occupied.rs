//! Core of each process of a host, as far as it is known.

use treepie_base::Leaf;
use treepie_topology::Topology;

/// Assigns a leaf to each process of one host, whose leaves are `leaves`; `allowed` has the numbers
/// of the cores that each process may use. A process that is bound to one core gets that core; the
/// others get the remaining leaves in order. If there are more processes than leaves, each leaf
/// gets a second process, then a third, and so on.
pub fn occupy(topology: &Topology, leaves: Vec<Leaf>, allowed: &[Vec<usize>]) -> Vec<Leaf> {
    let fits = |leaf: Leaf, allowed: &[usize]| {
        let number = topology.leaf(leaf).os_index;
        number.is_some_and(|number| allowed.contains(&number))
    };
    let bound: Vec<Option<Leaf>> = allowed
        .iter()
        .map(|allowed| only(leaves.iter().copied().filter(|&leaf| fits(leaf, allowed))))
        .collect();
    // Lists every leaf as often as it may be needed: first each once, then each again.
    let mut free: Vec<Leaf> = Vec::new();
    let mut left = allowed.len();
    while left > 0 && !leaves.is_empty() {
        free.extend(&leaves);
        left = left.saturating_sub(leaves.len());
    }
    for leaf in bound.iter().flatten() {
        if let Some(place) = free.iter().position(|other| other == leaf) {
            free.remove(place);
        }
    }
    let mut occupied = Vec::with_capacity(allowed.len());
    for (allowed, bound) in allowed.iter().zip(bound) {
        let leaf = bound.or_else(|| {
            let place = free.iter().position(|&leaf| fits(leaf, allowed));
            let place = place.unwrap_or(0);
            (place < free.len()).then(|| free.remove(place))
        });
        // Without leaves there is no assignment.
        occupied.push(leaf.or(leaves.first().copied()).unwrap_or(Leaf(0)));
    }
    occupied
}

/// Returns the only item, or `None` if there is no item or more than one.
pub(super) fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    items.next().filter(|_| items.next().is_none())
}
