//! Platforms that are measured: clusters, links, levels inside hosts, and pairs together.

use treepie_base::Cluster;

use super::simulated::{LAN, SimulatedLink, WAN, alone, grid, near, probed};
use crate::probe::{Identity, Options};

#[test]
fn the_clusters_latencies_gaps_and_the_switch_to_rendezvous_are_found() {
    let platform = probed(alone(9), Options::default(), grid);
    let clusters = [0, 1, 2].map(Cluster);
    let ranks = clusters.map(|cluster| platform.ranks_of(cluster));
    assert_eq!(ranks, [[0, 3, 6], [1, 4, 7], [2, 5, 8]]);
    for from in clusters {
        let within = platform.clusters()[from].within.as_ref().unwrap();
        near(within.latency(), LAN.latency, 0.05);
        near(within.gap(1 << 20), LAN.per_byte * (1 << 20) as f64, 0.05);
        for to in clusters.into_iter().filter(|&to| to != from) {
            let link = platform.between(from, to);
            let way = grid(from.0, to.0);
            near(link.latency(), WAN.latency, 0.05);
            for bytes in [64 << 10, 256 << 10, 1 << 20] {
                near(
                    link.gap(bytes),
                    way.start + way.per_byte * bytes as f64,
                    0.05,
                );
                near(link.handshake(bytes), 2.0 * WAN.latency, 0.05);
            }
            let limit = link.eager_limit().unwrap();
            assert!((50 << 10..64 << 10).contains(&limit), "{limit}");
            assert_eq!(link.handshake(16 << 10), 0.0);
        }
    }
    let probing = platform.contents().probing.as_ref().unwrap();
    // C (C - 1) / 2 + C of 36 pairs.
    assert_eq!(
        (probing.probes, probing.pairs, probing.latency_pairs),
        (6, 36, 36)
    );
    assert!(probing.left_out.is_empty(), "{:?}", probing.left_out);
}

#[test]
fn a_budget_that_is_too_short_leaves_out_and_says_what() {
    let options = Options {
        budget: 1.5,
        ..Options::default()
    };
    let platform = probed(alone(9), options, grid);
    let probing = platform.contents().probing.as_ref().unwrap();
    assert!(!probing.left_out.is_empty());
    assert!(probing.seconds < 15.0, "{}", probing.seconds);
    assert_eq!(platform.ranks(), 9);
}

#[test]
fn ranks_of_one_host_stay_together_and_their_levels_are_measured() {
    // Cores 0 and 1 are on socket 0, 2 and 3 on socket 1.
    let on = |name: &str, core: usize| {
        let (socket, core) = (Some(core / 2), Some(core));
        Identity {
            host: name.to_owned(),
            groups: [socket, None, None, None, core],
        }
    };
    let hosts = vec![
        on("a", 0),
        on("a", 1),
        on("a", 2),
        on("b", 0),
        on("b", 1),
        on("b", 1),
    ];
    let way = |from: usize, to: usize| {
        if from / 3 == to / 3 {
            SimulatedLink {
                latency: 1e-6,
                start: 0.2e-6,
                per_byte: 1e-10,
                ..LAN
            }
        } else {
            LAN
        }
    };
    let options = Options {
        together: true,
        ..Options::default()
    };
    let platform = probed(hosts, options, way);
    // Two hosts that are alone: one link, which is the shortest of both.
    assert_eq!(platform.clusters().len(), 1);
    let cluster = &platform.clusters()[Cluster(0)];
    let names: Vec<&str> = cluster
        .levels
        .iter()
        .map(|level| level.name.as_str())
        .collect();
    assert_eq!(names, ["node", "socket", "core"]);
    near(cluster.within.as_ref().unwrap().latency(), 50e-6, 0.05);
    near(cluster.levels[0].link.latency(), 1e-6, 0.25);
    // Several simultaneous pairs: three of the two hosts, one of each level of a host.
    let parallel = &platform.contents().parallel;
    let measured: Vec<_> = parallel.iter().map(|p| (p.level, p.pairs)).collect();
    let of_levels = ["node", "socket", "core"].map(|level| (Some(level), 1));
    assert_eq!(measured[..2], [(None, 1), (None, 2)]);
    assert_eq!(measured[2..], of_levels);
    assert!(parallel.iter().all(|p| (p.from.0, p.to.0) == (0, 0)));
}

#[test]
fn a_rank_alone_is_a_platform_without_links() {
    let platform = probed(alone(1), Options::default(), grid);
    assert_eq!((platform.ranks(), platform.clusters().len()), (1, 1));
    assert_eq!(platform.clusters()[Cluster(0)].within, None);
}

/// Latencies of table 7.4, in microseconds, and the sizes of its clusters.
const TABLE_7_4: [[f64; 6]; 6] = [
    [48.39, 6577.49, 6586.49, 6592.51, 5211.94, 8602.73],
    [6577.49, 35.52, 59.96, 59.96, 5387.48, 2736.56],
    [6586.49, 59.96, 60.08, 79.51, 5393.98, 2740.26],
    [6592.51, 59.96, 79.51, 60.08, 5405.78, 2745.98],
    [5211.94, 5387.48, 5393.98, 5405.78, 26.94, 3630.51],
    [8602.73, 2736.56, 2740.26, 2745.98, 3630.51, 35.04],
];
const SIZES_7_4: [usize; 6] = [20, 11, 7, 1, 20, 19];

#[test]
fn the_78_nodes_of_table_7_4_take_a_probe_for_each_pair_of_clusters_and_inside_each() {
    let cluster_of = |rank: usize| {
        let mut ends = SIZES_7_4.iter().scan(0, |end, size| {
            *end += size;
            Some(*end)
        });
        ends.position(|end| rank < end).unwrap()
    };
    let way = move |from: usize, to: usize| SimulatedLink {
        latency: TABLE_7_4[cluster_of(from)][cluster_of(to)] * 1e-6,
        start: 1e-6,
        ..LAN
    };
    let platform = probed(alone(78), Options::default(), way);
    let sizes: Vec<usize> = (0..6)
        .map(Cluster)
        .map(|cluster| platform.ranks_of(cluster).len())
        .collect();
    assert_eq!(sizes, SIZES_7_4);
    let probing = platform.contents().probing.as_ref().unwrap();
    // 15 between clusters and one inside each; none inside that of one node.
    assert_eq!((probing.probes, probing.pairs), (15 + 5, 3003));
}

#[test]
fn several_pairs_together_are_measured_when_asked_for() {
    let options = Options {
        together: true,
        ..Options::default()
    };
    let platform = probed(alone(6), options, grid);
    let parallel = &platform.contents().parallel;
    let pairs: Vec<usize> = parallel
        .iter()
        .filter(|p| (p.from.0, p.to.0) == (0, 1))
        .map(|p| p.pairs)
        .collect();
    assert_eq!(pairs, [1, 2]);
    assert!(parallel.iter().all(|p| p.bytes_per_second > 0.0));
    // Two hosts of a cluster have one rank each.
    let inside = parallel.iter().filter(|p| p.from == p.to);
    assert!(inside.map(|p| p.pairs).all(|pairs| pairs == 1));
}
