#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use super::*;
use crate::partial_profiles::{MessageKind, PartialProfile, Phase, RunDescription, Span};
use treepie_base::{Process, Rank};
use treepie_collective::{Operation, Record, Volume};
use treepie_traffic::Traffic;
use treepie_traffic::times::{CallClass, CallTime};

fn partial(rank: usize, counted: &[(usize, u64)]) -> PartialProfile {
    PartialProfile {
        process: Process(1 - rank),
        rank: Rank(rank),
        host: format!("node{rank}"),
        counted: messages(counted),
        ..PartialProfile::default()
    }
}

fn messages(counted: &[(usize, u64)]) -> BTreeMap<(MessageKind, Rank), Traffic> {
    let key = |&(partner, bytes): &(usize, u64)| {
        (
            (MessageKind::PointToPoint, Rank(partner)),
            Traffic::new(1, bytes),
        )
    };
    counted.iter().map(key).collect()
}

fn phase(name: &str, left_out: bool, counted: &[(usize, u64)]) -> Phase {
    Phase {
        name: name.into(),
        span: Span {
            start: 1_000_000_000,
            end: 3_000_000_000,
            length: 500_000_000,
        },
        left_out,
        counted: messages(counted),
        ..Phase::default()
    }
}

fn two_ranks() -> Merger {
    Merger::new(RunDescription {
        ranks: 2,
        ..RunDescription::default()
    })
}

#[test]
fn ranks_and_processes_are_told_apart() {
    let mut merger = two_ranks();
    merger.add(partial(0, &[(1, 10)])).unwrap();
    merger.add(partial(1, &[])).unwrap();
    let profile = merger.finish().unwrap().profile;
    assert_eq!(profile.process_of_rank.raw, [1, 0].map(Process));
    assert_eq!(profile.hosts[0].name, "node1");
    assert_eq!(profile.point_to_point.get(0, 1), Traffic::new(1, 10));
    assert!(profile.missing_ranks.is_empty() && profile.phases.is_empty());
}

#[test]
fn the_phase_that_goes_on_has_what_no_other_has() {
    let mut merger = two_ranks();
    let mut whole = partial(0, &[(0, 5), (1, 30)]);
    whole.phases = vec![phase("1", false, &[(0, 5)])];
    whole.open_phase = Some(phase("2", false, &[]));
    merger.add(whole).unwrap();
    let profile = merger.finish().unwrap().profile;
    let of_phase: Vec<_> = profile
        .phases
        .iter()
        .map(|phase| (&*phase.name, phase.point_to_point.total().bytes))
        .collect();
    assert_eq!(of_phase, [("1", 5), ("2", 30)]);
    assert_eq!(profile.phases[0].seconds, 0.5);
    assert_eq!(profile.phases[0].end_seconds, 3.0);
}

#[test]
fn a_phase_that_comes_back_at_the_end_is_one_phase() {
    let mut merger = two_ranks();
    let mut whole = partial(0, &[(0, 5), (1, 30)]);
    whole.phases = vec![phase("1", false, &[(0, 5)])];
    whole.open_phase = Some(phase("1", false, &[]));
    merger.add(whole).unwrap();
    let phases = merger.finish().unwrap().profile.phases;
    assert_eq!(phases.len(), 1);
    assert_eq!(phases[0].point_to_point.total().bytes, 35);
    assert_eq!(phases[0].seconds, 1.0);
}

#[test]
fn the_time_in_a_phase_and_in_its_calls_is_that_of_each_rank() {
    let sends = |calls, nanoseconds| {
        let time = CallTime { calls, nanoseconds };
        BTreeMap::from([(CallClass::Send, time)])
    };
    let mut merger = two_ranks();
    let mut whole = partial(1, &[(0, 5)]);
    whole.elapsed = 1_000;
    whole.times = sends(5, 100);
    whole.phases = vec![phase("1", false, &[(0, 5)])];
    whole.phases[0].span.length = 400;
    whole.phases[0].times = sends(2, 30);
    whole.open_phase = Some(phase("2", false, &[]));
    merger.add(whole).unwrap();
    let profile = merger.finish().unwrap().profile;
    let times = |phase: &crate::Phase| phase.times.clone().unwrap();
    let [first, second] = [0, 1].map(|at| times(&profile.phases[at]));
    assert_eq!(
        (
            first.elapsed[Rank(1)],
            first.classes[&CallClass::Send][Rank(1)].nanoseconds
        ),
        (400, 30)
    );
    assert_eq!(second.classes[&CallClass::Send][Rank(1)].calls, 3);
    assert_eq!(first.outside_mpi().raw, [0.0, 370e-9]);
    assert_eq!(profile.times.unwrap().outside_mpi().raw, [0.0, 900e-9]);
}

#[test]
fn what_is_left_out_is_in_no_matrix() {
    let mut merger = two_ranks();
    let record = |calls| Record {
        operation: Operation::Bcast,
        group: [0, 1].into(),
        root: Some(0),
        size_class: 3,
        plan: None,
        calls,
        volume: Volume::Uniform(4 * calls),
    };
    let mut whole = partial(0, &[(0, 5), (1, 30)]);
    whole.collectives.add(record(3));
    whole.phases = vec![phase("0", true, &[(1, 30)])];
    whole.phases[0].collectives.add(record(1));
    whole.open_phase = Some(phase("1", false, &[]));
    merger.add(whole).unwrap();
    let profile = merger.finish().unwrap().profile;
    assert_eq!(profile.point_to_point.total().bytes, 5);
    assert_eq!(profile.collectives, [record(2)]);
    assert_eq!(profile.phases.len(), 1);
    assert_eq!(profile.phases[0].collectives, [record(2)]);
}
