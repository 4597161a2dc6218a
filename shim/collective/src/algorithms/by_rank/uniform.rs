//! Goldman's uniform schedule (thesis items 79 and 80): steps in which all messages take equally
//! long. Longer messages are cut, and their pieces sent in several steps.
//!
//! ```text
//!   1 --3 s--> 2    3 --1 s--> 4       step 1 (1 s): a third of 1 -> 2, all of 3 -> 4
//!                                      step 2: the rest of 1 -> 2 beside others
//! ```
//!
//! No rank idles while others still send, at the cost of a tail of tiny pieces. As the thesis
//! proposes, the schedule is therefore uniform for a fixed number of steps, and the remainders are
//! sent whole, by the matching with the largest sum.

use crate::algorithms::by_rank::matchings::{Matching, RemainingMessages};
use crate::algorithms::by_rank::pairwise::seconds;
use crate::algorithms::by_rank::scheduled::{Piece, Schedule};
use crate::problem::Problem;

/// Number of uniform steps for each rank, before the remainders are sent whole.
const STEPS: usize = 1;

/// Schedule of a call.
pub fn schedule(problem: &Problem) -> Schedule {
    pieces(
        problem.ranks(),
        |from, to| problem.pair(from, to),
        |from, to| seconds(problem, from, to),
    )
}

/// Pieces that each rank sends, in order, of messages of `units`, each of which takes `seconds` as
/// a whole.
fn pieces(
    ranks: usize,
    units: impl Fn(usize, usize) -> u64,
    seconds: impl Fn(usize, usize) -> f64,
) -> Schedule {
    let mut pieces: Schedule = vec![Vec::new(); ranks];
    let whole = |from: usize, to: usize| match units(from, to) {
        0 => 0.0,
        _ => seconds(from, to),
    };
    let mut left = RemainingMessages::new(ranks, whole);
    let mut sent = vec![0; ranks * ranks];
    let mut add = |from: usize, to: usize, end: u64| {
        let start = std::mem::replace(&mut sent[from * ranks + to], end);
        if end > start {
            let length = end - start;
            pieces[from].push(Piece { to, start, length });
        }
    };
    // Empty messages are not sent.
    left.close(|from, to| units(from, to) == 0);
    for _ in 0..STEPS * ranks {
        let step: Vec<(usize, usize)> = matched(left.bottleneck()).collect();
        let lasts = step
            .iter()
            .map(|&(from, to)| left.weight(from, to))
            .fold(f64::INFINITY, f64::min);
        for (from, to) in step {
            let rest = left.weight(from, to) - lasts;
            if rest <= 1e-9 * whole(from, to) {
                left.take(from, to);
                add(from, to, units(from, to));
                continue;
            }
            left.set_weight(from, to, rest);
            let part = 1.0 - rest / whole(from, to);
            add(from, to, (part * units(from, to) as f64) as u64);
        }
    }
    left.in_steps(Matching::MaxWeight, |from, to| {
        add(from, to, units(from, to))
    });
    pieces
}

/// Senders and receivers of a step.
fn matched(step: Vec<Option<usize>>) -> impl Iterator<Item = (usize, usize)> {
    let pairs = step.into_iter().enumerate();
    pairs.filter_map(|(from, to)| Some((from, to?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uneven(from: usize, to: usize) -> u64 {
        (1000 * ((from * 7 + to * 5) % 11) + from) as u64
    }

    #[test]
    fn the_pieces_of_a_message_are_all_of_it_in_order() {
        for ranks in 1..=12 {
            let all = pieces(ranks, uneven, |from, to| 1e-3 * uneven(from, to) as f64);
            for (from, pieces) in all.iter().enumerate() {
                for to in (0..ranks).filter(|&to| to != from) {
                    let mut end = 0;
                    for piece in pieces.iter().filter(|piece| piece.to == to) {
                        assert_eq!(piece.start, end);
                        end += piece.length;
                    }
                    assert_eq!(end, uneven(from, to), "{from} to {to} of {ranks}");
                }
            }
        }
    }

    #[test]
    fn messages_of_a_step_last_equally_long_until_the_rest_goes_whole() {
        let ranks = 6;
        let all = pieces(ranks, uneven, |from, to| 1e-3 * uneven(from, to) as f64);
        let first: Vec<u64> = all.iter().map(|pieces| pieces[0].length).collect();
        let (least, most) = (first.iter().min().unwrap(), first.iter().max().unwrap());
        assert!(most - least <= 1, "{first:?}");
        // Cut, into at most two pieces a step.
        let count: usize = all.iter().map(Vec::len).sum();
        assert!(count > ranks * (ranks - 1), "{count}");
        assert!(count <= ranks * STEPS * ranks + ranks * ranks, "{count}");
    }
}
