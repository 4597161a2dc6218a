//! Patterns with a root, for all small numbers of ranks and all roots.

use super::*;

#[test]
fn a_binomial_or_linear_bcast_reaches_each_other_rank_exactly_once_from_every_root() {
    for (size, root) in every_size_and_root() {
        for algorithm in ["linear", "flat"] {
            let sent = traffic(Operation::Bcast, size, root, 7, algorithm);
            let edges = size as u64 - 1;
            assert_eq!(sent.total(), Traffic::new(edges, 7 * edges));
            for rank in 0..size {
                let expected = u64::from(rank != root);
                assert_eq!(
                    received_by(&sent, rank),
                    Traffic::new(expected, 7 * expected)
                );
            }
        }
    }
}

#[test]
fn the_root_of_a_binomial_bcast_sends_as_many_messages_as_there_are_rounds() {
    for (size, root) in every_size_and_root() {
        let sent = traffic(Operation::Bcast, size, root, 7, "binomial");
        assert_eq!(sent_by(&sent, root).messages, rounds(size));
    }
}

#[test]
fn reduce_is_bcast_turned_round_and_gather_is_scatter_turned_round() {
    for (size, root) in every_size_and_root() {
        for algorithm in ["linear", "flat"] {
            let of = |operation| traffic(operation, size, root, BLOCK, algorithm);
            assert_eq!(of(Operation::Reduce), transposed(&of(Operation::Bcast)));
            assert_eq!(of(Operation::Gather), transposed(&of(Operation::Scatter)));
        }
    }
}

#[test]
fn the_root_of_a_gather_receives_the_block_of_every_other_rank() {
    for (size, root) in every_size_and_root() {
        for algorithm in ["linear", "flat"] {
            let sent = traffic(Operation::Gather, size, root, 10, algorithm);
            assert_eq!(received_by(&sent, root).bytes, 10 * (size as u64 - 1));
            assert_eq!(sent.total().messages, size as u64 - 1);
            for rank in (0..size).filter(|&rank| rank != root) {
                let (sent, received) = (sent_by(&sent, rank), received_by(&sent, rank));
                assert_eq!(sent.messages, 1);
                assert_eq!(
                    sent.bytes,
                    received.bytes + 10,
                    "passes all on, adds its own"
                );
            }
        }
    }
}

#[test]
fn a_gatherv_carries_each_ranks_own_block_to_the_root_and_leaves_empty_ones_out() {
    let sizes = [5, 0, 7, 11, 13];
    for root in 0..5 {
        for algorithm in ["linear", "flat"] {
            let mut sent = TrafficMatrix::new(5);
            let volume = Volume::PerRank(sizes.to_vec());
            let record = record(Operation::Gatherv, 5, root, volume);
            expand(
                &record,
                Model::Algorithm(algorithm),
                Family::Mpich,
                &mut sent,
            );
            for (rank, own) in sizes.into_iter().enumerate() {
                let (sent, received) = (sent_by(&sent, rank), received_by(&sent, rank));
                if rank == root {
                    assert_eq!(received.bytes, 36 - own);
                } else {
                    assert_eq!(sent.bytes, received.bytes + own);
                    assert_eq!(sent.messages, u64::from(sent.bytes > 0));
                }
            }
        }
    }
}

#[test]
fn a_long_reduce_brings_the_root_the_whole_message_in_the_end() {
    for (size, root) in every_size_and_root() {
        let bytes = 16 * BLOCK;
        let sent = traffic(
            Operation::Reduce,
            size,
            root,
            bytes,
            "reduce-scatter-gather",
        );
        let power = 1 << size.ilog2() as u64;
        let folded = size as u64 - power;
        // Halving moves B (1 - 1/p) for each of p ranks; the gather brings the root all blocks
        // except its own, each forwarded along the bits of its path.
        let halving = bytes / power * (power - 1) * power;
        let gather = bytes / 2 * u64::from(power.ilog2());
        let part = bytes / power;
        // Of each pair the odd rank leaves; as root it replaces the first one.
        let paired = (root / 2) < folded as usize;
        let left = paired && root % 2 == 1;
        let handed_over = u64::from(left) * part;
        let everything = folded * bytes + halving + gather + handed_over;
        assert_eq!(sent.total().bytes, everything);
        let expected = match left {
            true => bytes,
            false => 2 * (bytes - part) + u64::from(paired) * bytes,
        };
        assert_eq!(received_by(&sent, root).bytes, expected);
    }
}

#[test]
fn a_long_bcast_brings_every_rank_at_least_the_whole_message() {
    for (size, root) in every_size_and_root() {
        for algorithm in ["scatter-allgather", "scatter-doubling"] {
            let sent = traffic(Operation::Bcast, size, root, 1001, algorithm);
            for rank in (0..size).filter(|&rank| rank != root) {
                assert!(received_by(&sent, rank).bytes >= 1001, "{algorithm}");
            }
            assert!(sent_by(&sent, root).bytes >= 1001);
        }
    }
}

#[test]
fn the_doubling_allgather_of_a_long_bcast_gives_way_to_what_is_usual_off_powers_of_two() {
    let of = |algorithm| traffic(Operation::Bcast, 6, 2, 600, algorithm);
    assert_eq!(of("scatter-doubling"), of("binomial"));
}
