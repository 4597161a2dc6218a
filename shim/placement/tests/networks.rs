//! The proven optima of grids on networks, and the measured reference values of routing and loads.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use treepie_base::{Leaf, Rank, Slice};
use treepie_placement::bound::lower_bound;
use treepie_placement::objective::{Measures, Objective};
use treepie_placement::{
    Constraints, Effort, Hardware, NetworkNodes, Options, Outcome, Strategy, place,
};
use treepie_topology::Topology;
use treepie_topology::networks::{Arrangement, Dragonfly, Local, Network, Paths, Site};
use treepie_traffic::Matrix;

// The guests of `scripts/bench placement --networks`.
#[path = "../../../tests/benches/benches/placement/networks/guests.rs"]
#[allow(dead_code)]
mod guests;

use guests::{Generator, Guest};

/// Builds a guest graph by name, under a numbering; 0 is the natural one.
fn guest(name: &str, shuffle: u64) -> Matrix {
    Guest::new(name).unwrap().matrix(shuffle).unwrap()
}

fn described(text: &str) -> Network {
    Site::from_description(text).unwrap().network().clone()
}

/// dragonfly(4,8,4) with graph distances or minimal routes.
fn dragonfly(paths: Paths) -> Network {
    let shape = (8, 4, 33);
    let dragonfly = Dragonfly::new(shape, Local::Complete, Arrangement::Absolute, paths);
    Network::Dragonfly(dragonfly.unwrap())
}

/// Nodes with the same number of slots each.
struct Machine {
    topology: Topology,
    nodes: NetworkNodes,
}

impl Machine {
    fn new(network: Network, positions: &[usize], slots: usize) -> Machine {
        let arities = [positions.len(), slots];
        let topology = Topology::from_arity_list(&arities, None).unwrap();
        let nodes = NetworkNodes::new(Arc::new(network), &topology, 1, positions).unwrap();
        Machine { topology, nodes }
    }

    fn whole(network: Network, per_position: usize, slots: usize) -> Machine {
        let all: Vec<usize> = (0..network.positions() * per_position)
            .map(|node| node / per_position)
            .collect();
        Machine::new(network, &all, slots)
    }

    fn place(&self, matrix: &Matrix, objective: Objective, effort: Effort) -> Outcome {
        let options = Options {
            objective,
            effort,
            ..Options::default()
        };
        place(Strategy::Best, matrix, self.hardware(), &options).unwrap()
    }

    fn hardware(&self) -> Hardware<'_> {
        Hardware {
            topology: &self.topology,
            network: Some(&self.nodes),
        }
    }

    fn measures(&self, matrix: &Matrix, leaves: &Slice<Rank, Leaf>) -> Measures {
        Measures::new(matrix, &self.topology, &self.nodes, leaves)
    }
}

#[test]
fn grids_reach_every_proved_optimum_and_best_known_folding_however_they_are_numbered() {
    let torus = |text: &str, slots| Machine::whole(described(text), 1, slots);
    let hyperx = || Machine::whole(described("hyperx:8x8"), 8, 1);
    let rows: [(Machine, &str, f64); 14] = [
        (torus("torus:8x8x8", 1), "st:8x8x8", 134_400.0),
        (torus("torus:8x8x8", 1), "st:8x8x8p", 153_600.0),
        (torus("torus:8x8x8", 1), "st:8x64", 95_200.0),
        (torus("mesh:8x8x8", 1), "st:8x64", 95_200.0),
        (torus("torus:4x4x4x8", 1), "st:32x16", 97_600.0),
        (torus("mesh:4x4x4x8", 1), "st:32x16", 97_600.0),
        (torus("torus:8x8x8", 8), "st:16x16x16", 537_600.0),
        (hyperx(), "st:8x8x8", 326_400.0),
        (hyperx(), "st:32x16", 228_800.0),
        (torus("torus:8x8x8", 1), "st:32x16", 102_400.0),
        (torus("torus:16x16x16", 1), "st:64x64", 864_000.0),
        (torus("torus:8x8x8", 8), "st:64x64", 313_600.0),
        (torus("mesh:32x32", 1), "st:16x8x8", 640_000.0),
        (torus("torus:4x4x4x8", 1), "st:8x8x8", 140_800.0),
    ];
    for (machine, stencil, optimum) in rows {
        for shuffle in [0, 2] {
            let guest = guest(stencil, shuffle);
            let placed = machine.place(&guest, Objective::Sum, Effort::Fast);
            let network = machine.nodes.network().describe();
            assert!(
                placed.cost <= optimum,
                "{stencil} on {network}: {}",
                placed.cost
            );
            assert!(placed.cost <= placed.identity_cost);
        }
    }
}

