//! Consistency of readings: the traffic reading of an algorithm equals the messages of its checked
//! plans.

use std::borrow::Cow;

use super::*;
use treepie_checker::check;
use treepie_collective::Flow;
use treepie_collective::grids::scattered;
use treepie_collective::operation::Unit;
use treepie_collective::plan::{Action, Plan};

/// Returns amounts of each rank: blocks of `units`, or uneven ones if the operation has such.
fn volume(operation: Operation, ranks: usize, units: u64) -> Volume {
    use Operation::*;
    match operation {
        Gatherv | Scatterv | Allgatherv | ReduceScatter | Alltoallv | Alltoallw => {
            let of = |rank: usize| units + (rank as u64 * 5 + units) % (units + 2);
            Volume::PerRank((0..ranks).map(of).collect())
        }
        _ => Volume::Uniform(units),
    }
}

fn amount(run: &AsRun, operation: Operation, volume: &Volume, rank: usize) -> Amount {
    let ranks = run.clusters.ranks();
    let needs_all = needs_all_sizes(run.algorithm);
    match volume {
        Volume::PerRank(sent) if operation.unit() == Unit::PairBlocks && needs_all => {
            let pairs = (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to)));
            Amount::Table(
                pairs
                    .map(|(from, to)| share(sent[from], ranks, to).1)
                    .collect(),
            )
        }
        Volume::PerRank(sent) if operation.unit() == Unit::PairBlocks => Amount::Exchanged {
            sent: (0..ranks)
                .map(|to| share(sent[rank], ranks, to).1)
                .collect(),
            received: sent.iter().map(|&all| share(all, ranks, rank).1).collect(),
        },
        Volume::PerRank(blocks) => Amount::KnownBlocks(blocks.clone()),
        Volume::Uniform(units) => Amount::Each(*units),
        Volume::Pairs(pairs) => {
            let mut table = vec![0; ranks * ranks];
            for &(from, to, units, _) in pairs {
                table[from as usize * ranks + to as usize] = units;
            }
            Amount::Table(table)
        }
    }
}

/// Returns the messages of the plans of all ranks, after a check of the plans.
fn sent_by_plans(run: &AsRun, operation: Operation, root: usize, volume: &Volume) -> TrafficMatrix {
    let ranks = run.clusters.ranks();
    let amounts: Vec<Amount> = (0..ranks)
        .map(|rank| amount(run, operation, volume, rank))
        .collect();
    let problems: Vec<Problem> = amounts
        .iter()
        .map(|amount| Problem {
            operation,
            root,
            amount,
            clusters: &run.clusters,
            ordered: run.ordered,
            network: run.network,
            unit_bytes: 1,
        })
        .collect();
    let plans: Vec<Plan> = problems
        .iter()
        .enumerate()
        .map(|(rank, problem)| run.algorithm.plan(problem, rank, run.flow))
        .collect();
    let name = run.algorithm.name;
    assert_eq!(
        check(&problems, &plans),
        Ok(()),
        "{operation} {name} on {ranks} from {root}"
    );
    let mut sent = TrafficMatrix::new(ranks);
    for (from, plan) in plans.iter().enumerate() {
        for step in plan.steps() {
            if let Action::Send { to, range, .. } = step.action {
                sent.add(from, to, Traffic::new(1, range.length));
            }
        }
    }
    sent
}

