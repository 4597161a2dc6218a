//! Links of a tree: one above each of its nodes.

use crate::constraints::slot_tree::SlotTree;
use crate::objective::links::link_lengths;
use crate::target::links::{Links, Load, OFFERS};
use crate::target::occupancy::Occupancy;
use treepie_base::Leaf;
use treepie_topology::Topology;

/// Links of a tree of slots. Those of the lowest level of leaves do not count: the traffic of a
/// rank crosses the link of its leaf in any placement.
pub(crate) struct TreeLinks<'a> {
    tree: &'a Topology,
    /// Number of the first link of each level, and finally of all links.
    first: Vec<usize>,
    /// Length of a link of each level.
    lengths: Vec<f64>,
}

impl<'a> TreeLinks<'a> {
    pub(crate) fn new(slot_tree: &'a SlotTree) -> Self {
        let tree = slot_tree.topology();
        let mut first = vec![0];
        for depth in 1..slot_tree.levels_of_leaves() {
            first.push(first[depth - 1] + tree.node_count(depth));
        }
        TreeLinks {
            tree,
            first,
            lengths: link_lengths(tree),
        }
    }

    /// Number of levels that have links.
    fn levels(&self) -> usize {
        self.first.len() - 1
    }

    /// Level of a link.
    fn level(&self, link: usize) -> usize {
        self.first.partition_point(|&first| first <= link) - 1
    }

    /// Slots below a link.
    fn below(&self, link: usize) -> std::ops::Range<usize> {
        let level = self.level(link);
        self.tree.leaf_range(level + 1, link - self.first[level])
    }
}

impl Links for TreeLinks<'_> {
    fn count(&self) -> usize {
        self.first[self.levels()]
    }

    fn weight(&self, link: usize) -> f64 {
        self.lengths[self.level(link)]
    }

    fn distance(&self, a: usize, b: usize) -> f64 {
        let level = self.tree.common_level(Leaf(a), Leaf(b));
        let distances = self.tree.level_distances();
        distances.get(level).copied().unwrap_or(0.0)
    }

    fn route(&self, a: usize, b: usize, traffic: Load, mut each: impl FnMut(usize, Load)) {
        let back = Load {
            sent: traffic.received,
            received: traffic.sent,
        };
        let (mut a, mut b) = (a, b);
        for level in (0..self.tree.depth()).rev() {
            if a == b {
                break;
            }
            if level < self.levels() {
                each(self.first[level] + a, traffic);
                each(self.first[level] + b, back);
            }
            a = self.tree.parent(level + 1, a);
            b = self.tree.parent(level + 1, b);
        }
    }

    fn load_of_ranks(&self, link: usize, ranks: &Occupancy) -> Vec<(f64, usize)> {
        let below = self.below(link);
        let outside = |rank: usize| -> f64 {
            let partners = ranks.partners[rank].iter();
            let outside = partners.filter(|p| !below.contains(&ranks.slot_of[p.rank as usize]));
            outside.map(|partner| partner.sent + partner.received).sum()
        };
        let inside = below.clone().filter_map(|slot| ranks.rank_on[slot]);
        inside.map(|rank| (outside(rank), rank)).collect()
    }

    /// Slots on the other side of the link: those next to the rank's partners, and some spread over
    /// the tree.
    fn offers(&mut self, rank: usize, link: usize, ranks: &Occupancy) -> Vec<usize> {
        let below = self.below(link);
        let lowest = self.levels();
        let mut offers: Vec<usize> = Vec::new();
        for partner in &ranks.partners[rank] {
            let slot = ranks.slot_of[partner.rank as usize];
            if !below.contains(&slot) && offers.len() < OFFERS {
                let beside = self.tree.ancestor(Leaf(slot), lowest);
                offers.extend(self.tree.leaf_range(lowest, beside));
            }
        }
        offers.truncate(OFFERS);
        let leaves = self.tree.leaf_count();
        let step = leaves.div_ceil(OFFERS / 2);
        offers.extend((0..leaves).skip(rank % step).step_by(step));
        offers.retain(|slot| !below.contains(slot) && !self.tree.leaf(Leaf(*slot)).forbidden);
        offers.sort_unstable();
        offers.dedup();
        offers
    }
}
