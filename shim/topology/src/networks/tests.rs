//! The networks compared with breadth-first search on their links, and the figures of 2.1 to 2.4.

use std::collections::VecDeque;

use super::graph::GraphNetwork;
use super::*;
use crate::tree::Topology;

/// Distances between vertices over all links, by breadth-first search on networks with links of
/// length 1.
fn searched(network: &Network, start: usize) -> Vec<u32> {
    let mut next = vec![Vec::new(); network.vertices()];
    for (from, to, length, _) in network.all_links() {
        assert_eq!(length, 1);
        next[from].push(to);
    }
    let mut distance = vec![u32::MAX; next.len()];
    distance[start] = 0;
    let mut queue = VecDeque::from([start]);
    while let Some(here) = queue.pop_front() {
        for &there in &next[here] {
            if distance[there] == u32::MAX {
                distance[there] = distance[here] + 1;
                queue.push_back(there);
            }
        }
    }
    distance
}

fn described(text: &str) -> Network {
    Site::from_description(text).unwrap().network().clone()
}

fn dragonfly(
    shape: (usize, usize, usize),
    local: Local,
    how: Arrangement,
    paths: Paths,
) -> Network {
    Network::Dragonfly(Dragonfly::new(shape, local, how, paths).unwrap())
}

/// Small networks of all families.
fn small() -> Vec<Network> {
    let mut all: Vec<Network> = [
        "torus:4x3x2",
        "torus:5",
        "torus:2x2x2",
        "mesh:3x4",
        "mesh:1x5",
        "torus:8x8",
        "hyperx:3x4",
        "hyperx:2x2x3",
        "fat-tree:2;3,4;1,2",
        "fat-tree:3;2,3,2;1,2,3;1,2,1",
        "fat-tree:1;5;1",
    ]
    .map(described)
    .to_vec();
    let mixed = Lattice::new(&[4, 5], &[true, false]).unwrap();
    all.push(Network::Lattice(mixed));
    let tree = Topology::from_arities("3:2:4").unwrap();
    all.push(Network::Tree(TreeNetwork::new(tree).unwrap()));
    for how in [
        Arrangement::Absolute,
        Arrangement::Relative,
        Arrangement::Circulant,
    ] {
        for shape in [
            (4, 2, 9),
            (4, 2, 5),
            (4, 2, 8),
            (3, 1, 2),
            (2, 3, 1),
            (4, 3, 6),
        ] {
            all.push(dragonfly(shape, Local::Complete, how, Paths::Shortest));
            let rows = Local::Rows { columns: 2 };
            if shape.0 % 2 == 0 {
                all.push(dragonfly(shape, rows, how, Paths::Shortest));
            }
        }
    }
    all.push(ring_with_hosts());
    all
}

/// Six switches in a ring, four of which have hosts.
fn ring_with_hosts() -> Network {
    let names = (0..6).map(|v| format!("s{v}")).collect();
    let ring = [0, 1, 4, 2, 3, 5];
    let edges = (0..6).map(|at| Edge {
        one: ring[at],
        other: ring[(at + 1) % 6],
        length: 1,
        capacity: 2.0,
    });
    let edges: Vec<Edge> = edges.collect();
    Network::Graph(GraphNetwork::new(names, 4, 2, &edges).unwrap())
}

#[test]
fn distances_of_all_families_are_those_of_breadth_first_search() {
    for network in small() {
        for a in 0..network.positions() {
            let searched = searched(&network, a);
            for (b, &links) in searched.iter().enumerate().take(network.positions()) {
                let expected = links + network.access();
                // Two hosts at one leaf of a tree have a switch between them.
                if a != b || network.access() > 0 {
                    assert_eq!(network.distance(a, b), expected, "{network:?} {a} {b}");
                }
            }
        }
    }
}

