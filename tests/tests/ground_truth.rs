//! What the library counts is what Open MPI's own monitoring counts, which sits
//! below MPI's interface and knows nothing of ours.
//!
//! The two accounts are of two runs of the same job: what the library sends at the
//! end of a job would be counted too. The monitoring of Open MPI 4.1 has flaws of
//! its own, which the tests name: it misses persistent sends, takes the request of
//! a get for a message, and crashes in neighbourhood collectives (for those the
//! job's own account is the truth, see `profiles.rs`).

use std::fmt::Write;
use treepie_core::affinity::TrafficMatrix;
use treepie_core::affinity::collective::{
    Algorithm, Host, Model, Operation, Record, Volume, expand, size_class,
};
use treepie_core::files::profile::Profile;
use treepie_tests::expected::{self, Pairs, assert_same_pairs, pairs};
use treepie_tests::monitoring::monitored;
use treepie_tests::{Job, Library, Mpi};

#[track_caller]
fn profiled(job: Job) -> Profile {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path().join("job.profile.yaml");
    let library = Library::Profile(path.clone());
    job.with(library).run().succeeded().silent();
    Profile::read(&path).unwrap_or_else(|error| panic!("{error}"))
}

fn job(ranks: usize, name: &str, arguments: &[String]) -> Job {
    let job = Job::new(Mpi::OpenMpi, ranks, name);
    arguments.iter().fold(job, |job, word| job.argument(word))
}

// --- layers that are counted --------------------------------------------------

/// A run with persistent sends only, which it misses, shows what Open MPI sends
/// with the application's tag to make intercommunicators.
#[test]
fn point_to_point_is_what_open_mpi_counts_but_for_its_own_messages() {
    for ranks in [2, 5, 8] {
        let forms = |which: &str| job(ranks, "p2p_forms", &[which.to_owned()]);
        let (_, truth) = monitored(forms("once"));
        let (_, own) = monitored(forms("persistent"));
        let mut expected = pairs(&truth.point_to_point);
        for (pair, (messages, bytes)) in pairs(&own.point_to_point) {
            let sent = expected.entry(pair).or_default();
            *sent = (sent.0 - messages, sent.1 - bytes);
        }
        let profile = profiled(forms("once"));
        let what = "the library, Open MPI's monitoring";
        assert_same_pairs(&pairs(&profile.point_to_point), &expected, what);
    }
}

#[test]
fn one_sided_traffic_is_what_open_mpi_counts_but_for_the_requests_of_gets() {
    for ranks in [4, 5] {
        let (outcome, truth) = monitored(job(ranks, "one_sided", &[]));
        let requests = expected::matrix(&outcome.stdout, "requests", ranks);
        let mut expected = pairs(&truth.one_sided);
        for (&(from, to), (messages, _)) in &mut expected {
            *messages -= requests[from][to];
        }
        expected.retain(|_, &mut sent| sent != (0, 0));
        let profile = profiled(job(ranks, "one_sided", &[]));
        let what = "the library, Open MPI's monitoring";
        assert_same_pairs(&pairs(&profile.one_sided), &expected, what);
    }
}

// --- collectives, which are modelled ------------------------------------------

/// One call: the operation, MPI_INT in a message or block, the root.
type Call = (Operation, u64, u32);

fn words(calls: &[Call]) -> Vec<String> {
    let word = |&(operation, count, root): &Call| format!("{operation}:{count}:{root}");
    calls.iter().map(word).collect()
}

/// What a profile has of one call of `collective_calls`.
fn record(ranks: usize, (operation, count, root): Call) -> Record {
    use Operation::*;
    let sizes: Vec<u64> = (0..ranks as u64).map(|rank| 4 * (count + rank)).collect();
    let volume = match operation {
        Gatherv | Scatterv | Allgatherv | ReduceScatter => Volume::PerRank(sizes.clone()),
        Alltoallv | Alltoallw => {
            let all =
                (0..ranks as u32).flat_map(|from| (0..ranks as u32).map(move |to| (from, to)));
            let others = all.filter(|(from, to)| from != to);
            Volume::Pairs(
                others
                    .map(|(from, to)| (from, to, sizes[from as usize], 1))
                    .collect(),
            )
        }
        Barrier => Volume::Uniform(0),
        _ => Volume::Uniform(4 * count),
    };
    let block = match &volume {
        Volume::Uniform(bytes) => *bytes,
        _ => sizes.iter().sum::<u64>() / ranks as u64,
    };
    Record {
        operation,
        group: (0..ranks as u32).collect(),
        root: operation.has_root().then_some(root),
        size_class: size_class(block),
        calls: 1,
        volume,
    }
}

