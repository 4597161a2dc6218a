//! Logical clusters: the partitions that LaPIe's thesis publishes, rebuilt from
//! its tables of latencies (reference 7.1).
#![allow(clippy::unwrap_used)] // a test may panic

use proptest::prelude::*;
use treepie_base::Cluster;
use treepie_platform::{LatencyMatrix, Partition};
use treepie_thesis::lapie::{CASE_1, CASE_2};

/// Every node of the clusters of `sizes`, whose latencies in microseconds are
/// those of the blocks; a single node has none to itself.
fn expanded(sizes: &[usize], blocks: &[&[f64]]) -> LatencyMatrix {
    let cluster_of: Vec<usize> = sizes
        .iter()
        .enumerate()
        .flat_map(|(cluster, &size)| std::iter::repeat_n(cluster, size))
        .collect();
    let order = cluster_of.len();
    let mut table = vec![0.0; order * order];
    for a in 0..order {
        for b in (0..order).filter(|&b| b != a) {
            table[a * order + b] = blocks[cluster_of[a]][cluster_of[b]] * 1e-6;
        }
    }
    LatencyMatrix::from_table(order, &table).unwrap()
}

fn sizes_at(latencies: &LatencyMatrix, tolerance: f64) -> Vec<usize> {
    let partition = Partition::new(latencies, tolerance);
    partition.clusters.iter().map(Vec::len).collect()
}

const TABLE_7_6: [&[f64]; 3] = [
    &[35.52, 59.96, 2735.97],
    &[59.96, 60.08, 2744.07],
    &[2735.97, 2744.07, 34.92],
];

#[test]
fn table_7_3_has_the_clusters_of_the_88_node_grid() {
    let latencies = expanded(CASE_1.sizes, CASE_1.latencies);
    assert_eq!(sizes_at(&latencies, 0.20), [31, 29, 6, 1, 1, 20]);
    assert_eq!(sizes_at(&latencies, 0.30), [31, 29, 6, 1, 1, 20]);
    assert_eq!(sizes_at(&latencies, 0.35), [60, 6, 1, 1, 20]);
    assert_eq!(sizes_at(&latencies, 0.70), [60, 8, 20]);
}

#[test]
fn table_7_4_has_the_clusters_of_the_78_node_grid() {
    let latencies = expanded(CASE_2.sizes, CASE_2.latencies);
    assert_eq!(sizes_at(&latencies, 0.20), [20, 11, 7, 1, 20, 19]);
    assert_eq!(sizes_at(&latencies, 0.30), [20, 11, 7, 1, 20, 19]);
    assert_eq!(sizes_at(&latencies, 0.35), [20, 11, 8, 20, 19]);
    assert_eq!(sizes_at(&latencies, 0.70), [20, 19, 20, 19]);
}

#[test]
fn table_7_6_has_the_clusters_of_the_40_node_grid() {
    let latencies = expanded(&[13, 7, 20], &TABLE_7_6);
    for tolerance in [0.20, 0.30, 0.40, 0.50] {
        assert_eq!(sizes_at(&latencies, tolerance), [13, 7, 20]);
    }
    assert_eq!(sizes_at(&latencies, 0.70), [20, 20]);
}

#[test]
fn figure_3_3_parts_one_subnet_into_three_clusters() {
    // Ranks of cluster 0, of cluster 1, the rest (figure 3.3).
    let clusters = [
        vec![0, 1, 2, 3, 6, 7, 8, 9, 11, 12, 17],
        vec![4, 5],
        vec![10, 13, 14, 15, 16],
    ];
    let blocks = [
        [35.524368, 59.962273, 59.962273],
        [59.962273, 60.439110, 122.54715],
        [59.962273, 122.54715, 60.081482],
    ];
    let of = |rank: usize| {
        clusters
            .iter()
            .position(|ranks| ranks.contains(&rank))
            .unwrap()
    };
    let pairs = (0..18).flat_map(|a| (a + 1..18).map(move |b| (a, b)));
    let links = pairs.map(|(a, b)| (a, b, blocks[of(a)][of(b)] * 1e-6));
    let latencies = LatencyMatrix::from_pairs(18, links).unwrap();
    for tolerance in [0.20, 0.30, 0.50] {
        assert_eq!(Partition::new(&latencies, tolerance).clusters.raw, clusters);
    }
    assert_eq!(sizes_at(&latencies, 0.70), [18]);
}

#[test]
fn figure_3_1_shows_the_flaw_that_is_kept_and_the_spread_that_tells_it() {
    let near = [(0, 1), (0, 2), (0, 3)].map(|(a, b)| (a, b, 10e-6));
    let far = [(1, 2), (2, 3), (1, 3)].map(|(a, b)| (a, b, 200e-6));
    let star = LatencyMatrix::from_pairs(4, near.into_iter().chain(far)).unwrap();
    let partition = Partition::new(&star, 0.30);
    assert_eq!(partition.clusters.raw, [[0, 1, 2, 3]]);
    let spread = partition.spread(&star)[Cluster(0)].unwrap();
    assert!((spread - 20.0).abs() < 1e-9);
}

#[test]
fn ten_thousand_nodes_of_a_sparse_matrix_are_clustered() {
    // A hundred clusters of a hundred nodes; the only known link between them is a slow one from
    // each to the next.
    let mut links = Vec::new();
    for cluster in 0..100 {
        for a in 0..100 {
            links.extend((a + 1..100).map(|b| (100 * cluster + a, 100 * cluster + b, 50e-6)));
        }
        if cluster > 0 {
            links.push((100 * cluster - 1, 100 * cluster, 5e-3));
        }
    }
    let latencies = LatencyMatrix::from_pairs(10_000, links).unwrap();
    let partition = Partition::new(&latencies, 0.30);
    assert_eq!(partition.clusters.len(), 100);
    assert!(
        partition
            .clusters
            .iter()
            .all(|members| members.len() == 100)
    );
}

proptest! {
    #[test]
    fn every_node_is_in_one_cluster_whatever_the_latencies(
        order in 1_usize..20,
        raw in prop::collection::vec((0_usize..20, 0_usize..20, 1e-6_f64..1e-2), 0..60),
        tolerance in 0.0_f64..2.0
    ) {
        let links = raw.into_iter().map(|(a, b, latency)| (a % order, b % order, latency));
        let latencies = LatencyMatrix::from_pairs(order, links).unwrap();
        let partition = Partition::new(&latencies, tolerance);
        let mut nodes: Vec<usize> = partition.clusters.iter().flatten().copied().collect();
        nodes.sort_unstable();
        prop_assert_eq!(nodes, (0..order).collect::<Vec<_>>());
    }
}
