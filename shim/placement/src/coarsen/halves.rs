//! Tree of the nodes of a job, cut at the widest extent of the network; the strategies for trees
//! run on it. Dragonflies have groups and routers, fat trees subtrees; tori, meshes and graphs are
//! halved recursively, tori at the largest gap between occupied coordinates (as Zoltan2 does).

use crate::error::PlacementError;
use crate::random::Random;
use crate::target::network::NetworkTarget;
use crate::target::nodes::NetworkNodes;
use treepie_base::{Leaf, List, Rank, Slice, Slot};
use treepie_topology::networks::{Lattice, Network};
use treepie_topology::{ProcessingUnit, Topology, Tree};

/// Number of slots from which the tree ends at the level that has [`PARTS`] or more parts:
/// annealing places ranks inside them.
const MANY: usize = 20_000;

/// Least number of parts of a tree with many slots.
const PARTS: usize = 8;

/// Number of sampled pairs for the mean distance of a level.
const SAMPLES: usize = 2000;

/// The tree and the slots of its leaves.
pub(crate) struct Halves {
    /// The tree; its level distances are means over pairs of nodes.
    pub tree: Topology,
    /// The slot of every leaf.
    pub slot_of_leaf: List<Leaf, Slot>,
}

impl Halves {
    /// Builds the tree of all usable slots.
    ///
    /// # Errors
    /// `None` without slots of at least one node.
    pub fn new(target: &NetworkTarget) -> Result<Self, PlacementError> {
        let nodes = target.nodes;
        let used: Vec<u32> = (0..nodes.count())
            .filter(|&node| !target.slots_of(node).is_empty())
            .map(|node| node as u32)
            .collect();
        let mut parts = divided(nodes, used);
        if target.slots().len() > MANY {
            let mut depth = 0;
            while parts.count(depth) < PARTS && depth < PARTS {
                depth += 1;
            }
            parts = parts.flattened(depth);
        }
        let mut slot_of_leaf = List::new();
        let tree = parts.tree(target, &mut slot_of_leaf);
        let tree = match tree {
            Tree::Leaf(_) => Tree::Inner(vec![tree]),
            inner => inner,
        };
        let tree = Topology::from_tree(&tree, None)?;
        let distances = mean_distances(&tree, target, &slot_of_leaf);
        Ok(Halves {
            tree: tree.with_level_distances(&distances)?,
            slot_of_leaf,
        })
    }

    /// The slots of ranks on leaves of the tree.
    pub fn slots(&self, leaf_of_rank: &Slice<Rank, Leaf>) -> List<Rank, Slot> {
        let slots = leaf_of_rank.iter().map(|&leaf| self.slot_of_leaf[leaf]);
        slots.collect()
    }
}

/// Nested parts of nodes.
enum NodeTree {
    Node(u32),
    Inner(Vec<NodeTree>),
}

impl NodeTree {
    /// Number of parts at a depth.
    fn count(&self, depth: usize) -> usize {
        match self {
            NodeTree::Inner(parts) if depth > 0 => {
                parts.iter().map(|part| part.count(depth - 1)).sum()
            }
            _ => 1,
        }
    }

    /// Removes the levels below a depth.
    fn flattened(self, depth: usize) -> NodeTree {
        match self {
            NodeTree::Node(node) => NodeTree::Node(node),
            NodeTree::Inner(parts) if depth > 0 => {
                let parts = parts.into_iter().map(|part| part.flattened(depth - 1));
                NodeTree::Inner(parts.collect())
            }
            inner => {
                let mut nodes = Vec::new();
                inner.collect(&mut nodes);
                NodeTree::Inner(nodes.into_iter().map(NodeTree::Node).collect())
            }
        }
    }

    fn collect(&self, nodes: &mut Vec<u32>) {
        match self {
            NodeTree::Node(node) => nodes.push(*node),
            NodeTree::Inner(parts) => parts.iter().for_each(|part| part.collect(nodes)),
        }
    }

