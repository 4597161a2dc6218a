//! `Scan` and `Exscan` in the order of ranks.
//!
//! ```text
//!   chain: 0 --> 1 --> 2 --> 3         Hillis and Steele: 0 -> 1 -> 2 -> 3, then 0 -> 2, 1 -> 3
//! ```

use crate::algorithms::by_cluster::scan;
use crate::algorithms::by_cluster::scan::Run;
use crate::operation::Operation;
use crate::plan::range::Range;
use crate::problem::Problem;
use crate::steps::Steps;

/// Each rank waits for the sum of those before it, and hands its own on, segment by segment.
pub fn chain(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let all = Run {
        first: 0,
        last: problem.ranks() - 1,
    };
    scan::along(problem, rank, steps, all, false);
}

/// Hillis and Steele (1986): in round k the sum of the last 2^k ranks goes 2^k ranks further.
pub(crate) fn hillis_steele(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let inclusive = problem.operation == Operation::Scan;
    let (ranks, length) = (problem.ranks(), problem.block(rank));
    let (own, output) = (Range::input(0, length), Range::output(0, length));
    let mut sum = own;
    let mut has_before = false;
    let mut distance = 1;
    while distance < ranks {
        if rank + distance < ranks {
            steps.send(rank + distance, sum);
        }
        if let Some(from) = rank.checked_sub(distance) {
            let before = steps.scratch(length);
            steps.receive(from, before);
            if !inclusive {
                if has_before {
                    // What comes stands before what is there.
                    steps.reduce(before, output);
                } else {
                    steps.copy(before, output);
                }
                has_before = true;
            }
            let wider = steps.scratch(length);
            steps.copy(sum, wider);
            steps.reduce(before, wider);
            sum = wider;
        }
        distance *= 2;
    }
    if inclusive {
        steps.copy(sum, output);
    }
}
