//! Capacities of a tree: the number of ranks that fit below each node.

use treepie_base::Leaf;
use treepie_topology::Topology;

/// A topology and its leaves that the search fills, with one rank on each.
#[derive(Debug)]
pub struct Slots<'a> {
    topology: &'a Topology,
    /// Number of usable leaves below each node, by depth.
    room: Vec<Vec<u32>>,
}

impl<'a> Slots<'a> {
    /// All allowed leaves.
    pub fn new(topology: &'a Topology) -> Self {
        let allowed = topology.leaves().iter();
        Slots::on(topology, allowed.map(|leaf| !leaf.forbidden).collect())
    }

    fn on(topology: &'a Topology, usable: Vec<bool>) -> Self {
        let mut room = vec![usable.into_iter().map(u32::from).collect::<Vec<u32>>()];
        for depth in (0..topology.depth()).rev() {
            let below = &room[room.len() - 1];
            let sums = (0..topology.node_count(depth))
                .map(|node| below[topology.children(depth, node)].iter().sum());
            let sums = sums.collect();
            room.push(sums);
        }
        room.reverse();
        Slots { topology, room }
    }

    /// Creates slots on the allowed leaves worth filling with `ranks` ranks: those below the lowest
    /// node that has enough, and of its children only as many as hold about twice the ranks. More
    /// distant leaves would only take time.
    pub fn for_ranks(topology: &'a Topology, ranks: usize) -> Self {
        let all = Slots::new(topology);
        let (mut depth, mut node) = (0, 0);
        while depth < all.group_depth() {
            let children = topology.children(depth, node);
            let enough = children.filter(|&child| all.room(depth + 1, child) >= ranks);
            let Some(smallest) = enough.min_by_key(|&child| all.room(depth + 1, child)) else {
                break;
            };
            (depth, node) = (depth + 1, smallest);
        }
        let mut children: Vec<usize> = topology.children(depth, node).collect();
        children.sort_by_key(|&child| std::cmp::Reverse(all.room(depth + 1, child)));
        let mut usable = vec![false; topology.leaf_count()];
        let mut room = 0;
        for child in children {
            if room >= 2 * ranks {
                break;
            }
            for leaf in topology.leaves_below(depth + 1, child) {
                usable[leaf.0] = !topology.leaf(leaf).forbidden;
            }
            room += all.room(depth + 1, child);
        }
        Slots::on(topology, usable)
    }

    /// Number of slots.
    pub fn total(&self) -> usize {
        self.room[0][0] as usize
    }

    /// Depth of the groups: the nodes just above the leaves, within which positions are equivalent.
    pub(crate) fn group_depth(&self) -> usize {
        self.topology.depth() - 1
    }

    /// Number of groups, including those without slots.
    pub fn groups(&self) -> usize {
        self.topology.node_count(self.group_depth())
    }

    /// The group of a leaf.
    pub fn group_of(&self, leaf: usize) -> usize {
        self.topology.ancestor(Leaf(leaf), self.group_depth())
    }

    /// Number of slots below a node.
    pub fn room(&self, depth: usize, node: usize) -> usize {
        self.room[depth][node] as usize
    }

    /// The children of a node that have slots.
    pub fn children(&self, depth: usize, node: usize) -> Vec<u32> {
        let children = self.topology.children(depth, node);
        let with_room = children.filter(|&child| self.room(depth + 1, child) > 0);
        with_room.map(|child| child as u32).collect()
    }

    /// The leaves below a node that have a slot.
    pub fn leaves(&self, depth: usize, node: usize) -> impl Iterator<Item = usize> + '_ {
        let slots = &self.room[self.topology.depth()];
        let leaves = self.topology.leaf_range(depth, node);
        leaves.filter(|&leaf| slots[leaf] > 0)
    }

    /// Distance of ranks whose lowest common node is at `depth`.
    pub fn distance(&self, depth: usize) -> f64 {
        self.topology.level_distances()[depth]
    }

    /// The tree.
    pub fn topology(&self) -> &'a Topology {
        self.topology
    }

    /// Arities from the root down to the groups, if all nodes of a depth have the same arity and
    /// all groups have the same number of slots.
    pub fn arities(&self) -> Option<Vec<usize>> {
        let mut arities = self.topology.arities()?;
        arities.truncate(self.group_depth());
        let groups = &self.room[self.group_depth()];
        let equal = groups.windows(2).all(|pair| pair[0] == pair[1]);
        equal.then_some(arities)
    }
}
