//! Open MPI's component `tuned`: `coll_tuned_<operation>_algorithm`, with the numbers of its rules.
//!
//! Source: `ompi_info --param coll tuned --level 9` of 4.1.4, 5.0.11 and 6.0.0rc2. The algorithms
//! of reductions that keep the order of ranks were found by measurements with products of matrices,
//! on 3 to 8 ranks and 1 to 20,000 elements: an unmarked one either keeps it or falls back to a
//! linear algorithm.
//!
//! In addition there are the segments of HAN (`coll_han_component.c`: 64 KiB up to 6.0) and the
//! component `acoll` (`coll_acoll_component.c`: from 6.0 on, after HAN and `tuned` by default).

use std::collections::BTreeMap;

use crate::knobs::knob::{Knob, Row, Target};
use crate::knobs::library::Version;
use treepie_collective::algorithms::Requirement::{self, *};
use treepie_collective::operation::Operation::{self, *};

const ALL: Version = Version(4, 1, 0);
const FIVE: Version = Version(5, 0, 0);
const SIX: Version = Version(6, 0, 0);
const LONG_SEGMENTS: Version = Version(6, 1, 0);
const ALWAYS: Version = Version(u32::MAX, 0, 0);
const NONE: &[Requirement] = &[];
const COMMUTES: &[Requirement] = &[Commutative];
const TWO: &[Requirement] = &[MaxRanks(2)];

#[rustfmt::skip]
const TABLE: &[Row] = &[
    (Allgather, 1, "linear", ALL, NONE),
    (Allgather, 2, "bruck", ALL, NONE),
    (Allgather, 3, "recursive_doubling", ALL, &[PowerOfTwo]),
    (Allgather, 4, "ring", ALL, NONE),
    (Allgather, 5, "neighbor", ALL, &[EvenRanks]),
    (Allgather, 6, "two_proc", ALL, TWO),
    (Allgather, 7, "sparbit", FIVE, NONE),
    (Allgather, 2, "bruck-k-fanout", SIX, NONE),
    (Allgather, 8, "direct-messaging", SIX, NONE),
    (Allgatherv, 1, "default", ALL, NONE),
    (Allgatherv, 2, "bruck", ALL, NONE),
    (Allgatherv, 3, "ring", ALL, NONE),
    (Allgatherv, 4, "neighbor", ALL, &[EvenRanks]),
    (Allgatherv, 5, "two_proc", ALL, TWO),
    (Allgatherv, 6, "sparbit", FIVE, NONE),
    (Allreduce, 1, "basic_linear", ALL, NONE),
    (Allreduce, 2, "nonoverlapping", ALL, NONE),
    (Allreduce, 3, "recursive_doubling", ALL, NONE),
    (Allreduce, 4, "ring", ALL, COMMUTES),
    (Allreduce, 5, "segmented_ring", ALL, COMMUTES),
    (Allreduce, 6, "rabenseifner", ALL, NONE),
    (Allreduce, 7, "allgather_reduce", SIX, COMMUTES),
    (Alltoall, 1, "linear", ALL, NONE),
    (Alltoall, 2, "pairwise", ALL, NONE),
    (Alltoall, 3, "modified_bruck", ALL, NONE),
    (Alltoall, 4, "linear_sync", ALL, NONE),
    (Alltoall, 5, "two_proc", ALL, TWO),
    (Alltoallv, 1, "basic_linear", ALL, NONE),
    (Alltoallv, 2, "pairwise", ALL, NONE),
    (Barrier, 1, "linear", ALL, NONE),
    (Barrier, 2, "double_ring", ALL, NONE),
    (Barrier, 3, "recursive_doubling", ALL, NONE),
    (Barrier, 4, "bruck", ALL, NONE),
    (Barrier, 5, "two_proc", ALL, TWO),
    (Barrier, 6, "tree", ALL, NONE),
    (Bcast, 1, "basic_linear", ALL, NONE),
    (Bcast, 2, "chain", ALL, NONE),
    (Bcast, 3, "pipeline", ALL, NONE),
    (Bcast, 4, "split_binary_tree", ALL, NONE),
    (Bcast, 5, "binary_tree", ALL, NONE),
    (Bcast, 6, "binomial", ALL, NONE),
    (Bcast, 7, "knomial", ALL, NONE),
    (Bcast, 8, "scatter_allgather", ALL, NONE),
    (Bcast, 9, "scatter_allgather_ring", ALL, NONE),
    (Exscan, 1, "linear", ALL, NONE),
    (Exscan, 2, "recursive_doubling", ALL, NONE),
    (Gather, 1, "basic_linear", ALL, NONE),
    (Gather, 2, "binomial", ALL, NONE),
    (Gather, 3, "linear_sync", ALL, NONE),
    (Reduce, 1, "linear", ALL, NONE),
    (Reduce, 2, "chain", ALL, COMMUTES),
    (Reduce, 3, "pipeline", ALL, COMMUTES),
    (Reduce, 4, "binary", ALL, COMMUTES),
    (Reduce, 5, "binomial", ALL, COMMUTES),
    (Reduce, 6, "in-order_binary", ALL, NONE),
    (Reduce, 7, "rabenseifner", ALL, NONE),
    (Reduce, 8, "knomial", SIX, COMMUTES),
    (ReduceScatter, 1, "non-overlapping", ALL, NONE),
    (ReduceScatter, 2, "recursive_halving", ALL, COMMUTES),
    (ReduceScatter, 3, "ring", ALL, COMMUTES),
    (ReduceScatter, 4, "butterfly", ALL, NONE),
    (ReduceScatterBlock, 1, "basic_linear", ALL, NONE),
    (ReduceScatterBlock, 2, "recursive_doubling", ALL, NONE),
    (ReduceScatterBlock, 3, "recursive_halving", ALL, NONE),
    (ReduceScatterBlock, 4, "butterfly", ALL, NONE),
    (Scan, 1, "linear", ALL, NONE),
    (Scan, 2, "recursive_doubling", ALL, NONE),
    (Scatter, 1, "basic_linear", ALL, NONE),
    (Scatter, 2, "binomial", ALL, NONE),
    (Scatter, 3, "linear_nb", ALL, NONE),
];

