#![allow(clippy::unwrap_used)]
use std::collections::BTreeMap;

use super::*;
use crate::collective::read::models::broadcast::Broadcast;
use crate::collective::read::models::{Form, Group};
use crate::platform::{Cluster, Contents, Host, Link};

const MIB: u64 = 1 << 20;

/// Clusters of these sizes, one rank a host, with these links.
fn platform(sizes: &[usize], within: &[Link], between: impl Fn(usize, usize) -> Link) -> Platform {
    let mut contents = Contents::default();
    for (place, &size) in sizes.iter().enumerate() {
        let first = contents.hosts.len();
        contents
            .hosts
            .extend((first..first + size).map(|rank| Host {
                name: format!("n{rank}"),
                ranks: vec![rank],
            }));
        contents.clusters.push(Cluster {
            name: format!("c{place}"),
            hosts: (first..first + size).collect(),
            leader: first,
            within: (size > 1).then(|| within[place].clone()),
            levels: Vec::new(),
            contention: None,
        });
    }
    let mut links = BTreeMap::new();
    for from in 0..sizes.len() {
        for to in (0..sizes.len()).filter(|&to| to != from) {
            links.insert((from, to), between(from, to));
        }
    }
    contents.links = links;
    Platform::new(contents).unwrap()
}

/// The 88-node grid of table 7.3, its gaps rebuilt as reference 7.6 says.
fn grid_of_88() -> Platform {
    let latencies = [
        [47.56, 62.10, 12181.52, 12187.24, 12197.49, 5210.99],
        [62.10, 47.92, 12181.52, 12198.03, 12195.22, 5211.47],
        [12181.52, 12181.52, 35.52, 60.08, 60.08, 5388.49],
        [12187.24, 12198.03, 60.08, 0.0, 242.47, 5393.98],
        [12197.49, 12195.22, 60.08, 242.47, 0.0, 5394.10],
        [5210.99, 5211.47, 5388.49, 5393.98, 5394.10, 27.53],
    ];
    let per_megabyte = |from: usize, to: usize, latency: f64| match latency < 1e-3 {
        // Inside GdX 9.1 ms, between subnets of IDPOT about 20 ms.
        true if from.max(to) < 2 => 9.1e-3,
        true => 20e-3,
        false => 16.0 * 2.0 * latency,
    };
    let link = move |from: usize, to: usize| {
        let latency = latencies[from][to] * 1e-6;
        Link::linear(latency, 1e-9, per_megabyte(from, to, latency) / MIB as f64).unwrap()
    };
    let inside = |latency: f64| Link::linear(latency * 1e-6, 1e-6, 9.1e-3 / MIB as f64).unwrap();
    let within = [47.56, 47.92, 35.52, 1.0, 1.0, 27.53].map(inside);
    platform(&[31, 29, 6, 1, 1, 20], &within, link)
}

fn time(predictions: &[Prediction], strategy: &str) -> f64 {
    predictions
        .iter()
        .find(|p| p.strategy == strategy)
        .unwrap()
        .seconds
}

#[test]
fn the_88_node_grid_is_predicted_as_its_replay_says() {
    // Reference 7.6, case 1.
    let platform = grid_of_88();
    for (bytes, flat, bottom_up, ecef, best) in [
        (MIB, 1.36, 0.58, 0.409, 0.395),
        (4 * MIB, 5.44, 2.32, 1.60, 1.56),
    ] {
        let found = predict(&platform, &Question::new(Collective::Bcast, bytes));
        for (strategy, expected) in [
            ("flat", flat),
            ("bottom-up", bottom_up),
            ("fef", ecef),
            ("ecef", ecef),
            ("ecef-la", ecef),
            ("ecef-lat-min", ecef),
            ("exhaustive", best),
        ] {
            let seconds = time(&found, strategy);
            assert!(
                (seconds / expected - 1.0).abs() < 0.05,
                "{strategy}: {seconds} for {expected}"
            );
        }
        assert!(time(&found, "exhaustive") <= time(&found, "ecef-lat"));
        assert!(time(&found, "rank-binomial") > time(&found, "ecef"));
    }
}

