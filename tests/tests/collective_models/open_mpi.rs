//! Open MPI's rules and algorithms against its own monitoring component.

use super::{Account, Call, Forced, Setting, job, record};
use treepie_core::affinity::TrafficMatrix;
use treepie_core::collective::{Algorithm, Host, Operation};
use treepie_core::files::profile::Profile;
use treepie_tests::monitoring::monitored;
use treepie_tests::{Library, Mpi};

const OPEN_MPI: Account = Account {
    mpi: Mpi::OpenMpi,
    host: Host::OpenMpi,
    sent,
    edges: &[],
    // Messages go in one piece, as is usual.
    forcing: &[
        ("OMPI_MCA_coll_tuned_use_dynamic_rules", "1"),
        ("OMPI_MCA_coll_tuned_bcast_algorithm_segmentsize", "0"),
        ("OMPI_MCA_coll_tuned_reduce_algorithm_segmentsize", "0"),
        ("OMPI_MCA_coll_tuned_allreduce_algorithm_segmentsize", "0"),
    ],
};

fn sent(job: treepie_tests::Job) -> TrafficMatrix {
    let (_, truth) = monitored(job);
    // Its linear alltoall of large blocks is counted among the application's sends.
    let mut sent = truth.collectives;
    sent.merge(&truth.point_to_point)
        .unwrap_or_else(|error| panic!("{error}"));
    sent
}

#[test]
fn calls_are_recorded_as_the_grid_assumes() {
    let ranks = 5;
    let calls: Vec<Call> = (10..)
        .zip(Operation::all())
        .map(|(count, operation)| (operation, count, 2))
        .collect();
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path().join("job.profile.yaml");
    let library = Library::Profile(path.clone());
    let job = job(Mpi::OpenMpi, ranks, &calls).with(library);
    job.run().succeeded().silent();
    let profile = Profile::read(&path).unwrap_or_else(|error| panic!("{error}"));
    for call in calls {
        let expected = record(ranks, call);
        assert!(
            profile.collectives.contains(&expected),
            "{expected:?} is not among {:?}",
            profile.collectives
        );
    }
    assert_eq!(profile.collectives.len(), Operation::all().count());
}

#[test]
fn the_rules_for_open_mpi_are_what_it_does_by_default() {
    OPEN_MPI.defaults_are_as_modelled();
}

/// An operation, Open MPI's name for it, and its numbers of the algorithms that are
/// modelled.
type Algorithms = (Operation, &'static str, &'static [(usize, Algorithm)]);

/// The numbers are those that `coll_tuned_NAME_algorithm` takes.
const FORCED: &[Algorithms] = {
    use Algorithm::*;
    &[
        (
            Operation::Barrier,
            "barrier",
            &[
                (1, Linear),
                (3, RecursiveDoubling),
                (4, Dissemination),
                (6, Binomial),
            ],
        ),
        (
            Operation::Bcast,
            "bcast",
            &[
                (1, Linear),
                (3, Chain),
                (5, Binary),
                (6, HighestBitBinomial),
                (7, Quadrinomial),
                (8, ScatterDoubling),
                (9, ScatterAllgather),
            ],
        ),
        (
            Operation::Gather,
            "gather",
            &[(1, Linear), (2, Binomial), (3, SynchronisedLinear)],
        ),
        (
            Operation::Scatter,
            "scatter",
            &[(1, Linear), (2, Binomial), (3, Linear)],
        ),
        (
            Operation::Allgather,
            "allgather",
            &[
                (2, Bruck),
                (3, RecursiveDoubling),
                (4, Ring),
                (5, NeighbourExchange),
            ],
        ),
        (
            Operation::Allgatherv,
            "allgatherv",
            &[(2, Bruck), (3, Ring), (4, NeighbourExchange)],
        ),
        (
            Operation::Alltoall,
            "alltoall",
            &[(1, Pairwise), (2, Pairwise), (3, Bruck), (4, Pairwise)],
        ),
        (
            Operation::Alltoallv,
            "alltoallv",
            &[(1, Pairwise), (2, Pairwise)],
        ),
        (
            Operation::Reduce,
            "reduce",
            &[
                (1, Linear),
                (3, Chain),
                (4, Binary),
                (5, Binomial),
                (6, InOrderBinary),
                (7, ReduceScatterGather),
            ],
        ),
        (
            Operation::Allreduce,
            "allreduce",
            &[
                (3, RecursiveDoubling),
                (4, Ring),
                (6, ReduceScatterAllgather),
            ],
        ),
        (
            Operation::ReduceScatter,
            "reduce_scatter",
            &[(2, RecursiveHalving), (3, Ring), (4, Butterfly)],
        ),
        (
            Operation::ReduceScatterBlock,
            "reduce_scatter_block",
            &[(3, RecursiveHalving), (4, Butterfly)],
        ),
        (
            Operation::Scan,
            "scan",
            &[(1, Linear), (2, RecursiveDoubling)],
        ),
        (
            Operation::Exscan,
            "exscan",
            &[(1, Linear), (2, RecursiveDoubling)],
        ),
    ]
};

/// Algorithms that are made of other collectives, which are left as usual.
const COMPOSED: &[(Operation, &str, usize, Algorithm)] = &[
    (
        Operation::Allgather,
        "allgather",
        1,
        Algorithm::GatherBroadcast,
    ),
    (
        Operation::Allgatherv,
        "allgatherv",
        1,
        Algorithm::GatherBroadcast,
    ),
    (
        Operation::Allreduce,
        "allreduce",
        2,
        Algorithm::ReduceBroadcast,
    ),
    (
        Operation::ReduceScatter,
        "reduce_scatter",
        1,
        Algorithm::ReduceScatterv,
    ),
    (
        Operation::ReduceScatterBlock,
        "reduce_scatter_block",
        1,
        Algorithm::ReduceScatterv,
    ),
];

fn forced(operation: Operation, name: &str, number: usize, algorithm: Algorithm) -> Forced {
    let variable = format!("OMPI_MCA_coll_tuned_{name}_algorithm");
    let setting: Setting = (variable, number.to_string());
    Forced {
        operation,
        algorithm,
        settings: vec![setting],
    }
}

/// Which algorithms to force at the same time: one for each operation.
fn rounds() -> impl Iterator<Item = Vec<Forced>> {
    let rounds = FORCED.iter().map(|(.., numbers)| numbers.len()).max();
    let of = |round: usize| -> Vec<Forced> {
        let nth = |&(operation, name, numbers): &Algorithms| {
            let &(number, algorithm) = numbers.get(round)?;
            Some(forced(operation, name, number, algorithm))
        };
        FORCED.iter().filter_map(nth).collect()
    };
    let composed = COMPOSED.iter();
    let composed = composed
        .map(|&(operation, name, number, algorithm)| forced(operation, name, number, algorithm));
    (0..rounds.unwrap_or(0)).map(of).chain([composed.collect()])
}

#[test]
fn every_modelled_algorithm_is_what_open_mpi_sends_when_it_is_forced() {
    OPEN_MPI.forced_algorithms_are_as_modelled(rounds);
}
