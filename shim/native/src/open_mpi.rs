//! Fixed decisions of Open MPI's component `tuned` from 4.1 on, as tables of communicator sizes and
//! bytes. From 6.1 on there are [others](crate::disjoint) for communicators without two ranks on
//! one host.
//!
//! Algorithms that send the same messages are one here: its linear, synchronised and two-process
//! alltoall are `pairwise`, its exchange of two processes in an allgather is `recursive-doubling`,
//! its pipeline of one segment is `chain`. If it falls back to another algorithm because there are
//! fewer elements than ranks, the table has that other one. Source: the counts of its monitoring
//! component, and `coll_tuned_decision_fixed.c`.

use treepie_collective::Operation;

/// Algorithm for bytes below each number.
type ByBytes = &'static [(u64, &'static str)];
/// Choice by bytes for communicators of fewer ranks than each number.
pub(super) type Rules = &'static [(usize, ByBytes)];

pub(super) const ANY: u64 = u64::MAX;
pub(super) const MANY: usize = usize::MAX;
pub(super) const K: u64 = 1024;
pub(super) const M: u64 = 1024 * K;

/// Algorithms that replace its algorithms if requirements are not met.
pub(super) const FALLBACKS: &[(&str, &str)] = &[
    ("recursive-doubling", "bruck"),
    ("neighbour-exchange", "ring"),
    ("scatter-doubling", "scatter-allgather"),
];

pub(super) fn usual(operation: Operation, ranks: usize, block: u64) -> &'static str {
    let all_blocks = block.saturating_mul(ranks as u64);
    let (rules, bytes) = match operation {
        Operation::Barrier => (BARRIER, 0),
        Operation::Bcast => (BCAST, block),
        Operation::Gather => (GATHER, block),
        Operation::Scatter => (SCATTER, block),
        Operation::Gatherv | Operation::Scatterv => return "linear",
        Operation::Allgather => (ALLGATHER, block),
        Operation::Allgatherv => (ALLGATHERV, block),
        Operation::Alltoall => (ALLTOALL, block),
        Operation::Alltoallv | Operation::Alltoallw => return "pairwise",
        Operation::Reduce => (REDUCE, block),
        Operation::Allreduce => (ALLREDUCE, block),
        Operation::ReduceScatter => (REDUCE_SCATTER, all_blocks),
        Operation::ReduceScatterBlock => (REDUCE_SCATTER_BLOCK, block),
        Operation::Scan | Operation::Exscan => return "linear",
        // Of neighbours: all messages together.
        _ => return "flat",
    };
    choice(rules, ranks, bytes).unwrap_or("linear")
}

/// Returns the choice of a table; `None` for an empty one.
pub(super) fn choice(rules: Rules, ranks: usize, bytes: u64) -> Option<&'static str> {
    below(below(rules, ranks)?, bytes)
}

/// Returns the first choice whose number is larger; the last one if none is.
fn below<N: PartialOrd, T: Copy>(rules: &[(N, T)], number: N) -> Option<T> {
    let found = rules.iter().find(|(below, _)| number < *below);
    found.or(rules.last()).map(|(_, choice)| *choice)
}

#[rustfmt::skip]
const BARRIER: Rules = &[
    (4, &[(ANY, "recursive-doubling")]),
    (8, &[(ANY, "linear")]),
    (64, &[(ANY, "recursive-doubling")]),
    (256, &[(ANY, "dissemination")]),
    (512, &[(ANY, "binomial")]),
    (1024, &[(ANY, "dissemination")]),
    (4096, &[(ANY, "binomial")]),
    (MANY, &[(ANY, "dissemination")]),
];

