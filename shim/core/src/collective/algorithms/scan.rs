//! `Scan` and `Exscan`.

use super::allgather;
use super::scan_exchange::{self, Run};
use crate::collective::Operation;
use crate::collective::plan::Range;
use crate::collective::{Builder, Problem};

/// Each rank waits for the sum of those before it, and hands its own on, piece by
/// piece.
pub fn chain(problem: &Problem, rank: usize, builder: &mut Builder) {
    let all = Run {
        first: 0,
        last: problem.ranks() - 1,
    };
    scan_exchange::along(problem, rank, builder, all, false);
}

/// Recursive doubling (Hillis and Steele, 1986): in round k the sum of the last
/// 2^k ranks goes 2^k ranks further.
pub fn recursive_doubling(problem: &Problem, rank: usize, builder: &mut Builder) {
    let inclusive = problem.operation == Operation::Scan;
    let (ranks, length) = (problem.ranks(), problem.part(rank));
    let (own, output) = (Range::input(0, length), Range::output(0, length));
    let mut sum = own;
    let mut has_before = false;
    let mut distance = 1;
    while distance < ranks {
        if rank + distance < ranks {
            builder.send(rank + distance, sum);
        }
        if let Some(from) = rank.checked_sub(distance) {
            let before = builder.scratch(length);
            builder.receive(from, before);
            if !inclusive {
                if has_before {
                    // What comes stands before what is there.
                    builder.reduce(before, output);
                } else {
                    builder.copy(before, output);
                }
                has_before = true;
            }
            let wider = builder.scratch(length);
            builder.copy(sum, wider);
            builder.reduce(before, wider);
            sum = wider;
        }
        distance *= 2;
    }
    if inclusive {
        builder.copy(sum, output);
    }
}

/// All get what all others give, along the clusters, and each reduces what is before it: one
/// latency between clusters however ranks are numbered, and every message everywhere.
pub fn gathered(problem: &Problem, rank: usize, builder: &mut Builder) {
    let length = problem.part(rank);
    let all = builder.scratch(problem.total());
    allgather::collect(problem, rank, builder, all);
    let of = |rank: usize| all.part(rank as u64 * length, length);
    let last = match problem.operation {
        Operation::Scan => Some(rank),
        _ => rank.checked_sub(1),
    };
    if let Some(last) = last {
        for next in 1..=last {
            builder.reduce(of(next - 1), of(next));
        }
        builder.copy(of(last), Range::output(0, length));
    }
}