/// Bytes of HAN's segments that are worth a trial if its own are shorter (open-mpi/ompi issue
/// 11360).
const HAN_SEGMENTS: u32 = 512 << 10;

/// Priority above those of HAN and of `tuned`.
const FIRST: u32 = 50;

/// Knobs in addition to the algorithms of `tuned`: operations, then name, target and value, the
/// first version that has it and the first later one that no longer has it, requirements. The MPI
/// reads them only when it starts.
type Other = (
    &'static [Operation],
    (&'static str, Target, u32),
    (Version, Version),
    &'static [Requirement],
);

#[rustfmt::skip]
const OTHERS: &[Other] = &[
    (&[Bcast, Reduce, Allreduce], ("han_512k", Target::HanSegments, HAN_SEGMENTS), (FIVE, LONG_SEGMENTS), NONE),
    (&[Reduce, Allreduce], ("acoll", Target::Priority, FIRST), (SIX, ALWAYS), COMMUTES),
    (&[Allgather, Alltoall, Barrier, Bcast, Gather], ("acoll", Target::Priority, FIRST),
        (SIX, ALWAYS), NONE),
];

fn others(version: Version, operation: Operation) -> impl Iterator<Item = Knob> {
    let rows = OTHERS.iter().filter(move |(of, _, (from, to), _)| {
        of.contains(&operation) && (*from..*to).contains(&version)
    });
    rows.map(move |&(_, (name, target, number), _, requires)| Knob {
        operation,
        name,
        target,
        number,
        requires,
        in_place: false,
    })
}

pub(super) fn knobs(version: Version, operation: Operation) -> Vec<Knob> {
    let rows = TABLE.iter();
    let known = rows.filter(|(of, _, _, since, _)| *of == operation && *since <= version);
    let knob = |&(operation, number, name, _, requires): &Row| Knob {
        operation,
        name,
        target: Target::Algorithm,
        number,
        requires,
        in_place: false,
    };
    // Of two with one number the later one, which is a new name.
    let by_number: BTreeMap<u32, Knob> = known.map(knob).map(|knob| (knob.number, knob)).collect();
    by_number
        .into_values()
        .chain(others(version, operation))
        .collect()
}
