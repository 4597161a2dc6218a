mod against_simulation;
mod challengers;
mod inside;
mod native;
mod near_the_bound;

use std::sync::Arc;

use crate::choice::{Choice, Considered};
use crate::chooser::Chooser;
use crate::class::class_bytes;
use crate::policy::MIN_GAIN_RATIO;
use crate::rules::segment;
use crate::sizes::MOST_SEGMENTS;
use treepie_base::Cluster;
use treepie_collective::read::cost::{OneByOne, Reading};
use treepie_collective::read::simulate::{Options, simulate};
use treepie_collective::{
    Action, Algorithm, Clusters, LARGEST_MESSAGE, Locality, Network, Operation, Uniform, bound,
    grids,
};
use treepie_native::Family;

const KIB: u64 = 1024;
const BLOCKS: [Operation; 4] = [
    Operation::Gather,
    Operation::Scatter,
    Operation::Allgather,
    Operation::Alltoall,
];
const SIZES: [u64; 3] = [KIB, 64 * KIB, 1 << 20];

fn grids() -> Vec<(&'static str, Network)> {
    vec![
        ("four by four", grids::four_by_four()),
        ("unequal", grids::unequal()),
        ("uneven", grids::uneven()),
    ]
}

/// Ranks cache different calls: a choice that one has dropped must be made again as others have it.
#[test]
fn a_choice_is_that_of_its_class_whichever_call_comes_first() {
    let clusters = Clusters::new(&[0, 0, 1, 1]);
    let chosen = |operation, bytes: [u64; 2]| {
        let mut chooser = Chooser::new(None, &clusters, None);
        let [first, second] =
            bytes.map(|bytes| chooser.choose(operation, Some(bytes), 0, false, &clusters));
        let what = |choice: &Choice| {
            (
                choice.algorithm.map(|algorithm| algorithm.name),
                choice.segment,
            )
        };
        [what(&first), what(&second)]
    };
    for operation in Operation::all() {
        for power in 4..32 {
            let most = 1u64 << power;
            let alike = [most - most / 8 + 1, most];
            assert_eq!(class_bytes(alike[0]), class_bytes(alike[1]));
            let [one, other] = chosen(operation, alike);
            let [again, _] = chosen(operation, [alike[1], alike[0]]);
            assert_eq!(
                (one, other),
                (again, again),
                "{operation} of {alike:?} bytes"
            );
        }
    }
}

fn simulated(network: &Network, clusters: &Clusters, call: &Uniform, plan: &Considered) -> f64 {
    let plans = plan
        .algorithm
        .plans(call, Some(network), clusters, plan.segment);
    simulate(network, &plans, 1, Options::default())
        .unwrap()
        .seconds
}

/// One row: the choice, and its grid.
struct Row {
    name: String,
    /// Ratio of the predicted to the simulated time of the choice.
    ratio: f64,
    /// Ratio of the chosen plan's time to the best of all considered, both simulated.
    regret: f64,
}

fn rows() -> Vec<Row> {
    let operations = [
        Operation::Bcast,
        Operation::Reduce,
        Operation::Allreduce,
        Operation::Gather,
        Operation::Scatter,
        Operation::Allgather,
        Operation::Alltoall,
        Operation::Barrier,
    ];
    let mut rows = Vec::new();
    for (grid, network) in grids() {
        let clusters = Clusters::of_network(&network);
        let mut chooser = Chooser::new(Some(Arc::new(network.clone())), &clusters, None);
        for operation in operations {
            for bytes in SIZES {
                // Blocks of 64 KiB and less: 16 ranks send 15 of them each.
                let is_blocks = BLOCKS.contains(&operation);
                if (is_blocks && bytes > 64 * KIB)
                    || (operation == Operation::Barrier && bytes > KIB)
                {
                    continue;
                }
                let call = Uniform {
                    operation,
                    bytes,
                    root: 0,
                };
                let choice = chooser.choose(operation, Some(bytes), 0, false, &clusters);
                let chosen = choice.algorithm.unwrap();
                let mut times: Vec<(&str, f64, f64)> = choice
                    .considered()
                    .iter()
                    .map(|plan| {
                        let found = simulated(&network, &clusters, &call, plan);
                        (plan.algorithm.name, plan.seconds, found)
                    })
                    .collect();
                times.sort_by(|one, other| one.2.total_cmp(&other.2));
                let (_, predicted, taken) = *times
                    .iter()
                    .find(|(name, _, _)| *name == chosen.name)
                    .unwrap();
                rows.push(Row {
                    name: format!(
                        "{grid} {operation} {bytes}: {} (best {}, bound {:.2} ms)",
                        chosen.name,
                        times[0].0,
                        1e3 * bound(&network, &clusters, operation, bytes, 0)
                    ),
                    ratio: predicted / taken,
                    regret: taken / times[0].2,
                });
                for (name, predicted, found) in &times {
                    println!("    {name:24} {:9.3} {:9.3}", 1e3 * predicted, 1e3 * found);
                }
            }
        }
    }
    rows
}

