//! Invariants of each pattern, for all small numbers of ranks and all roots, and the messages that
//! Open MPI really sent.

use crate::family::Family;
use crate::traffic::expand::{expand, expand_as_run, needs_all_sizes};
use crate::traffic::model::Model;
use crate::traffic::sent::Sent;
use proptest::prelude::*;
use treepie_collective::size_class;
use treepie_collective::strategies::records;
use treepie_collective::{
    Algorithm, Amount, AsRun, Clusters, Operation, Problem, Record, Volume, share,
};
use treepie_traffic::{Traffic, TrafficMatrix};

mod as_run;
mod open_mpi;
mod rooted;
mod symmetric;

/// MPICH's usual choice.
const USUAL: Model = Model::Native(Family::Mpich);
const BLOCK: u64 = 840; // divisible by 1 to 8

fn record(operation: Operation, size: usize, root: usize, volume: Volume) -> Record {
    Record {
        operation,
        group: (0..size as u32).collect(),
        root: operation.has_root().then_some(root as u32),
        size_class: size_class(BLOCK),
        plan: None,
        calls: 1,
        volume,
    }
}

fn traffic(
    operation: Operation,
    size: usize,
    root: usize,
    bytes: u64,
    algorithm: &'static str,
) -> TrafficMatrix {
    assert!(
        Algorithm::find(operation, algorithm).is_some(),
        "{operation} {algorithm}"
    );
    let mut into = TrafficMatrix::new(size);
    let record = record(operation, size, root, Volume::Uniform(bytes));
    expand(
        &record,
        Model::Algorithm(algorithm),
        Family::Mpich,
        &mut into,
    );
    into
}

fn sent_by(traffic: &TrafficMatrix, rank: usize) -> Traffic {
    (0..traffic.order()).map(|to| traffic.get(rank, to)).sum()
}

fn received_by(traffic: &TrafficMatrix, rank: usize) -> Traffic {
    (0..traffic.order())
        .map(|from| traffic.get(from, rank))
        .sum()
}

fn transposed(traffic: &TrafficMatrix) -> TrafficMatrix {
    let turned = traffic.entries().map(|(from, to, what)| (to, from, what));
    TrafficMatrix::from_entries(traffic.order(), turned).unwrap()
}

fn every_size_and_root() -> impl Iterator<Item = (usize, usize)> {
    (2..=17).flat_map(|size| (0..size).map(move |root| (size, root)))
}

fn rounds(size: usize) -> u64 {
    u64::from(size.next_power_of_two().ilog2())
}

#[test]
fn a_group_of_one_and_a_record_without_calls_send_nothing() {
    for operation in Operation::all() {
        let alone = record(operation, 1, 0, Volume::Uniform(8));
        let mut into = TrafficMatrix::new(2);
        expand(&alone, USUAL, Family::Mpich, &mut into);
        let never = Record {
            calls: 0,
            ..record(operation, 2, 0, Volume::Uniform(8))
        };
        expand(&never, USUAL, Family::Mpich, &mut into);
        assert_eq!(into, TrafficMatrix::new(2), "{operation}");
    }
}

#[test]
fn sums_stop_at_the_largest_number() {
    for operation in Operation::all() {
        for algorithm in Algorithm::of(operation).map(|known| known.name) {
            let huge = Record {
                calls: u64::MAX,
                ..record(operation, 5, 0, Volume::Uniform(u64::MAX))
            };
            let mut into = TrafficMatrix::new(5);
            expand(&huge, Model::Algorithm(algorithm), Family::Mpich, &mut into);
            expand(&huge, Model::Algorithm(algorithm), Family::Mpich, &mut into);
            assert_eq!(into.total().messages, u64::MAX, "{operation} {algorithm}");
            let bytes = if operation == Operation::Barrier {
                0
            } else {
                u64::MAX
            };
            assert_eq!(into.total().bytes, bytes, "{operation} {algorithm}");
        }
    }
}

proptest! {
    #[test]
    fn no_record_makes_a_rank_send_to_itself_or_outside_its_group(record in records(20)) {
        let mut into = TrafficMatrix::new(20);
        expand(&record, USUAL, Family::Mpich, &mut into);
        for (from, to, _) in into.entries() {
            prop_assert_ne!(from, to);
            prop_assert!(record.group.contains(&(from as u32)));
            prop_assert!(record.group.contains(&(to as u32)));
        }
    }

    #[test]
    fn another_group_is_the_same_traffic_under_other_names(record in records(20)) {
        let size = record.group.len();
        let mut named = TrafficMatrix::new(20);
        expand(&record, USUAL, Family::Mpich, &mut named);
        let plain = Record { group: (0..size as u32).collect(), ..record.clone() };
        let mut numbered = TrafficMatrix::new(20);
        expand(&plain, USUAL, Family::Mpich, &mut numbered);
        let world = numbered.entries().map(|(from, to, traffic)| {
            (record.group[from] as usize, record.group[to] as usize, traffic)
        });
        prop_assert_eq!(TrafficMatrix::from_entries(20, world).unwrap(), named);
    }

    #[test]
    fn an_algorithm_that_does_not_do_the_operation_gives_way_to_the_usual_one(record in records(20)) {
        let expanded = |model| {
            let mut into = TrafficMatrix::new(20);
            expand(&record, model, Family::Mpich, &mut into);
            into
        };
        if Algorithm::find(record.operation, "scatter-allgather").is_none() {
            prop_assert_eq!(expanded(Model::Algorithm("scatter-allgather")), expanded(USUAL));
        }
    }

    #[test]
    fn a_record_that_does_not_fit_the_world_adds_nothing(record in records(20)) {
        let mut small = TrafficMatrix::new(1);
        if record.validate(1).is_err() {
            expand(&record, USUAL, Family::Mpich, &mut small);
        }
        prop_assert_eq!(small, TrafficMatrix::new(1));
    }
}
