//! Platforms on which plans are replayed.

use std::collections::HashMap;

use treepie_base::Cluster;
use treepie_collective::{Action, Plan};
use treepie_platform::{Contents, Host, Level, Link, Platform, PlatformCluster, Sample};

/// A class of links: latency and gaps in microseconds.
pub type Class = (f64, &'static [(u64, f64)]);

pub const FAST_ETHERNET: Class = (
    50.0,
    &[
        (0, 5.0),
        (1 << 10, 95.0),
        (64 << 10, 5700.0),
        (1 << 20, 91e3),
    ],
);
pub const GIGABIT: Class = (
    25.0,
    &[
        (0, 2.0),
        (1 << 10, 10.0),
        (64 << 10, 560.0),
        (1 << 20, 8800.0),
    ],
);
/// 200 Gbit/s.
pub const FABRIC: Class = (
    2.0,
    &[(0, 0.3), (4 << 10, 0.6), (64 << 10, 3.2), (1 << 20, 44.0)],
);
pub const MEMORY: Class = (0.4, &[(0, 0.1), (4 << 10, 0.6), (1 << 20, 120.0)]);
pub const METRO: Class = (
    100.0,
    &[
        (0, 3.0),
        (1 << 10, 11.0),
        (64 << 10, 560.0),
        (1 << 20, 8900.0),
    ],
);
pub const WIDE: Class = (
    5000.0,
    &[
        (0, 5.0),
        (1 << 10, 14.0),
        (64 << 10, 700.0),
        (1 << 20, 9500.0),
    ],
);

/// 100 Mbit/s.
pub const SLOW: Class = (
    10e3,
    &[
        (0, 5.0),
        (1 << 10, 90.0),
        (64 << 10, 5600.0),
        (1 << 20, 89e3),
    ],
);

/// Hosts of each cluster, ranks of each host, the links between its ranks, between hosts, and
/// between clusters.
pub struct Case {
    pub name: &'static str,
    hosts: &'static [usize],
    ranks: usize,
    pub links: [Class; 3],
}

pub const fn case(
    name: &'static str,
    hosts: &'static [usize],
    ranks: usize,
    within: Class,
    between: Class,
) -> Case {
    Case {
        name,
        hosts,
        ranks,
        links: [MEMORY, within, between],
    }
}

pub const CASES: &[Case] = &[
    case("2x12-gigabit-wide", &[12; 2], 1, GIGABIT, WIDE),
    case(
        "2x24-fast-ethernet-metro",
        &[24; 2],
        1,
        FAST_ETHERNET,
        METRO,
    ),
    case("5x20-gigabit-wide", &[20; 5], 1, GIGABIT, WIDE),
    case("3x12x8-gigabit-metro", &[12; 3], 8, GIGABIT, METRO),
    case("30-12-5-gigabit-wide", &[30, 12, 5], 1, GIGABIT, WIDE),
    case("16x4x4-fabric-metro", &[4; 16], 4, FABRIC, METRO),
    case("1x24x8-fabric", &[24], 8, FABRIC, WIDE),
    case("1x12x16-fabric", &[12], 16, FABRIC, WIDE),
    case("1x64-gigabit", &[64], 1, GIGABIT, WIDE),
    case("4x16-equal-links", &[16; 4], 1, GIGABIT, GIGABIT),
    case("64x4-gigabit-wide", &[4; 64], 1, GIGABIT, WIDE),
    case("4x4-gigabit-slow", &[4; 4], 1, GIGABIT, SLOW),
    case("3x20x2-fabric-slow", &[20; 3], 2, FABRIC, SLOW),
    case("40-3-1x2-gigabit-metro", &[40, 3, 1], 2, GIGABIT, METRO),
];

impl Case {
    /// The platform with the links of `link(level)`: on a host, between hosts, between clusters.
    pub fn platform(&self, link: impl Fn(usize) -> Link) -> Platform {
        let mut contents = Contents::default();
        for (cluster, &hosts) in self.hosts.iter().enumerate() {
            let first = contents.hosts.len();
            contents
                .hosts
                .extend((first..first + hosts).map(|host| Host {
                    name: format!("n{host}"),
                    ranks: (host * self.ranks..(host + 1) * self.ranks).collect(),
                }));
            contents.clusters.push(PlatformCluster {
                name: format!("c{cluster}"),
                hosts: (first..first + hosts).collect(),
                leader: first * self.ranks,
                within: (hosts > 1).then(|| link(1)),
                levels: Vec::from_iter((self.ranks > 1).then(|| Level {
                    name: "node".to_owned(),
                    link: link(0),
                })),
                contention: None,
            });
        }
        for from in 0..self.hosts.len() {
            for to in (0..self.hosts.len()).filter(|&to| to != from) {
                contents.links.insert((Cluster(from), Cluster(to)), link(2));
            }
        }
        Platform::new(contents).unwrap()
    }

    /// The level of links between two ranks.
    pub fn level(&self, one: usize, other: usize) -> usize {
        let host = |rank: usize| rank / self.ranks;
        let cluster = |rank: usize| {
            let ends = self.hosts.iter().scan(0, |end, hosts| {
                *end += hosts;
                Some(*end)
            });
            ends.take_while(|&end| end <= host(rank)).count()
        };
        match host(one) == host(other) {
            true => 0,
            false if cluster(one) == cluster(other) => 1,
            false => 2,
        }
    }

    /// The message size that moves the most bytes, on each level of links.
    pub fn usual_sizes(&self, plans: &[Plan]) -> [u64; 3] {
        let mut moved: [HashMap<u64, u64>; 3] = Default::default();
        for (rank, plan) in plans.iter().enumerate() {
            for step in plan.steps() {
                if let Action::Send { to, range, .. } = step.action {
                    *moved[self.level(rank, to)]
                        .entry(range.length.max(1))
                        .or_default() += range.length.max(1);
                }
            }
        }
        moved.map(|sizes| {
            sizes
                .into_iter()
                .max_by_key(|&(size, bytes)| (bytes, size))
                .map_or(1, |most| most.0)
        })
    }

    /// Maximum number of messages in flight on each level of links: those that fill it.
    pub fn windows(&self, sizes: [u64; 3]) -> [usize; 3] {
        [0, 1, 2].map(|level| {
            let link = at_one_rate(self.links[level], sizes[level]);
            1 + (link.latency() / link.gap(sizes[level])).ceil() as usize
        })
    }
}

pub fn sampled((latency, gaps): Class) -> Link {
    let sample = |&(bytes, gap): &(u64, f64)| Sample {
        bytes,
        gap: 1e-6 * gap,
        ..Sample::default()
    };
    Link::new(1e-6 * latency, gaps.iter().map(sample).collect()).unwrap()
}

/// The link whose bytes take as long as in a message of `bytes`.
pub fn at_one_rate(class: Class, bytes: u64) -> Link {
    let per_byte = sampled(class).gap(bytes) / bytes as f64;
    let sample = |bytes: u64| Sample {
        bytes,
        gap: per_byte * bytes as f64,
        ..Sample::default()
    };
    Link::new(1e-6 * class.0, vec![sample(0), sample(1 << 20)]).unwrap()
}
