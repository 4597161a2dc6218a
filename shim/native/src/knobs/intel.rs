//! Intel MPI's `I_MPI_ADJUST_<OPERATION>`: numbers of presets, most of which have no name.
//!
//! Source: the numbers that 2021.18 accepts; names of its reference for 2019.

use crate::knobs::knob::{Knob, Target};
use treepie_collective::operation::Operation::{self, *};

/// Presets of an operation: their number, and the names of the first ones.
type Presets = (Operation, u32, &'static [&'static str]);

#[rustfmt::skip]
const PRESETS: &[Presets] = &[
    (Allreduce, 32, &[
        "recursive_doubling", "rabenseifner", "reduce_bcast", "topology_aware_reduce_bcast",
        "binomial_gather_scatter", "topology_aware_binomial_gather_scatter", "shumilin_ring",
        "ring", "knomial", "shm_flat", "shm_knomial", "shm_knary",
    ]),
    (Bcast, 22, &[]),
    (Reduce, 19, &[]),
    (Barrier, 11, &[
        "dissemination", "recursive_doubling", "topology_aware_dissemination",
        "topology_aware_recursive_doubling", "binomial_gather_scatter",
    ]),
    (Allgather, 6, &[
        "recursive_doubling", "bruck", "ring", "topology_aware_gatherv_bcast", "knomial",
    ]),
    (Allgatherv, 5, &["recursive_doubling", "bruck", "ring", "topology_aware_gatherv_bcast"]),
    (Alltoall, 18, &["bruck", "isend_irecv", "pairwise", "plum"]),
    (Alltoallv, 9, &["isend_irecv", "plum"]),
    (Alltoallw, 6, &[]),
    (Gather, 5, &[]),
    (Gatherv, 4, &[]),
    (Scatter, 5, &[]),
    (Scatterv, 4, &[]),
    (Scan, 3, &[]),
    (Exscan, 3, &[]),
    (ReduceScatter, 6, &[]),
    (ReduceScatterBlock, 4, &[]),
];

/// Names of the presets without a name of Intel's.
#[rustfmt::skip]
const NUMBERED: [&str; 32] = [
    "preset-1", "preset-2", "preset-3", "preset-4", "preset-5", "preset-6", "preset-7", "preset-8",
    "preset-9", "preset-10", "preset-11", "preset-12", "preset-13", "preset-14", "preset-15",
    "preset-16", "preset-17", "preset-18", "preset-19", "preset-20", "preset-21", "preset-22",
    "preset-23", "preset-24", "preset-25", "preset-26", "preset-27", "preset-28", "preset-29",
    "preset-30", "preset-31", "preset-32",
];

pub(super) fn knobs(operation: Operation) -> Vec<Knob> {
    let found = PRESETS.iter().find(|(of, ..)| *of == operation);
    let Some((_, presets, names)) = found else {
        return Vec::new();
    };
    let numbered = NUMBERED.iter().take(*presets as usize).enumerate();
    let knob = |(place, numbered): (usize, &&'static str)| Knob {
        operation,
        name: names.get(place).unwrap_or(numbered),
        target: Target::Algorithm,
        number: place as u32 + 1,
        requires: &[],
        in_place: false,
    };
    numbered.map(knob).collect()
}