    fn tree(&self, target: &NetworkTarget, slot_of_leaf: &mut List<Leaf, Slot>) -> Tree {
        match self {
            NodeTree::Node(node) => {
                let slots = target.slots_of(*node as usize);
                slot_of_leaf.extend(slots.iter().map(|&slot| Slot(slot as usize)));
                match slots.len() {
                    1 if target.most_slots == 1 => Tree::Leaf(ProcessingUnit::default()),
                    count => Tree::Inner(vec![Tree::Leaf(ProcessingUnit::default()); count]),
                }
            }
            NodeTree::Inner(parts) => {
                let parts = parts.iter().map(|part| part.tree(target, slot_of_leaf));
                Tree::Inner(parts.collect())
            }
        }
    }
}

fn divided(nodes: &NetworkNodes, used: Vec<u32>) -> NodeTree {
    let position = |node: u32| nodes.position(node as usize);
    match nodes.network() {
        Network::Lattice(lattice) => halved_lattice(lattice, nodes, used),
        Network::Graph(_) => halved_graph(nodes, used),
        Network::Dragonfly(dragonfly) => by_keys(used, &|node| {
            vec![dragonfly.group_of(position(node)), position(node)]
        }),
        Network::HyperX(hyperx) => by_keys(used, &|node| {
            let at = hyperx.coordinates(position(node));
            at[..hyperx.sizes().len()].iter().rev().copied().collect()
        }),
        Network::FatTree(tree) => by_keys(used, &|node| {
            let mut below = 1;
            let mut keys: Vec<usize> = tree
                .children()
                .iter()
                .map(|children| {
                    below *= children;
                    position(node) / below
                })
                .collect();
            keys.pop();
            keys.reverse();
            keys
        }),
        Network::Tree(tree) => by_keys(used, &|node| {
            let tree = tree.topology();
            (1..tree.depth())
                .map(|depth| tree.ancestor(Leaf(position(node)), depth))
                .collect()
        }),
    }
}

/// Groups of equal keys, the first key first.
fn by_keys(mut used: Vec<u32>, keys: &dyn Fn(u32) -> Vec<usize>) -> NodeTree {
    used.sort_by_cached_key(|&node| (keys(node), node));
    let keyed: Vec<(Vec<usize>, u32)> = used.into_iter().map(|node| (keys(node), node)).collect();
    grouped(&keyed, 0)
}

fn grouped(keyed: &[(Vec<usize>, u32)], level: usize) -> NodeTree {
    let depth = keyed.first().map_or(0, |(keys, _)| keys.len());
    if level == depth {
        return NodeTree::Inner(
            keyed
                .iter()
                .map(|&(_, node)| NodeTree::Node(node))
                .collect(),
        );
    }
    let groups = keyed.chunk_by(|a, b| a.0[level] == b.0[level]);
    NodeTree::Inner(groups.map(|group| grouped(group, level + 1)).collect())
}

/// Halves nodes of a lattice along the longest extent.
fn halved_lattice(lattice: &Lattice, nodes: &NetworkNodes, mut used: Vec<u32>) -> NodeTree {
    if used.len() == 1 {
        return NodeTree::Node(used[0]);
    }
    let at = |node: u32| lattice.coordinates(nodes.position(node as usize));
    let mut longest = (0, 0, 0);
    for (dimension, &size) in lattice.sizes().iter().enumerate() {
        let mut occupied = vec![false; size];
        used.iter()
            .for_each(|&node| occupied[at(node)[dimension]] = true);
        let (first, extent) = match lattice.wraps()[dimension] {
            true => around_gap(&occupied),
            false => {
                let first = occupied.iter().position(|&o| o).unwrap_or(0);
                let last = occupied.iter().rposition(|&o| o).unwrap_or(0);
                (first, last - first + 1)
            }
        };
        let length = extent * lattice.lengths()[dimension] as usize;
        if length > longest.0 {
            longest = (length, dimension, first);
        }
    }
    let (_, dimension, first) = longest;
    let size = lattice.sizes()[dimension];
    let along = |node: u32| (at(node)[dimension] + size - first) % size;
    used.sort_by_cached_key(|&node| (along(node), at(node), node));
    let middle = boundary(&used, along);
    let second = used.split_off(middle);
    NodeTree::Inner(vec![
        halved_lattice(lattice, nodes, used),
        halved_lattice(lattice, nodes, second),
    ])
}

