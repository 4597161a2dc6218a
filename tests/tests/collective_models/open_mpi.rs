//! Open MPI's rules and algorithms compared with its own monitoring component.

use super::{Account, Call, Forced, Setting, job, record};
use treepie_collective::Operation;
use treepie_native::Family;
use treepie_profile::Profile;
use treepie_tests::monitoring::monitored;
use treepie_tests::{Library, Mpi};
use treepie_traffic::TrafficMatrix;

const OPEN_MPI: Account = Account {
    mpi: Mpi::OpenMpi,
    family: Family::OpenMpi,
    sent,
    edges: &[],
    // Messages are not segmented, as is usual.
    forcing: &[
        ("OMPI_MCA_coll_tuned_use_dynamic_rules", "1"),
        ("OMPI_MCA_coll_tuned_bcast_algorithm_segmentsize", "0"),
        ("OMPI_MCA_coll_tuned_reduce_algorithm_segmentsize", "0"),
        ("OMPI_MCA_coll_tuned_allreduce_algorithm_segmentsize", "0"),
    ],
};

fn sent(job: treepie_tests::Job) -> TrafficMatrix {
    let (_, truth) = monitored(job);
    // Its linear alltoall of large blocks is counted with the application's sends.
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

/// An operation, Open MPI's name for it, and its numbers of the modelled algorithms.
type Algorithms = (Operation, &'static str, &'static [(usize, &'static str)]);

/// The numbers are those of `coll_tuned_NAME_algorithm`.
const FORCED: &[Algorithms] = {
    &[
        (
            Operation::Barrier,
            "barrier",
            &[
                (1, "linear"),
                (3, "recursive-doubling"),
                (4, "dissemination"),
                (6, "binomial"),
            ],
        ),
        (
            Operation::Bcast,
            "bcast",
            &[
                (1, "linear"),
                (3, "chain"),
                (5, "binary"),
                (6, "highest-bit-binomial"),
                (7, "quadrinomial"),
                (8, "scatter-doubling"),
                (9, "scatter-allgather"),
            ],
        ),
        (
            Operation::Gather,
            "gather",
            &[(1, "linear"), (2, "binomial"), (3, "synchronised-linear")],
        ),
        (
            Operation::Scatter,
            "scatter",
            &[(1, "linear"), (2, "binomial"), (3, "linear")],
        ),
        (
            Operation::Allgather,
            "allgather",
            &[
                (2, "bruck"),
                (3, "recursive-doubling"),
                (4, "ring"),
                (5, "neighbour-exchange"),
            ],
        ),
        (
            Operation::Allgatherv,
            "allgatherv",
            &[(2, "bruck"), (3, "ring"), (4, "neighbour-exchange")],
        ),
        (
            Operation::Alltoall,
            "alltoall",
            &[
                (1, "pairwise"),
                (2, "pairwise"),
                (3, "bruck"),
                (4, "pairwise"),
            ],
        ),
        (
            Operation::Alltoallv,
            "alltoallv",
            &[(1, "pairwise"), (2, "pairwise")],
        ),
        (
            Operation::Reduce,
            "reduce",
            &[
                (1, "linear"),
                (3, "chain"),
                (4, "binary"),
                (5, "binomial"),
                (6, "in-order-binary"),
                (7, "reduce-scatter-gather"),
            ],
        ),
        (
            Operation::Allreduce,
            "allreduce",
            &[
                (3, "recursive-doubling"),
                (4, "ring"),
                (6, "reduce-scatter-allgather-shared"),
            ],
        ),
        (
            Operation::ReduceScatter,
            "reduce_scatter",
            &[(2, "recursive-halving"), (3, "ring"), (4, "butterfly")],
        ),
        (
            Operation::ReduceScatterBlock,
            "reduce_scatter_block",
            &[(3, "recursive-halving"), (4, "butterfly")],
        ),
        (
            Operation::Scan,
            "scan",
            &[(1, "linear"), (2, "recursive-doubling")],
        ),
        (
            Operation::Exscan,
            "exscan",
            &[(1, "linear"), (2, "recursive-doubling")],
        ),
    ]
};

/// Algorithms composed of other collectives, which keep their usual algorithms.
const COMPOSED: &[(Operation, &str, usize, &str)] = &[
    (Operation::Allgather, "allgather", 1, "gather-broadcast"),
    (Operation::Allgatherv, "allgatherv", 1, "gather-broadcast"),
    (Operation::Allreduce, "allreduce", 2, "reduce-broadcast"),
    (
        Operation::ReduceScatter,
        "reduce_scatter",
        1,
        "reduce-scatterv",
    ),
    (
        Operation::ReduceScatterBlock,
        "reduce_scatter_block",
        1,
        "reduce-scatterv",
    ),
];

fn forced(operation: Operation, name: &str, number: usize, algorithm: &'static str) -> Forced {
    let variable = format!("OMPI_MCA_coll_tuned_{name}_algorithm");
    let setting: Setting = (variable, number.to_string());
    Forced {
        operation,
        algorithm,
        settings: vec![setting],
    }
}

/// Algorithms to force at the same time: one for each operation.
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