/// Its split binary tree, for 16 to 32 KiB on 256 to 1023 ranks, is treated as a binary one.
#[rustfmt::skip]
const BCAST: Rules = &[
    (4, &[(32, "chain"), (256, "binary"), (512, "chain"), (K, "quadrinomial"), (32 * K, "linear"),
        (128 * K, "binary"), (256 * K, "chain"), (512 * K, "linear"), (M, "highest-bit-binomial"),
        (ANY, "binary")]),
    (8, &[(64, "binary"), (128, "highest-bit-binomial"), (2 * K, "binary"),
        (8 * K, "highest-bit-binomial"), (M, "linear"), (ANY, "chain")]),
    (16, &[(8, "quadrinomial"), (64, "binary"), (4 * K, "quadrinomial"), (16 * K, "binary"),
        (32 * K, "highest-bit-binomial"), (ANY, "linear")]),
    (32, &[(4 * K, "quadrinomial"), (M, "highest-bit-binomial"), (ANY, "scatter-doubling")]),
    (64, &[(2 * K, "highest-bit-binomial"), (ANY, "quadrinomial")]),
    (128, &[(ANY, "quadrinomial")]),
    (256, &[(2, "highest-bit-binomial"), (16 * K, "binary"), (32 * K, "linear"), (64 * K, "binary"),
        (ANY, "quadrinomial")]),
    (1024, &[(16 * K, "quadrinomial"), (32 * K, "binary"), (ANY, "quadrinomial")]),
    (2048, &[(512 * K, "quadrinomial"), (ANY, "scatter-doubling")]),
    (4096, &[(256 * K, "quadrinomial"), (ANY, "scatter-doubling")]),
    (MANY, &[(8 * K, "quadrinomial"), (16 * K, "binary"), (256 * K, "quadrinomial"),
        (ANY, "scatter-doubling")]),
];

#[rustfmt::skip]
const GATHER: Rules = &[
    (4, &[(4, "linear"), (32 * K, "binomial"), (64 * K, "linear"), (128 * K, "binomial"),
        (ANY, "synchronised-linear")]),
    (8, &[(K, "binomial"), (8 * K, "linear"), (32 * K, "binomial"), (256 * K, "linear"),
        (ANY, "synchronised-linear")]),
    (256, &[(ANY, "binomial")]),
    (512, &[(2 * K, "binomial"), (8 * K, "linear"), (ANY, "binomial")]),
    (MANY, &[(ANY, "binomial")]),
];

#[rustfmt::skip]
const SCATTER: Rules = &[
    (4, &[(ANY, "linear")]),
    (8, &[(2 * K, "binomial"), (4 * K, "linear"), (8 * K, "binomial"), (ANY, "linear")]),
    (32, &[(16 * K, "binomial"), (ANY, "linear")]),
    (64, &[(512, "binomial"), (8 * K, "linear"), (16 * K, "binomial"), (ANY, "linear")]),
    (MANY, &[(512, "binomial"), (ANY, "linear")]),
];

#[rustfmt::skip]
const ALLGATHER: Rules = &[
    (32, &[(ANY, "recursive-doubling")]),
    (64, &[(K, "recursive-doubling"), (64 * K, "neighbour-exchange"), (ANY, "ring")]),
    (128, &[(512, "recursive-doubling"), (64 * K, "neighbour-exchange"), (ANY, "ring")]),
    (256, &[(512, "recursive-doubling"), (128 * K, "neighbour-exchange"), (512 * K, "ring"),
        (M, "neighbour-exchange"), (ANY, "ring")]),
    (512, &[(32, "recursive-doubling"), (128, "bruck"), (K, "recursive-doubling"),
        (128 * K, "neighbour-exchange"), (512 * K, "ring"), (M, "neighbour-exchange"),
        (ANY, "ring")]),
    (1024, &[(64, "recursive-doubling"), (256, "bruck"), (2 * K, "recursive-doubling"),
        (ANY, "neighbour-exchange")]),
    (2048, &[(4, "recursive-doubling"), (8, "bruck"), (16, "recursive-doubling"), (32, "bruck"),
        (256, "recursive-doubling"), (512, "bruck"), (4 * K, "recursive-doubling"),
        (ANY, "neighbour-exchange")]),
    (4096, &[(32, "bruck"), (128, "recursive-doubling"), (512, "bruck"),
        (4 * K, "recursive-doubling"), (ANY, "neighbour-exchange")]),
    (MANY, &[(2, "recursive-doubling"), (8, "bruck"), (16, "recursive-doubling"), (512, "bruck"),
        (4 * K, "recursive-doubling"), (ANY, "neighbour-exchange")]),
];

