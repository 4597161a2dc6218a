//! What Open MPI 4.1 does: the fixed decisions of its component `tuned`, as
//! tables of communicator sizes and bytes.
//!
//! Algorithms that send the same messages are one here: its linear, synchronised
//! and two-process alltoall are [`Pairwise`], its exchange of two processes in an
//! allgather is [`RecursiveDoubling`], its pipeline of one segment is [`Chain`].
//! Where it turns to another algorithm because there are fewer elements than
//! ranks, the table has that other one. Source: what its monitoring component
//! counts, and `coll_tuned_decision_fixed.c`.

use super::Algorithm::{self, *};
use crate::collective::Operation;

/// For bytes below the first number, the algorithm.
type ByBytes = &'static [(u64, Algorithm)];
/// For communicators of fewer ranks than the number, the choice by bytes.
type Rules = &'static [(usize, ByBytes)];

const ANY: u64 = u64::MAX;
const MANY: usize = usize::MAX;
const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

pub(super) fn usual_algorithm(operation: Operation, size: usize, block: u64) -> Algorithm {
    let all_blocks = block.saturating_mul(size as u64);
    match operation {
        Operation::Barrier => look_up(BARRIER, size, 0),
        Operation::Bcast => look_up(BCAST, size, block),
        Operation::Gather => look_up(GATHER, size, block),
        Operation::Scatter => look_up(SCATTER, size, block),
        Operation::Gatherv | Operation::Scatterv => Linear,
        Operation::Allgather => look_up(ALLGATHER, size, block),
        Operation::Allgatherv => look_up(ALLGATHERV, size, block),
        Operation::Alltoall => look_up(ALLTOALL, size, block),
        Operation::Alltoallv | Operation::Alltoallw => Pairwise,
        Operation::Reduce => look_up(REDUCE, size, block),
        Operation::Allreduce => look_up(ALLREDUCE, size, block),
        Operation::ReduceScatter => look_up(REDUCE_SCATTER, size, all_blocks),
        Operation::ReduceScatterBlock => look_up(REDUCE_SCATTER_BLOCK, size, block),
        Operation::Scan | Operation::Exscan => Linear,
    }
}

/// The first choice for more ranks and more bytes than there are; every table
/// ends with one for any number.
fn look_up(rules: Rules, size: usize, bytes: u64) -> Algorithm {
    let by_bytes = rules
        .iter()
        .find(|(below, _)| size < *below)
        .or(rules.last())
        .map_or(&[][..], |(_, by_bytes)| by_bytes);
    by_bytes
        .iter()
        .find(|(below, _)| bytes < *below)
        .or(by_bytes.last())
        .map_or(Linear, |&(_, algorithm)| algorithm)
}

const BARRIER: Rules = &[
    (4, &[(ANY, RecursiveDoubling)]),
    (8, &[(ANY, Linear)]),
    (64, &[(ANY, RecursiveDoubling)]),
    (256, &[(ANY, Dissemination)]),
    (512, &[(ANY, Binomial)]),
    (1024, &[(ANY, Dissemination)]),
    (4096, &[(ANY, Binomial)]),
    (MANY, &[(ANY, Dissemination)]),
];

// Its split binary tree, for 16 to 32 KiB on 256 to 1023 ranks, is taken for a
// binary one.
const BCAST: Rules = &[
    (
        4,
        &[
            (32, Chain),
            (256, Binary),
            (512, Chain),
            (KIB, Quadrinomial),
            (32 * KIB, Linear),
            (128 * KIB, Binary),
            (256 * KIB, Chain),
            (512 * KIB, Linear),
            (MIB, HighestBitBinomial),
            (ANY, Binary),
        ],
    ),
    (
        8,
        &[
            (64, Binary),
            (128, HighestBitBinomial),
            (2 * KIB, Binary),
            (8 * KIB, HighestBitBinomial),
            (MIB, Linear),
            (ANY, Chain),
        ],
    ),
    (
        16,
        &[
            (8, Quadrinomial),
            (64, Binary),
            (4 * KIB, Quadrinomial),
            (16 * KIB, Binary),
            (32 * KIB, HighestBitBinomial),
            (ANY, Linear),
        ],
    ),
    (
        32,
        &[
            (4 * KIB, Quadrinomial),
            (MIB, HighestBitBinomial),
            (ANY, ScatterDoubling),
        ],
    ),
    (64, &[(2 * KIB, HighestBitBinomial), (ANY, Quadrinomial)]),
    (128, &[(ANY, Quadrinomial)]),
    (
        256,
        &[
            (2, HighestBitBinomial),
            (16 * KIB, Binary),
            (32 * KIB, Linear),
            (64 * KIB, Binary),
            (ANY, Quadrinomial),
        ],
    ),
    (
        1024,
        &[
            (16 * KIB, Quadrinomial),
            (32 * KIB, Binary),
            (ANY, Quadrinomial),
        ],
    ),
    (2048, &[(512 * KIB, Quadrinomial), (ANY, ScatterDoubling)]),
    (4096, &[(256 * KIB, Quadrinomial), (ANY, ScatterDoubling)]),
    (
        MANY,
        &[
            (8 * KIB, Quadrinomial),
            (16 * KIB, Binary),
            (256 * KIB, Quadrinomial),
            (ANY, ScatterDoubling),
        ],
    ),
];

