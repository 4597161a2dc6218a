//! MPICH's `MPIR_CVAR_<OPERATION>_INTRA_ALGORITHM`: names in the environment, and in the tool
//! interface the index in the list, which shifts if a later version inserts a name.
//!
//! Source: the lists that versions 4.0 to 5.0 print, in their order (`src/mpi/coll/cvars.txt`).
//! MPICH checks requirements itself, and makes its own choice if one is not met.
//!
//! From 4.1 on `MPIR_CVAR_<OPERATION>_COMPOSITION` selects, by a number, how the device `ch4`
//! divides a call over hosts before that.
//!
//! `circ_graph`, which the main branch has for broadcasts, reductions and allgathers after 5.0, is
//! not in the lists, and must not be added to them with a version that has it: among 33, 65, 66,
//! ... ranks it hangs or gives wrong results.

use crate::knobs::knob::{Knob, Target};
use crate::knobs::library::Version;
use treepie_collective::algorithms::Requirement::{self, *};
use treepie_collective::operation::Operation::{self, *};

const OLD: Version = Version(4, 0, 0);
const V41: Version = Version(4, 1, 0);
const V42: Version = Version(4, 2, 0);
const V43: Version = Version(4, 3, 0);
const V50: Version = Version(5, 0, 0);
const ALWAYS: Version = Version(u32::MAX, 0, 0);

/// Name, the first version that has it, and the first later version that no longer has it.
type Name = (&'static str, Version, Version);

/// Names of some operations in order; the index of the first is 1, that of `auto` is 0.
type List = (&'static [Operation], &'static [Name]);

const fn old(name: &'static str) -> Name {
    (name, OLD, ALWAYS)
}

const fn since(version: Version, name: &'static str) -> Name {
    (name, version, ALWAYS)
}

#[rustfmt::skip]
const LISTS: &[List] = &[
    (&[Bcast], &[
        old("binomial"), old("nb"), old("smp"), old("scatter_recursive_doubling_allgather"),
        old("scatter_ring_allgather"), since(V41, "pipelined_tree"), since(V41, "tree"),
    ]),
    (&[Reduce], &[old("binomial"), old("nb"), old("smp"), old("reduce_scatter_gather")]),
    (&[Allreduce], &[
        old("nb"), old("smp"), old("recursive_doubling"), since(V43, "recursive_multiplying"),
        old("reduce_scatter_allgather"), since(V41, "tree"), since(V41, "recexch"),
        since(V41, "ring"), since(V41, "k_reduce_scatter_allgather"), since(V50, "ccl"),
    ]),
    (&[Allgather], &[
        old("brucks"), since(V41, "k_brucks"), old("nb"), old("recursive_doubling"), old("ring"),
        since(V42, "recexch_doubling"), since(V42, "recexch_halving"),
    ]),
    (&[Allgatherv], &[old("brucks"), old("nb"), old("recursive_doubling"), old("ring")]),
    (&[Alltoall], &[
        old("brucks"), since(V41, "k_brucks"), old("nb"), old("pairwise"),
        old("pairwise_sendrecv_replace"), old("scattered"),
    ]),
    (&[Alltoallv, Alltoallw], &[old("nb"), old("pairwise_sendrecv_replace"), old("scattered")]),
    (&[Barrier], &[
        old("nb"), old("smp"), ("dissemination", OLD, V41), since(V41, "k_dissemination"),
        since(V41, "recexch"),
    ]),
    (&[Gather, Scatter], &[old("binomial"), old("nb")]),
    (&[Gatherv, Scatterv], &[old("linear"), old("nb")]),
    (&[ReduceScatter], &[
        old("nb"), old("noncommutative"), old("pairwise"), old("recursive_doubling"),
        old("recursive_halving"),
    ]),
    (&[ReduceScatterBlock], &[
        old("noncommutative"), old("recursive_doubling"), old("pairwise"),
        old("recursive_halving"), old("nb"),
    ]),
    (&[Scan], &[old("nb"), old("smp"), old("recursive_doubling")]),
    (&[Exscan], &[old("nb"), old("recursive_doubling")]),
];

/// Requirements without which an algorithm is replaced.
const REQUIRED: &[(&[Operation], &str, &[Requirement])] = &[
    (
        &[Allgather, Allgatherv],
        "recursive_doubling",
        &[PowerOfTwo],
    ),
    (&[Reduce, Allreduce], "smp", &[Commutative]),
    (&[Reduce, Allreduce], "composition_alpha", &[Commutative]),
    (&[Reduce], "composition_beta", &[Commutative]),
    (&[Allreduce], "composition_delta", &[Commutative]),
    (&[Allreduce], "ring", &[Commutative]),
    (&[Allreduce], "recursive_multiplying", &[Commutative]),
    (&[Allreduce], "k_reduce_scatter_allgather", &[Commutative]),
    (
        &[ReduceScatter, ReduceScatterBlock],
        "pairwise",
        &[Commutative],
    ),
    (
        &[ReduceScatter, ReduceScatterBlock],
        "recursive_halving",
        &[Commutative],
    ),
    (
        &[ReduceScatter, ReduceScatterBlock],
        "noncommutative",
        &[PowerOfTwo],
    ),
];

/// Compositions of some operations by number, from 1, with MPICH's names: `alpha` by one rank of
/// each host, `beta` without hosts, and so on. Each operation has its own order.
#[rustfmt::skip]
const COMPOSITIONS: &[List] = &[
    (&[Bcast, Reduce], &[
        since(V41, "composition_alpha"), since(V41, "composition_beta"),
        since(V41, "composition_gamma"),
    ]),
    (&[Allreduce], &[
        since(V41, "composition_alpha"), since(V41, "composition_beta"),
        since(V41, "composition_gamma"), since(V41, "composition_delta"),
    ]),
    (&[Allgather, Alltoall, Barrier], &[
        since(V41, "composition_alpha"), since(V41, "composition_beta"),
    ]),
];

pub(super) fn knobs(version: Version, operation: Operation) -> Vec<Knob> {
    let lists = [
        (LISTS, Target::Algorithm),
        (COMPOSITIONS, Target::Composition),
    ];
    let of_operation = lists.into_iter().flat_map(|(lists, target)| {
        let mut lists = lists.iter();
        let list = lists.find(|(of, ..)| of.contains(&operation));
        let names = list.map_or(&[][..], |(_, names)| names);
        let is_there = |(_, from, to): &&Name| (*from..*to).contains(&version);
        let there = names.iter().filter(is_there).enumerate();
        there.map(move |(place, (name, ..))| Knob {
            operation,
            name,
            target,
            number: place as u32 + 1,
            requires: required(operation, name),
            in_place: *name == "pairwise_sendrecv_replace",
        })
    });
    of_operation.collect()
}

fn required(operation: Operation, name: &str) -> &'static [Requirement] {
    let mut rows = REQUIRED.iter();
    let found = rows.find(|(of, called, _)| of.contains(&operation) && *called == name);
    found.map_or(&[], |(.., required)| required)
}