#[test]
fn routes_of_all_families_follow_links_and_are_as_long_as_minimal_distances() {
    let mut all = small();
    let shapes = [(4, 2, 9), (4, 3, 6), (6, 2, 5)];
    all.extend(shapes.map(|shape| {
        dragonfly(
            shape,
            Local::Rows { columns: 2 },
            Arrangement::Circulant,
            Paths::Minimal,
        )
    }));
    for network in all {
        let shortest = matches!(&network, Network::Dragonfly(d) if *d == shortest_of(d));
        for a in 0..network.positions() {
            for b in 0..network.positions() {
                let mut balance = vec![0.0; network.vertices()];
                let mut length = 0.0;
                network.route(a, b, &mut |link, share| {
                    let (from, to) = network.ends(link).expect("routes use links there are");
                    balance[from] += share;
                    balance[to] -= share;
                    length += share * f64::from(network.length(link));
                });
                for (vertex, &balance) in balance.iter().enumerate() {
                    let expected = f64::from(vertex == a) - f64::from(vertex == b);
                    assert!((balance - expected).abs() < 1e-9, "{network:?} {a} {b}");
                }
                if a != b && !shortest {
                    let distance = f64::from(network.distance(a, b) - network.access());
                    assert!((length - distance).abs() < 1e-9, "{network:?} {a} {b}");
                }
            }
        }
    }
}

/// The dragonfly itself if its distances are shortest paths, else another one: no other family has
/// routes that may be longer.
fn shortest_of(dragonfly: &Dragonfly) -> Dragonfly {
    match dragonfly.paths() {
        Paths::Shortest => dragonfly.clone(),
        Paths::Minimal => Dragonfly::new(
            (1, 1, 1),
            Local::Complete,
            Arrangement::Absolute,
            Paths::Shortest,
        )
        .unwrap(),
    }
}

#[test]
fn every_global_link_of_a_dragonfly_has_one_that_leads_back() {
    for network in small() {
        let Network::Dragonfly(family) = &network else {
            continue;
        };
        let global = (0..network.links()).filter(|&link| family.is_global(link));
        let ends: Vec<_> = global.filter_map(|link| network.ends(link)).collect();
        for &(from, to) in &ends {
            let count = |pair| ends.iter().filter(|&&end| end == pair).count();
            assert_eq!(count((from, to)), count((to, from)), "{network:?}");
            assert_ne!(family.group_of(from), family.group_of(to));
        }
    }
}

/// Mean distance over all ordered pairs, including those of a position with itself.
fn mean_distance(network: &Network) -> f64 {
    let all = network.positions();
    let pairs = (0..all).flat_map(|a| (0..all).map(move |b| (a, b)));
    let sum: u64 = pairs.map(|(a, b)| u64::from(network.distance(a, b))).sum();
    sum as f64 / (all * all) as f64
}

#[test]
fn mean_distances_of_tori_and_meshes_are_those_of_the_closed_forms() {
    for (text, expected) in [
        ("torus:8x8x8", 6.0),
        ("torus:32x32", 16.0),
        ("mesh:32x32", 21.3125),
        ("torus:5x5", 2.0 * 24.0 / 20.0),
    ] {
        assert!(
            (mean_distance(&described(text)) - expected).abs() < 1e-9,
            "{text}"
        );
    }
}

#[test]
fn one_of_a_hundred_pairs_of_a_dragonfly_has_a_shorter_way_than_the_minimal_route() {
    let of = |paths| {
        let shape = (8, 4, 33);
        dragonfly(shape, Local::Complete, Arrangement::Absolute, paths)
    };
    let (minimal, shortest) = (of(Paths::Minimal), of(Paths::Shortest));
    let all = minimal.positions();
    let mut shorter = 0;
    for a in 0..all {
        for b in 0..all {
            let (m, s) = (minimal.distance(a, b), shortest.distance(a, b));
            assert!(s <= m);
            shorter += usize::from(s < m);
        }
    }
    // 4 x 4 pairs of nodes for each pair of routers: 10,752 of 1,114,080 ordered pairs.
    assert_eq!(shorter * 16, 10_752);
}

#[test]
fn uniform_traffic_loads_all_links_of_a_torus_alike_and_the_floor_is_half_the_network() {
    let network = described("torus:5x5");
    let pairs = (0..25).flat_map(|a| (0..25).map(move |b| (a, b, 1.0)));
    let traffic: Vec<_> = pairs.collect();
    let loads = Loads::new(&network, traffic.iter().copied());
    assert!((loads.most_load - loads.mean).abs() < 1e-9);
    // 10 x 15 pairs over the 10 links out of a slab with a thickness of two.
    let floor = Floor::new(&Partition::all(&network), &traffic);
    assert_eq!(floor.load, 15.0);
    assert!(floor.load <= loads.most_load + 1e-9);
}

