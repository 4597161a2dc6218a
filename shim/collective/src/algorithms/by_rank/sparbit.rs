//! Exchanges with the ranks at distances that are powers of two, the farthest first, when messages
//! are smallest: Sparbit (Loch and Koslovski 2021; Open MPI's `coll_base_allgather.c`).
//!
//! ```text
//!   allgather of 6 ranks: blocks of rank 0     from 2, at distance 4: 2
//!   ({ } sent blocks)                          {0}, 2 --2--> 2    from 4: 4
//!                                              {0 2 4} --1--> 1   from 5: 5 1 3
//! ```
//!
//! `ceil(log2 P)` rounds and `P - 1` blocks as [`super::bruck`], but most blocks are sent to
//! neighbours. Its reverse, a reduce-scatter, begins with the neighbours.

use crate::algorithms::by_rank::rounds::{Round, Rounds};

/// Rounds of the allgather: before the round of distance d a rank has the blocks of the ranks at
/// multiples of 2d before it, and forwards all, or all except the farthest one if that is its
/// receiver's own.
pub(crate) fn rounds(ranks: usize) -> Rounds {
    let distances = (0..ranks.next_power_of_two().ilog2()).rev();
    let distances: Vec<usize> = distances.map(|bit| 1 << bit).collect();
    let have = |distance: usize| ranks.div_ceil(distance);
    let sent = |distance: usize| have(distance) - have(2 * distance);
    // The farthest block is always the last one: if it is not sent, the received one is put in
    // front.
    let leaves_last = |distance: usize| sent(distance) < have(2 * distance);
    let in_front = distances.iter().filter(|&&distance| leaves_last(distance));
    let own: usize = in_front.map(|&distance| sent(distance)).sum();
    let mut owners = vec![0; ranks];
    let mut places = own..own + 1;
    let mut rounds = Vec::with_capacity(distances.len());
    for distance in distances {
        let count = sent(distance);
        let received = if leaves_last(distance) {
            places.start - count..places.start
        } else {
            places.end..places.end + count
        };
        let sent = places.start..places.start + count;
        for (from, to) in sent.clone().zip(received.clone()) {
            owners[to] = (owners[from] + ranks - distance) % ranks;
        }
        places = places.start.min(received.start)..places.end.max(received.end);
        rounds.push(Round {
            distance,
            sent,
            received,
        });
    }
    Rounds { owners, rounds }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::by_rank::rounds::tests::{counts, sent};

    #[test]
    fn distances_and_blocks_are_those_of_the_paper() {
        for (ranks, expected) in [
            (1, &[][..]),
            (5, &[(4, 1), (2, 1), (1, 2)]),
            (6, &[(4, 1), (2, 1), (1, 3)]),
            (7, &[(4, 1), (2, 2), (1, 3)]),
            (8, &[(4, 1), (2, 2), (1, 4)]),
            (12, &[(8, 1), (4, 1), (2, 3), (1, 6)]),
            (13, &[(8, 1), (4, 2), (2, 3), (1, 6)]),
        ] {
            assert_eq!(counts(&rounds(ranks)), expected, "{ranks} ranks");
        }
        let expected = [
            (8, vec![0]),
            (4, vec![0]),
            (2, vec![0, 4, 8]),
            (1, vec![0, 2, 4, 6, 8, 10]),
        ];
        assert_eq!(sent(&rounds(12)), expected);
    }
}