const GATHER: Rules = &[
    (
        4,
        &[
            (4, Linear),
            (32 * KIB, Binomial),
            (64 * KIB, Linear),
            (128 * KIB, Binomial),
            (ANY, SynchronisedLinear),
        ],
    ),
    (
        8,
        &[
            (KIB, Binomial),
            (8 * KIB, Linear),
            (32 * KIB, Binomial),
            (256 * KIB, Linear),
            (ANY, SynchronisedLinear),
        ],
    ),
    (256, &[(ANY, Binomial)]),
    (
        512,
        &[(2 * KIB, Binomial), (8 * KIB, Linear), (ANY, Binomial)],
    ),
    (MANY, &[(ANY, Binomial)]),
];

const SCATTER: Rules = &[
    (4, &[(ANY, Linear)]),
    (
        8,
        &[
            (2 * KIB, Binomial),
            (4 * KIB, Linear),
            (8 * KIB, Binomial),
            (ANY, Linear),
        ],
    ),
    (32, &[(16 * KIB, Binomial), (ANY, Linear)]),
    (
        64,
        &[
            (512, Binomial),
            (8 * KIB, Linear),
            (16 * KIB, Binomial),
            (ANY, Linear),
        ],
    ),
    (MANY, &[(512, Binomial), (ANY, Linear)]),
];

const ALLGATHER: Rules = &[
    (32, &[(ANY, RecursiveDoubling)]),
    (
        64,
        &[
            (KIB, RecursiveDoubling),
            (64 * KIB, NeighbourExchange),
            (ANY, Ring),
        ],
    ),
    (
        128,
        &[
            (512, RecursiveDoubling),
            (64 * KIB, NeighbourExchange),
            (ANY, Ring),
        ],
    ),
    (
        256,
        &[
            (512, RecursiveDoubling),
            (128 * KIB, NeighbourExchange),
            (512 * KIB, Ring),
            (MIB, NeighbourExchange),
            (ANY, Ring),
        ],
    ),
    (
        512,
        &[
            (32, RecursiveDoubling),
            (128, Bruck),
            (KIB, RecursiveDoubling),
            (128 * KIB, NeighbourExchange),
            (512 * KIB, Ring),
            (MIB, NeighbourExchange),
            (ANY, Ring),
        ],
    ),
    (
        1024,
        &[
            (64, RecursiveDoubling),
            (256, Bruck),
            (2 * KIB, RecursiveDoubling),
            (ANY, NeighbourExchange),
        ],
    ),
    (
        2048,
        &[
            (4, RecursiveDoubling),
            (8, Bruck),
            (16, RecursiveDoubling),
            (32, Bruck),
            (256, RecursiveDoubling),
            (512, Bruck),
            (4 * KIB, RecursiveDoubling),
            (ANY, NeighbourExchange),
        ],
    ),
    (
        4096,
        &[
            (32, Bruck),
            (128, RecursiveDoubling),
            (512, Bruck),
            (4 * KIB, RecursiveDoubling),
            (ANY, NeighbourExchange),
        ],
    ),
    (
        MANY,
        &[
            (2, RecursiveDoubling),
            (8, Bruck),
            (16, RecursiveDoubling),
            (512, Bruck),
            (4 * KIB, RecursiveDoubling),
            (ANY, NeighbourExchange),
        ],
    ),
];