/// The calls for which Open MPI sends something else than the model says, in words.
/// All are made in one job; only where their sum differs, each by itself.
fn differing(
    ranks: usize,
    calls: &[Call],
    forced: &[(String, usize)],
    model: impl Fn(Operation) -> Model,
) -> Vec<String> {
    if compare(ranks, calls, forced, &model).is_ok() {
        return Vec::new();
    }
    let alone = calls.iter().filter_map(|&call| {
        let text = compare(ranks, &[call], forced, &model).err()?;
        let (operation, count, _) = call;
        Some(format!(
            "{operation} of {count} on {ranks} ranks, {}:{text}",
            model(operation)
        ))
    });
    let alone: Vec<String> = alone.collect();
    assert!(!alone.is_empty(), "{calls:?} differ together and not alone");
    alone
}

/// What Open MPI sent for the calls is what the model says; or the pairs that differ.
fn compare(
    ranks: usize,
    calls: &[Call],
    forced: &[(String, usize)],
    model: impl Fn(Operation) -> Model,
) -> Result<(), String> {
    let mut job = job(ranks, "collective_calls", &words(calls));
    if !forced.is_empty() {
        job = job.variable("OMPI_MCA_coll_tuned_use_dynamic_rules", 1);
    }
    for (name, number) in forced {
        job = job.variable(&format!("OMPI_MCA_coll_tuned_{name}"), number);
    }
    let (_, truth) = monitored(job);
    let mut modelled = TrafficMatrix::new(ranks);
    for &call in calls {
        let record = record(ranks, call);
        expand(&record, model(call.0), Host::OpenMpi, &mut modelled);
    }
    // Its linear alltoall of large blocks is counted among the application's sends.
    let mut sent = truth.collectives;
    sent.merge(&truth.point_to_point)
        .unwrap_or_else(|error| panic!("{error}"));
    differences(&pairs(&modelled), &pairs(&sent))
}

fn differences(modelled: &Pairs, truth: &Pairs) -> Result<(), String> {
    let mut text = String::new();
    let mut all: Vec<_> = modelled.keys().chain(truth.keys()).collect();
    all.sort();
    all.dedup();
    for pair in all {
        let (one, other) = (modelled.get(pair), truth.get(pair));
        if one != other {
            let _ = write!(text, " {pair:?}: {one:?} is {other:?};");
        }
    }
    match text.is_empty() {
        true => Ok(()),
        false => Err(text),
    }
}

const ALL_CALLS: [Operation; 17] = {
    use Operation::*;
    [
        Barrier,
        Bcast,
        Gather,
        Gatherv,
        Scatter,
        Scatterv,
        Allgather,
        Allgatherv,
        Alltoall,
        Alltoallv,
        Alltoallw,
        Reduce,
        Allreduce,
        ReduceScatter,
        ReduceScatterBlock,
        Scan,
        Exscan,
    ]
};

#[test]
fn calls_are_recorded_as_the_grid_assumes() {
    let ranks = 5;
    let calls: Vec<Call> = (10..)
        .zip(ALL_CALLS)
        .map(|(count, operation)| (operation, count, 2))
        .collect();
    let profile = profiled(job(ranks, "collective_calls", &words(&calls)));
    for call in calls {
        let expected = record(ranks, call);
        assert!(
            profile.collectives.contains(&expected),
            "{expected:?} is not among {:?}",
            profile.collectives
        );
    }
    assert_eq!(profile.collectives.len(), ALL_CALLS.len());
}

/// Ranks, and MPI_INT in a message or block. Counts are such that messages that
/// are cut into parts are cut evenly: where a rest goes is not modelled.
const SIZES: [usize; 8] = [2, 3, 4, 5, 7, 8, 12, 16];
const COUNTS: [u64; 7] = [1, 48, 240, 960, 3_840, 15_360, 61_440];

