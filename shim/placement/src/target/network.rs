//! Ranks, slots and nodes of a job on a network.

use crate::coarsen::graph::Graph;
use crate::constraints::slot_tree::{Occupant, SlotTree};
use crate::target::cells::Cells;
use crate::target::nodes::NetworkNodes;
use treepie_base::{List, Rank, Slice, Slot};
use treepie_traffic::Matrix;

/// No vertex.
pub(crate) const NOBODY: u32 = u32::MAX;

/// The graph of ranks and of empty slots, and their possible locations. A vertex has one slot, a
/// slot is on one node.
pub(crate) struct NetworkTarget<'a> {
    /// The graph, with a vertex for each rank, then one for each empty slot.
    pub graph: Graph,
    /// Number of ranks.
    pub ranks: usize,
    /// The nodes on their network.
    pub nodes: &'a NetworkNodes,
    /// The constraints.
    pub slot_tree: &'a SlotTree,
    /// The node of every slot.
    pub node_of_slot: Vec<u32>,
    /// Usable slots, node after node.
    slots: Vec<u32>,
    /// Start of the slots of each node in `slots`.
    starts: Vec<usize>,
    /// Largest number of slots of a node.
    pub most_slots: usize,
}

impl<'a> NetworkTarget<'a> {
    pub(crate) fn new(matrix: &Matrix, nodes: &'a NetworkNodes, slot_tree: &'a SlotTree) -> Self {
        let tree = slot_tree.topology();
        let node_of_slot = nodes.node_of_leaf(tree).into();
        let mut slots = Vec::new();
        let mut starts = vec![0];
        for node in 0..nodes.count() {
            let below = tree.leaves_below(nodes.depth(), node);
            slots.extend(
                below
                    .filter(|&s| !tree.leaf(s).forbidden)
                    .map(|s| s.0 as u32),
            );
            starts.push(slots.len());
        }
        NetworkTarget {
            graph: Graph::new(matrix, slots.len()),
            ranks: matrix.order(),
            nodes,
            slot_tree,
            node_of_slot,
            slots,
            most_slots: starts
                .windows(2)
                .map(|pair| pair[1] - pair[0])
                .max()
                .unwrap_or(0),
            starts,
        }
    }

    /// Usable slots of a node.
    pub(crate) fn slots_of(&self, node: usize) -> &[u32] {
        &self.slots[self.starts[node]..self.starts[node + 1]]
    }

    /// All usable slots, node after node.
    pub(crate) fn slots(&self) -> &[u32] {
        &self.slots
    }

    /// The slot of every vertex, from that of every rank; the other vertices take the remaining
    /// slots. `None` if a rank is not on a usable slot.
    pub(crate) fn complete(&self, slot_of_rank: &Slice<Rank, Slot>) -> Option<Vec<u32>> {
        let mut taken = vec![true; self.node_of_slot.len()];
        self.slots
            .iter()
            .for_each(|&slot| taken[slot as usize] = false);
        let mut all = Vec::with_capacity(self.graph.order());
        for &Slot(slot) in slot_of_rank {
            if std::mem::replace(taken.get_mut(slot)?, true) {
                return None;
            }
            all.push(slot as u32);
        }
        let free = self.slots.iter().filter(|&&slot| !taken[slot as usize]);
        all.extend(free);
        (all.len() == self.graph.order()).then_some(all)
    }

    /// The slots of the ranks alone.
    pub(crate) fn of_ranks(&self, slot_of: &[u32]) -> List<Rank, Slot> {
        let slots = slot_of[..self.ranks].iter();
        Slot::list(slots.map(|&slot| slot as usize))
    }

    /// Hop-bytes of ranks in slots.
    pub(crate) fn cost(&self, slot_of_rank: &Slice<Rank, Slot>) -> f64 {
        let node = |vertex: usize| self.node_of_slot[slot_of_rank[Rank(vertex)].0] as usize;
        let of_rank = |rank: usize| {
            let here = node(rank);
            let row = self.graph.row(rank).filter(|&(other, _)| other < rank);
            row.map(|(other, weight)| weight * f64::from(self.nodes.distance(here, node(other))))
                .sum::<f64>()
        };
        (0..self.ranks).map(of_rank).sum()
    }

    /// True if two vertices may swap their slots.
    pub(crate) fn may_swap(&self, a: (u32, u32), b: (u32, u32)) -> bool {
        let of = |(vertex, slot): (u32, u32)| Occupant {
            rank: ((vertex as usize) < self.ranks).then_some(Rank(vertex as usize)),
            slot: Slot(slot as usize),
        };
        self.slot_tree.may_swap(of(a), of(b))
    }
}

/// Cells are nodes.
impl Cells for NetworkTarget<'_> {
    fn count(&self) -> usize {
        self.nodes.count()
    }

    fn slots(&self, cell: usize) -> impl Iterator<Item = usize> {
        self.slots_of(cell).iter().map(|&slot| slot as usize)
    }

    fn capacity(&self, cell: usize) -> usize {
        self.slots_of(cell).len()
    }

    fn distance(&self, a: usize, b: usize) -> f64 {
        f64::from(self.nodes.distance(a, b))
    }

    fn least_distance(&self) -> f64 {
        0.0
    }

    /// Returns all: equivalent positions are not known.
    fn distinct(&self, _placed: &[usize]) -> Vec<usize> {
        (0..self.nodes.count()).collect()
    }
}
