//! The models of collectives have the messages of MPI libraries: by default for every operation,
//! size and number of ranks of a grid, and for each algorithm when it is forced.
//!
//! The actual messages are known from below the MPI's interface: for Open MPI from its own
//! monitoring component, for MPICH from its calls of UCX (`ucx_counts.c`).

mod mpich;
mod open_mpi;

use std::fmt::Write;
use treepie_collective::{Operation, Record, Volume, size_class};
use treepie_native::Family;
use treepie_native::traffic::{Model, expand};
use treepie_tests::expected::{Pairs, pairs};
use treepie_tests::{Job, Mpi};
use treepie_traffic::TrafficMatrix;

/// One call: the operation, MPI_INT in a message or block, the root.
type Call = (Operation, u64, u32);

/// A variable that selects an algorithm of an MPI, and its value.
type Setting = (String, String);

/// An algorithm forced for an operation.
struct Forced {
    operation: Operation,
    algorithm: &'static str,
    settings: Vec<Setting>,
}

/// An MPI, and the method of counting its messages for a job's collectives.
struct Account {
    mpi: Mpi,
    family: Family,
    sent: fn(Job) -> TrafficMatrix,
    /// Numbers of ranks and calls on both sides of the thresholds of the rules.
    edges: &'static [(usize, Call)],
    /// Settings used whenever algorithms are forced.
    forcing: &'static [(&'static str, &'static str)],
}

/// The job that makes these calls.
fn job(mpi: Mpi, ranks: usize, calls: &[Call]) -> Job {
    let job = Job::new(mpi, ranks, "collective_calls");
    calls.iter().fold(job, |job, (operation, count, root)| {
        job.argument(format!("{operation}:{count}:{root}"))
    })
}

/// The record of one call of `collective_calls` in a profile.
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
        plan: None,
        calls: 1,
        volume,
    }
}

impl Account {
    /// The calls for which the messages differ from the model, in words. All are made in one job;
    /// only if their sum differs, each separately.
    fn differing(&self, ranks: usize, calls: &[Call], forced: &[Forced]) -> Vec<String> {
        if self.compare(ranks, calls, forced).is_ok() {
            return Vec::new();
        }
        let alone = calls.iter().filter_map(|&call| {
            let text = self.compare(ranks, &[call], forced).err()?;
            let (operation, count, _) = call;
            let model = self.model(operation, forced);
            let bytes = 4 * count;
            Some(format!(
                "{operation} of {count} ({bytes} bytes) on {ranks} ranks, {model}:{text}"
            ))
        });
        let alone: Vec<String> = alone.collect();
        assert!(!alone.is_empty(), "{calls:?} differ together and not alone");
        alone
    }

    fn model(&self, operation: Operation, forced: &[Forced]) -> Model {
        let found = forced.iter().find(|one| one.operation == operation);
        found.map_or(Model::Native(self.family), |one| {
            Model::Algorithm(one.algorithm)
        })
    }

    /// Checks that the messages of the calls are those of the model; returns the pairs that differ.
    fn compare(&self, ranks: usize, calls: &[Call], forced: &[Forced]) -> Result<(), String> {
        let mut job = job(self.mpi, ranks, calls);
        if !forced.is_empty() {
            for (name, value) in self.forcing {
                job = job.variable(name, value);
            }
        }
        for (name, value) in forced.iter().flat_map(|one| &one.settings) {
            job = job.variable(name, value);
        }
        let mut modelled = TrafficMatrix::new(ranks);
        for &call in calls {
            let model = self.model(call.0, forced);
            expand(&record(ranks, call), model, self.family, &mut modelled);
        }
        differences(&pairs(&modelled), &pairs(&(self.sent)(job)))
    }

    /// Every operation in every cell of the grid, and the edges: the usual algorithm of the rules
    /// is the one that the MPI uses when none is forced.
    #[track_caller]
    fn defaults_are_as_modelled(&self) {
        let mut wrong = Vec::new();
        let mut cells = 0;
        for ranks in SIZES {
            for count in COUNTS {
                let root = (ranks as u32 - 1) / 2;
                let calls = Operation::all().map(|operation| (operation, count, root));
                let all: Vec<Call> = calls.collect();
                cells += all.len();
                wrong.extend(self.differing(ranks, &all, &[]));
            }
        }
        println!(
            "{cells} cells: {} ranks, {} sizes, {} operations",
            SIZES.len(),
            COUNTS.len(),
            Operation::all().count()
        );
        for &(ranks, call) in self.edges {
            cells += 1;
            wrong.extend(self.differing(ranks, &[call], &[]));
        }
        assert!(
            wrong.is_empty(),
            "{} of {cells} cells:\n{}",
            wrong.len(),
            wrong.join("\n")
        );
    }

    /// Each forced algorithm sends the messages of its model: `rounds` are forced together, at most
    /// one algorithm for each operation.
    #[track_caller]
    fn forced_algorithms_are_as_modelled<Rounds>(&self, rounds: impl Fn() -> Rounds)
    where
        Rounds: Iterator<Item = Vec<Forced>>,
    {
        const COUNT: u64 = 3_120; // 12 480 bytes, divisible by all these numbers of ranks
        let mut wrong = Vec::new();
        for ranks in [4usize, 6, 8, 13] {
            for mut round in rounds() {
                // Algorithms that the model does not attribute to this MPI are not compared.
                round.retain(|one| self.family.models(one.operation, one.algorithm, ranks));
                let calls: Vec<Call> = round.iter().map(|one| (one.operation, COUNT, 2)).collect();
                wrong.extend(self.differing(ranks, &calls, &round));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
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

/// Numbers of ranks, and MPI_INT in a message or block. Counts are such that segmented messages are
/// cut evenly: the position of a remainder is not modelled.
const SIZES: [usize; 8] = [2, 3, 4, 5, 7, 8, 12, 16];
const COUNTS: [u64; 7] = [1, 48, 240, 960, 3_840, 15_360, 61_440];
