use crate::algorithms::algorithm::Algorithm;
use crate::clusters::Clusters;
use crate::grids;
use crate::grids::{lan, network};
use crate::network::links::Network;
use crate::operation::Operation;
use crate::plan::step::Plan;
use crate::problem::Uniform;
use crate::read::simulate::{
    engine::simulate,
    outcome::{Options, Outcome, Sending, SimulationError},
    timeline::Doing,
};
use treepie_base::Cluster;
use treepie_platform::orders::{Accounting, Costs, Order};
use treepie_platform::{Contention, Link, Sample};

const MIB: u64 = 1 << 20;

fn one_cluster(ranks: usize) -> Network {
    network(&[ranks], |_| lan(), |_, _| unreachable!())
}

fn simulated(
    network: &Network,
    operation: Operation,
    algorithm: &str,
    bytes: u64,
    segment: u64,
    sending: Sending,
) -> Outcome {
    let clusters = Clusters::of_network(network);
    let call = Uniform {
        operation,
        bytes,
        root: 0,
    };
    let algorithm = Algorithm::find(operation, algorithm).unwrap();
    let plans = algorithm.plans(&call, Some(network), &clusters, segment);
    let options = Options {
        sending,
        timeline: true,
    };
    simulate(network, &plans, 1, options).unwrap()
}

fn same(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() <= 1e-9 * expected.abs().max(1e-3),
        "{found} and not {expected}"
    );
}

/// Six clusters of one rank on different links.
fn six() -> Network {
    let latency = |from: usize, to: usize| 1e-3 * (1 + (from * 7 + to * 5) % 11) as f64;
    let per_byte = |from: usize, to: usize| 1e-9 * (20 + (from * 3 + to * 13) % 90) as f64;
    network(
        &[1; 6],
        |_| lan(),
        |from, to| Link::linear(latency(from, to), 3e-6, per_byte(from, to)).unwrap(),
    )
}

/// A cluster of `ranks` hosts with the contention of the thesis's Giga Ethernet.
fn congested(ranks: usize) -> Network {
    grids::congested(&vec![0; ranks], 1, Contention::GIGA_ETHERNET)
}

#[test]
fn messages_that_are_sent_one_after_the_other_have_gamma_and_no_delta() {
    let network = congested(8);
    let flat = |bytes| {
        let of = Sending::OnePort;
        simulated(&network, Operation::Alltoall, "flat", bytes, 1 << 30, of).seconds
    };
    let pairwise = |bytes| {
        let of = Sending::OnePort;
        simulated(
            &network,
            Operation::Alltoall,
            "pairwise",
            bytes,
            1 << 30,
            of,
        )
        .seconds
    };
    // The first message of a rank waits for none.
    same(
        flat(MIB) - pairwise(MIB),
        6.0 * Contention::GIGA_ETHERNET.delta,
    );
    assert!(pairwise(MIB) > 4.0 * 7.0 * lan().gap(MIB));
}

#[test]
fn contention_is_met_in_total_exchanges_alone_and_inside_clusters_alone() {
    for (operation, algorithm, is_met) in [
        (Operation::Bcast, "flat", false),
        (Operation::Gather, "flat", false),
        (Operation::Allgather, "ring", false),
        (Operation::Allgather, "bruck", false),
        (Operation::Allreduce, "recursive-doubling", false),
        (Operation::Allgather, "flat", true),
        (Operation::Alltoall, "open-shop", true),
        (Operation::ReduceScatterBlock, "pairwise", true),
    ] {
        let seconds = |network: &Network| {
            let of = Sending::Overlapping;
            simulated(network, operation, algorithm, 64 << 10, 1 << 30, of).seconds
        };
        let (free, busy) = (seconds(&one_cluster(8)), seconds(&congested(8)));
        assert_eq!(
            busy > 2.0 * free,
            is_met,
            "{operation} {algorithm}: {free} {busy}"
        );
        assert!(
            is_met || busy == free,
            "{operation} {algorithm}: {free} {busy}"
        );
    }
    // Between clusters of two: there is no contention inside.
    let numbers = [0, 0, 1, 1, 2, 2];
    let apart = grids::congested(&numbers, 1, Contention::NONE);
    let busy = grids::congested(
        &numbers,
        1,
        Contention {
            gamma: 4.0,
            ..Contention::NONE
        },
    );
    let seconds = |network: &Network| {
        let of = Sending::Overlapping;
        simulated(network, Operation::Alltoall, "flat", 64 << 10, 1 << 30, of).seconds
    };
    same(seconds(&busy), seconds(&apart));
}