const ALLGATHERV: Rules = &[
    (3, &[(ANY, Ring)]),
    (
        8,
        &[
            (256, GatherBroadcast),
            (4 * KIB, NeighbourExchange),
            (8 * KIB, Ring),
            (16 * KIB, NeighbourExchange),
            (256 * KIB, Bruck),
            (ANY, NeighbourExchange),
        ],
    ),
    (16, &[(KIB, GatherBroadcast), (ANY, Bruck)]),
    (
        32,
        &[(128, GatherBroadcast), (256 * KIB, Bruck), (ANY, Ring)],
    ),
    (64, &[(256, GatherBroadcast), (8 * KIB, Bruck), (ANY, Ring)]),
    (
        128,
        &[(256, GatherBroadcast), (4 * KIB, Bruck), (ANY, Ring)],
    ),
    (
        256,
        &[(KIB, Bruck), (64 * KIB, NeighbourExchange), (ANY, Ring)],
    ),
    (512, &[(KIB, Bruck), (ANY, Ring)]),
    (
        1024,
        &[
            (512, Bruck),
            (KIB, GatherBroadcast),
            (4 * KIB, Bruck),
            (MIB, NeighbourExchange),
            (ANY, Ring),
        ],
    ),
    (MANY, &[(4 * KIB, Bruck), (ANY, NeighbourExchange)]),
];

const ALLTOALL: Rules = &[
    (16, &[(ANY, Pairwise)]),
    (32, &[(4, Pairwise), (512, Bruck), (ANY, Pairwise)]),
    (64, &[(512, Bruck), (ANY, Pairwise)]),
    (512, &[(KIB, Bruck), (ANY, Pairwise)]),
    (2048, &[(512, Bruck), (ANY, Pairwise)]),
    (4096, &[(KIB, Bruck), (ANY, Pairwise)]),
    (MANY, &[(2 * KIB, Bruck), (ANY, Pairwise)]),
];

const REDUCE: Rules = &[
    (
        4,
        &[
            (8, Linear),
            (16, Binary),
            (32, Chain),
            (256 * KIB, Linear),
            (ANY, Chain),
        ],
    ),
    (
        8,
        &[
            (4 * KIB, Binary),
            (64 * KIB, Chain),
            (256 * KIB, Binomial),
            (512 * KIB, Linear),
            (MIB, Binomial),
            (ANY, Linear),
        ],
    ),
    (16, &[(8 * KIB, Binary), (ANY, Binomial)]),
    (32, &[(4 * KIB, Binary), (ANY, Binomial)]),
    (256, &[(ANY, Binomial)]),
    (
        512,
        &[
            (8 * KIB, Binomial),
            (16 * KIB, InOrderBinary),
            (ANY, Binomial),
        ],
    ),
    (2048, &[(ANY, Binomial)]),
    (
        4096,
        &[
            (512, Binomial),
            (KIB, InOrderBinary),
            (8 * KIB, Binomial),
            (16 * KIB, InOrderBinary),
            (ANY, Binomial),
        ],
    ),
    (
        MANY,
        &[
            (16, Binomial),
            (32, InOrderBinary),
            (KIB, Binomial),
            (2 * KIB, InOrderBinary),
            (8 * KIB, Binomial),
            (16 * KIB, InOrderBinary),
            (ANY, Binomial),
        ],
    ),
];

const ALLREDUCE: Rules = &[
    (
        4,
        &[
            (4 * KIB, RecursiveDoubling),
            (8 * KIB, Ring),
            (16 * KIB, RecursiveDoubling),
            (256 * KIB, Ring),
            (ANY, ReduceScatterAllgather),
        ],
    ),
    (
        16,
        &[(8 * KIB, RecursiveDoubling), (ANY, ReduceScatterAllgather)],
    ),
    (
        32,
        &[(4 * KIB, RecursiveDoubling), (ANY, ReduceScatterAllgather)],
    ),
    (
        64,
        &[(128, RecursiveDoubling), (ANY, ReduceScatterAllgather)],
    ),
    (
        128,
        &[
            (256 * KIB, RecursiveDoubling),
            (ANY, ReduceScatterAllgather),
        ],
    ),
    (
        256,
        &[
            (128 * KIB, ReduceBroadcast),
            (256 * KIB, RecursiveDoubling),
            (ANY, ReduceScatterAllgather),
        ],
    ),
    (
        512,
        &[(4 * KIB, ReduceBroadcast), (ANY, ReduceScatterAllgather)],
    ),
    (
        4096,
        &[
            (2 * KIB, ReduceBroadcast),
            (16 * KIB, RecursiveDoubling),
            (ANY, ReduceScatterAllgather),
        ],
    ),
    (
        MANY,
        &[
            (2 * KIB, ReduceBroadcast),
            (32 * KIB, RecursiveDoubling),
            (ANY, ReduceScatterAllgather),
        ],
    ),
];

