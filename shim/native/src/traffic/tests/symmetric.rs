//! Patterns without a root, for all small numbers of ranks.

use super::*;
use treepie_collective::algorithms::Symmetry;
use treepie_collective::{Amount, Clusters, Flow, Problem};

/// Returns algorithms by rank that are not a gather to one rank followed by a broadcast.
fn without_a_root(operation: Operation) -> impl Iterator<Item = &'static str> {
    let all = Algorithm::of(operation).filter(|algorithm| algorithm.is_by_rank());
    all.map(|algorithm| algorithm.name)
        .filter(|name| *name != "gather-broadcast")
}

#[test]
fn every_allgather_brings_each_rank_all_other_blocks_exactly_once() {
    for size in 2..=17 {
        for algorithm in without_a_root(Operation::Allgather) {
            let sent = traffic(Operation::Allgather, size, 0, 10, algorithm);
            for rank in 0..size {
                let all_others = 10 * (size as u64 - 1);
                assert_eq!(received_by(&sent, rank).bytes, all_others, "{algorithm}");
                assert_eq!(sent_by(&sent, rank).bytes, all_others, "{algorithm}");
            }
        }
    }
}

#[test]
fn every_allgatherv_brings_each_rank_all_other_blocks_exactly_once() {
    for size in 2..=17usize {
        let sizes: Vec<u64> = (0..size as u64).map(|rank| rank * rank % 7).collect();
        for algorithm in without_a_root(Operation::Allgatherv) {
            let mut sent = TrafficMatrix::new(size);
            let volume = Volume::PerRank(sizes.clone());
            let record = record(Operation::Allgatherv, size, 0, volume);
            expand(
                &record,
                Model::Algorithm(algorithm),
                Family::Mpich,
                &mut sent,
            );
            for rank in 0..size {
                let all_others = sizes.iter().sum::<u64>() - sizes[rank];
                assert_eq!(received_by(&sent, rank).bytes, all_others, "{algorithm}");
            }
        }
    }
}

#[test]
fn an_allgather_takes_a_logarithm_of_messages_or_a_full_ring() {
    for size in 2..=17 {
        let messages = |algorithm| {
            let sent = traffic(Operation::Allgather, size, 0, 10, algorithm);
            sent_by(&sent, 0).messages
        };
        assert_eq!(messages("bruck"), rounds(size));
        assert_eq!(messages("recursive-doubling"), rounds(size));
        assert_eq!(messages("ring"), size as u64 - 1);
    }
}

#[test]
fn a_ring_talks_to_right_neighbours_only() {
    for size in 2..=9 {
        for operation in [
            Operation::Allgather,
            Operation::Allreduce,
            Operation::ReduceScatterBlock,
        ] {
            let sent = traffic(operation, size, 0, BLOCK, "ring");
            assert!(sent.entries().all(|(from, to, _)| to == (from + 1) % size));
        }
    }
}

#[test]
fn recursive_doubling_sends_a_logarithm_of_messages_on_powers_of_two() {
    for size in [2, 4, 8, 16] {
        let sent = traffic(Operation::Allreduce, size, 0, 8, "recursive-doubling");
        for rank in 0..size {
            let expected = Traffic::new(rounds(size), 8 * rounds(size));
            assert_eq!(sent_by(&sent, rank), expected);
            assert_eq!(received_by(&sent, rank), expected);
        }
    }
}

#[test]
fn recursive_doubling_folds_ranks_above_a_power_of_two_into_their_neighbour() {
    for size in [3, 5, 6, 7, 9, 15, 17] {
        let sent = traffic(Operation::Allreduce, size, 0, 8, "recursive-doubling");
        let power = 1 << size.ilog2();
        let folded = size - power;
        let expected = 2 * folded as u64 + power as u64 * u64::from(power.ilog2());
        assert_eq!(sent.total(), Traffic::new(expected, 8 * expected));
        for pair in 0..folded {
            let (even, odd) = (2 * pair, 2 * pair + 1);
            assert_eq!(sent_by(&sent, even), Traffic::new(1, 8));
            assert_eq!(sent.get(even, odd), Traffic::new(1, 8));
            assert_eq!(sent.get(odd, even), Traffic::new(1, 8));
        }
    }
}

#[test]
fn long_allreduces_move_the_least_that_is_possible_on_powers_of_two() {
    for size in [2, 4, 8] {
        for algorithm in ["reduce-scatter-allgather", "ring"] {
            let sent = traffic(Operation::Allreduce, size, 0, BLOCK, algorithm);
            for rank in 0..size {
                let bytes = 2 * BLOCK * (size as u64 - 1) / size as u64;
                assert_eq!(sent_by(&sent, rank).bytes, bytes);
                assert_eq!(received_by(&sent, rank).bytes, bytes);
            }
        }
    }
}

#[test]
fn a_pairwise_alltoall_gives_each_pair_one_block_and_none_to_oneself() {
    for size in 2..=9 {
        let sent = traffic(Operation::Alltoall, size, 0, 10, "pairwise");
        for from in 0..size {
            for to in 0..size {
                let expected = u64::from(from != to);
                assert_eq!(sent.get(from, to), Traffic::new(expected, 10 * expected));
            }
        }
    }
}