#[rustfmt::skip]
const ALLGATHERV: Rules = &[
    (3, &[(ANY, "ring")]),
    (8, &[(256, "gather-broadcast"), (4 * K, "neighbour-exchange"), (8 * K, "ring"),
        (16 * K, "neighbour-exchange"), (256 * K, "bruck"), (ANY, "neighbour-exchange")]),
    (16, &[(K, "gather-broadcast"), (ANY, "bruck")]),
    (32, &[(128, "gather-broadcast"), (256 * K, "bruck"), (ANY, "ring")]),
    (64, &[(256, "gather-broadcast"), (8 * K, "bruck"), (ANY, "ring")]),
    (128, &[(256, "gather-broadcast"), (4 * K, "bruck"), (ANY, "ring")]),
    (256, &[(K, "bruck"), (64 * K, "neighbour-exchange"), (ANY, "ring")]),
    (512, &[(K, "bruck"), (ANY, "ring")]),
    (1024, &[(512, "bruck"), (K, "gather-broadcast"), (4 * K, "bruck"), (M, "neighbour-exchange"),
        (ANY, "ring")]),
    (MANY, &[(4 * K, "bruck"), (ANY, "neighbour-exchange")]),
];

#[rustfmt::skip]
const ALLTOALL: Rules = &[
    (16, &[(ANY, "pairwise")]),
    (32, &[(4, "pairwise"), (512, "bruck"), (ANY, "pairwise")]),
    (64, &[(512, "bruck"), (ANY, "pairwise")]),
    (512, &[(K, "bruck"), (ANY, "pairwise")]),
    (2048, &[(512, "bruck"), (ANY, "pairwise")]),
    (4096, &[(K, "bruck"), (ANY, "pairwise")]),
    (MANY, &[(2 * K, "bruck"), (ANY, "pairwise")]),
];

#[rustfmt::skip]
const REDUCE: Rules = &[
    (4, &[(8, "linear"), (16, "binary"), (32, "chain"), (256 * K, "linear"), (ANY, "chain")]),
    (8, &[(4 * K, "binary"), (64 * K, "chain"), (256 * K, "binomial"), (512 * K, "linear"),
        (M, "binomial"), (ANY, "linear")]),
    (16, &[(8 * K, "binary"), (ANY, "binomial")]),
    (32, &[(4 * K, "binary"), (ANY, "binomial")]),
    (256, &[(ANY, "binomial")]),
    (512, &[(8 * K, "binomial"), (16 * K, "in-order-binary"), (ANY, "binomial")]),
    (2048, &[(ANY, "binomial")]),
    (4096, &[(512, "binomial"), (K, "in-order-binary"), (8 * K, "binomial"),
        (16 * K, "in-order-binary"), (ANY, "binomial")]),
    (MANY, &[(16, "binomial"), (32, "in-order-binary"), (K, "binomial"), (2 * K, "in-order-binary"),
        (8 * K, "binomial"), (16 * K, "in-order-binary"), (ANY, "binomial")]),
];

