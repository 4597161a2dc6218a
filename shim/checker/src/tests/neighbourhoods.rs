//! Checks of neighbourhood collectives: grids, and random graphs.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use crate::proof::check;
use crate::tests::{Arrangement, arrangements};
use treepie_collective::grids;
use treepie_collective::grids::round;
use treepie_collective::read::simulate::{Options, simulate};
use treepie_collective::{
    Action, Algorithm, Amount, Clusters, Flow, Neighbourhoods, Network, Operation, Plan, Problem,
};

/// Amounts of each rank: equal sizes, or those of its own edges.
pub(crate) fn amounts(operation: Operation, all: &Neighbourhoods, units: u64) -> Vec<Amount> {
    let of_rank = |rank: usize| (rank as u64 * 5 + units) % (units + 2);
    let of_edge = |rank: usize, block: usize| (rank * 3 + block * 7) as u64 % (units + 2);
    let is_one = operation.gathers_from_neighbours();
    let amount = |rank: usize| {
        if operation.has_equal_blocks() {
            return Amount::Each(units);
        }
        let sent = match is_one {
            true => vec![of_rank(rank)],
            false => {
                let blocks = all.outgoing(rank).iter().enumerate();
                let length = |(block, end): (usize, &Option<_>)| match end {
                    Some(_) => of_edge(rank, block),
                    None => 0,
                };
                blocks.map(length).collect()
            }
        };
        let received = all.incoming(rank).iter().map(|end| match end {
            Some(end) if is_one => of_rank(end.rank),
            Some(end) => of_edge(end.rank, end.block),
            None => 0,
        });
        Amount::Exchanged {
            sent,
            received: received.collect(),
        }
    };
    (0..all.ranks()).map(amount).collect()
}

fn problems<'a>(
    operation: Operation,
    amounts: &'a [Amount],
    clusters: &'a Clusters,
    network: Option<&'a Network>,
) -> Vec<Problem<'a>> {
    let problem = |amount| Problem {
        operation,
        root: 0,
        amount,
        clusters,
        ordered: false,
        network,
        unit_bytes: 1,
    };
    amounts.iter().map(problem).collect()
}

fn plans(algorithm: &Algorithm, problems: &[Problem], flow: Flow) -> Vec<Plan> {
    let ranks = problems.iter().enumerate();
    let plan = |(rank, problem)| algorithm.plan(problem, rank, flow);
    ranks.map(plan).collect()
}

/// Checks every algorithm of every operation, for messages of any size.
fn check_all(at: &Arrangement, all: &Neighbourhoods) -> Result<(), TestCaseError> {
    let clusters = at
        .clusters
        .clone()
        .with_neighbourhoods(Arc::new(all.clone()));
    for operation in Operation::of_neighbours() {
        for algorithm in Algorithm::of(operation) {
            for (units, segment) in [(0, 2), (1, 1), (9, 2), (3, 5000)] {
                let amounts = amounts(operation, all, units);
                let problems = problems(operation, &amounts, &clusters, at.network.as_ref());
                prop_assert!(algorithm.serves(&problems[0]));
                let plans = plans(algorithm, &problems, Flow::from(segment));
                let name = algorithm.name;
                let found = check(&problems, &plans);
                prop_assert_eq!(found, Ok(()), "{} {} {}", operation, name, units);
                if name == "flat" {
                    prop_assert!(!plans.iter().any(Plan::forwards));
                }
            }
        }
    }
    Ok(())
}

#[test]
fn every_algorithm_does_what_mpi_defines_on_grids_also_of_one_and_two() -> Result<(), TestCaseError>
{
    let shapes: [&[(usize, bool)]; 9] = [
        &[(1, true)],
        &[(1, false)],
        &[(2, true)],
        &[(2, false)],
        &[(4, true), (2, true)],
        &[(3, false), (1, true)],
        &[(3, true), (3, false)],
        &[(4, true), (4, true)],
        &[(2, true), (2, true), (2, true)],
    ];
    for shape in shapes {
        let grid = Neighbourhoods::grid(shape);
        for at in arrangements(grid.ranks()) {
            check_all(&at, &grid)?;
        }
    }
    Ok(())
}

prop_compose! {
    /// Edges with repetitions and to the same rank, among 1 to 12 ranks.
    fn graph()(ranks in 1_u32..=12)
        (ranks in Just(ranks), edges in prop::collection::vec((0..ranks, 0..ranks), 0..40))
        -> (usize, Vec<(u32, u32)>) {
            (ranks as usize, edges)
        }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn every_algorithm_does_what_mpi_defines_on_any_graph((ranks, edges) in graph()) {
        let graph = Neighbourhoods::graph(ranks, &edges).unwrap();
        for at in arrangements(ranks) {
            check_all(&at, &graph)?;
        }
    }
}

#[test]
fn a_relayed_block_crosses_to_each_cluster_once_and_only_ranks_that_need_it_hand_it_on() {
    let all = round(15);
    let blocks: Vec<usize> = (0..16).map(|rank| rank / 4).collect();
    let clusters = Clusters::new(&blocks).with_neighbourhoods(Arc::new(all.clone()));
    let amounts = amounts(Operation::NeighborAllgather, &all, 8);
    let problems = problems(Operation::NeighborAllgather, &amounts, &clusters, None);
    let crossing = |name: &str| {
        let algorithm = Algorithm::find(Operation::NeighborAllgather, name).unwrap();
        let plans = plans(algorithm, &problems, Flow::WHOLE);
        let steps = plans.iter().enumerate();
        let far = steps.flat_map(|(rank, plan)| {
            let sends = plan.steps().iter().filter(
                move |step| matches!(step.action, Action::Send { to, .. } if to / 4 != rank / 4),
            );
            sends.map(move |_| rank)
        });
        let mut counts = vec![0; 16];
        far.for_each(|rank| counts[rank] += 1);
        counts
    };
    assert_eq!(crossing("flat"), [12; 16]);
    assert_eq!(crossing("grid-relay"), [3; 16]);
}

#[test]
fn exchanges_with_neighbours_take_as_long_as_the_bytes_of_the_fullest_link() {
    // Section 4.2 of the reference: 10 ms, and 8 or 48 blocks of 64 KiB at 11.77 KB a millisecond.
    let network = grids::four_by_four();
    for (all, expected) in [
        (Neighbourhoods::grid(&[(4, true), (4, true)]), 54.5),
        (round(15), 277.0),
    ] {
        let clusters = Clusters::of_network(&network).with_neighbourhoods(Arc::new(all.clone()));
        let amounts = amounts(Operation::NeighborAlltoallv, &all, 64 << 10);
        let amounts: Vec<Amount> = amounts
            .into_iter()
            .map(|amount| match amount {
                Amount::Exchanged { sent, received } => Amount::Exchanged {
                    sent: vec![64 << 10; sent.len()],
                    received: vec![64 << 10; received.len()],
                },
                other => other,
            })
            .collect();
        let operation = Operation::NeighborAlltoallv;
        let problems = problems(operation, &amounts, &clusters, Some(&network));
        let flat = Algorithm::find(operation, "flat").unwrap();
        let plans = plans(flat, &problems, Flow::from(32 << 10));
        let seconds = simulate(&network, &plans, 1, Options::default())
            .unwrap()
            .seconds;
        assert!(
            (1e3 * seconds / expected - 1.0).abs() < 0.1,
            "{seconds} {expected}"
        );
    }
}