#[test]
fn orders_between_clusters_take_the_makespan_that_the_schedulers_say() {
    let network = six();
    let bytes = MIB;
    let costs: Costs = network.costs(|_, _| bytes, vec![0.0; 6].into()).unwrap();
    let problem_clusters = Clusters::of_network(&network);
    for order in Order::ALL {
        for root in 0..6 {
            let schedule = order.schedule(&costs, Cluster(root));
            // The plan of a broadcast along these sends.
            let plans: Vec<Plan> = (0..6)
                .map(|rank| {
                    let range = crate::plan::range::Range::output(0, bytes);
                    crate::plan::builder::Builder::plan(1 << 30, |builder| {
                        for send in &schedule.sends {
                            if send.to.0 == rank {
                                builder.receive(send.from.0, range);
                            }
                        }
                        for send in &schedule.sends {
                            if send.from.0 == rank {
                                builder.send(send.to.0, range);
                            }
                        }
                    })
                })
                .collect();
            let options = Options {
                sending: Sending::OnePort,
                timeline: false,
            };
            let outcome = simulate(&network, &plans, 1, options).unwrap();
            same(
                outcome.seconds,
                schedule.makespan(&costs, Accounting::AtArrival),
            );
        }
    }
    assert_eq!(problem_clusters.count(), 6);
}

#[test]
fn an_uplink_carries_one_message_at_a_time_and_a_slow_receiver_does_not_hold_up_the_others() {
    // Three clusters of one; from 0 to 1 at the rate of the uplink, to 2 four times slower.
    let rate = |from: usize, to: usize| if from.max(to) == 2 { 320e-9 } else { 80e-9 };
    let network = network(
        &[1, 1, 1],
        |_| lan(),
        |from, to| Link::linear(10e-3, 1e-9, rate(from, to)).unwrap(),
    );
    let outcome = simulated(
        &network,
        Operation::Bcast,
        "grid-flat",
        MIB,
        16 << 10,
        Sending::Overlapping,
    );
    let slow = MIB as f64 * 320e-9 + 10e-3;
    assert!(outcome.seconds >= slow, "{}", outcome.seconds);
    assert!(
        outcome.seconds < 1.03 * slow,
        "{} over {slow}",
        outcome.seconds
    );
    assert_eq!(outcome.bytes_between, 2 * MIB);
}

#[test]
fn pieces_flow_through_all_levels_while_others_are_still_between_clusters() {
    // Three clusters of three hosts of four ranks.
    let network = grids::deep();
    assert_eq!(Clusters::of_network(&network).closer().len(), 1);
    let bytes = 4 << 20;
    for algorithm in ["grid-chain", "grid-exchange"] {
        let taken = |segment: u64| {
            let of = Sending::Overlapping;
            simulated(&network, Operation::Bcast, algorithm, bytes, segment, of).seconds
        };
        let [first, second] = [0, 1].map(Cluster);
        let latency = network.between(first, second).unwrap().latency();
        let once = network.uplink(first, bytes) + latency;
        assert!(
            taken(16 << 10) < 1.1 * once,
            "{algorithm}: {}",
            taken(16 << 10)
        );
        assert!(taken(bytes) > 1.5 * once, "{algorithm}: {}", taken(bytes));
    }
}

