//! Blocks along a binomial tree from or to the root, and broadcasts that scatter the message and
//! collect it again (van de Geijn; thesis 6.2).
//!
//! ```text
//!   binomial scatter of 8 blocks       then an allgather of the blocks of each place
//!   0 --4..8--> 4 --6..8--> 6 --> 7      ring:      every block but one to the next place
//!   |           `---5---> 5              doubling:  with places at distance 1, 2, 4, ...
//!   |--2..4--> 2 --3--> 3
//!   `--1--> 1
//! ```
//!
//! Few messages, and blocks that travel log P times. A gather is the scatter in reverse.

use crate::algorithms::by_rank::{doubling, ring};
use crate::algorithms::trees::{Neighbours, Shape};
use crate::plan::range::Range;
use crate::problem::{Blocks, Problem};
use crate::steps::Steps;

/// Rank in the binomial tree from the root, with the places of its subtree.
struct Subtree {
    at: Neighbours,
    first: usize,
    end: usize,
}

impl Subtree {
    fn new(problem: &Problem, rank: usize) -> Self {
        let (first, end) = Subtree::places(problem, rank);
        Subtree {
            at: Shape::Binomial.neighbours_from(problem, problem.root, rank),
            first,
            end,
        }
    }

    fn places(problem: &Problem, rank: usize) -> (usize, usize) {
        let (ranks, place) = (problem.ranks(), problem.place(rank));
        let width = match place {
            0 => ranks,
            _ => place & place.wrapping_neg(),
        };
        (place, ranks.min(place + width))
    }

    /// Blocks of a child's subtree, in the blocks that this rank `holds` from its own place on.
    fn below(&self, problem: &Problem, blocks: &Blocks, holds: Range, child: usize) -> Range {
        let (first, end) = Subtree::places(problem, child);
        let before = blocks.start(self.first);
        holds.part(
            blocks.start(first) - before,
            blocks.start(end) - blocks.start(first),
        )
    }
}

/// `Gather`.
pub fn gather(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let (tree, blocks) = (Subtree::new(problem, rank), problem.blocks());
    let by_place = blocks.rotated(problem.root);
    let collected = steps.scratch(by_place.start(tree.end) - by_place.start(tree.first));
    let own = Range::input(0, problem.block(rank));
    steps.copy(own, collected.part(0, own.length));
    for &child in tree.at.children.iter().rev() {
        steps.receive(child, tree.below(problem, &by_place, collected, child));
    }
    if let Some(parent) = tree.at.parent {
        return steps.send(parent, collected);
    }
    let output = Range::output(0, blocks.total());
    for place in 0..problem.ranks() {
        let owner = problem.after(problem.root, place);
        steps.copy(by_place.of(collected, place), blocks.of(output, owner));
    }
}

/// `Scatter`.
pub fn scatter(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let (tree, blocks) = (Subtree::new(problem, rank), problem.blocks());
    let by_place = blocks.rotated(problem.root);
    let held = steps.scratch(by_place.start(tree.end) - by_place.start(tree.first));
    match tree.at.parent {
        Some(parent) => steps.receive(parent, held),
        None => {
            let input = Range::input(0, blocks.total());
            for place in 0..problem.ranks() {
                let owner = problem.after(problem.root, place);
                steps.copy(blocks.of(input, owner), by_place.of(held, place));
            }
        }
    }
    for &child in &tree.at.children {
        steps.send(child, tree.below(problem, &by_place, held, child));
    }
    let own = Range::output(0, problem.block(rank));
    steps.copy(held.part(0, own.length), own);
}

/// Scatters the blocks of a message, by place from the root, along the binomial tree: each place
/// ends with those of its subtree.
fn scatter_message(problem: &Problem, rank: usize, steps: &mut dyn Steps, blocks: &Blocks) {
    let tree = Subtree::new(problem, rank);
    let output = Range::output(0, problem.block(rank));
    let held = blocks.span(output, tree.first, tree.end);
    if let Some(parent) = tree.at.parent {
        steps.receive(parent, held);
    }
    for &child in &tree.at.children {
        steps.send(child, tree.below(problem, blocks, held, child));
    }
}

/// `Bcast`: a binomial scatter, and a ring.
pub(crate) fn broadcast_ring(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let blocks = problem.cut(rank, problem.ranks());
    scatter_message(problem, rank, steps, &blocks);
    let output = Range::output(0, problem.block(rank));
    ring::pass_on(problem, rank, steps, |distance| {
        blocks.of(output, problem.before(problem.place(rank), distance))
    });
}

/// `Bcast`: a binomial scatter, and recursive doubling, on a power of two of ranks.
pub(crate) fn broadcast_doubling(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let blocks = problem.cut(rank, problem.ranks());
    scatter_message(problem, rank, steps, &blocks);
    let output = Range::output(0, problem.block(rank));
    doubling::collect(
        problem,
        problem.place(rank),
        problem.root,
        steps,
        |first, end| blocks.span(output, first, end),
    );
}

/// `Bcast`: the root sends each rank its block, and a ring collects them; the root has all blocks,
/// and receives none.
pub(crate) fn scatter_collect(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let ranks = problem.ranks();
    let (blocks, place) = (problem.cut(rank, ranks), problem.place(rank));
    let block = |place: usize| blocks.of(Range::output(0, problem.block(rank)), place);
    match place {
        0 => (1..ranks).for_each(|to| steps.send(problem.after(problem.root, to), block(to))),
        _ => steps.receive(problem.root, block(place)),
    }
    let (next, previous) = (problem.after(rank, 1), problem.before(rank, 1));
    for distance in 0..ranks - 1 {
        let outgoing = problem.before(place, distance);
        let incoming = problem.before(place, distance + 1);
        if place + 1 != ranks && outgoing != place + 1 {
            steps.send(next, block(outgoing));
        }
        if place != 0 && incoming != place {
            steps.receive(previous, block(incoming));
        }
    }
}
