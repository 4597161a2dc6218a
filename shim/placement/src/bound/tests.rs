//! No placement is below the bound, and the bound is near the best placement.

use proptest::prelude::*;

use crate::best_of_strategies::place;
use crate::bound::groups::Groups;
use crate::bound::isoperimetric::Lattice;
use crate::bound::symmetry::Symmetry;
use crate::bound::{flow, heaviest, lower_bound, semidefinite};
use crate::coarsen::graph::Graph;
use crate::effort::Effort;
use crate::objective::hop_bytes::dist_comm;
use crate::options::Options;
use crate::strategy::Strategy as Way;
use treepie_base::{Leaf, List, Rank, Slice};
use treepie_topology::{ProcessingUnit, Topology, Tree};
use treepie_traffic::Matrix;

/// The minimum of `cost` over all placements of ranks on usable leaves.
fn exhaustively(
    ranks: usize,
    topology: &Topology,
    cost: &dyn Fn(&Slice<Rank, Leaf>) -> f64,
) -> f64 {
    fn go(
        left: usize,
        free: &mut Vec<Leaf>,
        taken: &mut List<Rank, Leaf>,
        cost: &dyn Fn(&Slice<Rank, Leaf>) -> f64,
    ) -> f64 {
        if left == 0 {
            return cost(taken);
        }
        let mut least = f64::INFINITY;
        for at in 0..free.len() {
            let leaf = free.swap_remove(at);
            taken.push(leaf);
            least = least.min(go(left - 1, free, taken, cost));
            taken.pop();
            free.push(leaf);
            let last = free.len() - 1;
            free.swap(at, last);
        }
        least
    }
    go(
        ranks,
        &mut topology.allowed_leaves(),
        &mut List::new(),
        cost,
    )
}

fn trees() -> impl Strategy<Value = Topology> {
    let leaf = any::<bool>().prop_map(|usable| {
        Tree::Leaf(ProcessingUnit {
            forbidden: !usable,
            ..ProcessingUnit::default()
        })
    });
    let tree = leaf.prop_recursive(3, 8, 4, |inner| {
        prop::collection::vec(inner, 1..5).prop_map(Tree::Inner)
    });
    tree.prop_map(|tree| Topology::from_tree(&tree, None).unwrap())
        .prop_filter("several usable leaves, and few", |tree| {
            (2..=8).contains(&tree.allowed_leaves().len())
        })
}

/// Tiny and large affinities, integral and fractional.
fn affinities() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(1.0),
        (1_u32..6).prop_map(f64::from),
        0.001..1000.0,
        Just(3e15 + 2.0),
        Just(1e-300),
    ]
}

/// A mesh; the axes in `wrapped` are cycles, and the weight of axis `i` is `weights[i]`.
fn mesh(extents: &[usize], wrapped: &[bool], weights: &[f64]) -> Matrix {
    let cells: usize = extents.iter().product();
    let mut entries = Vec::new();
    for cell in 0..cells {
        let mut stride = 1;
        for (axis, &extent) in extents.iter().enumerate() {
            let at = cell / stride % extent;
            let other = match at + 1 < extent {
                true => Some(cell + stride),
                false if wrapped[axis] && extent > 2 => Some(cell - at * stride),
                false => None,
            };
            let both =
                other.map(|other| [(cell, other, weights[axis]), (other, cell, weights[axis])]);
            entries.extend(both.into_iter().flatten());
            stride *= extent;
        }
    }
    Matrix::from_entries(cells, entries).unwrap()
}

/// NAS CG: sums over the rows of a square of ranks, and the exchange with the transpose.
fn conjugate_gradient(side: usize) -> Matrix {
    let entries = (0..side * side).flat_map(|rank| {
        let (row, column) = (rank / side, rank % side);
        let steps = (0..side.ilog2()).map(move |bit| row * side + (column ^ (1 << bit)));
        let partners = steps.chain([column * side + row]);
        partners
            .filter(move |&partner| partner != rank)
            .map(move |partner| (rank, partner, 100.0))
    });
    Matrix::from_entries(side * side, entries).unwrap()
}