#[test]
fn optima_that_are_reached_are_proved_by_the_bound() {
    for (network, per_position, slots, stencil, optimum) in [
        ("torus:8x8x8", 1, 1, "st:8x8x8", 134_400.0),
        ("mesh:8x8x8", 1, 1, "st:8x64", 95_200.0),
        ("torus:8x8x8", 1, 8, "st:16x16x16", 537_600.0),
        ("hyperx:8x8", 8, 1, "st:8x8x8", 326_400.0),
        ("hyperx:8x8", 8, 1, "st:32x16", 228_800.0),
    ] {
        let machine = Machine::whole(described(network), per_position, slots);
        let guest = guest(stencil, 0);
        let placed = machine.place(&guest, Objective::Sum, Effort::Fast);
        let leaves = &placed.placement.leaf_of_rank;
        let bound = lower_bound(&guest, machine.hardware(), leaves);
        assert_eq!(
            (placed.cost, bound),
            (optimum, optimum),
            "{network} {stencil}"
        );
    }
}

#[test]
fn the_neighbour_bound_is_that_of_the_anchors() {
    let machine = Machine::whole(described("torus:8x8x8"), 1, 1);
    let identity = Leaf::list(0..512);
    let guest = guest("rnd:512", 0);
    let bound = lower_bound(&guest, machine.hardware(), &identity);
    assert!((bound - 119_805.0).abs() < 1.0, "{bound}");
}

#[test]
fn identity_costs_and_loads_what_the_anchors_say() {
    let torus = Machine::whole(described("torus:8x8x8"), 1, 1);
    let fly = Machine::whole(dragonfly(Paths::Minimal), 4, 1);
    for (machine, guest, cost, most) in [
        (&torus, guest("st:8x8x8", 0), 134_400.0, 100.0),
        (&torus, guest("st:8x8x8", 1), 803_700.0, 1_700.0),
        (&torus, guest("st:32x16", 0), 161_600.0, 300.0),
        (&torus, guest("st:8x64", 0), 100_800.0, 100.0),
        (&torus, guest("rnd:512", 0), 630_082.0, 1_261.0),
        (&fly, guest("st:33x32", 0), 714_100.0, 3_200.0),
        (&fly, guest("st:33x32", 1), 956_200.0, 1_100.0),
        (&fly, guest("st:11x12x8", 0), 974_800.0, 3_200.0),
        (&fly, guest("rnd:1056", 0), 1_003_801.0, 1_009.0),
    ] {
        let identity = Leaf::list(0..guest.order());
        let measures = machine.measures(&guest, &identity);
        assert_eq!((measures.hop_bytes, measures.loads.most_load), (cost, most));
        assert!(measures.floor.load <= most);
    }
}

#[test]
fn a_dragonfly_by_graph_distances_costs_less_than_by_minimal_routes() {
    let shortest = Machine::whole(dragonfly(Paths::Shortest), 4, 1);
    let guest = guest("st:33x32", 0);
    let identity = Leaf::list(0..1056);
    assert_eq!(shortest.measures(&guest, &identity).hop_bytes, 646_900.0);
}

#[test]
fn irregular_graphs_cost_less_than_a_descent_from_gmap_finds() {
    // Figures of a descent by all swaps from Scotch's placement, shuffle 1.
    for (network, per_position, ranks, descent) in [
        (described("torus:8x8x8"), 1, 512, 337_753.0),
        (described("hyperx:8x8"), 8, 512, 314_403.0),
        (dragonfly(Paths::Shortest), 4, 1056, 764_773.0),
    ] {
        let machine = Machine::whole(network, per_position, 1);
        let placed = machine.place(
            &guest(&format!("rnd:{ranks}"), 1),
            Objective::Sum,
            Effort::Normal,
        );
        assert!(placed.cost <= descent, "{}", placed.cost);
    }
}

