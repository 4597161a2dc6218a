//! Exchanges by several radices: in each stage the ranks whose numbers differ in one digit exchange
//! pieces of their blocks (Jocksch, Avans, Shipley and Skjellum, IJHPCA 40(2), 2026;
//! `ext_mpi_collectives`).
//!
//! ```text
//!   12 ranks, radices 4 and 3 from near to far     rank 5: digits 1 and 1
//!   reduce-scatter   4 <- blocks 0-2, 6 <- 6-8, 7 <- 9-11, keeps the sum of 3-5 over 4..8
//!                    1 <- block 3,    9 <- 5,              keeps that of 4 over all
//!   allgather        backwards
//! ```
//!
//! One round per radix; `P - 1` blocks sent by each rank, most of them near. Added operands always
//! come from consecutive ranks: operands stay in their order.

use crate::algorithms::by_rank::stages::{Stage, Stages};
use crate::clusters::Clusters;
use crate::problem::Problem;

/// Largest radix if the number of ranks has such factors: a rank waits for one rank less at the
/// same time.
pub(crate) const LARGEST_RADIX: u32 = 16;

/// Radices for this number of ranks, from near to far: at least two of similar size, unless the
/// number is prime.
fn of_ranks(ranks: usize, largest: u32) -> Vec<usize> {
    split(ranks, 2, largest)
}

/// Radices of the levels of a communicator, from near to far: levels whose groups have equal sizes
/// and consecutive ranks.
fn of_levels(clusters: &Clusters, largest: u32) -> Vec<usize> {
    let ranks = clusters.ranks();
    let outer: Vec<usize> = (0..ranks).map(|rank| clusters.of(rank).0).collect();
    let levels = clusters.closer().iter().rev().chain([&outer]);
    let mut radices = Vec::new();
    let mut inner = 1;
    for size in levels.filter_map(|level| group_size(level)) {
        if size > inner && size < ranks && size.is_multiple_of(inner) {
            radices.extend(split(size / inner, 1, largest));
            inner = size;
        }
    }
    match inner {
        1 => of_ranks(ranks, largest),
        _ => {
            radices.extend(split(ranks / inner, 1, largest));
            radices
        }
    }
}

/// Size of the groups of a level, if it is equal for all and each has consecutive ranks.
fn group_size(group_of: &[usize]) -> Option<usize> {
    let size = group_of.chunk_by(|one, next| one == next).next()?.len();
    let mut groups = group_of.chunk_by(|one, next| one == next);
    groups.all(|group| group.len() == size).then_some(size)
}

/// Factors of a number, joined to the fewest, but at least `least`, none of them above `largest`
/// except a prime: the largest first.
fn split(number: usize, least: usize, largest: u32) -> Vec<usize> {
    let mut primes = Vec::new();
    let mut rest = number;
    let mut prime = 2;
    while prime * prime <= rest {
        while rest.is_multiple_of(prime) {
            primes.push(prime);
            rest /= prime;
        }
        prime += 1;
    }
    primes.extend((rest > 1).then_some(rest));
    primes.reverse();
    let joined = |count: usize| {
        let mut radices = vec![1; count];
        for prime in &primes {
            if let Some(smallest) = radices.iter_mut().min() {
                *smallest *= prime;
            }
        }
        radices.sort_unstable_by(|one, other| other.cmp(one));
        radices
    };
    let most = primes.len();
    let fits = |radices: &Vec<usize>| radices.iter().all(|&radix| radix <= largest as usize);
    let mut fewest_first = (least.min(most)..most).map(joined);
    fewest_first.find(fits).unwrap_or_else(|| joined(most))
}

/// Stages of a rank, by these radices.
fn stages(radices: &[usize], ranks: usize, rank: usize) -> Stages {
    let (mut part, mut stride) = (0..ranks, 1);
    let stage = |&radix: &usize| {
        let digit = rank / stride % radix;
        let lowest = rank - digit * stride;
        let stage = Stage {
            members: (0..radix).map(|digit| lowest + digit * stride).collect(),
            digit,
            part: part.clone(),
        };
        part = stage.kept();
        stride *= radix;
        stage
    };
    Stages {
        stages: radices.iter().map(stage).collect(),
        owners: owners(radices, ranks),
    }
}