#[test]
fn what_is_chosen_is_nearly_always_the_best_of_all_in_the_simulator_and_predicted_well() {
    let rows = rows();
    for row in &rows {
        println!("{:.3} {:.3} {}", row.ratio, row.regret, row.name);
    }
    let worse = rows.iter().filter(|row| row.regret > 1.05).count();
    assert!(
        worse * 20 <= rows.len(),
        "{worse} of {} rows are more than 5 % above the best",
        rows.len()
    );
    let mut off: Vec<f64> = rows.iter().map(|row| (row.ratio - 1.0).abs()).collect();
    off.sort_by(f64::total_cmp);
    assert!(off[off.len() / 2] <= 0.15, "median {}", off[off.len() / 2]);
}

fn chosen(network: &Network, call: &Uniform, host: Option<Family>) -> (Arc<Choice>, Clusters) {
    let clusters = Clusters::of_network(network);
    let mut chooser = Chooser::new(Some(Arc::new(network.clone())), &clusters, host);
    let choice = chooser.choose(
        call.operation,
        Some(call.bytes),
        call.root,
        false,
        &clusters,
    );
    (choice, clusters)
}

/// Simulated seconds of a considered algorithm, by its name.
fn simulated_by(
    network: &Network,
    clusters: &Clusters,
    call: &Uniform,
    choice: &Choice,
    name: &str,
) -> f64 {
    let mut considered = choice.considered().into_iter();
    let plan = considered.find(|plan| plan.algorithm.name == name).unwrap();
    simulated(network, clusters, call, &plan)
}

#[test]
fn long_blocks_for_all_are_cut_so_that_no_downlink_waits_for_a_whole_one() {
    let call = Uniform {
        operation: Operation::Allgather,
        bytes: 64 << 10,
        root: 0,
    };
    let (choice, _) = chosen(&grids::four_by_four(), &call, None);
    let cut = choice.considered();
    for name in ["grid-exchange", "grid-lanes"] {
        let plan = cut.iter().find(|plan| plan.algorithm.name == name);
        let segment = plan.map(|plan| plan.segment);
        assert!(
            segment.is_some_and(|segment| segment < 64 << 10),
            "{name}: {segment:?}"
        );
    }
}

#[test]
fn several_coordinators_work_side_by_side_where_one_cannot_fill_the_link() {
    let network = grids::narrow_connections();
    let call = Uniform {
        operation: Operation::Bcast,
        bytes: 4 << 20,
        root: 0,
    };
    let (choice, clusters) = chosen(&network, &call, None);
    let taken = |name: &str| simulated_by(&network, &clusters, &call, &choice, name);
    assert!(taken("grid-lanes") < 0.6 * taken("grid-flat"));
    assert_eq!(
        choice.algorithm.map(|algorithm| algorithm.name),
        Some("grid-lanes")
    );
}

#[test]
fn the_hosts_own_collective_is_kept_where_nothing_is_clearly_faster() {
    // Blocks are sent directly to their receivers in any case.
    let call = Uniform {
        operation: Operation::Alltoall,
        bytes: KIB,
        root: 0,
    };
    let (choice, _) = chosen(&grids::four_by_four(), &call, Some(Family::OpenMpi));
    assert!(choice.algorithm.is_none(), "{}", choice.reason());
    assert!(choice.native_seconds().is_some());
    let call = Uniform {
        operation: Operation::Bcast,
        bytes: 64 * KIB,
        ..call
    };
    let (choice, _) = chosen(&grids::four_by_four(), &call, Some(Family::OpenMpi));
    assert!(choice.algorithm.is_some(), "{}", choice.reason());
    let reason = choice.reason();
    assert!(
        reason.starts_with("predicted 2") && reason.contains("the MPI's own"),
        "{reason}"
    );
}

