#![allow(clippy::unwrap_used)]
use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::constraints::request::Constraints;
use crate::near::*;
use crate::objective::hop_bytes::dist_comm;
use treepie_base::{Leaf, List, Rank, Slice};
use treepie_topology::{Machine, Topology};
use treepie_traffic::Matrix;

/// Nodes of two sockets of `cores` cores each; the interface of a node is beside its second socket.
fn nodes(count: usize, cores: usize) -> Topology {
    let second = format!("{cores}-{}", 2 * cores - 1);
    cluster(count, cores, &format!("device fabric mlx5_0 {second}\n"))
}

fn cluster(count: usize, cores: usize, devices: &str) -> Topology {
    let units: Vec<String> = (0..2 * cores).map(|unit| unit.to_string()).collect();
    let text = format!(
        "machine 1\nlevel socket 2\nlevel core {cores} {cores}\nunits {}\n{devices}",
        units.join(" ")
    );
    let machine: Machine = text.parse().unwrap();
    let named = (0..count).map(|node| (format!("n{node}"), machine.topology().clone()));
    Topology::cluster(named.collect()).unwrap()
}

fn matrix(ranks: usize, pairs: &[(usize, usize, f64)]) -> Matrix {
    let both = pairs.iter().flat_map(|&(a, b, w)| [(a, b, w), (b, a, w)]);
    Matrix::from_entries(ranks, both).unwrap()
}

fn seated(
    bytes: &Matrix,
    tree: &Topology,
    constraints: &Constraints,
    budget: f64,
) -> List<Rank, Leaf> {
    let before = Leaf::list(0..bytes.order());
    let seats = Seats {
        bytes,
        affinity: bytes,
        topology: tree,
        interfaces: &Interfaces::of_network(tree, 1),
        constraints,
        leaf_of_rank: &before,
    };
    seats.near_interfaces(budget).unwrap()
}

/// Two pairs in each of two nodes; the first pair of each sends to the other node.
fn pairs_of_two_nodes() -> Matrix {
    let inside = [(0, 1, 100.0), (2, 3, 100.0), (4, 5, 100.0), (6, 7, 100.0)];
    let outside = [(0, 4, 10.0), (1, 5, 10.0)];
    matrix(8, &[&inside[..], &outside[..]].concat())
}

#[test]
fn whole_sockets_change_places_where_that_costs_nothing() {
    let (tree, bytes) = (nodes(2, 2), pairs_of_two_nodes());
    let after = seated(&bytes, &tree, &Constraints::default(), 0.0);
    assert_eq!(after, Leaf::list([2, 3, 0, 1, 6, 7, 4, 5]));
    let before = Leaf::list(0..8);
    assert_eq!(
        dist_comm(&bytes, &tree, &after),
        dist_comm(&bytes, &tree, &before)
    );
    let interfaces = Interfaces::of_network(&tree, 1);
    assert_eq!(interfaces.traffic(&bytes, &tree, &before), (80.0, 0.0));
    assert_eq!(interfaces.traffic(&bytes, &tree, &after), (80.0, 80.0));
}

#[test]
fn single_ranks_change_places_within_the_budget_and_not_beyond() {
    let tree = nodes(2, 2);
    // One rank of each pair sends to other nodes, so that both sockets are equivalent.
    let inside = [(0, 1, 5.0), (2, 3, 5.0), (4, 5, 5.0), (6, 7, 5.0)];
    let outside = [(0, 4, 50.0), (2, 6, 50.0)];
    let bytes = matrix(8, &[&inside[..], &outside[..]].concat());
    let before = Leaf::list(0..8);
    assert_eq!(seated(&bytes, &tree, &Constraints::default(), 9.9), before);
    let after = seated(&bytes, &tree, &Constraints::default(), 1000.0);
    let interfaces = Interfaces::of_network(&tree, 1);
    assert_eq!(interfaces.traffic(&bytes, &tree, &before), (400.0, 200.0));
    assert_eq!(interfaces.traffic(&bytes, &tree, &after), (400.0, 400.0));
}

#[test]
fn ranks_that_are_fixed_stay_and_so_do_their_sockets() {
    let (tree, bytes) = (nodes(2, 2), pairs_of_two_nodes());
    let constraints = Constraints {
        fixed: BTreeMap::from([(Rank(3), Leaf(3))]),
        ..Constraints::default()
    };
    let after = seated(&bytes, &tree, &constraints, 0.0);
    assert_eq!(after, Leaf::list([0, 1, 2, 3, 6, 7, 4, 5]));
}