#[test]
fn nothing_is_faster_than_the_bound_also_where_a_way_over_another_cluster_is_shorter() {
    // From 0 to 2 it takes 20 ms, and over 1 it takes four.
    let latency = |from: usize, to: usize| if from.abs_diff(to) == 2 { 20e-3 } else { 2e-3 };
    let network = network(
        &[2, 2, 2],
        |_| lan(),
        |from, to| Link::linear(latency(from, to), 1e-9, 80e-9).unwrap(),
    );
    let clusters = Clusters::of_network(&network);
    for (operation, algorithm) in [
        (Operation::Bcast, "grid-chain"),
        (Operation::Bcast, "grid-flat"),
        (Operation::Reduce, "grid-ecef"),
        (Operation::Allreduce, "grid-lanes"),
    ] {
        for bytes in [8, 64 << 10] {
            let of = Sending::Overlapping;
            let taken = simulated(&network, operation, algorithm, bytes, 4096, of).seconds;
            let least = crate::read::bound::bound(&network, &clusters, operation, bytes, 0);
            assert!(
                taken >= least,
                "{operation} {algorithm} {bytes}: {taken} < {least}"
            );
        }
    }
    let least = crate::read::bound::bound(&network, &clusters, Operation::Bcast, 8, 0);
    assert!((4e-3..5e-3).contains(&least), "{least}");
}

#[test]
fn a_message_that_asks_first_waits_for_its_receiver_and_for_the_answer() {
    let sample = |bytes, handshake| Sample {
        bytes,
        gap: 1e-6,
        handshake,
        ..Sample::default()
    };
    let link = || Link::new(10e-3, vec![sample(0, 0.0), sample(1000, 20e-3)]).unwrap();
    let network = network(&[1, 1], |_| lan(), |_, _| link());
    let seconds = |bytes| {
        let of = Sending::Overlapping;
        simulated(&network, Operation::Bcast, "flat", bytes, 1 << 20, of).seconds
    };
    same(seconds(999), 10e-3 + 1e-6);
    same(seconds(1000), 30e-3 + 1e-6);
}

#[test]
fn bars_of_a_rank_lie_inside_the_simulation_and_name_their_peers() {
    let network = six();
    let outcome = simulated(
        &network,
        Operation::Allreduce,
        "grid-exchange",
        4096,
        1024,
        Sending::Overlapping,
    );
    let sends = outcome.bars.iter().filter(|bar| bar.doing == Doing::Send);
    let receives = outcome
        .bars
        .iter()
        .filter(|bar| bar.doing == Doing::Receive);
    assert_eq!(sends.clone().count(), outcome.messages);
    assert_eq!(receives.count(), outcome.messages);
    for bar in &outcome.bars {
        assert!(0.0 <= bar.start && bar.start <= bar.end && bar.end <= outcome.seconds + 1e-12);
        let is_message = matches!(bar.doing, Doing::Send | Doing::Receive);
        assert_eq!(bar.peer.is_some(), is_message);
        assert_ne!(bar.peer, Some(bar.rank));
    }
    let bytes: u64 = sends.map(|bar| bar.bytes).sum();
    assert_eq!(bytes, outcome.bytes_between);
}

#[test]
fn plans_that_never_end_and_plans_of_other_ranks_are_refused() {
    let network = one_cluster(2);
    let waits = |from: usize| {
        crate::plan::builder::Builder::plan(8, |steps| {
            steps.receive(from, crate::plan::range::Range::output(0, 8));
        })
    };
    let plans = [waits(1), Plan::default()];
    assert_eq!(
        simulate(&network, &plans, 1, Options::default()),
        Err(SimulationError::Deadlock { rank: 0, step: 0 })
    );
    assert_eq!(
        simulate(&network, &plans[..1], 1, Options::default()),
        Err(SimulationError::Plans { plans: 1, ranks: 2 })
    );
}