fn all_to_all(ranks: usize) -> Matrix {
    let pairs = (0..ranks * ranks).map(|pair| (pair / ranks, pair % ranks, 10.0));
    Matrix::from_entries(ranks, pairs.filter(|(a, b, _)| a != b)).unwrap()
}

/// Ratio of the cost of the best placement found to the bound.
fn above(matrix: &Matrix, topology: &Topology) -> f64 {
    let options = Options {
        effort: Effort::Strong,
        ..Options::default()
    };
    let found = place(Way::Best, matrix, topology, &options).unwrap();
    found.cost / lower_bound(matrix, topology, &found.placement.leaf_of_rank) - 1.0
}

/// Cut of a level by each method, and the minimum over all placements.
fn every_method(matrix: &Matrix, topology: &Topology) -> (Vec<f64>, f64) {
    let graph = Graph::new(matrix, matrix.order());
    let groups = Groups::at(topology, 1, matrix.order());
    let lattice = Lattice::find(&graph);
    let never = |_| false;
    let relaxed = |symmetry: &Symmetry| {
        semidefinite::cut(&graph, symmetry, &groups, semidefinite::WORK, never)
    };
    let mut methods = vec![
        heaviest::cut(&graph, &groups),
        flow::cut(&graph, &groups, 0.0, 0.0, never),
        relaxed(&Symmetry::none(graph.order())),
    ];
    if let Some(lattice) = lattice {
        let rest = heaviest::cut(&lattice.rest(&graph), &groups);
        methods.push(lattice.cut(&groups) + rest);
        methods.push(relaxed(&lattice.symmetry(&graph)));
    }
    // Only the first level has a length.
    let mut distances = vec![0.0; topology.depth()];
    distances[0] = 1.0;
    let first = topology.clone().with_level_distances(&distances).unwrap();
    let least = exhaustively(matrix.order(), &first, &|leaves| {
        dist_comm(matrix, &first, leaves)
    });
    (methods, least)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_placement_is_below_the_bound(
        topology in trees(),
        ranks in 2_usize..=6,
        entries in prop::collection::vec((0_usize..6, 0_usize..6, affinities()), 0..20),
    ) {
        let ranks = ranks.min(topology.allowed_leaves().len());
        let entries = entries.into_iter().map(|(a, b, weight)| (a % ranks, b % ranks, weight));
        let matrix = Matrix::from_entries(ranks, entries).unwrap();
        let least = exhaustively(ranks, &topology, &|leaves| dist_comm(&matrix, &topology, leaves));
        let somewhere: List<Rank, Leaf> = topology.allowed_leaves().into_iter().take(ranks).collect();
        let bound = lower_bound(&matrix, &topology, &somewhere);
        prop_assert!(bound <= least * (1.0 + 1e-12), "{bound} > {least}");
    }

    #[test]
    fn no_placement_of_a_mesh_or_torus_is_below_any_method_s_bound(
        (extents, nodes) in prop_oneof![
            Just((vec![2, 4], "2:4")), Just((vec![2, 3], "2:3")), Just((vec![2, 3], "3:2")),
            Just((vec![3, 2], "2:4")), Just((vec![2, 2, 2], "2:4")), Just((vec![2, 2, 2], "4:2")),
            Just((vec![7], "2:4")), Just((vec![6], "4:2")), Just((vec![5], "3:2")),
        ],
        wrapped in prop::array::uniform3(any::<bool>()),
        weights in prop::array::uniform3(1.0..10.0),
    ) {
        let matrix = mesh(&extents, &wrapped, &weights);
        let topology = Topology::from_arities(nodes).unwrap();
        let (methods, least) = every_method(&matrix, &topology);
        for bound in methods {
            prop_assert!(bound <= least * (1.0 + 1e-9), "{bound} > {least}");
        }
    }
}

#[test]
fn conjugate_gradients_on_four_clusters_are_proved_optimal() {
    // Four clusters of four hosts, far apart.
    let clusters = Topology::from_arities("4:4").unwrap();
    let far = clusters.with_level_distances(&[1000.0, 1.0]).unwrap();
    assert!(above(&conjugate_gradient(4), &far) < 1e-9);
    assert!(
        above(
            &conjugate_gradient(8),
            &Topology::from_arities("4:4:4").unwrap()
        ) < 1e-3
    );
}