#[test]
fn the_floor_is_never_above_what_the_stated_routing_carries() {
    let mut random = 1_u64;
    let mut below = |limit: usize| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695);
        (random >> 33) as usize % limit
    };
    for network in small() {
        let all = network.positions();
        let draw = |_| (below(all), below(all), 1.0 + below(9) as f64);
        let traffic: Vec<_> = (0..40).map(draw).collect();
        let loads = Loads::new(&network, traffic.iter().copied());
        let floor = Floor::new(&Partition::all(&network), &traffic);
        assert!(floor.load <= loads.most_load * (1.0 + 1e-9), "{network:?}");
    }
}

#[test]
fn widths_divide_loads_and_lengths_stretch_distances() {
    // Gemini: two links in x and z, one in y.
    let lattice = Lattice::torus(&[4, 4, 4]).unwrap();
    let gemini = lattice.with_widths(&[2.0, 1.0, 2.0]).unwrap();
    let gemini = Network::Lattice(gemini.with_lengths(&[1, 2, 1]).unwrap());
    assert_eq!(gemini.distance(0, 1 + 4), 3);
    let loads = Loads::new(&gemini, [(0, 1, 10.0)]);
    assert_eq!(loads.most_load, 5.0);
}

#[test]
fn wrong_parameters_are_refused_in_one_line() {
    for (text, expected) in [
        (
            "torus:",
            "\"torus:\" describes no network: \"\" is not a whole number",
        ),
        (
            "torus:8x0",
            "size 2 of the network is 0: expected 1 to 8192",
        ),
        (
            "torus:8x-2",
            "\"torus:8x-2\" describes no network: \"-2\" is not a whole number",
        ),
        (
            "mesh:8192x8192",
            "the network has more than 4194304 positions: check its parameters",
        ),
        (
            "torus:2x2x2x2x2x2x2x2x2",
            "number of dimensions is 9: expected at most 8",
        ),
        (
            "dragonfly:4,8,4,99",
            "number of groups is 99: expected at most 33, one more than the global links of a group",
        ),
        (
            "dragonfly:4",
            "\"dragonfly:4\" describes no network: expected 3 or 4 numbers, as in dragonfly:4,8,4",
        ),
        (
            "dragonfly:0,8,4",
            "nodes at a position is 0: expected at least 1, and not too many for the network",
        ),
        (
            "fat-tree:2;4,4;1",
            "1 numbers of parents for 2 levels: give one for each",
        ),
        (
            "torus:99999999999999999999",
            "\"torus:99999999999999999999\" describes no network: \"99999999999999999999\" is not a whole number",
        ),
    ] {
        let error = Site::from_description(text).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn graphs_that_fall_apart_or_have_wrong_links_are_refused() {
    let edge = |one, other, length, capacity| Edge {
        one,
        other,
        length,
        capacity,
    };
    let of = |positions, edges: &[Edge]| {
        let names = ["a", "b", "c"].map(str::to_owned).to_vec();
        GraphNetwork::new(names, positions, 2, edges)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        of(3, &[edge(0, 1, 1, 1.0)]),
        "no path leads from a to c: the network is not connected; add the missing links"
    );
    assert_eq!(
        of(3, &[edge(0, 1, 0, 1.0)]),
        "length of the link between a and b is 0: expected 1 to 60000"
    );
    assert_eq!(
        of(3, &[edge(0, 2, 1, f64::NAN)]),
        "capacity of the link between a and c is NaN: expected a positive number"
    );
    assert_eq!(of(0, &[]), "the network is empty: give at least one host");
}

#[test]
fn hosts_are_found_by_name_with_and_without_domain() {
    let hosts = [("n1.site", 3), ("n2.site", 1)];
    let hosts = hosts.map(|(name, position)| Host {
        name: name.to_owned(),
        position,
    });
    let site = Site::new(described("torus:4"), hosts.to_vec()).unwrap();
    assert_eq!(site.positions_of(&["n2", "n1.site"]).unwrap(), [1, 3]);
    assert_eq!(
        site.positions_of(&["n3"]).unwrap_err().to_string(),
        "host n3 is not in the network, which has n1.site, n2.site: add it there or leave the \
         network out"
    );
    let twice = Site::new(
        described("torus:4"),
        vec![hosts[0].clone(), hosts[0].clone()],
    );
    assert_eq!(
        twice.unwrap_err().to_string(),
        "host n1.site is in the network twice: keep one of the two"
    );
}
