//! The load balancers of the thesis (3.4), on its examples and on random loads.
#![allow(clippy::unwrap_used)] // a test may panic

use proptest::prelude::*;
use proptest::strategy::Strategy as _;
use treepie_base::assignment::cheapest_assignment;
use treepie_base::{Leaf, List, Rank, Slice};
use treepie_placement::balance::{
    FakeTree, Situation, deal_by_load, in_blocks, migration_costs, min_weight, tree_based,
};
use treepie_placement::objective::dist_comm;
use treepie_placement::{Constraints, Options, PlacementError, Strategy, place};
use treepie_topology::Topology;
use treepie_traffic::Matrix;

mod strategies;

/// A ring of ranks, each communicating with both neighbours.
fn ring(ranks: usize) -> Matrix {
    let pairs = (0..ranks).flat_map(|r| [(r, (r + 1) % ranks, 1.0), ((r + 1) % ranks, r, 1.0)]);
    Matrix::from_entries(ranks, pairs).unwrap()
}

fn counts(leaf_of_rank: &Slice<Rank, Leaf>, leaves: usize) -> Vec<usize> {
    let mut counts = vec![0; leaves];
    leaf_of_rank.iter().for_each(|leaf| counts[leaf.0] += 1);
    counts
}

fn load_of_each(
    leaf_of_rank: &Slice<Rank, Leaf>,
    loads: &Slice<Rank, f64>,
    leaves: usize,
) -> Vec<f64> {
    let mut sums = vec![0.0; leaves];
    leaf_of_rank
        .iter()
        .zip(loads)
        .for_each(|(leaf, load)| sums[leaf.0] += load);
    sums
}

/// Figures 3.6 to 3.8; a mirrored matrix finds the largest sum.
#[test]
fn the_hungarian_example_costs_16_at_least_and_38_at_most() {
    let matrix = [[8, 5, 5, 3], [6, 9, 7, 9], [3, 8, 11, 4], [8, 3, 1, 10]];
    let sum = |columns: &[usize]| (0..4).map(|row| matrix[row][columns[row]]).sum::<i32>();
    let least = cheapest_assignment(4, |row, column| f64::from(matrix[row][column]));
    assert_eq!(sum(&least), 16);
    let optima: [&[usize]; 3] = [&[3, 1, 0, 2], &[1, 0, 3, 2], &[3, 2, 0, 1]];
    assert!(optima.contains(&least.as_slice()), "{least:?}");
    let most = cheapest_assignment(4, |row, column| -f64::from(matrix[row][column]));
    assert_eq!(sum(&most), 38);
    assert_eq!(most, [0, 1, 2, 3]);
}

/// Figure 3.6 read as counts of chares by old core and new group: at least 62 move, since 38 stay.
#[test]
fn fewest_migrations_of_figure_3_6_are_62() {
    let counts = [[8, 5, 5, 3], [6, 9, 7, 9], [3, 8, 11, 4], [8, 3, 1, 10]];
    let mut groups = vec![Vec::new(); 4];
    let mut current: List<Rank, Option<usize>> = List::new();
    for (old, row) in counts.iter().enumerate() {
        for (group, &count) in row.iter().enumerate() {
            for _ in 0..count {
                groups[group].push(current.next_key());
                current.push(Some(old));
            }
        }
    }
    assert_eq!(current.len(), 100);
    let costs = migration_costs(&groups, &current);
    let chosen = cheapest_assignment(4, |group, core| costs[group][core] as f64);
    let moved: usize = (0..4).map(|group| costs[group][chosen[group]]).sum();
    assert_eq!(moved, 62);
}

/// Figure 3.5: 100 chares on 4 cores, ordered on the tree 2:2:5:5.
#[test]
fn a_hundred_chares_of_equal_load_are_cut_into_the_four_subtrees_of_25() {
    let chares = ring(100);
    let fake = FakeTree::for_ranks(100).unwrap();
    let order = fake.leaf_of_rank(&chares, 0).unwrap();
    let groups = deal_by_load(&order, fake.topology(), Slice::from_ref(&[1.0; 100]), 4);
    for (part, members) in groups.iter().enumerate() {
        assert_eq!(members.len(), 25);
        assert!(members.iter().all(|&chare| order[chare].0 / 25 == part));
    }
}

