//! Strategies of property tests: matrices and traffic.
#![allow(clippy::unwrap_used)] // a test may panic

use proptest::prelude::*;

use crate::matrix::Matrix;
use crate::traffic::{Traffic, TrafficMatrix};

/// Entries `(row, column, value)` of a matrix of the drawn order; positions may repeat.
pub fn entries<V: std::fmt::Debug>(
    largest_order: usize,
    value: impl Strategy<Value = V> + Clone,
) -> impl Strategy<Value = (usize, Vec<(usize, usize, V)>)> {
    (1..=largest_order).prop_flat_map(move |order| {
        let entry = (0..order, 0..order, value.clone());
        (Just(order), prop::collection::vec(entry, 0..4 * order))
    })
}

/// Matrices of whole numbers, like counts.
pub fn whole_matrices(largest_order: usize) -> impl Strategy<Value = Matrix> {
    entries(
        largest_order,
        (0u64..1 << 40).prop_map(|value| value as f64),
    )
    .prop_map(|(order, entries)| Matrix::from_entries(order, entries).unwrap())
}

/// Matrices of any valid affinities.
pub fn matrices(largest_order: usize) -> impl Strategy<Value = Matrix> {
    let value = prop_oneof![
        Just(0.0),
        (0u64..1 << 40).prop_map(|value| value as f64),
        0.0..1e300f64,
        (0u64..1000).prop_map(|value| value as f64 * f64::MIN_POSITIVE),
    ];
    entries(largest_order, value)
        .prop_map(|(order, entries)| Matrix::from_entries(order, entries).unwrap())
}

/// Traffic, including traffic without messages or without bytes.
pub fn traffic() -> impl Strategy<Value = Traffic> + Clone {
    let count = || prop_oneof![Just(0u64), 0u64..1000, any::<u64>()];
    (count(), count()).prop_map(|(messages, bytes)| Traffic::new(messages, bytes))
}

/// Traffic matrices.
pub fn traffic_matrices(largest_order: usize) -> impl Strategy<Value = TrafficMatrix> {
    entries(largest_order, traffic())
        .prop_map(|(order, entries)| TrafficMatrix::from_entries(order, entries).unwrap())
}

/// Permutations of `0..order`.
pub fn permutations(order: usize) -> impl Strategy<Value = Vec<usize>> {
    Just((0..order).collect::<Vec<_>>()).prop_shuffle()
}