/// The first occupied coordinate behind the largest gap of a closed dimension, and the extent from
/// there to the last one.
fn around_gap(occupied: &[bool]) -> (usize, usize) {
    let size = occupied.len();
    let mut best = (0, 0, size);
    for start in (0..size).filter(|&start| occupied[start]) {
        let gap = (1..size)
            .take_while(|step| !occupied[(start + size - step) % size])
            .count();
        if gap > best.0 {
            best = (gap, start, size - gap);
        }
    }
    (best.1, best.2)
}

/// The index at which to cut a sorted list in half: between two planes if one is near.
fn boundary(sorted: &[u32], along: impl Fn(u32) -> usize) -> usize {
    let middle = sorted.len() / 2;
    let slack = sorted.len() / 8;
    let is_edge = |at: &usize| along(sorted[at - 1]) != along(sorted[*at]);
    let near = (0..=slack).flat_map(|step| [middle - step, middle + step]);
    let mut near = near.filter(|&at| at > 0 && at < sorted.len());
    near.find(is_edge).unwrap_or(middle)
}

/// Halves nodes of a graph between two that are far apart.
fn halved_graph(nodes: &NetworkNodes, mut used: Vec<u32>) -> NodeTree {
    if used.len() == 1 {
        return NodeTree::Node(used[0]);
    }
    let far = |from: u32| {
        let distance = |&&node: &&u32| (nodes.distance(from as usize, node as usize), node);
        used.iter().max_by_key(distance).copied().unwrap_or(from)
    };
    let one = far(used[0]);
    let other = far(one);
    let nearer = |&node: &u32| {
        let to = |end: u32| i64::from(nodes.distance(node as usize, end as usize));
        (to(one) - to(other), node)
    };
    used.sort_by_cached_key(nearer);
    let second = used.split_off(used.len() / 2);
    NodeTree::Inner(vec![halved_graph(nodes, used), halved_graph(nodes, second)])
}

/// Mean distance of nodes whose lowest common ancestor is at each depth, not increasing downwards.
fn mean_distances(
    tree: &Topology,
    target: &NetworkTarget,
    slot_of_leaf: &Slice<Leaf, Slot>,
) -> Vec<f64> {
    let mut random = Random::new(1);
    let node = |leaf: usize| target.node_of_slot[slot_of_leaf[Leaf(leaf)].0] as usize;
    let means = (0..tree.depth()).map(|depth| {
        let count = tree.node_count(depth);
        let (mut sum, mut pairs) = (0.0, 0);
        for sample in 0..SAMPLES / 4 {
            let parent = match count <= SAMPLES / 4 {
                true => sample % count,
                false => random.below(count),
            };
            let children = tree.children(depth, parent);
            if children.len() < 2 {
                continue;
            }
            for _ in 0..4 {
                let one = random.below(children.len());
                let other = (one + 1 + random.below(children.len() - 1)) % children.len();
                let mut leaf = |child: usize| {
                    let below = tree.leaf_range(depth + 1, children.start + child);
                    below.start + random.below(below.len())
                };
                let (a, b) = (leaf(one), leaf(other));
                sum += f64::from(target.nodes.distance(node(a), node(b)));
                pairs += 1;
            }
        }
        match pairs {
            0 => 0.0,
            pairs => sum / f64::from(pairs),
        }
    });
    let mut means: Vec<f64> = means.collect();
    for depth in (1..means.len()).rev() {
        means[depth - 1] = means[depth - 1].max(means[depth]);
    }
    means
}
