//! Locations of the job's processes, by which ranks are reordered.

use treepie_base::{Leaf, List, Process};
use treepie_topology::Topology;

/// Topology and locations that every call uses.
pub(super) struct Seats {
    pub(super) topology: Topology,
    pub(super) leaf_of_process: List<Process, Leaf>,
}
