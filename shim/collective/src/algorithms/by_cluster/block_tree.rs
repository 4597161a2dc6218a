//! Trees inside clusters along which each rank receives, or sends, a block of its own.
//!
//! ```text
//!   leader == blocks of a host ==> its first rank --> the others      (a gather: backwards)
//! ```
//!
//! Ranks are in depth-first order, so that the blocks of a subtree are consecutive.

use crate::algorithms::by_cluster::block_tree_shape::{Division, OwnBlocks};
use crate::algorithms::by_cluster::inside::fans_among;
use crate::algorithms::trees::Shape;
use crate::plan::range::Range;
use crate::problem::{Blocks, Problem};
use crate::steps::Steps;

/// Place in the tree.
#[derive(Debug, Clone)]
struct TreePosition {
    rank: usize,
    /// Place of the parent; `None` for the leader.
    parent: Option<usize>,
    /// Places of the children, in the order of service.
    children: Vec<usize>,
    /// First place after the subtree of this one.
    end: usize,
}

/// Tree of a group of ranks and their blocks.
#[derive(Debug, Clone)]
pub(super) struct BlockTree {
    places: Vec<TreePosition>,
    blocks: Blocks,
}

impl BlockTree {
    /// Tree of `members`, led by the first, for a call in which they know the sizes.
    pub(super) fn new(problem: &Problem, members: &[usize], steps: &dyn Steps) -> Self {
        let units: u64 = members.iter().map(|&member| problem.block(member)).sum();
        let bytes = |units: u64| units.saturating_mul(problem.unit_bytes);
        let own = OwnBlocks {
            bytes: bytes(units) / members.len().max(1) as u64,
            largest: bytes(steps.segment(units)),
        };
        let fans = fans_among(problem.clusters, members);
        let mut walk = match own.divided(problem.network, &fans).0 {
            Division::None => Walk::new(&[], vec![Shape::Flat]),
            Division::Levels(shapes) => Walk::new(problem.clusters.closer(), shapes),
        };
        let leader = walk.place(members[0], None);
        walk.serve(leader, 0, members);
        walk.places[leader].end = walk.places.len();
        let lengths = walk.places.iter().map(|place| problem.block(place.rank));
        BlockTree {
            blocks: Blocks::listed(&lengths.collect::<Vec<u64>>()),
            places: walk.places,
        }
    }

    /// The leader.
    pub(super) fn leader(&self) -> usize {
        self.places[0].rank
    }

    /// Units of all blocks.
    pub(super) fn total(&self) -> u64 {
        self.blocks.total()
    }

    /// Block of each rank in a buffer for all of them.
    pub(super) fn of(&self, all: Range) -> impl Iterator<Item = (usize, Range)> {
        let places = self.places.iter().enumerate();
        places.map(move |(at, place)| (place.rank, self.blocks.of(all, at)))
    }

    /// Blocks of the subtree of place `at`, in a buffer for the blocks from place `first` on.
    fn below(&self, all: Range, first: usize, at: usize) -> Range {
        let skipped = self.blocks.start(at) - self.blocks.start(first);
        let end = self.blocks.start(self.places[at].end);
        all.part(skipped, end - self.blocks.start(at))
    }

    /// Place of a rank, if it is in the tree.
    fn at(&self, rank: usize) -> Option<usize> {
        self.places.iter().position(|place| place.rank == rank)
    }

    /// Scatters from the leader, whose `block(rank)` are not in the order of the tree.
    pub(super) fn scatter_from(&self, steps: &mut dyn Steps, block: impl Fn(usize) -> Range) {
        for &child in &self.places[0].children {
            let to = self.places[child].rank;
            if self.places[child].end == child + 1 {
                steps.send(to, block(to));
                continue;
            }
            let packed = steps.scratch(self.units_below(child));
            for at in child..self.places[child].end {
                let into = self.below(packed, child, at);
                let rank = self.places[at].rank;
                steps.copy(block(rank), into.part(0, self.blocks.length(at)));
            }
            steps.send(to, packed);
        }
    }

    /// Receives a rank's block into `own` and forwards the blocks of its subtree; the leader
    /// receives all blocks from `source`.
    pub(super) fn scatter(&self, rank: usize, source: usize, own: Range, steps: &mut dyn Steps) {
        let Some(at) = self.at(rank) else {
            return;
        };
        let place = &self.places[at];
        let from = place
            .parent
            .map_or(source, |parent| self.places[parent].rank);
        if place.children.is_empty() {
            return steps.receive(from, own);
        }
        let all = steps.scratch(self.units_below(at));
        steps.receive(from, all);
        steps.copy(all.part(0, own.length), own);
        for &child in &place.children {
            steps.send(self.places[child].rank, self.below(all, at, child));
        }
    }

    /// Gathers blocks at the leader, each into `block(rank)`.
    pub(super) fn gather_to(&self, steps: &mut dyn Steps, block: impl Fn(usize) -> Range) {
        for &child in &self.places[0].children {
            let from = self.places[child].rank;
            if self.places[child].end == child + 1 {
                steps.receive(from, block(from));
                continue;
            }
            let packed = steps.scratch(self.units_below(child));
            steps.receive(from, packed);
            for at in child..self.places[child].end {
                let out = self.below(packed, child, at);
                let rank = self.places[at].rank;
                steps.copy(out.part(0, self.blocks.length(at)), block(rank));
            }
        }
    }