#[test]
fn an_all_to_all_gains_nothing_by_any_placement() {
    let tree = Topology::from_arities("3:2:2").unwrap();
    let matrix = all_to_all(12);
    let packed = Leaf::list(0..12);
    let bound = lower_bound(&matrix, &tree, &packed);
    assert!((bound / dist_comm(&matrix, &tree, &packed) - 1.0).abs() < 1e-9);
}

#[test]
fn meshes_and_toruses_are_within_a_tenth_of_the_bound_up_to_64_ranks() {
    let tree = Topology::from_arities("4:4:4").unwrap();
    for (extents, wrapped) in [
        (vec![8, 8], false),
        (vec![8, 8], true),
        (vec![4, 4, 4], false),
    ] {
        let matrix = mesh(&extents, &[wrapped; 3], &[100.0; 3]);
        let above = above(&matrix, &tree);
        assert!(above < 0.1, "{extents:?} {wrapped}: {above}");
    }
}

#[test]
fn large_meshes_are_within_a_tenth_of_the_bound() {
    for tree in ["16:2:16", "4:4:32"] {
        let topology = Topology::from_arities(tree).unwrap();
        for extents in [vec![32, 16], vec![8, 8, 8]] {
            let above = above(&mesh(&extents, &[false; 3], &[100.0; 3]), &topology);
            assert!(above < 0.1, "{extents:?} on {tree}: {above}");
        }
    }
}

#[test]
fn flows_prove_that_rows_of_a_conjugate_gradient_in_four_clusters_are_near_the_best() {
    let side = 16;
    let graph = Graph::new(&conjugate_gradient(side), side * side);
    let groups = Groups::at(&Topology::from_arities("4:64").unwrap(), 1, side * side);
    // Only the exchanges with the transpose leave four rows of a cluster.
    let cluster = |row: usize| row / (side / 4);
    let pairs = (0..side).flat_map(|row| (0..row).map(move |column| (row, column)));
    let leaving = pairs.filter(|&(row, column)| cluster(row) != cluster(column));
    let known = 100.0 * leaving.count() as f64;
    let bound = flow::cut(&graph, &groups, 0.0, known, |_| false);
    assert!(bound <= known && bound > 0.85 * known, "{bound} of {known}");
}

#[test]
fn the_relaxation_proves_as_much_in_blocks_as_at_once() {
    // A stencil with its diagonals.
    let at = |rank: usize| [rank / 8, rank / 2 % 4, rank % 2];
    let near = |one: usize, other: usize| {
        let apart = at(one)
            .into_iter()
            .zip(at(other))
            .map(|(a, b)| a.abs_diff(b));
        let apart: Vec<usize> = apart.collect();
        one != other && apart.iter().all(|&steps| steps <= 1)
    };
    let weight = |one: usize, other: usize| {
        let apart = at(one)
            .into_iter()
            .zip(at(other))
            .map(|(a, b)| a.abs_diff(b));
        [0.0, 100.0, 10.0, 1.0][apart.sum::<usize>()]
    };
    let pairs = (0..32).flat_map(|one| (0..32).map(move |other| (one, other)));
    let entries = pairs.filter(|&(one, other)| near(one, other));
    let entries = entries.map(|(one, other)| (one, other, weight(one, other)));
    let graph = Graph::new(&Matrix::from_entries(32, entries).unwrap(), 32);
    let symmetry = Lattice::find(&graph).unwrap().symmetry(&graph);
    assert_eq!(symmetry.sizes().count(), 8);
    let groups = Groups::at(&Topology::from_arities("4:8").unwrap(), 1, 32);
    // Too few rounds for any triangle inequality.
    let cut = |symmetry: &Symmetry, rounds: usize| {
        let cubes: usize = symmetry.sizes().map(|size| size.pow(3)).sum();
        let work = rounds * (cubes + semidefinite::PASSES * 32 * 32);
        semidefinite::cut(&graph, symmetry, &groups, work, |_| false)
    };
    let (blocks, whole) = (cut(&symmetry, 40), cut(&Symmetry::none(32), 40));
    assert!(
        whole > 0.0 && (blocks / whole - 1.0).abs() < 1e-3,
        "{blocks} {whole}"
    );
}
