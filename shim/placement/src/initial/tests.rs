//! Properties of the mapping phases on random trees and graphs.

use proptest::prelude::*;

use crate::coarsen::block::{Block, Siblings};
use crate::coarsen::graph::Graph;
use crate::effort::Effort;
use crate::initial::bisect::bisect;
use crate::initial::grid::Grid;
use crate::initial::multisection::{Filling, divide};
use crate::initial::tiling::tiled;
use crate::objective::hop_bytes::dist_comm;
use crate::progress::Progress;
use crate::random::Random;
use crate::refine::cell_annealing::anneal;
use crate::refine::pairwise::refine;
use crate::refine::schedule::Schedule;
use crate::target::slots::Slots;
use treepie_base::{Leaf, List, Rank};
use treepie_topology::{ProcessingUnit, Topology, Tree};
use treepie_traffic::Matrix;

/// Trees of up to about a hundred leaves whose nodes differ in arity.
fn trees() -> impl Strategy<Value = Topology> {
    let leaf = Just(Tree::Leaf(ProcessingUnit::default()));
    let tree = leaf.prop_recursive(4, 100, 5, |inner| {
        prop::collection::vec(inner, 1..5).prop_map(Tree::Inner)
    });
    tree.prop_map(|tree| Topology::from_tree(&tree, None).unwrap())
}

fn matrix(ranks: usize, entries: &[(usize, usize, u32)]) -> Matrix {
    let entries = entries
        .iter()
        .map(|&(a, b, w)| (a % ranks, b % ranks, f64::from(w)));
    Matrix::from_entries(ranks, entries).unwrap()
}

fn entries() -> impl Strategy<Value = Vec<(usize, usize, u32)>> {
    prop::collection::vec((0usize..200, 0usize..200, 0u32..100), 0..300)
}

fn leaves(leaf_of: &[usize]) -> List<Rank, Leaf> {
    Leaf::list(leaf_of.iter().copied())
}

fn is_one_to_one(leaf_of: &[usize], slots: &Slots) -> bool {
    let mut sorted = leaf_of.to_vec();
    sorted.sort_unstable();
    sorted == slots.leaves(0, 0).collect::<Vec<_>>()
}

/// A mesh or, if `wrapped`, a torus, its ranks shuffled.
fn mesh(extents: &[usize], wrapped: bool, seed: u64) -> Matrix {
    let ranks: usize = extents.iter().product();
    let mut name: Vec<usize> = (0..ranks).collect();
    let mut random = Random::new(seed);
    for last in (1..ranks).rev() {
        name.swap(last, random.below(last + 1));
    }
    let mut entries = Vec::new();
    for cell in 0..ranks {
        let mut stride = 1;
        for &extent in extents {
            let at = cell / stride % extent;
            let next = match at + 1 == extent {
                true => cell - at * stride,
                false => cell + stride,
            };
            if (at + 1 < extent || wrapped) && next != cell {
                entries.push((name[cell], name[next], 2.0));
            }
            stride *= extent;
        }
    }
    Matrix::from_entries(ranks, entries).unwrap()
}

#[test]
fn meshes_and_tori_are_recognised_however_they_are_numbered() {
    let shapes: [&[usize]; 7] = [
        &[12],
        &[4, 6],
        &[5, 7],
        &[2, 3, 4],
        &[8, 8],
        &[6, 5, 7],
        &[2; 6],
    ];
    for (seed, shape) in shapes.into_iter().enumerate() {
        for wrapped in [false, true] {
            let matrix = mesh(shape, wrapped, seed as u64);
            let grid = Grid::find(&Graph::new(&matrix, matrix.order())).unwrap();
            // A cycle of four is a square of two by two.
            let split = |&extent: &usize| match wrapped && extent == 4 {
                true => vec![2, 2],
                false => vec![extent as u32],
            };
            let mut expected: Vec<u32> = shape.iter().flat_map(split).collect();
            let mut found = grid.extents.clone();
            expected.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, expected, "{shape:?}, wrapped: {wrapped}");
        }
    }
}

#[test]
fn a_mesh_is_cut_into_the_boxes_with_the_least_surface() {
    // 8 x 8 in four boxes of 4 x 4: 16 edges of weight 1 are cut, 2 directions of 1.
    let topology = Topology::from_arities("4:16").unwrap();
    let matrix = mesh(&[8, 8], false, 3);
    let graph = Graph::new(&matrix, 64);
    let slots = Slots::new(&topology);
    let grid = Grid::find(&graph).unwrap();
    let leaf_of = tiled(&graph, &grid, &slots).unwrap();
    assert!(is_one_to_one(&leaf_of, &slots));
    // 112 edges of weight 1 (half of 2 in one direction), 16 of them at distance 4.
    assert_eq!(
        dist_comm(&matrix, &topology, &leaves(&leaf_of)),
        96.0 * 2.0 + 16.0 * 4.0
    );
}

