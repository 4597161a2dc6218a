//! Fixed decisions of Open MPI from 6.1 on for communicators without two ranks on one host, which
//! it calls disjoint: those of broadcasts and allreduces. For all other operations, and for all
//! other communicators, the tables of 4.1 apply.
//!
//! Source: `coll_tuned_decision_fixed.c` and `coll_tuned_module.c` of Open MPI's main branch
//! (`OMPI_COMM_IS_DISJOINT`; open-mpi/ompi pull requests 12278 and 12200). Its allgather-reduce, in
//! which all operands go to all, is `all-to-all` here, its segmented ring is `ring`.

use crate::knobs::Version;
use crate::open_mpi::{ANY, K, M, MANY, Rules, choice};
use treepie_collective::Operation;

/// First version that has them.
pub(super) const SINCE: Version = Version(6, 1, 0);

/// Returns its choice for `operation`; `None` if the usual tables apply. `is_ordered`: operands
/// stay in the order of ranks.
pub(super) fn usual(
    operation: Operation,
    ranks: usize,
    bytes: u64,
    is_ordered: bool,
) -> Option<&'static str> {
    let rules = match operation {
        Operation::Bcast => BCAST,
        Operation::Allreduce if is_ordered => ALLREDUCE_IN_ORDER,
        Operation::Allreduce => ALLREDUCE,
        _ => return None,
    };
    choice(rules, ranks, bytes)
}

#[rustfmt::skip]
const BCAST: Rules = &[
    (4, &[(ANY, "linear")]),
    (16, &[(M, "linear"), (ANY, "binary")]),
    (32, &[(256 * K, "linear"), (M, "quadrinomial"), (ANY, "binary")]),
    (MANY, &[(64 * K, "linear"), (M, "quadrinomial"), (ANY, "binary")]),
];

/// Name in the tables of allreduces.
const ALL: &str = "all-to-all";
const PARTS: &str = "reduce-broadcast";
const DOUBLING: &str = "recursive-doubling";
const RING: &str = "ring";
const HALVING: &str = "reduce-scatter-allgather-shared";

#[rustfmt::skip]
const ALLREDUCE: Rules = &[
    (3, &[(ANY, DOUBLING)]),
    (4, &[(ANY, ALL)]),
    (8, &[(M, ALL), (ANY, DOUBLING)]),
    (16, &[(256 * K, ALL), (M, HALVING), (ANY, DOUBLING)]),
    (32, &[(32 * K, ALL), (128 * K, PARTS), (ANY, HALVING)]),
    (65, &[(32 * K, ALL), (128 * K, DOUBLING), (ANY, HALVING)]),
    (128, &[(256 * K, DOUBLING), (ANY, HALVING)]),
    (256, &[(128 * K, PARTS), (256 * K, DOUBLING), (ANY, HALVING)]),
    (512, &[(4 * K, PARTS), (ANY, HALVING)]),
    (2048, &[(2 * K, PARTS), (16 * K, DOUBLING), (ANY, HALVING)]),
    (4096, &[(2 * K, PARTS), (4 * K, RING), (16 * K, DOUBLING), (ANY, HALVING)]),
    (MANY, &[(2 * K, PARTS), (16 * K, RING), (32 * K, DOUBLING), (ANY, HALVING)]),
];

#[rustfmt::skip]
const ALLREDUCE_IN_ORDER: Rules = &[
    (3, &[(ANY, DOUBLING)]),
    (4, &[(ANY, ALL)]),
    (8, &[(M, ALL), (ANY, DOUBLING)]),
    (16, &[(256 * K, ALL), (ANY, DOUBLING)]),
    (32, &[(32 * K, ALL), (128 * K, PARTS), (ANY, DOUBLING)]),
    (65, &[(32 * K, ALL), (ANY, DOUBLING)]),
    (128, &[(ANY, DOUBLING)]),
    (256, &[(128 * K, PARTS), (512 * K, DOUBLING), (ANY, PARTS)]),
    (512, &[(4 * K, PARTS), (512 * K, DOUBLING), (ANY, PARTS)]),
    (MANY, &[(2 * K, PARTS), (ANY, DOUBLING)]),
];
