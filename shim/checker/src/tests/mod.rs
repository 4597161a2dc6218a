//! Every algorithm, checked.

mod agreement;
mod compositions;
mod neighbourhoods;
mod plain;
mod random_arrangements;
mod told;

use crate::flaw::Flaw;
use crate::proof::check;
use treepie_collective::grids;
use treepie_collective::grids::scattered;
use treepie_collective::{
    Action, Algorithm, Amount, Builder, Clusters, Flow, Network, Operation, Plan, Problem, Range,
    Steps,
};

/// Ranks in clusters, with or without a network.
struct Arrangement {
    clusters: Clusters,
    network: Option<Network>,
}

/// Arrangements of `ranks` ranks in clusters: one; blocks with two more levels inside; round-robin;
/// unequal ones with a singleton. The last two are on networks of different links, with hosts of
/// two ranks and leaders that are not the lowest rank.
fn arrangements(ranks: usize) -> Vec<Arrangement> {
    let plain = |clusters: Clusters| Arrangement {
        clusters,
        network: None,
    };
    let on_network = |numbers: Vec<usize>| {
        let network = scattered(&numbers);
        Arrangement {
            clusters: Clusters::of_network(&network),
            network: Some(network),
        }
    };
    let mut all = vec![plain(Clusters::one(ranks))];
    if ranks > 1 {
        let blocks: Vec<usize> = (0..ranks).map(|r| r * 3 / ranks).collect();
        let groups = |size: usize| (0..ranks).map(|r| r / size).collect::<Vec<usize>>();
        let deep = Clusters::new(&blocks)
            .with_closer(&groups(4))
            .with_closer(&groups(2));
        all.push(plain(deep));
        all.push(on_network((0..ranks).map(|r| r % 4).collect()));
        let unequal = |r: usize| if r == ranks / 2 { 9 } else { r * r % 7 % 3 };
        all.push(on_network((0..ranks).map(unequal).collect()));
    }
    all
}

/// Amount of each rank for an operation: blocks of `units`, or uneven parts, some of them empty.
/// Parts that MPI does not give to a rank are wrong on purpose, unless all ranks `know` all.
fn amounts(operation: Operation, ranks: usize, root: usize, units: u64, know: bool) -> Vec<Amount> {
    use Operation::*;
    let part = |rank: usize| (rank as u64 * 5 + units) % (units + 2);
    let pair = |from: usize, to: usize| (from as u64 * 3 + to as u64) % (units + 1);
    let all_parts = || (0..ranks).map(part).collect();
    let parts = |rank: usize| match operation {
        Gatherv | Scatterv if know => Amount::KnownBlocks(all_parts()),
        Gatherv | Scatterv if rank != root => {
            let unknown = |other| if other == rank { part(rank) } else { 999 };
            Amount::Blocks((0..ranks).map(unknown).collect())
        }
        Gatherv | Scatterv | Allgatherv | ReduceScatter => Amount::Blocks(all_parts()),
        Alltoallv | Alltoallw if know => {
            let row = |from: usize| (0..ranks).map(move |to| pair(from, to));
            Amount::Table((0..ranks).flat_map(row).collect())
        }
        Alltoallv | Alltoallw => Amount::Exchanged {
            sent: (0..ranks).map(|to| pair(rank, to)).collect(),
            received: (0..ranks).map(|from| pair(from, rank)).collect(),
        },
        _ => Amount::Each(units),
    };
    (0..ranks).map(parts).collect()
}

fn check_one(
    algorithm: &Algorithm,
    operation: Operation,
    at: &Arrangement,
    root: usize,
    units: u64,
    flow: Flow,
    ordered: bool,
) -> Result<(), Flaw> {
    // Each rank knows the sizes that MPI gives it, or all ranks know all.
    let tells_all = operation.tells_all_sizes();
    let knowledge: &[bool] = if tells_all { &[false] } else { &[false, true] };
    for &know in knowledge {
        check_amounts(
            algorithm,
            at,
            (operation, root, ordered),
            &amounts(operation, at.clusters.ranks(), root, units, know),
            flow,
        )?;
    }
    Ok(())
}

fn check_amounts(
    algorithm: &Algorithm,
    at: &Arrangement,
    (operation, root, ordered): (Operation, usize, bool),
    amounts: &[Amount],
    flow: Flow,
) -> Result<(), Flaw> {
    let clusters = &at.clusters;
    let problems: Vec<Problem> = amounts
        .iter()
        .map(|amount| Problem {
            operation,
            root,
            amount,
            clusters,
            ordered,
            network: at.network.as_ref(),
            unit_bytes: 4096,
        })
        .collect();
    if !algorithm.serves(&problems[0]) {
        return Ok(());
    }
    let plans: Vec<Plan> = problems
        .iter()
        .enumerate()
        .map(|(rank, problem)| algorithm.plan(problem, rank, flow))
        .collect();
    check(&problems, &plans)?;
    if operation.needs_all() {
        return Ok(());
    }
    let plans: Vec<Plan> = plans.iter().map(Plan::acknowledged).collect();
    check(&problems, &plans)
}

/// Checks an algorithm on all arrangements, from every root.
fn check_strategy(algorithm: &Algorithm, operation: Operation, arrangements: &[Arrangement]) {
    let ranks = arrangements[0].clusters.ranks();
    for at in arrangements {
        for root in roots(operation, ranks) {
            for (units, segment) in [(0, 2), (1, 1), (9, 2), (2, 5000)] {
                if units != 1 && ranks > 9 && (ranks + root) % 4 != 1 {
                    continue;
                }
                let flow = Flow {
                    segment,
                    in_flight: Some(7 * ((ranks + root + 1) as u64 % 2)),
                    late: root % 2,
                };
                for &ordered in orders(operation) {
                    let result = check_one(algorithm, operation, at, root, units, flow, ordered);
                    assert_eq!(
                        result,
                        Ok(()),
                        "{operation} {} on {ranks} ranks in {:?}, root {root}, {units} units, \
                         {flow:?}, ordered: {ordered}",
                        algorithm.name,
                        at.clusters,
                    );
                }
            }
        }
    }
}

