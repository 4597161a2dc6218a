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

/// Receives the sum of all lower ranks and forwards its own, segment by segment.
pub fn chain(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let all = Run {
        first: 0,
        last: problem.ranks() - 1,
    };
    scan::along(problem, rank, steps, all, false);
}

/// Hillis and Steele (1986): in round k the sum of the last 2^k ranks is sent 2^k ranks further.
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
                    // The received sum precedes the present one.
                    steps.reduce(before, output);
                } else {
                    steps.copy(before, output);
                }
                has_before = true;
            }
            sum = added(steps, before, sum);
        }
        distance *= 2;
    }
    if inclusive {
        steps.copy(sum, output);
    }
}

/// `Exscan`, "123-doubling" (Traeff, arXiv 2507.04785): a rank receives from the rank before, then
/// from two before, whose sum includes its own operand, then from 3, 6, 12, ... before. One
/// reduction in each round except the second; [`hillis_steele`] has two.
pub(crate) fn one_two_three(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let (ranks, length) = (problem.ranks(), problem.block(rank));
    let (own, output) = (Range::input(0, length), Range::output(0, length));
    // The sum of the ranks before this one, so far.
    let mut sum: Option<Range> = None;
    let skips = [1, 2].into_iter().chain((0..).map(|round| 3 << round));
    for (round, skip) in skips.take_while(|&skip| skip < ranks).enumerate() {
        let outgoing = match (round, sum) {
            _ if rank + skip >= ranks => None,
            (0, _) | (1, None) => Some(own),
            (1, Some(before)) => Some(added(steps, before, own)),
            (_, sum) => sum,
        };
        if let Some(outgoing) = outgoing {
            steps.send(rank + skip, outgoing);
        }
        let Some(from) = rank.checked_sub(skip) else {
            continue;
        };
        if round > 1 && from == 0 {
            // No rank precedes the first: it has sent its own operand.
            continue;
        }
        let incoming = steps.scratch(length);
        steps.receive(from, incoming);
        sum = match sum {
            Some(sum) => Some(added(steps, incoming, sum)),
            None => Some(incoming),
        };
    }
    if let Some(sum) = sum {
        steps.copy(sum, output);
    }
}

/// Sum of two operands that are only read.
fn added(steps: &mut dyn Steps, left: Range, right: Range) -> Range {
    let sum = steps.scratch(right.length);
    steps.copy(right, sum);
    steps.reduce(left, sum);
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::algorithm::Algorithm;
    use crate::clusters::Clusters;
    use crate::plan::step::Action;
    use crate::problem::Uniform;

    /// Number of messages that the busiest rank receives.
    fn most_received(name: &str, ranks: usize) -> usize {
        let algorithm = Algorithm::find(Operation::Exscan, name).unwrap();
        let call = Uniform {
            operation: Operation::Exscan,
            bytes: 1,
            root: 0,
        };
        let plans = algorithm.plans(&call, None, &Clusters::one(ranks), 1);
        let is_receive = |action: &Action| matches!(action, Action::Receive { .. });
        let received = plans.iter().map(|plan| {
            let steps = plan.steps().iter();
            steps.filter(|step| is_receive(&step.action)).count()
        });
        received.max().unwrap()
    }

    #[test]
    fn rounds_of_one_two_three_are_those_of_the_paper() {
        for (ranks, rounds) in [(4, 2), (8, 4), (12, 4), (16, 5), (25, 5), (26, 6), (40, 6)] {
            assert_eq!(
                most_received("123-doubling", ranks),
                rounds,
                "{ranks} ranks"
            );
        }
    }
}