#[rustfmt::skip]
const ALLREDUCE: Rules = &[
    (4, &[(4 * K, "recursive-doubling"), (8 * K, "ring"), (16 * K, "recursive-doubling"),
        (256 * K, "ring"), (ANY, "reduce-scatter-allgather-shared")]),
    (16, &[(8 * K, "recursive-doubling"), (ANY, "reduce-scatter-allgather-shared")]),
    (32, &[(4 * K, "recursive-doubling"), (ANY, "reduce-scatter-allgather-shared")]),
    (64, &[(128, "recursive-doubling"), (ANY, "reduce-scatter-allgather-shared")]),
    (128, &[(256 * K, "recursive-doubling"), (ANY, "reduce-scatter-allgather-shared")]),
    (256, &[(128 * K, "reduce-broadcast"), (256 * K, "recursive-doubling"),
        (ANY, "reduce-scatter-allgather-shared")]),
    (512, &[(4 * K, "reduce-broadcast"), (ANY, "reduce-scatter-allgather-shared")]),
    (4096, &[(2 * K, "reduce-broadcast"), (16 * K, "recursive-doubling"),
        (ANY, "reduce-scatter-allgather-shared")]),
    (MANY, &[(2 * K, "reduce-broadcast"), (32 * K, "recursive-doubling"),
        (ANY, "reduce-scatter-allgather-shared")]),
];

/// By the bytes of all blocks.
#[rustfmt::skip]
const REDUCE_SCATTER: Rules = &[
    (4, &[(64 * K, "ring"), (128 * K, "butterfly"), (ANY, "ring")]),
    (8, &[(8, "reduce-scatterv"), (256 * K, "recursive-halving"), (ANY, "ring")]),
    (32, &[(256 * K, "recursive-halving"), (ANY, "ring")]),
    (64, &[(64, "reduce-scatterv"), (2 * K, "recursive-halving"), (512 * K, "butterfly"),
        (ANY, "ring")]),
    (128, &[(256, "reduce-scatterv"), (512, "recursive-halving"), (2 * K, "butterfly"),
        (4 * K, "recursive-halving"), (ANY, "butterfly")]),
    (256, &[(256, "reduce-scatterv"), (512, "recursive-halving"), (ANY, "butterfly")]),
    (512, &[(256, "reduce-scatterv"), (K, "recursive-halving"), (ANY, "butterfly")]),
    (1024, &[(512, "reduce-scatterv"), (2 * K, "recursive-halving"), (8 * K, "butterfly"),
        (16 * K, "recursive-halving"), (ANY, "butterfly")]),
    (2048, &[(512, "reduce-scatterv"), (4 * K, "recursive-halving"), (16 * K, "butterfly"),
        (32 * K, "recursive-halving"), (ANY, "butterfly")]),
    (4096, &[(512, "reduce-scatterv"), (4 * K, "recursive-halving"), (ANY, "butterfly")]),
    (MANY, &[(K, "reduce-scatterv"), (8 * K, "recursive-halving"), (ANY, "butterfly")]),
];

/// Its recursive doubling, for 8 to 31 bytes on 4 to 7 ranks, is not modelled: it is treated as
/// recursive halving, which has the same partners.
#[rustfmt::skip]
const REDUCE_SCATTER_BLOCK: Rules = &[
    (4, &[(8, "butterfly"), (16, "recursive-halving"), (128, "butterfly"),
        (256, "recursive-halving"), (4 * K, "butterfly"), (8 * K, "recursive-halving"),
        (128 * K, "butterfly"), (ANY, "reduce-scatterv")]),
    (8, &[(32, "recursive-halving"), (256, "butterfly"), (8 * K, "recursive-halving"),
        (16 * K, "butterfly"), (M, "recursive-halving"), (ANY, "reduce-scatterv")]),
    (16, &[(4, "reduce-scatterv"), (32, "recursive-halving"), (128, "butterfly"),
        (512 * K, "recursive-halving"), (4 * M, "reduce-scatterv"), (ANY, "butterfly")]),
    (32, &[(32, "reduce-scatterv"), (512 * K, "recursive-halving"), (2 * M, "reduce-scatterv"),
        (4 * M, "recursive-halving"), (ANY, "butterfly")]),
    (MANY, &[(4, "recursive-halving"), (16, "reduce-scatterv"), (64 * K, "butterfly"),
        (256 * K, "reduce-scatterv"), (ANY, "butterfly")]),
];