#[test]
fn the_traffic_of_every_algorithm_is_what_its_checked_plans_send() {
    for ranks in [1, 2, 3, 5, 6, 8, 13, 16] {
        let one = Clusters::one(ranks);
        let network = (ranks > 1).then(|| {
            let numbers: Vec<usize> = (0..ranks).map(|rank| rank * rank % 7 % 3).collect();
            scattered(&numbers)
        });
        let grid = network.as_ref().map(Clusters::of_network);
        for operation in Operation::all() {
            for algorithm in Algorithm::of(operation) {
                let roots = if operation.has_root() { ranks } else { 1 };
                for root in [0, 1, ranks / 2, ranks - 1]
                    .into_iter()
                    .filter(|&root| root < roots)
                {
                    for (units, segment) in [(0, 4), (9, 2), (64, u64::MAX), (3, 4096)] {
                        for (clusters, network) in [(&one, None)]
                            .into_iter()
                            .chain(grid.as_ref().map(|grid| (grid, network.as_ref())))
                        {
                            let run = AsRun {
                                algorithm,
                                clusters: Cow::Borrowed(clusters),
                                network,
                                ordered: false,
                                unit_bytes: 1,
                                flow: Flow {
                                    in_flight: Some(7),
                                    ..segment.into()
                                },
                            };
                            let volume = volume(operation, ranks, units);
                            let record = record(operation, ranks, root, volume.clone());
                            let mut read = TrafficMatrix::new(ranks);
                            expand_as_run(&record, &run, &mut read);
                            let allowed = algorithm.requires.iter().all(|one| one.allows(ranks));
                            let expected = match allowed {
                                true => sent_by_plans(&run, operation, root, &volume),
                                false => TrafficMatrix::new(ranks),
                            };
                            let name = algorithm.name;
                            assert_eq!(read, expected, "{operation} {name} on {ranks} from {root}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn exact_pairs_that_are_relayed_are_counted_on_the_way_they_took() {
    let clusters = Clusters::new(&[0, 0, 0, 1, 1, 2]);
    for algorithm in ["grid-grouped", "grid-aggregate", "uniform", "pairwise"] {
        let run = AsRun {
            algorithm: Algorithm::find(Operation::Alltoallv, algorithm).unwrap(),
            clusters: Cow::Borrowed(&clusters),
            network: None,
            ordered: false,
            unit_bytes: 1,
            flow: Flow::from(1 << 20),
        };
        let of_one_call = |calls: u64| {
            let pairs = (0..6).flat_map(|from| (0..6).map(move |to| (from, to)));
            let sent = |(from, to): (u32, u32)| u64::from((from * 7 + to * 3) % 5) * calls;
            Volume::Pairs(
                pairs
                    .map(|pair| (pair.0, pair.1, sent(pair), calls))
                    .collect(),
            )
        };
        let of_calls = |calls: u64| {
            let mut sent = TrafficMatrix::new(6);
            let record = Record {
                calls,
                ..record(Operation::Alltoallv, 6, 0, of_one_call(calls))
            };
            expand_as_run(&record, &run, &mut sent);
            sent
        };
        let mut expected = TrafficMatrix::new(6);
        match needs_all_sizes(run.algorithm) {
            true => expected = sent_by_plans(&run, Operation::Alltoallv, 0, &of_one_call(1)),
            // Directly to their receivers: the pairs in the record.
            false => expand(
                &record(Operation::Alltoallv, 6, 0, of_one_call(1)),
                Model::Logical,
                Family::OpenMpi,
                &mut expected,
            ),
        }
        assert_eq!(of_calls(1), expected, "{algorithm}");
        for (from, to, one) in expected.entries() {
            let three = Traffic::new(3 * one.messages, 3 * one.bytes);
            assert_eq!(of_calls(3).get(from, to), three, "{algorithm}");
        }
    }
}

#[test]
fn no_byte_of_calls_that_differ_is_lost() {
    let clusters = Clusters::one(4);
    let run = |operation, name| AsRun {
        algorithm: Algorithm::find(operation, name).unwrap(),
        clusters: Cow::Borrowed(&clusters),
        network: None,
        ordered: false,
        unit_bytes: 8,
        flow: Flow::from(1 << 20),
    };
    // 7 calls of 14 bytes and 2 more: 6 of 14, which are no whole elements, and one of 16.
    let record = Record {
        calls: 7,
        ..record(Operation::Allreduce, 4, 0, Volume::Uniform(100))
    };
    let mut sent = TrafficMatrix::new(4);
    expand_as_run(
        &record,
        &run(Operation::Allreduce, "recursive-doubling"),
        &mut sent,
    );
    assert_eq!(sent.get(0, 1), Traffic::new(7, 100));
    // Segments of one element: two messages for each call, also if there are no whole elements.
    let segments = AsRun {
        flow: Flow::from(1),
        ..run(Operation::Allreduce, "recursive-doubling")
    };
    let mut sent = TrafficMatrix::new(4);
    expand_as_run(&record, &segments, &mut sent);
    assert_eq!(sent.get(0, 1), Traffic::new(14, 100));
    // Blocks of single calls: of 14 bytes 3 or 4 for each, of 16 bytes 8 for every other rank.
    let mut ring = TrafficMatrix::new(4);
    expand_as_run(&record, &run(Operation::Allreduce, "ring"), &mut ring);
    let all: u64 = (0..4).map(|rank| sent_by(&ring, rank).bytes).sum();
    assert_eq!(all, 2 * 3 * 100);
}

#[test]
fn a_run_on_clusters_sends_over_their_links_as_its_tree_says() {
    let numbers = [0, 0, 0, 1, 1, 1];
    let clusters = Clusters::new(&numbers);
    let run = AsRun {
        algorithm: Algorithm::find(Operation::Bcast, "grid-chain").unwrap(),
        clusters: Cow::Borrowed(&clusters),
        network: None,
        ordered: false,
        unit_bytes: 1,
        flow: Flow::from(100),
    };
    let record = Record {
        calls: 3,
        group: [7, 3, 0, 1, 2, 4].into(),
        ..record(Operation::Bcast, 6, 1, Volume::Uniform(3 * 250))
    };
    let mut sent = TrafficMatrix::new(8);
    expand_as_run(&record, &run, &mut sent);
    // From the root, rank 1, to the leader of the other cluster: three segments for each call.
    assert_eq!(sent.get(3, 1), Traffic::new(9, 750));
    let between: u64 = sent
        .entries()
        .filter(|&(from, to, _)| [7, 3, 0].contains(&from) != [7, 3, 0].contains(&to))
        .map(|(.., sent)| sent.bytes)
        .sum();
    assert_eq!(between, 750);
}

#[test]
fn an_algorithm_that_does_not_serve_the_record_adds_nothing() {
    let clusters = Clusters::one(6);
    let run = AsRun {
        algorithm: Algorithm::find(Operation::Bcast, "scatter-doubling").unwrap(),
        clusters: Cow::Borrowed(&clusters),
        network: None,
        ordered: false,
        unit_bytes: 1,
        flow: Flow::WHOLE,
    };
    let mut sent = TrafficMatrix::new(6);
    for operation in [Operation::Bcast, Operation::Reduce] {
        expand_as_run(
            &record(operation, 6, 0, Volume::Uniform(8)),
            &run,
            &mut sent,
        );
    }
    assert_eq!(sent, TrafficMatrix::new(6));
}
