//! Two collectives in sequence, with rank 0 as root of both: the method of Open MPI for short
//! messages, and for calls that its other algorithms cannot execute.
//!
//! ```text
//!   allgather:        gather to 0, broadcast     reduce-scatter:   reduce to 0, scatter
//! ```

use crate::algorithms::by_rank::{linear, scatter, tree};
use crate::algorithms::trees;
use crate::algorithms::trees::Shape;
use crate::operation::Operation;
use crate::plan::range::Range;
use crate::problem::{Amount, Problem};
use crate::steps::Steps;

/// `Allgather` and `Allgatherv`: a gather and a binomial broadcast of all blocks.
pub(crate) fn gather_broadcast(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let (gathers, gather): (_, fn(&Problem, usize, &mut dyn Steps)) = match problem.amount {
        Amount::Each(_) => (Operation::Gather, scatter::gather),
        _ => (Operation::Gatherv, linear::gather),
    };
    let to_root = Problem {
        operation: gathers,
        root: 0,
        ..problem.clone()
    };
    gather(&to_root, rank, steps);
    let all = Amount::Each(problem.total());
    let from_root = Problem {
        operation: Operation::Bcast,
        root: 0,
        amount: &all,
        ..problem.clone()
    };
    tree::broadcast(&from_root, rank, steps, Shape::Binomial);
}

/// `Reduce_scatter` and `Reduce_scatter_block`: a binomial reduction of all blocks, each of which
/// the root sends to its owner.
pub fn reduce_scatter(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let blocks = problem.blocks();
    let all = Range::input(0, blocks.total());
    let own = Range::output(0, problem.block(rank));
    let at = Shape::Binomial.neighbours_from(problem, 0, rank);
    if rank != 0 {
        trees::reduce(steps, &at, all, None);
        return steps.receive(0, own);
    }
    let sum = steps.scratch(all.length);
    trees::reduce(steps, &at, all, Some(sum));
    for to in 1..problem.ranks() {
        steps.send(to, blocks.of(sum, to));
    }
    steps.copy(blocks.of(sum, 0), own);
}