/// Possible roots of a collective.
fn roots(operation: Operation, ranks: usize) -> std::ops::Range<usize> {
    0..if operation.has_root() { ranks } else { 1 }
}

/// Values of the order of operands: it matters only if there are operands.
fn orders(operation: Operation) -> &'static [bool] {
    match operation.reduces() {
        true => &[false, true],
        false => &[false],
    }
}

fn check_operations(which: impl Fn(Operation) -> bool) {
    for ranks in 1..=16 {
        let arrangements = arrangements(ranks);
        for operation in Operation::all().filter(|&operation| which(operation)) {
            for algorithm in Algorithm::of(operation) {
                check_strategy(algorithm, operation, &arrangements);
            }
        }
    }
}

#[test]
fn every_algorithm_that_moves_does_what_mpi_defines_for_1_to_16_ranks_and_every_root() {
    check_operations(|operation| !operation.reduces());
}

#[test]
fn every_algorithm_that_reduces_does_what_mpi_defines_for_1_to_16_ranks_and_every_root() {
    check_operations(Operation::reduces);
}

#[test]
fn long_messages_in_many_segments_do_what_mpi_defines() {
    for (ranks, in_flight) in [(7, &[0, 10, 100][..]), (16, &[10])] {
        for (which, at) in arrangements(ranks).iter().enumerate() {
            use Operation::{Allreduce, Alltoall, Alltoallv, Bcast, Reduce};
            for operation in [Bcast, Reduce, Allreduce, Alltoall, Alltoallv] {
                for algorithm in Algorithm::of(operation) {
                    for &in_flight in in_flight {
                        let flow = Flow {
                            segment: 1,
                            in_flight: Some(in_flight),
                            late: which % 4,
                        };
                        let root = if operation.has_root() { which } else { 0 };
                        let result = check_one(algorithm, operation, at, root, 30, flow, false);
                        let name = algorithm.name;
                        assert_eq!(result, Ok(()), "{operation} {name} {in_flight} {which}");
                    }
                }
            }
        }
    }
}

/// Checks a broadcast between two ranks, with plans that the test alters.
fn broadcast_of_two(plans: &[Plan; 2]) -> Result<(), Flaw> {
    let clusters = Clusters::one(2);
    let amount = Amount::Each(4);
    let problem = Problem {
        operation: Operation::Bcast,
        root: 0,
        amount: &amount,
        clusters: &clusters,
        ordered: false,
        network: None,
        unit_bytes: 1,
    };
    check(&[problem.clone(), problem], plans)
}

fn plan(write: impl FnOnce(&mut dyn Steps)) -> Plan {
    Builder::plan(4, write)
}

#[test]
fn the_checker_finds_every_kind_of_flaw() {
    let all = Range::output(0, 4);
    let sends = || plan(|b| b.send(1, all));
    let receives = || plan(|b| b.receive(0, all));
    assert_eq!(broadcast_of_two(&[sends(), receives()]), Ok(()));
    let nothing = plan(|_| ());
    assert!(matches!(
        broadcast_of_two(&[nothing.clone(), nothing.clone()]),
        Err(Flaw::Result {
            rank: 1,
            unit: 0,
            ..
        })
    ));
    assert!(matches!(
        broadcast_of_two(&[nothing.clone(), receives()]),
        Err(Flaw::Deadlock { rank: 1, step: 0 })
    ));
    let short = plan(|b| b.receive(0, all.part(0, 3)));
    assert!(matches!(
        broadcast_of_two(&[sends(), short]),
        Err(Flaw::Message { .. })
    ));
    let outside = plan(|b| b.receive(0, Range::output(1, 4)));
    assert!(matches!(
        broadcast_of_two(&[sends(), outside]),
        Err(Flaw::Outside { rank: 1, step: 0 })
    ));
    let hoards = plan(|b| {
        b.scratch(5);
        b.receive(0, all);
    });
    assert!(matches!(
        broadcast_of_two(&[sends(), hoards]),
        Err(Flaw::Scratch {
            rank: 1,
            scratch: 5,
            most: 4
        })
    ));
    let undefined = plan(|b| {
        let room = b.scratch(4);
        b.send(1, room);
    });
    assert!(matches!(
        broadcast_of_two(&[undefined, receives()]),
        Err(Flaw::Undefined { rank: 0, .. })
    ));
    let into_input = plan(|b| b.receive(0, Range::input(0, 0)));
    assert_eq!(into_input, plan(|_| ()), "empty ranges are no messages");
    let mut race = Plan::with_scratch(4);
    for tag in 0..2 {
        let action = Action::Receive {
            from: 0,
            tag,
            range: all,
        };
        race.push(action, []);
    }
    assert!(matches!(
        broadcast_of_two(&[sends(), race]),
        Err(Flaw::Race { rank: 1, .. })
    ));
}

#[test]
fn a_deadlock_of_synchronous_sends_is_found() {
    let all = Range::output(0, 4);
    let each_waits = |other: usize| {
        plan(move |b| {
            b.await_signal(other);
            b.fence();
            b.signal(other);
            b.copy(all, all);
        })
    };
    assert!(matches!(
        broadcast_of_two(&[each_waits(1), each_waits(0)]),
        Err(Flaw::Deadlock { .. })
    ));
}