#[test]
fn without_a_network_and_for_sizes_that_not_all_ranks_know_rules_take_the_place_of_times() {
    let network = Arc::new(grids::four_by_four());
    let clusters = Clusters::of_network(&network);
    for network in [None, Some(network)] {
        let mut chooser = Chooser::new(network, &clusters, Some(Family::Mpich));
        let choice = chooser.choose(Operation::Gatherv, None, 3, false, &clusters);
        assert_eq!(
            choice.algorithm.map(|algorithm| algorithm.name),
            Some("flat")
        );
        assert_eq!(choice.reason(), "not all ranks know the sizes: by rule");
        assert!(choice.considered().is_empty());
    }
}

#[test]
fn operands_that_must_stay_in_order_are_combined_by_strategies_that_keep_it() {
    let network = Arc::new(grids::uneven());
    let clusters = Clusters::of_network(&network);
    let mut chooser = Chooser::new(Some(network), &clusters, None);
    for operation in [Operation::Reduce, Operation::Allreduce, Operation::Scan] {
        for bytes in SIZES {
            let choice = chooser.choose(operation, Some(bytes), 0, true, &clusters);
            assert!(
                choice.algorithm.unwrap().keeps_order(),
                "{operation} of {bytes}"
            );
        }
    }
}

#[test]
fn sizes_of_one_class_share_a_choice_and_a_class_is_never_smaller_than_its_sizes() {
    for bytes in (0..5000).chain([1 << 20, (1 << 20) + 1, u64::MAX / 4]) {
        let class = class_bytes(bytes);
        assert!(
            class >= bytes && class <= bytes + bytes / 4 + 1,
            "{bytes}: {class}"
        );
        assert_eq!(class_bytes(class), class, "{bytes}");
    }
    let network = Arc::new(grids::four_by_four());
    let clusters = Clusters::of_network(&network);
    let mut chooser = Chooser::new(Some(network), &clusters, None);
    let one = chooser.choose(Operation::Bcast, Some(60_000), 0, false, &clusters);
    let other = chooser.choose(Operation::Bcast, Some(61_000), 0, false, &clusters);
    assert!(Arc::ptr_eq(&one, &other));
}

/// Milliseconds that Open MPI 4.1.4 took by default on four clusters of four ranks, 10 ms and 100
/// Mbit/s apart, in blocks (the measured baselines, 3.2).
const OPEN_MPI: [(Operation, &[(u64, f64)]); 7] = [
    (
        Operation::Bcast,
        &[(64 << 10, 109.6), (1 << 20, 656.4), (4 << 20, 2189.6)],
    ),
    (
        Operation::Reduce,
        &[
            (8, 20.4),
            (1 << 10, 20.9),
            (64 << 10, 72.6),
            (1 << 20, 246.6),
            (4 << 20, 790.5),
        ],
    ),
    (
        Operation::Allreduce,
        &[
            (8, 20.6),
            (1 << 10, 21.2),
            (64 << 10, 46.2),
            (1 << 20, 242.8),
            (4 << 20, 721.1),
        ],
    ),
    (
        Operation::Allgather,
        &[(8, 21.5), (1 << 10, 24.4), (64 << 10, 335.5)],
    ),
    (Operation::Alltoall, &[(8, 30.9), (64 << 10, 381.1)]),
    (
        Operation::Gather,
        &[(8, 20.7), (1 << 10, 22.1), (64 << 10, 129.3)],
    ),
    (
        Operation::Scatter,
        &[(8, 20.8), (1 << 10, 21.9), (64 << 10, 99.3)],
    ),
];

#[test]
fn open_mpis_own_collectives_are_replaced_wherever_they_were_measured_to_be_slower() {
    let mut kept = Vec::new();
    for (operation, rows) in OPEN_MPI {
        for &(bytes, measured) in rows {
            let call = Uniform {
                operation,
                bytes,
                root: 0,
            };
            let (choice, _) = chosen(&grids::four_by_four(), &call, Some(Family::OpenMpi));
            let host = 1e3 * choice.native_seconds().unwrap();
            let best = 1e3 * choice.considered()[0].seconds;
            let line =
                format!("{operation} {bytes}: best {best:.1}, host {host:.1} for {measured}");
            println!("{line}");
            if choice.algorithm.is_none() {
                kept.push(line);
            }
        }
    }
    assert!(kept.is_empty(), "{kept:#?}");
}