// By the bytes of all blocks.
const REDUCE_SCATTER: Rules = &[
    (4, &[(64 * KIB, Ring), (128 * KIB, Butterfly), (ANY, Ring)]),
    (
        8,
        &[
            (8, ReduceScatterv),
            (256 * KIB, RecursiveHalving),
            (ANY, Ring),
        ],
    ),
    (32, &[(256 * KIB, RecursiveHalving), (ANY, Ring)]),
    (
        64,
        &[
            (64, ReduceScatterv),
            (2 * KIB, RecursiveHalving),
            (512 * KIB, Butterfly),
            (ANY, Ring),
        ],
    ),
    (
        128,
        &[
            (256, ReduceScatterv),
            (512, RecursiveHalving),
            (2 * KIB, Butterfly),
            (4 * KIB, RecursiveHalving),
            (ANY, Butterfly),
        ],
    ),
    (
        256,
        &[
            (256, ReduceScatterv),
            (512, RecursiveHalving),
            (ANY, Butterfly),
        ],
    ),
    (
        512,
        &[
            (256, ReduceScatterv),
            (KIB, RecursiveHalving),
            (ANY, Butterfly),
        ],
    ),
    (
        1024,
        &[
            (512, ReduceScatterv),
            (2 * KIB, RecursiveHalving),
            (8 * KIB, Butterfly),
            (16 * KIB, RecursiveHalving),
            (ANY, Butterfly),
        ],
    ),
    (
        2048,
        &[
            (512, ReduceScatterv),
            (4 * KIB, RecursiveHalving),
            (16 * KIB, Butterfly),
            (32 * KIB, RecursiveHalving),
            (ANY, Butterfly),
        ],
    ),
    (
        4096,
        &[
            (512, ReduceScatterv),
            (4 * KIB, RecursiveHalving),
            (ANY, Butterfly),
        ],
    ),
    (
        MANY,
        &[
            (KIB, ReduceScatterv),
            (8 * KIB, RecursiveHalving),
            (ANY, Butterfly),
        ],
    ),
];

// Its recursive doubling, for 8 to 31 bytes on 4 to 7 ranks, is not modelled: it
// is taken for recursive halving, which has the same partners.
const REDUCE_SCATTER_BLOCK: Rules = &[
    (
        4,
        &[
            (8, Butterfly),
            (16, RecursiveHalving),
            (128, Butterfly),
            (256, RecursiveHalving),
            (4 * KIB, Butterfly),
            (8 * KIB, RecursiveHalving),
            (128 * KIB, Butterfly),
            (ANY, ReduceScatterv),
        ],
    ),
    (
        8,
        &[
            (32, RecursiveHalving),
            (256, Butterfly),
            (8 * KIB, RecursiveHalving),
            (16 * KIB, Butterfly),
            (MIB, RecursiveHalving),
            (ANY, ReduceScatterv),
        ],
    ),
    (
        16,
        &[
            (4, ReduceScatterv),
            (32, RecursiveHalving),
            (128, Butterfly),
            (512 * KIB, RecursiveHalving),
            (4 * MIB, ReduceScatterv),
            (ANY, Butterfly),
        ],
    ),
    (
        32,
        &[
            (32, ReduceScatterv),
            (512 * KIB, RecursiveHalving),
            (2 * MIB, ReduceScatterv),
            (4 * MIB, RecursiveHalving),
            (ANY, Butterfly),
        ],
    ),
    (
        MANY,
        &[
            (4, RecursiveHalving),
            (16, ReduceScatterv),
            (64 * KIB, Butterfly),
            (256 * KIB, ReduceScatterv),
            (ANY, Butterfly),
        ],
    ),
];
