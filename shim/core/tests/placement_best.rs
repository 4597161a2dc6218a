//! The default strategy, and the engine behind it, through the public interface.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use treepie_core::affinity::Matrix;
use treepie_core::placement::objective::{Objective, dist_comm};
use treepie_core::placement::{Effort, Options, Strategy as How, check, place};
use treepie_core::topology::{Leaf, Topology, Tree};

/// All trees of up to `leaves` leaves without nodes of one child, as nested
/// descriptions; children in any order count once.
fn small_trees(leaves: usize) -> Vec<Tree> {
    fn of(leaves: usize) -> Vec<Tree> {
        if leaves == 1 {
            return vec![Tree::Leaf(Leaf::default())];
        }
        let mut found = Vec::new();
        forests(leaves, leaves - 1, &mut Vec::new(), &mut found);
        found.into_iter().map(Tree::Inner).collect()
    }
    /// Sets of trees with `left` leaves together, none larger than `largest`.
    fn forests(left: usize, largest: usize, chosen: &mut Vec<Tree>, found: &mut Vec<Vec<Tree>>) {
        if left == 0 {
            found.push(chosen.clone());
            return;
        }
        for size in 1..=largest.min(left) {
            for tree in of(size) {
                chosen.push(tree);
                forests(left - size, size, chosen, found);
                chosen.pop();
            }
        }
    }
    (2..=leaves).flat_map(of).collect()
}

/// The least cost of all placements.
fn least(matrix: &Matrix, topology: &Topology) -> f64 {
    fn go(matrix: &Matrix, topology: &Topology, placed: &mut Vec<usize>, least: &mut f64) {
        if placed.len() == matrix.order() {
            *least = least.min(dist_comm(matrix, topology, placed));
            return;
        }
        for leaf in 0..topology.leaf_count() {
            if !placed.contains(&leaf) {
                placed.push(leaf);
                go(matrix, topology, placed, least);
                placed.pop();
            }
        }
    }
    let mut found = f64::INFINITY;
    go(matrix, topology, &mut Vec::new(), &mut found);
    found
}

fn some_matrix(ranks: usize, seed: u64) -> Matrix {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = |limit: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % limit
    };
    let pairs = (0..ranks).flat_map(|a| (0..ranks).map(move |b| (a, b)));
    let entries: Vec<_> = pairs
        .map(|(a, b)| (a, b, if next(3) == 0 { next(20) as f64 } else { 0.0 }))
        .collect();
    Matrix::from_entries(ranks, entries).unwrap()
}

#[test]
fn best_is_the_optimum_on_every_tree_of_up_to_six_leaves() {
    for (number, tree) in small_trees(6).into_iter().enumerate() {
        let topology = Topology::from_tree(&tree, None).unwrap();
        for ranks in 1..=topology.leaf_count() {
            let matrix = some_matrix(ranks, (number * 10 + ranks) as u64);
            let outcome = place(How::Best, &matrix, &topology, &Options::default()).unwrap();
            let optimum = least(&matrix, &topology);
            assert!(
                outcome.cost <= optimum * (1.0 + 1e-12),
                "{} instead of {optimum} for {ranks} ranks on {tree:?}",
                outcome.cost
            );
        }
    }
}

#[test]
fn best_is_the_optimum_for_eight_ranks() {
    for (number, arities) in ["2:2:2", "4:2", "2:4", "8"].into_iter().enumerate() {
        let topology = Topology::from_arities(arities).unwrap();
        let matrix = some_matrix(8, 77 + number as u64);
        let outcome = place(How::Best, &matrix, &topology, &Options::default()).unwrap();
        assert!(
            outcome.cost <= least(&matrix, &topology) * (1.0 + 1e-12),
            "{arities}"
        );
    }
}

#[test]
fn eight_ranks_on_a_cluster_are_placed_no_worse_than_by_any_other_strategy() {
    let topology = Topology::from_arities("16:2:4").unwrap();
    let matrix = some_matrix(8, 5);
    let best = place(How::Best, &matrix, &topology, &Options::default()).unwrap();
    for strategy in [
        How::Multisection,
        How::TreeMatch,
        How::Packed,
        How::Swaps,
        How::Grid,
    ] {
        let other = place(strategy, &matrix, &topology, &Options::default()).unwrap();
        assert!(best.cost <= other.cost, "{strategy}");
    }
}

#[test]
fn huge_and_tiny_weights_are_placed_like_ordinary_ones() {
    let topology = Topology::from_arities("4:2:4").unwrap();
    let ordinary = some_matrix(32, 9);
    let scaled = |factor: f64| {
        let entries = ordinary.entries().map(|(a, b, w)| (a, b, w * factor));
        Matrix::from_entries(32, entries).unwrap()
    };
    let leaves = |matrix: &Matrix| {
        let outcome = place(How::Multisection, matrix, &topology, &Options::default()).unwrap();
        outcome.placement.leaf_of_rank
    };
    let expected = leaves(&ordinary);
    assert_eq!(leaves(&scaled(2_f64.powi(900))), expected);
    assert_eq!(leaves(&scaled(2_f64.powi(-900))), expected);
}

