//! Messages that Open MPI really sent: the `I` rows (messages of collectives) that the monitoring
//! component of Open MPI 4.1.4 wrote for one call on 8 ranks.

use super::*;

/// Returns equal traffic of each of 8 ranks with its partners at three distances, as (distance,
/// messages, bytes).
fn seen_on_8_ranks(distance_bytes: [(usize, u64, u64); 3]) -> TrafficMatrix {
    let entries = (0..8).flat_map(|rank| {
        distance_bytes.map(|(distance, messages, bytes)| {
            (rank, rank ^ distance, Traffic::new(messages, bytes))
        })
    });
    TrafficMatrix::from_entries(8, entries).unwrap()
}

#[test]
fn allreduce_and_allgather_are_what_open_mpi_sends_on_8_ranks() {
    let of = |operation, bytes, algorithm| traffic(operation, 8, 0, bytes, algorithm);
    assert_eq!(
        of(Operation::Allreduce, 64, "recursive-doubling"),
        seen_on_8_ranks([(1, 1, 64), (2, 1, 64), (4, 1, 64)])
    );
    assert_eq!(
        of(Operation::Allreduce, 65536, "reduce-scatter-allgather"),
        seen_on_8_ranks([(1, 2, 65536), (2, 2, 32768), (4, 2, 16384)])
    );
    assert_eq!(
        of(Operation::Allgather, 64, "recursive-doubling"),
        seen_on_8_ranks([(1, 1, 64), (2, 1, 128), (4, 1, 256)])
    );
    assert_eq!(
        of(Operation::ReduceScatterBlock, 65536, "recursive-halving"),
        seen_on_8_ranks([(1, 1, 65536), (2, 1, 131072), (4, 1, 262144)])
    );
}

#[test]
fn binomial_gather_and_reduce_are_what_open_mpi_sends_on_8_ranks() {
    let edges = [
        (1, 0, 1),
        (2, 0, 2),
        (3, 2, 1),
        (4, 0, 4),
        (5, 4, 1),
        (6, 4, 2),
        (7, 6, 1),
    ];
    let seen = |bytes: fn(u64) -> u64| {
        let entries = edges.map(|(from, to, led)| (from, to, Traffic::new(1, bytes(led))));
        TrafficMatrix::from_entries(8, entries).unwrap()
    };
    let gather = traffic(Operation::Gather, 8, 0, 64, "binomial");
    assert_eq!(gather, seen(|led| 64 * led));
    let reduce = traffic(Operation::Reduce, 8, 0, 65536, "binomial");
    assert_eq!(reduce, seen(|_| 65536));
}

#[test]
fn a_binomial_reduce_uses_the_edges_towards_rank_0_of_the_thesis_figure_2_4() {
    // Message counts that only instrumented Open MPI showed: +68 on these edges.
    let of_figure = [(1, 0), (2, 0), (3, 2), (4, 0), (5, 4), (6, 4), (7, 6)];
    let reduce = traffic(Operation::Reduce, 8, 0, 8, "binomial");
    let edges: Vec<_> = reduce.entries().map(|(from, to, _)| (from, to)).collect();
    assert_eq!(edges, of_figure);
}