#[test]
fn min_weight_leaves_a_balanced_placement_where_it_is() {
    // Each quarter of the chares is a clique and already on its own core.
    let cliques = (0..100).flat_map(|a| (0..100).map(move |b| (a, b, 1.0)));
    let cliques = cliques.filter(|(a, b, _)| a % 4 == b % 4 && a != b);
    let matrix = Matrix::from_entries(100, cliques).unwrap();
    let current = Leaf::list((0..100).map(|chare| (chare % 4 + 1) % 4));
    let machine = Topology::from_arities("4").unwrap();
    let situation = Situation {
        matrix: &matrix,
        loads: Slice::from_ref(&[2.0; 100]),
        current: &current,
    };
    assert_eq!(min_weight(&situation, &machine, 0).unwrap(), current);
}

/// The example of thesis 3.4.2: 110 chares, two nodes of four cores.
#[test]
fn a_hundred_and_ten_chares_stay_55_on_each_node_and_13_or_14_on_each_core() {
    let machine = Topology::from_arities("2:4").unwrap();
    let machine = machine.with_level_names(["node", "core"]).unwrap();
    let matrix = ring(110);
    let current = in_blocks(&(0..8).map(Leaf).collect::<Vec<_>>(), 110);
    let situation = Situation {
        matrix: &matrix,
        loads: Slice::from_ref(&[1.0; 110]),
        current: &current,
    };
    let placed = tree_based(&situation, &machine, 0).unwrap();
    let on_node: Vec<usize> = counts(&placed, 8)
        .chunks(4)
        .map(|node| node.iter().sum())
        .collect();
    assert_eq!(on_node, [55, 55]);
    assert!(
        counts(&placed, 8)
            .iter()
            .all(|&count| count == 13 || count == 14)
    );
}

#[test]
fn tree_based_brings_cores_that_talk_onto_one_node_first() {
    // Cores 0 and 2 of a 2:2 machine communicate, and so do 1 and 3; two chares on each.
    let machine = Topology::from_arities("2:2").unwrap();
    let machine = machine.with_level_names(["node", "core"]).unwrap();
    let current = Leaf::list([0, 0, 1, 1, 2, 2, 3, 3]);
    let heavy = [(0, 4), (1, 5), (2, 6), (3, 7)].map(|(a, b)| (a, b, 10.0));
    let matrix = Matrix::from_entries(8, heavy).unwrap();
    let situation = Situation {
        matrix: &matrix,
        loads: Slice::from_ref(&[1.0; 8]),
        current: &current,
    };
    let placed = tree_based(&situation, &machine, 0).unwrap();
    let across = heavy
        .iter()
        .filter(|(a, b, _)| placed[Rank(*a)].0 / 2 != placed[Rank(*b)].0 / 2);
    assert_eq!(across.count(), 0);
    assert_eq!(counts(&placed, 4), [2; 4]);
    assert!(dist_comm(&matrix, &machine, &placed) < dist_comm(&matrix, &machine, &current));
}

#[test]
fn what_a_balancer_cannot_do_is_refused_with_the_reason() {
    let machine = Topology::from_arities("2").unwrap();
    let matrix = ring(4);
    let fixed = Constraints {
        fixed: [(Rank(0), Leaf(1))].into(),
        ..Constraints::default()
    };
    let crowded = Constraints {
        slots: vec![1, 3].into(),
        ..Constraints::default()
    };
    let ask = |loads: Option<&[f64]>, constraints| {
        let options = Options {
            loads: loads.map(Slice::from_ref),
            constraints,
            ..Options::default()
        };
        place(Strategy::MinWeight, &matrix, &machine, &options)
            .unwrap_err()
            .to_string()
    };
    for (message, expected) in [
        (
            ask(None, None),
            "the strategy tmlb-min-weight balances loads: give the load of each rank",
        ),
        (
            ask(Some(&[1.0; 3]), None),
            "3 loads are given for 4 ranks: give one for each",
        ),
        (
            ask(Some(&[1.0, f64::NAN, 1.0, 1.0]), None),
            "the load of rank 1 is NaN: loads are finite and not negative",
        ),
        (
            ask(Some(&[1.0, 1.0, -1.0, 1.0]), None),
            "the load of rank 2 is -1: loads are finite and not negative",
        ),
        (
            ask(Some(&[1.0; 4]), Some(&fixed)),
            "the strategy tmlb-min-weight moves ranks as their loads demand and cannot respect \
             ranks that are fixed: use another strategy or leave that out",
        ),
        (
            ask(Some(&[1.0; 4]), Some(&crowded)),
            "balancing the loads puts 2 ranks on leaf 0, which takes 1: allow more slots or use \
             another strategy",
        ),
    ] {
        assert_eq!(message, expected);
    }
}