#[test]
fn the_cheapest_of_all_placements_of_a_few_ranks_is_found() {
    for (network, per_position) in [
        ("torus:3x2", 1),
        ("mesh:7", 1),
        ("hyperx:2x3", 1),
        ("dragonfly:1,2,1", 1),
        ("fat-tree:2;2,3;1,2", 1),
    ] {
        let machine = Machine::whole(described(network), per_position, 1);
        let count = machine.nodes.count();
        let guest = guest(&format!("rnd:{}", count.min(6)), 3);
        let placed = machine.place(&guest, Objective::Sum, Effort::Normal);
        let cost = |leaves: &[Leaf]| machine.measures(&guest, Slice::from_ref(leaves)).hop_bytes;
        let mut least = f64::INFINITY;
        let mut leaves: Vec<Leaf> = (0..count).map(Leaf).collect();
        permuted(&mut leaves, 0, guest.order(), &mut |leaves| {
            least = least.min(cost(leaves))
        });
        assert!(
            placed.cost <= least * (1.0 + 1e-9),
            "{network}: {} {least}",
            placed.cost
        );
    }
}

fn permuted(items: &mut [Leaf], at: usize, count: usize, each: &mut impl FnMut(&[Leaf])) {
    if at == count {
        return each(&items[..count]);
    }
    for other in at..items.len() {
        items.swap(at, other);
        permuted(items, at + 1, count, each);
        items.swap(at, other);
    }
}

#[test]
fn part_of_a_torus_between_the_nodes_of_others_is_used_better_than_in_order() {
    let mut part = Generator::shuffled(11, 4096);
    part.truncate(512);
    part.sort_unstable();
    assert_eq!(part[..7], [4, 12, 21, 23, 28, 39, 54]);
    let machine = Machine::new(described("torus:16x16x16"), &part, 1);
    let placed = machine.place(&guest("st:8x8x8", 0), Objective::Sum, Effort::Normal);
    assert_eq!(placed.identity_cost, 988_400.0);
    assert!(placed.cost < 629_900.0, "{}", placed.cost);
}

#[test]
fn congestion_lowers_the_most_loaded_link_and_a_mixture_lowers_both() {
    let machine = Machine::whole(dragonfly(Paths::Minimal), 4, 1);
    let guest = guest("st:33x32", 0);
    let of = |objective| {
        let placed = machine.place(&guest, objective, Effort::Normal);
        machine.measures(&guest, &placed.placement.leaf_of_rank)
    };
    let congestion = of(Objective::Congestion);
    assert!(
        congestion.loads.most_load <= 700.0,
        "{}",
        congestion.loads.most_load
    );
    let mixture = of(Objective::Mixture);
    assert!(
        mixture.loads.most_load <= 800.0,
        "{}",
        mixture.loads.most_load
    );
    assert!(mixture.hop_bytes <= 714_100.0, "{}", mixture.hop_bytes);
}

#[test]
fn constraints_slots_and_forbidden_cores_are_kept_on_networks() {
    let machine = Machine::whole(described("torus:4x4"), 1, 2);
    let guest = guest("rnd:20", 1);
    let constraints = Constraints {
        slots: vec![1; 32].into(),
        ..Constraints::default()
    };
    let topology = machine
        .topology
        .clone()
        .forbidding(&[0, 1, 7].map(Leaf))
        .unwrap();
    let options = Options {
        constraints: Some(&constraints),
        ..Options::default()
    };
    let hardware = Hardware {
        topology: &topology,
        ..machine.hardware()
    };
    let placed = place(Strategy::Best, &guest, hardware, &options).unwrap();
    let mut leaves = placed.placement.leaf_of_rank.clone();
    assert!(leaves.iter().all(|leaf| ![0, 1, 7].contains(&leaf.0)));
    leaves.sort_unstable();
    leaves.dedup();
    assert_eq!(leaves.len(), 20);
    assert!(placed.cost <= placed.identity_cost);
}

#[test]
fn objectives_that_are_defined_on_trees_are_refused_in_one_line() {
    let machine = Machine::whole(described("torus:4x4"), 1, 1);
    let options = Options {
        objective: Objective::CoupeMin,
        ..Options::default()
    };
    let guest = guest("rnd:16", 1);
    let error = place(Strategy::Best, &guest, machine.hardware(), &options).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the objective coupe-min is defined on trees and not on this network: use the objectives \
         sum, congestion or mixture, and a strategy without tmlb"
    );
}