#[test]
fn every_collective_has_an_answer_and_the_best_comes_first() {
    let grid = grid_of_88();
    let within = Link::linear(50e-6, 2e-6, 9e-9).unwrap();
    let one = platform(&[16], &[within], |_, _| unreachable!());
    for platform in [&grid, &one] {
        for collective in Collective::ALL {
            for bytes in [0, 8, 64 << 10, MIB] {
                for form in [Form::Corrected, Form::Thesis] {
                    let question = Question {
                        form,
                        ..Question::new(collective, bytes)
                    };
                    let found = predict(platform, &question);
                    assert!(!found.is_empty(), "{collective}");
                    let times: Vec<f64> = found.iter().map(|p| p.seconds).collect();
                    assert!(
                        times.is_sorted() && times[0] > 0.0,
                        "{collective} {times:?}"
                    );
                    assert!(
                        times.iter().all(|time| time.is_finite()),
                        "{collective} {times:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn one_cluster_is_predicted_by_the_models_at_any_number_of_ranks() {
    let within = Link::linear(50e-6, 2e-6, 9e-9).unwrap();
    let one = platform(&[16], std::slice::from_ref(&within), |_, _| unreachable!());
    for ranks in [1, 16, 45, 10_000] {
        let question = Question {
            ranks: Some(ranks),
            ..Question::new(Collective::Bcast, MIB)
        };
        let found = predict(&one, &question);
        let group = Group::new(ranks, &within);
        let (_, best) = Broadcast::choose(group, MIB, 1);
        assert_eq!(found[0].seconds, best.seconds, "{ranks} ranks");
    }
}

#[test]
fn trees_by_rank_reach_everyone_once() {
    for ranks in 1..40 {
        for root in [0, ranks / 2, ranks - 1] {
            for tree in [
                Tree::flat(ranks, root),
                Tree::chain(ranks, root),
                Tree::binomial(ranks, root),
            ] {
                let mut reached: Vec<usize> = tree.children.concat();
                reached.push(root);
                reached.sort_unstable();
                assert_eq!(reached, (0..ranks).collect::<Vec<_>>());
            }
        }
    }
}

#[test]
fn simulated_trees_take_what_the_formulas_say_on_even_links() {
    let link = Link::linear(50e-6, 2e-6, 9e-9).unwrap();
    let passage = |bytes: u64| Passage {
        gap: link.gap(bytes),
        latency: link.latency(),
        ..Passage::default()
    };
    for ranks in [2, 8, 16, 64] {
        let group = Group::new(ranks, &link);
        let hops = |segment| std::iter::repeat_n(passage(segment), ranks - 1);
        let segment = 16 << 10;
        for (strategy, simulated, segment) in [
            (
                Broadcast::Flat,
                simulate(&Tree::flat(ranks, 0), |_, _| passage(MIB)),
                MIB,
            ),
            (
                Broadcast::Binomial,
                simulate(&Tree::binomial(ranks, 0), |_, _| passage(MIB)),
                MIB,
            ),
            (
                Broadcast::Chain,
                simulate(&Tree::chain(ranks, 0), |_, _| passage(MIB)),
                MIB,
            ),
            (
                Broadcast::SegmentedChain,
                pipeline(hops(segment), MIB, segment),
                segment,
            ),
        ] {
            let formula = strategy.seconds(group, MIB, segment);
            assert!(
                (simulated / formula - 1.0).abs() < 1e-9,
                "{strategy} {ranks}"
            );
        }
    }
}

#[test]
fn messages_that_share_a_clusters_link_pass_it_one_after_the_other() {
    // Ranks 0 to 3 in cluster 0, 4 to 7 in cluster 1; 0 sends to 1, 2, 3, and each
    // of the four then across.
    let tree = Tree {
        children: vec![
            vec![1, 2, 3, 4],
            vec![5],
            vec![6],
            vec![7],
            vec![],
            vec![],
            vec![],
            vec![],
        ],
        root: 0,
    };
    let across = |from: usize, to: usize| Passage {
        gap: if from / 4 == to / 4 { 0.0 } else { 1.0 },
        latency: if from / 4 == to / 4 { 0.0 } else { 10.0 },
        clusters: (from / 4 != to / 4).then_some((from / 4, to / 4)),
        ..Passage::default()
    };
    assert_eq!(simulate(&tree, across), 14.0);
    // A chain that crosses there and back and there again: the second segment
    // comes through each cluster's link after all hops of the first one.
    let hops = [across(0, 4), across(4, 1), across(1, 5)];
    assert_eq!(pipeline(hops.into_iter(), 10, 5), 33.0 + 2.0);
}

#[test]
fn messages_that_wait_for_their_receivers_go_on_together() {
    // Rank 0 sends 1, 2 and 4 seconds' worth to others: evenly shared, the first is
    // through after 3 s, the second after 3 + 2 s, the last after 7 s.
    let tree = |children: Vec<Vec<usize>>| Tree { children, root: 0 };
    let gaps = [0.0, 4.0, 1.0, 2.0];
    let passage = |_: usize, to: usize| Passage {
        gap: gaps[to],
        waits: true,
        ..Passage::default()
    };
    let flat = tree(vec![vec![1, 2, 3], vec![], vec![], vec![]]);
    assert_eq!(simulate(&flat, passage), 7.0);
    // Who got the shortest one goes on at 3 s, and needs 5 s more.
    let deeper = tree(vec![vec![1, 2, 3], vec![], vec![4], vec![], vec![]]);
    let passage = |from: usize, to: usize| match to {
        4 => Passage {
            gap: 5.0,
            ..Passage::default()
        },
        _ => passage(from, to),
    };
    assert_eq!(simulate(&deeper, passage), 8.0);
    // To three ranks of another cluster: its link is shared as well, not passed
    // through once more; and what does not wait is not kept by what does.
    let across = |from: usize, to: usize| Passage {
        latency: 10.0,
        clusters: Some((0, 1)),
        waits: to != 3,
        ..passage(from, to)
    };
    assert_eq!(
        simulate(&flat, |from, to| Passage {
            waits: true,
            ..across(from, to)
        }),
        17.0
    );
    let mixed = |from: usize, to: usize| match to {
        3 => Passage {
            gap: 0.5,
            ..Passage::default()
        },
        _ => across(from, to),
    };
    assert_eq!(simulate(&flat, mixed), 15.0);
}

#[test]
fn ten_thousand_ranks_in_several_clusters_are_predicted() {
    let within = vec![Link::linear(50e-6, 2e-6, 9e-9).unwrap(); 20];
    let between = |_, _| Link::linear(10e-3, 5e-6, 85e-9).unwrap();
    let platform = platform(&[500; 20], &within, between);
    let found = predict(&platform, &Question::new(Collective::Bcast, MIB));
    assert!(time(&found, "ecef") < time(&found, "rank-flat"));
}
