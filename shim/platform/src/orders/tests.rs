#![allow(clippy::unwrap_used)]
use treepie_base::square::Square;
use treepie_base::{Cluster, List};

use super::*;

/// The five clusters of `reference` 7.3: gaps in seconds, latencies in milliseconds, and the times
/// of inner phases.
fn five() -> Costs {
    let pairs = [
        (0, 1, 0.20, 4.0),
        (0, 2, 0.30, 2.0),
        (0, 3, 0.25, 6.0),
        (0, 4, 0.50, 10.0),
        (1, 2, 0.15, 3.0),
        (1, 3, 0.40, 8.0),
        (1, 4, 0.35, 7.0),
        (2, 3, 0.10, 9.0),
        (2, 4, 0.45, 5.0),
        (3, 4, 0.12, 1.0),
    ];
    let (mut gap, mut latency) = (Square::filled(5, 0.0), Square::filled(5, 0.0));
    for (a, b, g, l) in pairs {
        let [a, b] = [a, b].map(Cluster);
        for pair in [(a, b), (b, a)] {
            gap[pair] = g;
            latency[pair] = l * 1e-3;
        }
    }
    Costs::new(gap, latency, vec![0.30, 1.00, 0.10, 0.60, 2.00].into()).unwrap()
}

fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

fn sends(schedule: &Schedule) -> Vec<(usize, usize, f64, f64)> {
    let sends = schedule.sends.iter();
    sends
        .map(|send| {
            (
                send.from.0,
                send.to.0,
                rounded(send.start),
                rounded(send.arrival),
            )
        })
        .collect()
}

#[test]
fn five_clusters_are_served_as_the_vectors_say() {
    let costs = five();
    let slowest_first = vec![
        (0, 4, 0.0, 0.51),
        (0, 1, 0.5, 0.704),
        (4, 3, 0.51, 0.631),
        (3, 2, 0.631, 0.74),
    ];
    let ecef = vec![
        (0, 1, 0.0, 0.204),
        (1, 2, 0.204, 0.357),
        (0, 3, 0.2, 0.456),
        (3, 4, 0.456, 0.577),
    ];
    for (order, expected, makespan) in [
        (
            Order::Flat,
            vec![
                (0, 1, 0.0, 0.204),
                (0, 2, 0.2, 0.502),
                (0, 3, 0.5, 0.756),
                (0, 4, 0.75, 1.26),
            ],
            3.260,
        ),
        (
            Order::Fef,
            vec![
                (0, 2, 0.0, 0.302),
                (2, 1, 0.302, 0.455),
                (2, 4, 0.452, 0.907),
                (4, 3, 0.907, 1.028),
            ],
            3.027,
        ),
        (Order::Ecef, ecef.clone(), 2.577),
        (Order::EcefLa, ecef.clone(), 2.577),
        (Order::Mixed, ecef, 2.577),
        (
            Order::EcefLatMin,
            vec![
                (0, 1, 0.0, 0.204),
                (0, 3, 0.2, 0.456),
                (1, 4, 0.204, 0.561),
                (3, 2, 0.456, 0.565),
            ],
            2.561,
        ),
        (Order::EcefLat, slowest_first.clone(), 2.630),
        (Order::BottomUp, slowest_first.clone(), 2.630),
        (Order::BottomUpReady, slowest_first, 2.630),
    ] {
        let schedule = order.schedule(&costs, Cluster(0));
        assert_eq!(sends(&schedule), expected, "{order}");
        assert_eq!(
            rounded(schedule.makespan(&costs, Accounting::AfterSends)),
            makespan,
            "{order}"
        );
    }
}

#[test]
fn sends_by_those_who_have_nothing_are_no_schedule() {
    let costs = five();
    for sends in [&[(1, 2)][..], &[(0, 2), (0, 2)], &[(0, 9)]] {
        let sends = sends.iter().map(|&(from, to)| (Cluster(from), Cluster(to)));
        let sends: Vec<(Cluster, Cluster)> = sends.collect();
        assert_eq!(Schedule::of(&costs, Cluster(0), &sends), None);
    }
}

#[test]
fn costs_that_are_none_are_refused() {
    let text = |error: CostsError| error.to_string();
    let table = |clusters| Square::filled(clusters, 0.0);
    assert_eq!(
        text(Costs::new(table(1), table(2), vec![0.0; 2].into()).unwrap_err()),
        "gap is of 1 clusters, and there are 2; one is needed for each pair"
    );
    assert_eq!(
        text(Costs::new(table(2), table(2), vec![0.0, -1.0].into()).unwrap_err()),
        "inside has -1; numbers from 0 were expected"
    );
    assert!(Costs::new(table(0), table(0), List::new()).is_err());
}