#[test]
fn only_the_slots_that_are_worth_it_are_filled() {
    let topology = Topology::from_arities("64:2:8").unwrap();
    let slots = Slots::for_ranks(&topology, 10);
    assert_eq!(slots.total(), 16); // one node
    let slots = Slots::for_ranks(&topology, 20);
    assert_eq!(slots.total(), 48); // three nodes: at least twice as many as ranks
    let uneven = Topology::from_arities("2:8")
        .unwrap()
        .forbidding(&[0, 1, 2].map(Leaf))
        .unwrap();
    assert_eq!(
        Slots::for_ranks(&uneven, 5)
            .leaves(0, 0)
            .collect::<Vec<_>>(),
        [3, 4, 5, 6, 7]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_bisection_has_exact_sizes(entries in entries(), ranks in 1usize..200, share in 0usize..=100) {
        let graph = Graph::new(&matrix(ranks, &entries), ranks);
        let first = ranks * share / 100;
        let side = bisect(graph, first, Effort::Normal.trials(), &mut Random::new(1));
        prop_assert_eq!(side.len(), ranks);
        prop_assert_eq!(side.iter().filter(|&&side| side == 0).count(), first);
    }

    #[test]
    fn multisection_is_one_to_one_on_any_tree_and_the_same_each_time(
        topology in trees(), entries in entries(), seed in 0u64..5
    ) {
        let slots = Slots::new(&topology);
        let ranks = slots.total();
        let graph = Graph::new(&matrix(ranks, &entries), ranks);
        let progress = Progress::default();
        let filling = Filling {
            slots: &slots,
            effort: Effort::Fast,
            seed,
            progress: Some(&progress),
        };
        let leaf_of = filling.fill_tree(&graph, 1);
        prop_assert!(is_one_to_one(&leaf_of, &slots));
        // All work has been reported, up to rounding; with one rank there is none.
        prop_assert!(ranks < 2 || progress.share() > 0.9, "{}", progress.share());
        prop_assert_eq!(leaf_of, filling.fill_tree(&graph, 3));
    }

    #[test]
    fn swaps_never_make_a_placement_dearer(topology in trees(), entries in entries()) {
        let slots = Slots::new(&topology);
        let ranks = slots.total();
        let matrix = matrix(ranks, &entries);
        let graph = Graph::new(&matrix, ranks);
        let mut leaf_of: Vec<usize> = slots.leaves(0, 0).collect();
        let mut before = dist_comm(&matrix, &topology, &leaves(&leaf_of));
        for _ in 0..5 {
            refine(&graph, &slots, &mut leaf_of, 1, |_, _| true);
            let after = dist_comm(&matrix, &topology, &leaves(&leaf_of));
            prop_assert!(after <= before * (1.0 + 1e-12));
            before = after;
        }
        prop_assert!(is_one_to_one(&leaf_of, &slots));
    }

    #[test]
    fn a_swap_that_is_refused_is_not_made(topology in trees(), entries in entries()) {
        let slots = Slots::new(&topology);
        let ranks = slots.total();
        let graph = Graph::new(&matrix(ranks, &entries), ranks);
        let before: Vec<usize> = slots.leaves(0, 0).collect();
        let mut leaf_of = before.clone();
        refine(&graph, &slots, &mut leaf_of, 3, |a, b| a.0 % 3 != 0 && b.0 % 3 != 0);
        for vertex in (0..ranks).step_by(3) {
            prop_assert_eq!(leaf_of[vertex], before[vertex]);
        }
    }

    #[test]
    fn annealing_keeps_the_sizes_of_all_cells(
        topology in trees(), entries in entries(), hot in 0.1f64..2.0
    ) {
        let slots = Slots::new(&topology);
        let block = Block::below(&slots, &Siblings { depth: 0, nodes: vec![0] });
        let ranks = slots.total();
        let graph = Graph::new(&matrix(ranks, &entries), ranks);
        let mut random = Random::new(5);
        let cell_of = divide(&block, &graph, Effort::Fast.trials(), &mut random);
        let schedule = Schedule { sweeps: 50.0, hot, cold: 0.05 };
        let found = anneal(&graph, &block, cell_of, schedule, &mut random);
        for (cell, &size) in block.sizes.iter().enumerate() {
            prop_assert_eq!(found.iter().filter(|&&c| c as usize == cell).count(), size);
        }
    }
}
