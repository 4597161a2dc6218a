//! Part of the tree whose ranks are assigned in one step: a few nodes, and the gain of two ranks
//! that share one.

use crate::target::slots::Slots;

/// Maximum number of cells of a block, unless a node has more children.
pub const CELLS: usize = 64;

/// Maximum number of children of a node that is not divided into bundles of children.
pub(crate) const WIDEST: usize = 64;

/// One node, or some children of one node.
#[derive(Debug, Clone)]
pub(crate) struct Siblings {
    /// Their depth.
    pub depth: usize,
    /// Their numbers; all below one parent.
    pub nodes: Vec<u32>,
}

impl Siblings {
    /// Slots below them.
    pub fn size(&self, slots: &Slots) -> usize {
        let rooms = self.nodes.iter();
        rooms
            .map(|&node| slots.room(self.depth, node as usize))
            .sum()
    }
}

/// Cells among which ranks are divided.
#[derive(Debug)]
pub struct Block {
    /// The cells, in the order of the tree.
    pub cells: Vec<Siblings>,
    /// Ranks in each cell.
    pub sizes: Vec<usize>,
    /// Distance saved for a unit of weight between two cells, relative to the largest distance in
    /// the block: `saved[a * cells + b]`.
    pub saved: Vec<f64>,
    /// For cells `a` and `b`, the cells that lie with `a` below the child of
    /// their lowest common node: `side[a * cells + b]` is a range.
    side: Vec<(u32, u32)>,
    /// The division as a binary tree from the top: ranges of cells, each cut in two.
    pub(crate) cuts: Vec<Cut>,
}

/// A range of cells that begins at `start` is divided at `middle`.
#[derive(Debug, Clone, Copy)]
pub struct Cut {
    pub start: usize,
    pub middle: usize,
}

/// A node of the tree within a block: a range of cells and its children.
struct Node {
    start: usize,
    end: usize,
    distance: f64,
    children: Vec<Node>,
}

impl Block {
    /// Builds the block below `top`, with as many levels as fit into [`CELLS`].
    pub fn below(slots: &Slots, top: &Siblings) -> Self {
        let mut levels = 1;
        while let Some(cells) = count(slots, top, levels + 1)
            && cells <= CELLS
        {
            levels += 1;
        }
        let mut cells = Vec::new();
        let root = collect(slots, top, levels, &mut cells);
        let sizes = cells.iter().map(|cell| cell.size(slots)).collect();
        let count = cells.len();
        let mut block = Block {
            cells,
            sizes,
            saved: vec![0.0; count * count],
            side: vec![(0, 0); count * count],
            cuts: Vec::new(),
        };
        block.measure(&root, root.distance);
        block.cut(&root);
        block
    }

    /// The cells on the side of `from`, at the node where the path from cell `from` to cell `to`
    /// turns.
    pub fn side(&self, from: usize, to: usize) -> std::ops::Range<usize> {
        let (start, end) = self.side[from * self.sizes.len() + to];
        start as usize..end as usize
    }

    fn measure(&mut self, node: &Node, largest: f64) {
        let count = self.sizes.len();
        if node.children.is_empty() {
            let cell = node.start;
            self.saved[cell * count + cell] = largest - node.distance;
            self.side[cell * count + cell] = (cell as u32, cell as u32 + 1);
        }
        for (at, child) in node.children.iter().enumerate() {
            for (other_at, other) in node.children.iter().enumerate() {
                if at == other_at {
                    continue;
                }
                for a in child.start..child.end {
                    for b in other.start..other.end {
                        self.saved[a * count + b] = largest - node.distance;
                        self.side[a * count + b] = (child.start as u32, child.end as u32);
                    }
                }
            }
            self.measure(child, largest);
        }
    }

    /// Cuts the children of a node in two, then those of each half, and so on.
    fn cut(&mut self, node: &Node) {
        self.cut_children(&node.children);
        node.children.iter().for_each(|child| self.cut(child));
    }

    fn cut_children(&mut self, children: &[Node]) {
        if children.len() < 2 {
            return;
        }
        let (left, right) = children.split_at(children.len() / 2);
        self.cuts.push(Cut {
            start: left[0].start,
            middle: right[0].start,
        });
        self.cut_children(left);
        self.cut_children(right);
    }
}

/// Parts of siblings: their bundles, or the children of a single one.
pub fn parts(slots: &Slots, top: &Siblings) -> Vec<Siblings> {
    let mut top = top.clone();
    while top.nodes.len() == 1 && top.depth < slots.group_depth() {
        top.nodes = slots.children(top.depth, top.nodes[0] as usize);
        top.depth += 1;
    }
    if top.nodes.len() == 1 {
        return vec![top];
    }
    let depth = top.depth;
    let bundles = match top.nodes.len() > WIDEST {
        true => top.nodes.len().isqrt().min(WIDEST),
        false => top.nodes.len(),
    };
    let bounds = (0..=bundles).map(|bundle| bundle * top.nodes.len() / bundles);
    let bounds: Vec<usize> = bounds.collect();
    let bundle = bounds.windows(2).map(|pair| Siblings {
        depth,
        nodes: top.nodes[pair[0]..pair[1]].to_vec(),
    });
    bundle.collect()
}

/// True if siblings cannot be divided further.
pub(crate) fn is_group(slots: &Slots, cell: &Siblings) -> bool {
    cell.nodes.len() == 1 && cell.depth == slots.group_depth()
}

/// Number of cells `levels` divisions below; `None` if nothing can be divided.
fn count(slots: &Slots, top: &Siblings, levels: usize) -> Option<usize> {
    if levels == 0 || is_group(slots, top) {
        return (levels == 0).then_some(1);
    }
    let mut sum = 0;
    let mut deeper = false;
    for part in parts(slots, top) {
        match count(slots, &part, levels - 1) {
            Some(cells) => {
                sum += cells;
                deeper = true;
            }
            None => sum += 1,
        }
    }
    deeper.then_some(sum)
}

fn collect(slots: &Slots, top: &Siblings, levels: usize, cells: &mut Vec<Siblings>) -> Node {
    let start = cells.len();
    let mut children = Vec::new();
    if levels == 0 || is_group(slots, top) {
        cells.push(top.clone());
    } else {
        let parts = parts(slots, top);
        children.extend(
            parts
                .iter()
                .map(|part| collect(slots, part, levels - 1, cells)),
        );
    }
    Node {
        start,
        end: cells.len(),
        distance: distance(slots, top),
        children,
    }
}

/// Distance of ranks that share nothing below these siblings. Bundles are not nodes: sharing one
/// saves as much as sharing a child would, so that the division has an objective.
fn distance(slots: &Slots, top: &Siblings) -> f64 {
    let mut depth = top.depth;
    let mut nodes = top.nodes.clone();
    while nodes.len() == 1 && depth < slots.group_depth() {
        nodes = slots.children(depth, nodes[0] as usize);
        depth += 1;
    }
    if nodes.len() == 1 {
        return slots.distance(depth);
    }
    slots.distance(depth - 1)
}
