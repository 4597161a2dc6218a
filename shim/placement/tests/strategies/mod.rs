//! Random matrices and trees for the property tests, in one place.
#![allow(dead_code)] // each test file uses some of them

use proptest::prelude::*;
use treepie_base::Leaf;
use treepie_topology::{ProcessingUnit, Topology, Tree};
use treepie_traffic::Matrix;

/// Arities of a small balanced symmetric tree, with 1 and primes among them.
pub fn arities() -> impl Strategy<Value = Vec<usize>> {
    let arity = prop::sample::select(vec![1, 2, 2, 3, 4, 5, 6, 7]);
    prop::collection::vec(arity, 1..=4)
        .prop_filter("small", |arities| arities.iter().product::<usize>() <= 96)
}

/// A sparse matrix of small whole numbers, including its diagonal.
pub fn matrix(order: usize) -> impl Strategy<Value = Matrix> {
    let order_or_one = order.max(1);
    let entry = (0..order_or_one, 0..order_or_one, 1..1000_u32);
    prop::collection::vec(entry, 0..=4 * order).prop_map(move |entries| {
        let entries = entries.into_iter().map(|(a, b, v)| (a, b, f64::from(v)));
        Matrix::from_entries(order, entries.filter(|_| order > 0)).unwrap()
    })
}

/// A balanced symmetric tree and a matrix that fits on it.
pub fn arities_and_matrix() -> impl Strategy<Value = (Vec<usize>, Matrix)> {
    arities().prop_flat_map(|arities| {
        let leaves: usize = arities.iter().product();
        (Just(arities), (0..=leaves).prop_flat_map(matrix))
    })
}

/// Any tree: its nodes have one to three children, its leaves any depth.
pub fn uneven_tree() -> impl Strategy<Value = Tree> {
    Just(Tree::Leaf(ProcessingUnit::default())).prop_recursive(4, 40, 3, |inner| {
        prop::collection::vec(inner, 1..=3).prop_map(Tree::Inner)
    })
}

/// Any topology, some of its leaves forbidden, and a matrix that fits.
pub fn topology_and_matrix() -> impl Strategy<Value = (Topology, Matrix)> {
    let even = arities().prop_map(|arities| Topology::from_arity_list(&arities, None).unwrap());
    let uneven = uneven_tree().prop_map(|tree| Topology::from_tree(&tree, None).unwrap());
    prop_oneof![even, uneven]
        .prop_flat_map(|topology| {
            let leaves: Vec<Leaf> = topology.leaves().keys().collect();
            let forbidden = prop::sample::subsequence(leaves.clone(), 0..leaves.len());
            (Just(topology), forbidden, any::<bool>())
        })
        .prop_flat_map(|(topology, forbidden, forbid)| {
            let forbidden = if forbid { forbidden } else { Vec::new() };
            let topology = topology.forbidding(&forbidden).unwrap();
            let allowed = topology.allowed_leaves().len();
            (Just(topology), (0..=allowed).prop_flat_map(matrix))
        })
}
