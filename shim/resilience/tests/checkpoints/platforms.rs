//! Platforms of Coti's experiments, and jobs on them.

use treepie_base::Cluster;
use treepie_platform::{Contents, Host, Level, Link, Parallel, Platform, PlatformCluster};
use treepie_resilience::checkpoint::{Costs, Experiment, Pattern, Program, Servers};

/// The sites of Coti's figure 14: inside, Mbit/s and ms.
const SITES: [(&str, f64, f64); 6] = [
    ("bordeaux", 940.2, 0.04),
    ("orsay", 930.4, 0.06),
    ("rennes", 940.4, 0.04),
    ("sophia", 940.5, 0.04),
    ("lille", 938.0, 0.04),
    ("toulouse", 930.4, 0.04),
];

/// One connection between two sites of figure 14: Mbit/s and ms.
pub const BETWEEN: [(usize, usize, f64, f64); 15] = [
    (0, 1, 108.1, 4.1),
    (0, 2, 110.1, 4.0),
    (0, 3, 68.1, 5.2),
    (0, 4, 30.23, 11.62),
    (0, 5, 190.0, 1.5),
    (1, 2, 95.4, 4.7),
    (1, 3, 42.4, 8.6),
    (1, 4, 132.55, 2.25),
    (1, 5, 59.81, 5.51),
    (2, 3, 40.2, 9.1),
    (2, 4, 56.84, 5.83),
    (2, 5, 34.79, 9.92),
    (3, 4, 37.41, 9.22),
    (3, 5, 83.7, 3.74),
    (4, 5, 26.97, 13.04),
];

pub fn link(mbit: f64, milliseconds: f64) -> Link {
    Link::linear(milliseconds * 1e-3, 1e-6, 8.0 / (mbit * 1e6)).unwrap()
}

/// Clusters of these numbers of ranks, with `on_host` ranks on each host.
pub fn clusters(sizes: &[usize], on_host: usize, within: impl Fn(usize) -> Link) -> Contents {
    let mut contents = Contents::default();
    let mut next = 0;
    for (place, &size) in sizes.iter().enumerate() {
        let first = contents.hosts.len();
        let ranks: Vec<usize> = (next..next + size).collect();
        for members in ranks.chunks(on_host) {
            contents.hosts.push(Host {
                name: format!("n{}", contents.hosts.len()),
                ranks: members.to_vec(),
            });
        }
        let hosts: Vec<usize> = (first..contents.hosts.len()).collect();
        contents.clusters.push(PlatformCluster {
            name: format!("c{place}"),
            leader: next,
            within: (hosts.len() > 1).then(|| within(place)),
            hosts,
            levels: vec![Level {
                name: "node".to_owned(),
                link: Link::linear(1e-6, 1e-7, 1e-9).unwrap(),
            }],
            contention: None,
        });
        next += size;
    }
    contents
}

/// Ranks in the six sites, as evenly as possible. Between sites each connection has its rate, and
/// all of them together have a gigabit.
pub fn sites(ranks: usize) -> Platform {
    let sizes: Vec<usize> = (0..6).map(|site| (ranks + site) / 6).collect();
    let mut contents = clusters(&sizes, 2, |site| link(SITES[site].1, SITES[site].2));
    for (from, to, mbit, milliseconds) in BETWEEN {
        contents
            .links
            .insert((Cluster(from), Cluster(to)), link(mbit, milliseconds));
        for (from, to) in [(from, to), (to, from)] {
            contents.parallel.push(Parallel {
                from: Cluster(from),
                to: Cluster(to),
                level: None,
                pairs: 8,
                bytes_per_second: 118e6,
            });
        }
    }
    Platform::new(contents).unwrap()
}

/// One cluster of hosts with two ranks each, on Gigabit Ethernet as in 5.1: 110 MB/s.
pub fn ethernet(ranks: usize) -> Platform {
    Platform::new(clusters(&[ranks], 2, |_| link(880.0, 0.05))).unwrap()
}

pub fn experiment(platform: &Platform, pattern: Pattern, work: f64) -> Experiment<'_> {
    Experiment {
        platform,
        program: Program::npb(pattern, platform.ranks(), work),
        servers: Servers::InEachCluster(1),
        costs: Costs::usual(platform.ranks()),
    }
}

pub fn same(found: f64, expected: f64) {
    close(found, expected, 1e-9);
}

#[track_caller]
pub fn close(found: f64, expected: f64, error: f64) {
    assert!(
        (found - expected).abs() <= error * expected.abs().max(1e-3),
        "{found} and not {expected}"
    );
}
