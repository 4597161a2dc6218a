//! The machine's blocks as lines over a heat map.

use treepie_base::Leaf;
use treepie_topology::Topology;

/// Maximum number of lines: more would hide the map below them.
const MOST_LINES: usize = 48;

/// The ends of the blocks of one level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Level of a block: `node`, `socket`.
    pub level: String,
    /// Rows before which a line is drawn, without the outermost.
    pub ends: Vec<usize>,
}

/// The blocks of a tree above its leaves, the coarsest first, for a matrix whose row `i` represents
/// leaf `leaves[i]`, by increasing leaf. Levels with a single block, with the same blocks as the
/// level above or with too many blocks are left out.
pub fn blocks_of(topology: &Topology, leaves: &[Leaf]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut lines = 0;
    for depth in 1..topology.depth() {
        let owner = |row: usize| topology.ancestor(leaves[row], depth);
        let ends: Vec<usize> = (1..leaves.len())
            .filter(|&row| owner(row) != owner(row - 1))
            .collect();
        let repeats = blocks.last().is_some_and(|last| last.ends == ends);
        if !ends.is_empty() && lines + ends.len() <= MOST_LINES && !repeats {
            lines += ends.len();
            blocks.push(Block {
                level: topology.levels()[depth - 1].name.clone(),
                ends,
            });
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_tree_of_nodes_and_sockets_gives_two_sets_of_lines() {
        let tree = Topology::from_arities("2:2:2").unwrap();
        let leaves: Vec<Leaf> = (0..8).map(Leaf).collect();
        let found = blocks_of(&tree, &leaves);
        assert_eq!(found.len(), 2);
        assert_eq!(
            (found[0].level.as_str(), &found[0].ends[..]),
            ("node", &[4][..])
        );
        assert_eq!(
            (found[1].level.as_str(), &found[1].ends[..]),
            ("socket", &[2, 4, 6][..])
        );
    }

    #[test]
    fn leaves_without_a_rank_move_the_lines() {
        let tree = Topology::from_arities("2:4").unwrap();
        assert_eq!(blocks_of(&tree, &[0, 4, 5, 6].map(Leaf))[0].ends, [1]);
        assert_eq!(blocks_of(&tree, &[0, 1].map(Leaf)), []);
    }
}