    /// Sends a rank's block in `own` and those of its subtree; the leader sends all blocks to
    /// `target`.
    pub(super) fn gather(&self, rank: usize, target: usize, own: Range, steps: &mut dyn Steps) {
        let Some(at) = self.at(rank) else {
            return;
        };
        let place = &self.places[at];
        let to = place
            .parent
            .map_or(target, |parent| self.places[parent].rank);
        if place.children.is_empty() {
            return steps.send(to, own);
        }
        let all = steps.scratch(self.units_below(at));
        steps.copy(own, all.part(0, own.length));
        for &child in &place.children {
            steps.receive(self.places[child].rank, self.below(all, at, child));
        }
        steps.send(to, all);
    }

    fn units_below(&self, at: usize) -> u64 {
        self.blocks.start(self.places[at].end) - self.blocks.start(at)
    }
}

/// Ranks in the order of places, depth first.
struct Walk<'a> {
    /// Group of each rank on each level, widest level first.
    levels: &'a [Vec<usize>],
    /// Shapes of the levels, and of the ranks inside the innermost groups.
    shapes: Vec<Shape>,
    places: Vec<TreePosition>,
}

impl<'a> Walk<'a> {
    fn new(levels: &'a [Vec<usize>], shapes: Vec<Shape>) -> Self {
        Walk {
            levels,
            shapes,
            places: Vec::new(),
        }
    }

    fn place(&mut self, rank: usize, parent: Option<usize>) -> usize {
        let at = self.places.len();
        self.places.push(TreePosition {
            rank,
            parent,
            children: Vec::new(),
            end: at + 1,
        });
        at
    }

    /// Places the ranks of a part after its leader, which is at place `at`.
    fn serve(&mut self, at: usize, level: usize, members: &[usize]) {
        if members.len() > 1 {
            let parts = self.parts(level, members);
            self.along(at, level, &parts, 0);
        }
    }

    /// Places the parts below part `part`, whose leader is at place `at`, and then the part itself.
    fn along(&mut self, at: usize, level: usize, parts: &[Vec<usize>], part: usize) {
        let mut children = Vec::new();
        self.shapes[level].visit(parts.len(), part, |child| children.push(child));
        for child in children {
            let leader = self.place(parts[child][0], Some(at));
            self.places[at].children.push(leader);
            self.along(leader, level, parts, child);
            self.places[leader].end = self.places.len();
        }
        self.serve(at, level + 1, &parts[part]);
    }

    /// Parts of a group on a level, in the order of their first ranks; single ranks below the
    /// innermost level.
    fn parts(&self, level: usize, members: &[usize]) -> Vec<Vec<usize>> {
        let Some(groups) = self.levels.get(level) else {
            return members.iter().map(|&member| vec![member]).collect();
        };
        let mut met: std::collections::HashMap<usize, usize> = Default::default();
        let mut parts: Vec<Vec<usize>> = Vec::new();
        for &member in members {
            let part = *met.entry(groups[member]).or_insert_with(|| {
                parts.push(Vec::new());
                parts.len() - 1
            });
            parts[part].push(member);
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use crate::algorithms::algorithm::Algorithm;
    use crate::clusters::Clusters;
    use crate::grids;
    use crate::network::links::Distance;
    use crate::operation::Operation;
    use crate::plan::step::Action;
    use crate::problem::Uniform;

    /// Number of messages between the hosts of another cluster, which has 12 hosts with 8 ranks
    /// each, if each rank receives, or sends, a block of `bytes`.
    fn between_hosts(operation: Operation, algorithm: &str, bytes: u64) -> usize {
        let numbers: Vec<usize> = (0..2 * 96).map(|rank| rank / 96).collect();
        let wan = |_, _| grids::wan(1.0, 1000.0);
        let network = grids::of_numbers(&numbers, 8, |_| grids::lan(), wan);
        let call = Uniform {
            operation,
            bytes,
            root: 0,
        };
        let algorithm = Algorithm::find(operation, algorithm).unwrap();
        let clusters = Clusters::of_network(&network);
        let plans = algorithm.plans(&call, Some(&network), &clusters, u64::MAX);
        let mut messages = 0;
        for (rank, plan) in plans.iter().enumerate().skip(96) {
            let sends = plan.steps().iter().filter(|step| match step.action {
                Action::Send { to, .. } => network.distance(rank, to) == Distance::Cluster,
                _ => false,
            });
            messages += sends.count();
        }
        messages
    }

    #[test]
    fn short_blocks_of_the_ranks_of_a_host_go_in_one_message() {
        use Operation::{Gather, Scatter};
        for operation in [Gather, Scatter] {
            assert_eq!(between_hosts(operation, "grid-grouped", 8), 11);
            assert_eq!(between_hosts(operation, "grid-multi-source", 8), 11);
            assert_eq!(between_hosts(operation, "grid-grouped", 1 << 20), 88);
        }
    }
}