#[test]
fn cores_that_are_excluded_get_no_rank_from_a_balancer() {
    let machine = Topology::from_arities("2:2").unwrap();
    let constraints = Constraints {
        excluded: vec![Leaf(1)],
        ..Constraints::default()
    };
    for strategy in [Strategy::MinWeight, Strategy::TreeBased] {
        let options = Options {
            loads: Some(Slice::from_ref(&[1.0; 9])),
            constraints: Some(&constraints),
            current: Some(&Leaf::list([0, 1, 2, 3, 0, 1, 2, 3, 1])),
            ..Options::default()
        };
        let placed = place(strategy, &ring(9), &machine, &options).unwrap();
        assert_eq!(
            counts(&placed.placement.leaf_of_rank, 4),
            [3, 0, 3, 3],
            "{strategy}"
        );
    }
    let all = Constraints {
        excluded: machine.allowed_leaves(),
        ..Constraints::default()
    };
    let options = Options {
        loads: Some(Slice::from_ref(&[1.0; 9])),
        constraints: Some(&all),
        ..Options::default()
    };
    let refused = place(Strategy::MinWeight, &ring(9), &machine, &options);
    assert!(matches!(refused, Err(PlacementError::Constraint(_))));
}

proptest! {
    /// Invariant 12 of the digest.
    #[test]
    fn min_weight_keeps_every_core_within_the_heaviest_load_of_the_mean(
        (matrix, loads, cores) in (1usize..60, 1usize..9).prop_flat_map(|(ranks, cores)| {
            let loads = prop::collection::vec((0u32..50).prop_map(f64::from), ranks);
            (strategies::matrix(ranks), loads, Just(cores))
        }),
        seed in any::<u64>(),
    ) {
        let (machine, loads) =
            (Topology::from_arity_list(&[cores], None).unwrap(), List::from(loads));
        let current = in_blocks(&machine.allowed_leaves(), loads.len());
        let situation = Situation { matrix: &matrix, loads: &loads, current: &current };
        let placed = min_weight(&situation, &machine, seed).unwrap();
        let mean = loads.iter().sum::<f64>() / cores as f64;
        let heaviest = loads.iter().copied().fold(0.0, f64::max);
        for load in load_of_each(&placed, &loads, cores) {
            prop_assert!((load - mean).abs() <= heaviest + 1e-9);
        }
        // The last step renames groups: their members do not change.
        let nowhere = Leaf::list(vec![cores; loads.len()]);
        let elsewhere = Situation { current: &nowhere, ..situation };
        let renamed = min_weight(&elsewhere, &machine, seed).unwrap();
        for a in (0..loads.len()).map(Rank) {
            for b in (0..a.0).map(Rank) {
                prop_assert_eq!(placed[a] == placed[b], renamed[a] == renamed[b]);
            }
        }
    }

    #[test]
    fn tree_based_uses_only_usable_leaves_and_evens_each_node_out(
        (topology, matrix) in strategies::topology_and_matrix(), seed in any::<u64>(),
    ) {
        let ranks = matrix.order();
        let loads: List<Rank, f64> = (0..ranks).map(|rank| ((rank * 7) % 5 + 1) as f64).collect();
        let current = in_blocks(&topology.allowed_leaves(), ranks);
        let situation = Situation { matrix: &matrix, loads: &loads, current: &current };
        let placed = tree_based(&situation, &topology, seed).unwrap();
        prop_assert!(placed.iter().all(|&leaf| !topology.leaf(leaf).forbidden));
        let named = topology.levels().iter().position(|level| level.name == "node");
        let depth = named.map_or(0, |level| level + 1);
        let sums = load_of_each(&placed, &loads, topology.leaf_count());
        for node in 0..topology.node_count(depth) {
            let leaves = topology.leaves_below(depth, node).filter(|&l| !topology.leaf(l).forbidden);
            let sums: Vec<f64> = leaves.map(|leaf| sums[leaf.0]).collect();
            let (low, high) = sums.iter().fold((f64::MAX, 0.0_f64), |(l, h), &s| (l.min(s), h.max(s)));
            prop_assert!(sums.is_empty() || high - low <= 5.0);
        }
    }

    #[test]
    fn a_deal_gives_every_rank_to_one_core(ranks in 0usize..50, cores in 1usize..9) {
        let fake = FakeTree::from_twos_and_threes(ranks).unwrap();
        let order = fake.leaf_of_rank(&Matrix::zero(ranks), 0).unwrap();
        let loads: List<Rank, f64> = (0..ranks).map(|rank| (rank % 3) as f64).collect();
        let dealt = deal_by_load(&order, fake.topology(), &loads, cores);
        let mut all: Vec<Rank> = dealt.into_iter().flatten().collect();
        all.sort_unstable();
        prop_assert_eq!(all, (0..ranks).map(Rank).collect::<Vec<_>>());
    }
}