/// Rank that keeps each place in the end: its digits are those of the place in reverse order.
fn owners(radices: &[usize], ranks: usize) -> Vec<usize> {
    let owner = |place: usize| {
        let (mut rest, mut length, mut stride, mut rank) = (place, ranks, 1, 0);
        for radix in radices {
            length /= radix;
            rank += rest / length * stride;
            rest %= length;
            stride *= radix;
        }
        rank
    };
    (0..ranks).map(owner).collect()
}

/// Stages of a rank, by the radices of the number of ranks.
pub(crate) fn by_ranks(problem: &Problem, rank: usize) -> Stages {
    let ranks = problem.ranks();
    stages(
        &of_ranks(ranks, problem.parameter(LARGEST_RADIX)),
        ranks,
        rank,
    )
}

/// The single stage in which all ranks take part.
pub(crate) fn at_once(problem: &Problem, rank: usize) -> Stages {
    let ranks = problem.ranks();
    stages(&[ranks], ranks, rank)
}

/// Stages of a rank, by the radices of the levels.
pub(crate) fn by_levels(problem: &Problem, rank: usize) -> Stages {
    let largest = problem.parameter(LARGEST_RADIX);
    stages(&of_levels(problem.clusters, largest), problem.ranks(), rank)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::Range as Places;

    #[test]
    fn numbers_of_ranks_are_split_into_few_radices_the_largest_near() {
        for (ranks, radices) in [
            (1, &[][..]),
            (2, &[2]),
            (8, &[4, 2]),
            (12, &[4, 3]),
            (13, &[13]),
            (16, &[4, 4]),
            (34, &[17, 2]),
            (40, &[8, 5]),
            (128, &[16, 8]),
            (512, &[8, 8, 8]),
        ] {
            assert_eq!(of_ranks(ranks, LARGEST_RADIX), radices, "{ranks} ranks");
        }
    }

    #[test]
    fn levels_give_the_radices_where_their_groups_are_alike_and_of_consecutive_ranks() {
        let groups = |size: usize| (0..48).map(|rank| rank / size).collect::<Vec<usize>>();
        let deep = Clusters::new(&groups(24))
            .with_closer(&groups(8))
            .with_closer(&groups(2));
        assert_eq!(of_levels(&deep, LARGEST_RADIX), [2, 4, 3, 2]);
        assert_eq!(
            of_levels(&Clusters::new(&groups(16)), LARGEST_RADIX),
            [16, 3]
        );
        let round_robin: Vec<usize> = (0..12).map(|rank| rank % 3).collect();
        assert_eq!(
            of_levels(&Clusters::new(&round_robin), LARGEST_RADIX),
            [4, 3]
        );
        assert_eq!(
            of_levels(&Clusters::new(&[0, 0, 1, 1, 1, 1]), LARGEST_RADIX),
            [3, 2]
        );
    }

    #[test]
    fn ranks_end_with_the_blocks_of_the_paper_and_give_their_pieces_to_its_peers() {
        for (radices, places) in [
            (&[4, 2][..], &[0, 2, 4, 6, 1, 3, 5, 7][..]),
            (&[4, 3], &[0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11]),
            (&[3, 4], &[0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11]),
            (
                &[4, 4],
                &[0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15],
            ),
        ] {
            let ranks = places.len();
            for (rank, &place) in places.iter().enumerate() {
                let stages = stages(radices, ranks, rank);
                assert_eq!(
                    stages.stages[1].kept(),
                    place..place + 1,
                    "{radices:?} {rank}"
                );
                assert_eq!(stages.owners[place], rank, "{radices:?}");
            }
        }
        let given = |stage: &Stage| -> Vec<(usize, Places<usize>)> {
            let all = stage.members.iter().enumerate();
            all.map(|(member, &rank)| (rank, stage.piece(member)))
                .collect()
        };
        let stages = stages(&[4, 3], 12, 5).stages;
        assert_eq!(
            given(&stages[0]),
            [(4, 0..3), (5, 3..6), (6, 6..9), (7, 9..12)]
        );
        assert_eq!(given(&stages[1]), [(1, 3..4), (5, 4..5), (9, 5..6)]);
    }
}