#[test]
fn a_bruck_alltoall_moves_each_block_once_for_each_set_bit_of_its_way() {
    for size in 2..=17usize {
        let sent = traffic(Operation::Alltoall, size, 0, 10, "bruck");
        let hops: u32 = (1..size).map(usize::count_ones).sum();
        for rank in 0..size {
            let expected = Traffic::new(rounds(size), 10 * u64::from(hops));
            assert_eq!(sent_by(&sent, rank), expected);
            assert_eq!(received_by(&sent, rank), expected);
        }
    }
}

#[test]
fn an_alltoallv_known_by_rank_is_spread_evenly_over_all_receivers() {
    let mut sent = TrafficMatrix::new(3);
    let volume = Volume::PerRank(vec![30, 0, 10]);
    expand(
        &record(Operation::Alltoallv, 3, 0, volume),
        USUAL,
        Family::Mpich,
        &mut sent,
    );
    assert_eq!(sent.get(0, 1), Traffic::new(1, 10));
    assert_eq!(sent_by(&sent, 1), Traffic::default());
    let others = sent_by(&sent, 2).bytes;
    assert!((6..=7).contains(&others), "two thirds of 10, not {others}");
}

#[test]
fn exact_pairs_of_an_alltoallv_are_taken_as_they_are_without_the_own_part() {
    let mut sent = TrafficMatrix::new(10);
    let record = Record {
        group: [7, 9].into(),
        calls: 3,
        ..record(
            Operation::Alltoallv,
            2,
            0,
            Volume::Pairs(vec![(0, 1, 5, 2), (1, 1, 8, 1), (0, 1, 1, 1)]),
        )
    };
    expand(&record, USUAL, Family::Mpich, &mut sent);
    let entries: Vec<_> = sent.entries().collect();
    assert_eq!(entries, [(7, 9, Traffic::new(3, 6))]);
}

#[test]
fn a_pairwise_reduce_scatter_sends_each_rank_its_block_from_every_other() {
    let sizes = [5, 0, 7];
    let mut sent = TrafficMatrix::new(3);
    let volume = Volume::PerRank(sizes.to_vec());
    let record = record(Operation::ReduceScatter, 3, 0, volume);
    expand(
        &record,
        Model::Algorithm("pairwise"),
        Family::Mpich,
        &mut sent,
    );
    for (rank, bytes) in sizes.into_iter().enumerate() {
        assert_eq!(received_by(&sent, rank).bytes, 2 * bytes);
    }
}

#[test]
fn a_ring_reduce_scatter_passes_on_all_blocks_but_the_own_one() {
    let sizes = [5, 0, 7];
    let mut sent = TrafficMatrix::new(3);
    let volume = Volume::PerRank(sizes.to_vec());
    let record = record(Operation::ReduceScatter, 3, 0, volume);
    expand(&record, Model::Algorithm("ring"), Family::Mpich, &mut sent);
    assert_eq!(sent.get(0, 1), Traffic::new(1, 7));
    assert_eq!(sent.get(1, 2), Traffic::new(2, 12));
    assert_eq!(sent.get(2, 0), Traffic::new(1, 5));
}

#[test]
fn a_halving_reduce_scatter_brings_each_rank_as_much_as_its_part_needs() {
    for size in 2..=17usize {
        let sent = traffic(
            Operation::ReduceScatterBlock,
            size,
            0,
            10,
            "recursive-halving",
        );
        let power = 1 << size.ilog2();
        let folded = size - power;
        for pair in 0..folded {
            let even = 2 * pair;
            assert_eq!(received_by(&sent, even), Traffic::new(1, 10));
            assert_eq!(sent_by(&sent, even), Traffic::new(1, 10 * size as u64));
        }
        for rank in 2 * folded..size {
            assert_eq!(sent_by(&sent, rank).messages, u64::from(power.ilog2()));
            assert_eq!(sent_by(&sent, rank).bytes, 10 * (size as u64 - 1));
        }
    }
}

#[test]
fn a_linear_scan_is_a_chain_and_a_doubling_scan_exchanges_with_those_there_are() {
    let chain = traffic(Operation::Scan, 5, 0, 8, "linear");
    let pairs: Vec<_> = chain.entries().map(|(from, to, _)| (from, to)).collect();
    assert_eq!(pairs, [(0, 1), (1, 2), (2, 3), (3, 4)]);
    let doubling = traffic(Operation::Exscan, 5, 0, 8, "recursive-doubling");
    assert_eq!(sent_by(&doubling, 4), Traffic::new(1, 8));
    assert_eq!(doubling.total().messages, 2 * (2 + 2 + 1));
}

