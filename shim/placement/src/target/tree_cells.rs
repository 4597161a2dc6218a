//! Cells of a tree: the nodes just above its leaves.

use std::collections::HashMap;

use crate::target::cells::Cells;
use crate::target::slots::Slots;
use treepie_base::Leaf;

/// Cells of the slots of a tree, and the equivalence of subtrees.
pub(crate) struct TreeCells<'a> {
    slots: &'a Slots<'a>,
    /// A number for each node by depth, equal for nodes with the same subtrees.
    shapes: Vec<Vec<u32>>,
}

impl<'a> TreeCells<'a> {
    pub(crate) fn new(slots: &'a Slots<'a>) -> Self {
        TreeCells {
            shapes: shapes(slots),
            slots,
        }
    }

    fn distinct_below(&self, depth: usize, node: usize, placed: &[usize], found: &mut Vec<usize>) {
        if depth == self.slots.group_depth() {
            found.push(node);
            return;
        }
        let mut empty: Vec<u32> = Vec::new();
        for child in self.slots.children(depth, node) {
            let child = child as usize;
            let leaves = self.slots.topology().leaf_range(depth + 1, child);
            let is_inside = |&cell: &usize| leaves.contains(&self.first_leaf(cell));
            if !placed.iter().any(is_inside) {
                let shape = self.shapes[depth + 1][child];
                if empty.contains(&shape) {
                    continue;
                }
                empty.push(shape);
            }
            self.distinct_below(depth + 1, child, placed, found);
        }
    }

    fn first_leaf(&self, cell: usize) -> usize {
        let topology = self.slots.topology();
        topology.leaf_range(self.slots.group_depth(), cell).start
    }
}

impl Cells for TreeCells<'_> {
    fn count(&self) -> usize {
        self.slots.groups()
    }

    fn slots(&self, cell: usize) -> impl Iterator<Item = usize> {
        self.slots.leaves(self.slots.group_depth(), cell)
    }

    fn capacity(&self, cell: usize) -> usize {
        self.slots.room(self.slots.group_depth(), cell)
    }

    fn distance(&self, a: usize, b: usize) -> f64 {
        let topology = self.slots.topology();
        let level = topology.common_level(Leaf(self.first_leaf(a)), Leaf(self.first_leaf(b)));
        self.slots.distance(level.min(self.slots.group_depth()))
    }

    fn least_distance(&self) -> f64 {
        self.slots.distance(self.slots.group_depth())
    }

    fn distinct(&self, placed: &[usize]) -> Vec<usize> {
        let mut found = Vec::new();
        self.distinct_below(0, 0, placed, &mut found);
        found
    }
}

fn shapes(slots: &Slots) -> Vec<Vec<u32>> {
    let lowest = slots.group_depth();
    let rooms = (0..slots.groups()).map(|group| slots.room(lowest, group) as u32);
    let mut shapes: Vec<Vec<u32>> = vec![rooms.collect()];
    for depth in (0..lowest).rev() {
        let below = &shapes[shapes.len() - 1];
        let mut known: HashMap<Vec<u32>, u32> = HashMap::new();
        let shape = |node: usize| {
            let children = slots.children(depth, node).into_iter();
            let inside = children.map(|child| below[child as usize]).collect();
            let next = known.len() as u32;
            *known.entry(inside).or_insert(next)
        };
        let level = (0..slots.topology().node_count(depth)).map(shape).collect();
        shapes.push(level);
    }
    shapes.reverse();
    shapes
}