#[test]
fn an_interface_beside_all_cores_or_beside_none_moves_nobody() {
    let bytes = pairs_of_two_nodes();
    for (devices, unknown, alike) in [
        ("", 2, 0),
        ("device gpu card0 0-1\n", 2, 0),
        ("device fabric mlx5_0 0-3\n", 0, 2),
        // One interface for each socket.
        ("device fabric mlx5_0 0-1\ndevice fabric mlx5_1 2-3\n", 0, 2),
    ] {
        let tree = cluster(2, 2, devices);
        let interfaces = Interfaces::of_network(&tree, 1);
        assert!(!interfaces.differ(), "{devices:?}");
        assert_eq!((interfaces.unknown(), interfaces.alike()), (unknown, alike));
        let after = seated(&bytes, &tree, &Constraints::default(), f64::MAX);
        assert_eq!(after, Leaf::list(0..8), "{devices:?}");
    }
}

#[test]
fn a_fabric_goes_before_an_ethernet_of_the_same_node() {
    let devices = "device ethernet eth0 0-1\ndevice fabric mlx5_0 2-3\n";
    let tree = cluster(2, 2, devices);
    assert_eq!(
        Interfaces::of_network(&tree, 1),
        Interfaces::of_network(&nodes(2, 2), 1)
    );
    // A node of another kind has only Ethernet, and uses it.
    let part = |tree: &Topology| tree.parts(1).unwrap().swap_remove(0);
    let other = part(&cluster(1, 2, "device ethernet eth0 0-1\n"));
    let mixed = Topology::cluster(vec![("a".into(), part(&tree)), ("b".into(), other)]).unwrap();
    let interfaces = Interfaces::of_network(&mixed, 1);
    assert!(interfaces.differ());
    assert_eq!((interfaces.unknown(), interfaces.alike()), (0, 0));
    let bytes = pairs_of_two_nodes();
    let after = seated(&bytes, &mixed, &Constraints::default(), 0.0);
    assert_eq!(after, Leaf::list([2, 3, 0, 1, 4, 5, 6, 7]));
}

#[test]
fn distances_grow_with_the_parts_between_a_core_and_the_interface() {
    let text = "machine 1\nlevel socket 2\nlevel numa 2 2\nlevel core 2 2 2 2\n\
                units 0 1 2 3 4 5 6 7\ndevice fabric hsn0 2-3\n";
    let machine: Machine = text.parse().unwrap();
    let interfaces = Interfaces::of_network(machine.topology(), 0);
    assert_eq!(
        interfaces.steps.raw,
        [4.0, 4.0, 0.0, 0.0, 6.0, 6.0, 6.0, 6.0]
    );
}

proptest! {
    #[test]
    fn ranks_stay_on_their_nodes_and_the_cost_within_the_budget(
        weights in proptest::collection::vec((0_usize..16, 0_usize..16, 1_u32..100), 1..60),
        cores in proptest::sample::subsequence((0_usize..24).collect::<Vec<_>>(), 16),
        share in 0_u32..20,
    ) {
        let (tree, cores) = (nodes(3, 4), Leaf::list(cores));
        let entries = weights.iter().filter(|(a, b, _)| a != b);
        let entries = entries.map(|&(a, b, w)| (a, b, f64::from(w)));
        let bytes = Matrix::from_entries(16, entries.collect::<Vec<_>>()).unwrap();
        let interfaces = Interfaces::of_network(&tree, 1);
        let constraints = Constraints::default();
        let seats = Seats {
            bytes: &bytes,
            affinity: &bytes,
            topology: &tree,
            interfaces: &interfaces,
            constraints: &constraints,
            leaf_of_rank: &cores,
        };
        let cost = dist_comm(&bytes, &tree, &cores);
        let budget = cost * f64::from(share) / 100.0;
        let after = seats.near_interfaces(budget).unwrap();
        prop_assert!(dist_comm(&bytes, &tree, &after) <= cost + budget + 1e-6);
        let node = |leaf: &Leaf| tree.ancestor(*leaf, 1);
        prop_assert!(after.iter().map(node).eq(cores.iter().map(node)));
        let (mut used, mut were) = (after.clone(), cores.clone());
        used.sort_unstable();
        were.sort_unstable();
        prop_assert_eq!(used, were);
        let way = |leaves: &Slice<Rank, Leaf>| -> f64 {
            let outside = interfaces.outside(&bytes, &tree, leaves);
            outside.iter().zip(leaves).map(|(bytes, &leaf)| bytes * interfaces.steps[leaf]).sum()
        };
        prop_assert!(way(&after) <= way(&cores) + 1e-6);
    }
}
