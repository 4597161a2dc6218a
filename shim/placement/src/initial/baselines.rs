//! The mappings that need no matrix (thesis 2.4.1, 2.5.1).

use treepie_base::{Leaf, List, Rank};
use treepie_topology::Topology;

/// Packed: rank `i` on the `i`-th leaf in logical order, forbidden ones left out.
pub(crate) fn packed(topology: &Topology, ranks: usize) -> List<Rank, Leaf> {
    let allowed = topology.allowed_leaves();
    allowed.into_iter().take(ranks).collect()
}

/// Round-robin: rank `i` on the `i`-th leaf by physical number, machine after machine, forbidden
/// ones left out. On machines that number their sockets alternately this distributes ranks over the
/// sockets round-robin.
pub(crate) fn round_robin(topology: &Topology, ranks: usize) -> List<Rank, Leaf> {
    let order = topology.physical_order();
    let allowed = order
        .into_iter()
        .filter(|&leaf| !topology.leaf(leaf).forbidden);
    allowed.take(ranks).collect()
}