#[test]
fn a_shuffled_stencil_gets_the_boxes_of_a_numbered_one() {
    // 8 x 8 x 8 on 16:2:16, the figure that no mapper is known to beat.
    let topology = Topology::from_arities("16:2:16").unwrap();
    let topology = topology.with_level_distances(&[100.0, 10.0, 1.0]).unwrap();
    let mut entries = Vec::new();
    // Multiplication by an odd number permutes the cells.
    let name = |cell: usize| cell * 293 % 512;
    for cell in 0..512 {
        for stride in [1, 8, 64] {
            if cell / stride % 8 < 7 {
                entries.push((name(cell), name(cell + stride), 100.0));
                entries.push((name(cell + stride), name(cell), 100.0));
            }
        }
    }
    let matrix = Matrix::from_entries(512, entries).unwrap();
    for effort in [Effort::Fast, Effort::Normal] {
        let options = Options {
            effort,
            ..Options::default()
        };
        let outcome = place(How::Best, &matrix, &topology, &options).unwrap();
        assert_eq!(outcome.cost, 3_417_600.0);
    }
}

fn trees() -> impl Strategy<Value = Topology> {
    let leaf = (0u32..8).prop_map(|draw| {
        Tree::Leaf(Leaf {
            forbidden: draw == 0,
            ..Leaf::default()
        })
    });
    let tree = leaf.prop_recursive(4, 60, 5, |inner| {
        prop::collection::vec(inner, 1..5).prop_map(Tree::Inner)
    });
    let tree = tree.prop_map(|tree| Topology::from_tree(&tree, None).unwrap());
    tree.prop_filter("some leaf is allowed", |tree| {
        !tree.allowed_leaves().is_empty()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn best_is_one_to_one_never_worse_than_a_candidate_and_deterministic(
        topology in trees(), share in 0usize..=100, draw in 0u64..1000, seed in 0u64..3
    ) {
        let ranks = topology.allowed_leaves().len() * share / 100;
        let matrix = some_matrix(ranks, draw);
        let options = Options { seed, effort: Effort::Fast, ..Options::default() };
        let best = place(How::Best, &matrix, &topology, &options).unwrap();
        prop_assert!(check(&best.placement.leaf_of_rank, ranks, &topology).is_ok());
        for strategy in [How::Multisection, How::Grid, How::Packed, How::Identity, How::Swaps] {
            let other = place(strategy, &matrix, &topology, &options).unwrap();
            prop_assert!(check(&other.placement.leaf_of_rank, ranks, &topology).is_ok());
            // Swaps from a dearer start may end lower; all others are candidates.
            if strategy != How::Swaps {
                prop_assert!(best.cost <= other.cost * (1.0 + 1e-9) + 1e-9, "{strategy}");
            }
        }
        let again = place(How::Best, &matrix, &topology, &options).unwrap();
        prop_assert_eq!(best, again);
    }
}

#[test]
fn for_congestion_the_most_loaded_link_is_relieved_beyond_what_the_sum_needs() {
    // A ring of 64 and one rank in sixteen that everybody around it talks to.
    let entries = (0..64_usize).flat_map(|rank| {
        let hub = rank / 16 * 16;
        [(rank, (rank + 1) % 64, 10.0), (rank, (hub + 40) % 64, 3.0)]
    });
    let matrix = Matrix::from_entries(64, entries.filter(|e| e.0 != e.1)).unwrap();
    let topology = Topology::from_arities("8:2:4").unwrap();
    let cost = |objective| {
        let options = Options {
            objective,
            ..Options::default()
        };
        let outcome = place(How::Best, &matrix, &topology, &options).unwrap();
        let leaves = outcome.placement.leaf_of_rank;
        check(&leaves, 64, &topology).unwrap();
        Objective::Congestion.value(&matrix, &topology, &leaves)
    };
    assert!(cost(Objective::Congestion) < cost(Objective::Sum));
}

#[test]
fn any_number_of_threads_gives_the_same_placement() {
    // A ring in a bad order with chords, which is no grid.
    let entries = (0..1100_usize).flat_map(|rank| {
        let of = |place: usize| place * 37 % 1100;
        let near = (of(rank), of((rank + 1) % 1100), 9.0);
        [near, (of(rank), of((rank * rank + 5) % 1100), 1.0)]
    });
    let matrix = Matrix::from_entries(1100, entries).unwrap();
    let topology = Topology::from_arities("70:4:2:2").unwrap();
    let placed = |threads| {
        let options = Options {
            threads,
            effort: Effort::Fast,
            ..Options::default()
        };
        place(How::Multisection, &matrix, &topology, &options).unwrap()
    };
    let alone = placed(1);
    for threads in [0, 2, 3, 16] {
        assert_eq!(placed(threads), alone, "{threads} threads");
    }
}