/// Orders computed from their definitions: every pair at every step.
fn by_definition(order: Order, costs: &Costs, root: Cluster) -> Vec<(Cluster, Cluster)> {
    let clusters = (0..costs.clusters()).map(Cluster);
    let all = |node: Cluster| -> f64 {
        let others = clusters.clone().filter(|&other| other != node);
        others.map(|other| costs.transfer(node, other)).sum()
    };
    let mut sends: Vec<(Cluster, Cluster)> = Vec::new();
    while sends.len() + 1 < costs.clusters() {
        let schedule = Schedule::of(costs, root, &sends).unwrap();
        let informed = |c: &Cluster| *c == root || sends.iter().any(|&(_, to)| to == *c);
        let waiting: Vec<Cluster> = clusters.clone().filter(|c| !informed(c)).collect();
        let ahead = |to: Cluster| {
            let others = waiting.iter().copied().filter(|&other| other != to);
            let others: Vec<Cluster> = others.collect();
            let next = |other: Cluster| costs.transfer(to, other);
            let done = |other: Cluster| next(other) + costs.inside(other);
            let mean = |all: Vec<f64>| all.iter().sum::<f64>() / all.len().max(1) as f64;
            let (least, most) = (f64::INFINITY, 0.0);
            if others.is_empty() {
                return 0.0;
            }
            let others = others.into_iter();
            match order {
                Order::EcefLa | Order::BottomUpLa => others.map(next).fold(least, f64::min),
                Order::EcefLaMean => mean(others.map(next).collect()),
                Order::EcefLaMeanOfAll => {
                    let senders = clusters.clone().filter(informed).chain([to]);
                    let pairs = senders.flat_map(|from| others.clone().map(move |o| (from, o)));
                    mean(
                        pairs
                            .map(|(from, other)| costs.transfer(from, other))
                            .collect(),
                    )
                }
                Order::EcefLatMin => others.map(done).fold(least, f64::min),
                Order::EcefLat => others.map(done).fold(most, f64::max),
                _ => 0.0,
            }
        };
        let weight = |from: Cluster, to: Cluster| match order {
            Order::Fef => costs.latency(from, to),
            Order::BottomUp => costs.transfer(from, to),
            Order::BottomUpLa => schedule.ready[from] + costs.transfer(from, to),
            _ => schedule.ready[from] + costs.transfer(from, to) + ahead(to),
        };
        // Some choose the receiver first: by the speed of its sends, or by its completion time.
        let receiver = |to: Cluster| match order {
            Order::Fnf => (all(to), to),
            Order::BottomUp | Order::BottomUpReady | Order::BottomUpLa => {
                let senders = clusters.clone().filter(informed);
                let least = senders.map(|from| weight(from, to));
                let least = least.fold(f64::INFINITY, f64::min);
                (ahead(to) - least - costs.inside(to), to)
            }
            _ => (0.0, Cluster(0)),
        };
        let first = Cluster(0);
        let mut best = ((f64::INFINITY, first), 0.0, first, first);
        for from in clusters.clone().filter(informed) {
            for &to in &waiting {
                let pair = (receiver(to), weight(from, to), from, to);
                if pair < best {
                    best = pair;
                }
            }
        }
        sends.push((best.2, best.3));
    }
    sends
}

#[test]
fn schedules_are_those_of_the_definitions_on_grids_of_any_size() {
    // Numbers without a pattern, some of them equal: many of them if there are few clusters.
    let mut state = 1_u64;
    let mut next = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        ((state >> 33) % below) as f64
    };
    for (clusters, below) in [1, 2, 3, 5, 8, 13, 21, 34]
        .map(|c| [(c, 3), (c, 40), (c, 10_000)])
        .concat()
    {
        for _ in 0..5 {
            let gap = Square::new(clusters, |_| next(below));
            let latency = Square::new(clusters, |_| next(below));
            let inside = (0..clusters).map(|_| next(below)).collect();
            let costs = Costs::new(gap, latency, inside).unwrap();
            for order in Order::ALL {
                let root = Cluster(clusters / 2);
                let expected = match order {
                    Order::Flat => (0..clusters)
                        .map(Cluster)
                        .filter(|&to| to != root)
                        .map(|to| (root, to))
                        .collect(),
                    Order::Mixed if clusters <= 20 => by_definition(Order::EcefLa, &costs, root),
                    Order::Mixed => by_definition(Order::EcefLat, &costs, root),
                    _ => by_definition(order, &costs, root),
                };
                assert_eq!(order.sends(&costs, root), expected, "{order} on {clusters}");
            }
        }
    }
}