#[test]
fn messages_between_clusters_stay_below_the_size_that_asks_first_and_so_are_faster() {
    for limit in [8 << 10, 19_456] {
        let network = grids::four_by_four_of(|_, _| grids::eager_wan(10.0, 100.0));
        let network = network.with_eager_limit(limit);
        assert_eq!(network.eager_limit(), Some(limit));
        for operation in [
            Operation::Bcast,
            Operation::Reduce,
            Operation::Allreduce,
            Operation::Allgather,
            Operation::Gather,
            Operation::Scatter,
        ] {
            // With long blocks all links are full in any case.
            let longest = match BLOCKS.contains(&operation) {
                true => 64 * KIB,
                false => 1 << 20,
            };
            for bytes in [64 * KIB, longest] {
                let call = Uniform {
                    operation,
                    bytes,
                    root: 0,
                };
                let (choice, clusters) = chosen(&network, &call, None);
                let best = choice.considered()[0];
                let plans = best
                    .algorithm
                    .plans(&call, Some(&network), &clusters, best.segment);
                let steps = plans.iter().enumerate();
                let steps = steps
                    .flat_map(|(from, plan)| plan.steps().iter().map(move |step| (from, step)));
                let sent = steps.filter_map(|(from, step)| match step.action {
                    Action::Send { to, range, .. } if clusters.of(from) != clusters.of(to) => {
                        Some(range.length)
                    }
                    _ => None,
                });
                let longest = sent.max().unwrap_or(0);
                assert!(longest <= limit, "{operation} {bytes}: {best:?}");
                let whole = Considered {
                    segment: bytes,
                    ..best
                };
                let taken = simulated(&network, &clusters, &call, &best);
                let asking = simulated(&network, &clusters, &call, &whole);
                assert!(taken <= asking, "{operation} {bytes}: {taken} {asking}");
            }
        }
    }
}

#[test]
fn long_messages_are_not_cut_into_more_pieces_than_mpis_look_through_quickly() {
    let network = grids::four_by_four();
    for operation in [Operation::Bcast, Operation::Reduce, Operation::Allreduce] {
        for bytes in [64 * KIB, 1 << 20, 4 << 20, 16 << 20] {
            let call = Uniform {
                operation,
                bytes,
                root: 0,
            };
            let (choice, _) = chosen(&network, &call, None);
            for plan in choice.considered() {
                let pieces = bytes.div_ceil(plan.segment);
                assert!(pieces <= MOST_SEGMENTS, "{operation} {bytes}: {plan:?}");
            }
        }
    }
    // If larger ones would need a rendezvous, there are as many as necessary.
    let eager = grids::four_by_four_of(|_, _| grids::eager_wan(10.0, 100.0));
    let call = Uniform {
        operation: Operation::Bcast,
        bytes: 8 << 20,
        root: 0,
    };
    let (choice, _) = chosen(&eager.with_eager_limit(8 * KIB), &call, None);
    let best = choice.considered()[0];
    assert!(best.segment <= 8 * KIB, "{best:?}");
    // The equivalent without a network.
    assert_eq!(segment(Operation::Bcast, 4 << 20, 48 * KIB), 16 * KIB);
    assert_eq!(segment(Operation::Bcast, 16 << 20, 48 * KIB), 32 * KIB);
    assert_eq!(segment(Operation::Bcast, 64 << 20, 48 * KIB), 48 * KIB);
}

#[test]
fn a_network_shows_where_messages_start_to_ask_and_is_told_where_it_does_not() {
    let measured = grids::four_by_four();
    assert_eq!(measured.eager_limit(), Some(65_535));
    // A measured limit stays.
    assert_eq!(measured.clone().with_eager_limit(8 * KIB), measured);
    let silent = grids::four_by_four_of(|_, _| grids::eager_wan(10.0, 100.0));
    assert_eq!(silent.eager_limit(), None);
    let told = silent.clone().with_eager_limit(8 * KIB);
    let link = |network: &Network| network.between(Cluster(0), Cluster(1)).unwrap().clone();
    for (bytes, waits) in [(8 * KIB, 0.0), (8 * KIB + 1, 0.02), (4 << 20, 0.02)] {
        assert_eq!(link(&told).handshake(bytes), waits, "{bytes}");
        let (gap, before) = (link(&told).gap(bytes), link(&silent).gap(bytes));
        assert!((gap - before).abs() < 1e-12, "{bytes}");
    }
}
