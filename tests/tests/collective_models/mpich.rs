//! MPICH's rules and algorithms compared with its calls of UCX.

use super::{Account, Forced};
use treepie_collective::Operation;
use treepie_native::Family;
use treepie_tests::monitoring::sent_through_ucx;
use treepie_tests::{Job, Mpi};
use treepie_traffic::TrafficMatrix;

const MPICH: Account = Account {
    mpi: Mpi::Mpich,
    family: Family::Mpich,
    sent,
    edges: &[
        (8, (Operation::Bcast, 3_072, 3)),
        (8, (Operation::Bcast, 3_074, 3)),
        (7, (Operation::Bcast, 3_080, 3)),
        (8, (Operation::Bcast, 131_072, 3)),
        (8, (Operation::Bcast, 131_074, 3)),
        (4, (Operation::Allreduce, 2, 0)),
        (4, (Operation::Allreduce, 8, 0)),
        (8, (Operation::Reduce, 512, 3)),
        (8, (Operation::Reduce, 520, 3)),
        (8, (Operation::Allgather, 16_383, 0)),
        (8, (Operation::Allgather, 16_384, 0)),
        (7, (Operation::Allgather, 2_925, 0)),
        (7, (Operation::Allgather, 2_926, 0)),
        (8, (Operation::Alltoall, 64, 0)),
        (9, (Operation::Alltoall, 64, 0)),
        (9, (Operation::Alltoall, 65, 0)),
        (8, (Operation::ReduceScatterBlock, 16_383, 0)),
        (8, (Operation::ReduceScatterBlock, 16_384, 0)),
    ],
    forcing: &[],
};

/// Data that a rank sends to itself is not a message in a model.
fn sent(job: Job) -> TrafficMatrix {
    let (_, truth) = sent_through_ucx(job);
    let mut sent = TrafficMatrix::new(truth.collectives.order());
    let others = truth
        .collectives
        .entries()
        .filter(|(from, to, _)| from != to);
    others.for_each(|(from, to, traffic)| sent.add(from, to, traffic));
    sent
}

/// MPICH 5 from PyPI sends the same messages as 4.0.
#[cfg(feature = "all-mpis")]
const MPICH_5: Account = Account {
    mpi: Mpi::Mpich5,
    ..MPICH
};

#[test]
fn the_rules_for_mpich_are_what_it_does_by_default() {
    MPICH.defaults_are_as_modelled();
}

#[cfg(feature = "all-mpis")]
#[test]
fn the_rules_for_mpich_are_what_mpich_5_does_by_default() {
    MPICH_5.defaults_are_as_modelled();
}

/// An operation, and MPICH's names of the modelled algorithms, in the form of
/// `MPIR_CVAR_<OPERATION>_INTRA_ALGORITHM`.
type Algorithms = (Operation, &'static [(&'static str, &'static str)]);

const FORCED: &[Algorithms] = {
    &[
        (
            Operation::Bcast,
            &[
                ("binomial", "binomial"),
                ("scatter_recursive_doubling_allgather", "scatter-doubling"),
                ("scatter_ring_allgather", "scatter-allgather"),
            ],
        ),
        (Operation::Gather, &[("binomial", "binomial")]),
        (Operation::Gatherv, &[("linear", "linear")]),
        (Operation::Scatter, &[("binomial", "binomial")]),
        (Operation::Scatterv, &[("linear", "linear")]),
        (
            Operation::Allgather,
            &[
                ("brucks", "bruck"),
                ("recursive_doubling", "recursive-doubling"),
                ("ring", "ring"),
            ],
        ),
        (
            Operation::Allgatherv,
            &[
                ("brucks", "bruck"),
                ("recursive_doubling", "recursive-doubling"),
                ("ring", "ring"),
            ],
        ),
        (
            Operation::Alltoall,
            &[
                ("brucks", "bruck"),
                ("pairwise", "pairwise"),
                ("scattered", "pairwise"),
            ],
        ),
        (Operation::Alltoallv, &[("scattered", "pairwise")]),
        (Operation::Alltoallw, &[("scattered", "pairwise")]),
        (
            Operation::Reduce,
            &[
                ("binomial", "binomial"),
                ("reduce_scatter_gather", "reduce-scatter-gather"),
            ],
        ),
        (
            Operation::Allreduce,
            &[
                ("recursive_doubling", "recursive-doubling"),
                ("reduce_scatter_allgather", "reduce-scatter-allgather"),
            ],
        ),
        (
            Operation::ReduceScatter,
            &[
                ("recursive_halving", "recursive-halving"),
                ("pairwise", "pairwise"),
            ],
        ),
        (
            Operation::ReduceScatterBlock,
            &[
                ("recursive_halving", "recursive-halving"),
                ("pairwise", "pairwise"),
            ],
        ),
        (
            Operation::Scan,
            &[("recursive_doubling", "recursive-doubling")],
        ),
        (
            Operation::Exscan,
            &[("recursive_doubling", "recursive-doubling")],
        ),
    ]
};

/// Algorithms to force at the same time: one for each operation.
fn rounds() -> impl Iterator<Item = Vec<Forced>> {
    let rounds = FORCED.iter().map(|(_, named)| named.len()).max();
    (0..rounds.unwrap_or(0)).map(|round| {
        let nth = |&(operation, named): &Algorithms| {
            let &(name, algorithm) = named.get(round)?;
            let upper = operation.to_string().replace('-', "_").to_uppercase();
            let variable = format!("MPIR_CVAR_{upper}_INTRA_ALGORITHM");
            Some(Forced {
                operation,
                algorithm,
                settings: vec![(variable, name.to_owned())],
            })
        };
        FORCED.iter().filter_map(nth).collect()
    })
}

#[test]
fn every_modelled_algorithm_is_what_mpich_sends_when_it_is_forced() {
    MPICH.forced_algorithms_are_as_modelled(rounds);
}

#[cfg(feature = "all-mpis")]
#[test]
fn every_modelled_algorithm_is_what_mpich_5_sends_when_it_is_forced() {
    MPICH_5.forced_algorithms_are_as_modelled(rounds);
}