/// Every operation in every cell of the grid: the usual algorithm of the rules for
/// Open MPI sends what Open MPI sends when nothing is forced.
#[test]
fn the_rules_for_open_mpi_are_what_it_does_by_default() {
    let mut wrong = Vec::new();
    let mut cells = 0;
    for ranks in SIZES {
        for count in COUNTS {
            let root = (ranks as u32 - 1) / 2;
            let all = ALL_CALLS.map(|operation| (operation, count, root));
            cells += all.len();
            wrong.extend(differing(ranks, &all, &[], |_| Model::Host(Host::OpenMpi)));
        }
    }
    println!(
        "{cells} cells: {} ranks, {} sizes, {} operations",
        SIZES.len(),
        COUNTS.len(),
        ALL_CALLS.len()
    );
    assert!(
        wrong.is_empty(),
        "{} of {cells} cells:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
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

/// An operation, Open MPI's name for it, and the number and name of an algorithm.
type Forced = (Operation, &'static str, usize, Algorithm);

/// Which algorithms to force at the same time: one for each operation.
fn rounds() -> impl Iterator<Item = Vec<Forced>> {
    let rounds = FORCED
        .iter()
        .map(|forced| forced.2.len())
        .max()
        .unwrap_or(0);
    let of = |round: usize| -> Vec<Forced> {
        let nth = |&(operation, name, numbers): &Algorithms| {
            let &(number, algorithm) = numbers.get(round)?;
            Some((operation, name, number, algorithm))
        };
        FORCED.iter().filter_map(nth).collect()
    };
    (0..rounds).map(of).chain([COMPOSED.to_vec()])
}

#[test]
fn every_modelled_algorithm_is_what_open_mpi_sends_when_it_is_forced() {
    const COUNT: u64 = 3_120; // 12 480 bytes, divisible by all these numbers of ranks
    let mut wrong = Vec::new();
    for ranks in [4usize, 6, 8, 13] {
        for mut round in rounds() {
            // What the model does not claim to be Open MPI's is not held against it.
            round.retain(|forced| Host::OpenMpi.models(forced.0, forced.3, ranks));
            let calls: Vec<Call> = round.iter().map(|forced| (forced.0, COUNT, 2)).collect();
            let mut settings: Vec<(String, usize)> = round
                .iter()
                .map(|&(_, name, number, _)| (format!("{name}_algorithm"), number))
                .collect();
            // In one piece, as is usual.
            let pieces = ["bcast", "reduce", "allreduce"];
            settings.extend(pieces.map(|name| (format!("{name}_algorithm_segmentsize"), 0)));
            let model = |operation| {
                let found = round.iter().find(|forced| forced.0 == operation);
                found.map_or(Model::Host(Host::OpenMpi), |forced| {
                    Model::Algorithm(forced.3)
                })
            };
            wrong.extend(differing(ranks, &calls, &settings, model));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

// --- the thesis's benchmark ----------------------------------------------------

/// Messages of CG by the digest's generator A.5, which gives its matrix A.3.
fn cg_messages(ranks: usize, iterations: u64) -> Vec<Vec<u64>> {
    let rows = 1 << (ranks.ilog2() / 2);
    let columns = ranks / rows;
    let (sums, transposed) = (79 * (iterations + 1), 26 * (iterations + 1));
    let mut messages = vec![vec![0; ranks]; ranks];
    for (me, sent) in messages.iter_mut().enumerate() {
        let (row, column) = (me / columns, me % columns);
        let mut group = columns;
        while group > 1 {
            let partner = (column + group / 2) % group + column / group * group;
            sent[row * columns + partner] += sums;
            group /= 2;
        }
        let exchange = match columns == rows {
            true => me % rows * rows + me / rows,
            false => 2 * (me / 2 % rows * rows + me / 2 / rows) + me % 2,
        };
        sent[exchange] += transposed;
    }
    messages
}

fn messages_of(matrix: &TrafficMatrix) -> Vec<Vec<u64>> {
    let ranks = matrix.order();
    let row = |from| (0..ranks).map(|to| matrix.get(from, to).messages).collect();
    (0..ranks).map(row).collect()
}

#[test]
fn cg_on_8_ranks_gives_the_matrix_of_the_thesis_figure_2_4() {
    let profile = profiled(job(8, "cg", &["75".to_owned()]));
    let of_the_thesis = [
        [1976, 6004, 6004, 0, 0, 0, 0, 0],
        [6004, 1976, 0, 6004, 0, 0, 0, 0],
        [6004, 0, 0, 6004, 1976, 0, 0, 0],
        [0, 6004, 6004, 0, 0, 1976, 0, 0],
        [0, 0, 1976, 0, 0, 6004, 6004, 0],
        [0, 0, 0, 1976, 6004, 0, 0, 6004],
        [0, 0, 0, 0, 6004, 0, 1976, 6004],
        [0, 0, 0, 0, 0, 6004, 6004, 1976],
    ];
    assert_eq!(messages_of(&profile.point_to_point), of_the_thesis);
    assert_eq!(cg_messages(8, 75), of_the_thesis);
}

#[test]
fn cg_on_64_ranks_gives_the_generators_matrix() {
    let profile = profiled(job(64, "cg", &["0".to_owned()]));
    assert_eq!(messages_of(&profile.point_to_point), cg_messages(64, 0));
}

#[test]
fn cg_under_mpich_gives_the_generators_matrix() {
    let job = Job::new(Mpi::Mpich, 8, "cg").argument("0");
    assert_eq!(
        messages_of(&profiled(job).point_to_point),
        cg_messages(8, 0)
    );
}