#[test]
fn a_barrier_sends_empty_messages_and_hears_from_everybody() {
    for size in 2..=17 {
        for algorithm in Algorithm::of(Operation::Barrier).map(|known| known.name) {
            let sent = traffic(Operation::Barrier, size, 0, 0, algorithm);
            assert_eq!(sent.total().bytes, 0);
            assert!((0..size).all(|rank| received_by(&sent, rank).messages > 0));
        }
        let sent = traffic(Operation::Barrier, size, 0, 0, "dissemination");
        assert_eq!(sent.total().messages, size as u64 * rounds(size));
    }
}

#[test]
fn an_allgather_through_rank_0_is_a_gather_and_a_broadcast_of_everything() {
    let sent = traffic(Operation::Allgather, 6, 0, 10, "gather-broadcast");
    let mut expected = traffic(Operation::Gather, 6, 0, 10, "binomial");
    let bcast = traffic(Operation::Bcast, 6, 0, 60, "binomial");
    expected.merge(&bcast).unwrap();
    assert_eq!(sent, expected);
}

#[test]
fn what_is_meant_is_all_to_all_or_each_rank_to_those_after_it() {
    let meant = |operation, volume| {
        let mut sent = TrafficMatrix::new(3);
        let record = record(operation, 3, 1, volume);
        expand(&record, Model::Logical, Family::Mpich, &mut sent);
        sent.entries()
            .map(|(from, to, sent)| (from, to, sent.messages, sent.bytes))
            .collect::<Vec<_>>()
    };
    let to_all = [
        (0, 1, 1, 8),
        (0, 2, 1, 8),
        (1, 0, 1, 8),
        (1, 2, 1, 8),
        (2, 0, 1, 8),
        (2, 1, 1, 8),
    ];
    assert_eq!(meant(Operation::Allreduce, Volume::Uniform(8)), to_all);
    assert_eq!(meant(Operation::Alltoall, Volume::Uniform(8)), to_all);
    assert_eq!(
        meant(Operation::Barrier, Volume::Uniform(8)),
        to_all.map(|(from, to, messages, _)| (from, to, messages, 0))
    );
    assert_eq!(
        meant(Operation::Bcast, Volume::Uniform(8)),
        [(1, 0, 1, 8), (1, 2, 1, 8)]
    );
    assert_eq!(
        meant(Operation::Reduce, Volume::Uniform(8)),
        [(0, 1, 1, 8), (2, 1, 1, 8)]
    );
    assert_eq!(
        meant(Operation::Gatherv, Volume::PerRank(vec![1, 2, 3])),
        [(0, 1, 1, 1), (2, 1, 1, 3)]
    );
    assert_eq!(
        meant(Operation::Scatterv, Volume::PerRank(vec![1, 2, 3])),
        [(1, 0, 1, 1), (1, 2, 1, 3)]
    );
    let by_sender = [
        (0, 1, 1, 1),
        (0, 2, 1, 1),
        (1, 0, 1, 2),
        (1, 2, 1, 2),
        (2, 0, 1, 3),
        (2, 1, 1, 3),
    ];
    assert_eq!(
        meant(Operation::Allgatherv, Volume::PerRank(vec![1, 2, 3])),
        by_sender
    );
    let by_receiver = [
        (0, 1, 1, 2),
        (0, 2, 1, 3),
        (1, 0, 1, 1),
        (1, 2, 1, 3),
        (2, 0, 1, 1),
        (2, 1, 1, 2),
    ];
    assert_eq!(
        meant(Operation::ReduceScatter, Volume::PerRank(vec![1, 2, 3])),
        by_receiver
    );
    assert_eq!(
        meant(Operation::Scan, Volume::Uniform(8)),
        [(0, 1, 1, 8), (0, 2, 1, 8), (1, 2, 1, 8)]
    );
}

/// One rank is read for all with equal traffic: the result is that of each of them separately.
#[test]
fn ranks_that_are_said_to_send_alike_do() {
    let mut compared = 0;
    for ranks in 1..=18 {
        let clusters = Clusters::one(ranks);
        for operation in Operation::all() {
            for algorithm in Algorithm::of(operation) {
                let amount = Amount::Each(720_720);
                let problem = Problem {
                    operation,
                    root: 0,
                    amount: &amount,
                    clusters: &clusters,
                    ordered: false,
                    network: None,
                    unit_bytes: 1,
                };
                let alike = algorithm.alike(&problem);
                if !algorithm.serves(&problem) || alike == Symmetry::None {
                    continue;
                }
                compared += 1;
                let sent_by = |rank: usize| {
                    let mut sent = Sent::new(Flow::WHOLE);
                    sent.of(&algorithm.describe(&problem), rank).to_vec()
                };
                let sorted = |mut sent: Vec<(usize, Traffic)>| {
                    sent.sort_by_key(|&(to, traffic)| (to, traffic.bytes));
                    sent
                };
                for rank in 0..ranks {
                    let read = sent_by(rank % alike.read(ranks)).into_iter();
                    let meant = read.map(|(to, one)| (alike.peer(rank, to, ranks), one));
                    assert_eq!(
                        sorted(meant.collect()),
                        sorted(sent_by(rank)),
                        "{operation} {} on {ranks}",
                        algorithm.name
                    );
                }
            }
        }
    }
    assert!(compared > 200, "{compared}");
}
