//! Exchanges with the ranks at distances that are halved and rounded up, for any number of ranks
//! (Traeff, "Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms", arXiv 2410.14234).
//!
//! ```text
//!   12 ranks: distances 1 2 3 6
//!   reduce-scatter   6 blocks to r+6, 3 to r+3, 1 to r+2, 1 to r+1     allgather   backwards
//! ```
//!
//! `ceil(log2 P)` rounds, and `P - 1` blocks sent by each rank; a fold to a power of two first
//! sends the whole message. Neighbours receive the fewest blocks: for links of equal speed.

use crate::algorithms::by_rank::rounds::Rounds;

/// Distances: 1, and those up to `ranks`, each of which is half of the next, rounded up.
pub(crate) fn skips(ranks: usize) -> Vec<usize> {
    let halved = |&skip: &usize| (skip > 1).then(|| skip.div_ceil(2));
    let mut skips: Vec<usize> = std::iter::successors(Some(ranks), halved).collect();
    skips.reverse();
    skips
}

/// Rounds of the allgather.
pub(crate) fn rounds(ranks: usize) -> Rounds {
    Rounds::growing(&skips(ranks))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::by_rank::rounds::tests::{counts, sent};

    #[test]
    fn skips_and_blocks_are_those_of_the_paper() {
        assert_eq!(skips(1), [1]);
        assert_eq!(skips(8), [1, 2, 4, 8]);
        assert_eq!(skips(12), [1, 2, 3, 6, 12]);
        assert_eq!(skips(17), [1, 2, 3, 5, 9, 17]);
        // The receiver is this many ranks before: 11 of 12 further.
        assert_eq!(counts(&rounds(8)), [(7, 1), (6, 2), (4, 4)]);
        assert_eq!(counts(&rounds(12)), [(11, 1), (10, 1), (9, 3), (6, 6)]);
        let expected = [(7, vec![0]), (6, vec![0, 1]), (4, vec![0, 1, 2, 3])];
        assert_eq!(sent(&rounds(8)), expected);
    }
}
