//! Grids for tests of this crate, and of those above it.
#![allow(clippy::unwrap_used)] // a test may panic

use crate::clusters::Clusters;
use crate::neighbourhoods::Neighbourhoods;
use crate::network::links::Network;
use treepie_platform::{
    Contention, Contents, Host, Level, Link, Parallel, Platform, PlatformCluster, Sample,
};

/// Clusters with these numbers of hosts, each with one rank.
pub fn network(
    sizes: &[usize],
    within: impl Fn(usize) -> Link,
    between: impl Fn(usize, usize) -> Link,
) -> Network {
    let numbers: Vec<usize> = sizes
        .iter()
        .enumerate()
        .flat_map(|(place, &size)| std::iter::repeat_n(place, size))
        .collect();
    of_numbers(&numbers, 1, within, between)
}

/// Ranks in clusters by `numbers`, with `on_host` ranks on a host.
pub fn of_numbers(
    numbers: &[usize],
    on_host: usize,
    within: impl Fn(usize) -> Link,
    between: impl Fn(usize, usize) -> Link,
) -> Network {
    finished(contents(numbers, on_host, within, between))
}

/// One cluster of `hosts` hosts with `on_host` ranks each.
pub fn one_cluster(hosts: usize, on_host: usize, between: Link) -> Platform {
    let numbers = vec![0; hosts * on_host];
    let contents = contents(
        &numbers,
        on_host,
        |_| between.clone(),
        |_, _| unreachable!(),
    );
    Platform::new(contents).unwrap()
}

fn finished(contents: Contents) -> Network {
    let platform = Platform::new(contents).unwrap();
    let ranks: Vec<usize> = (0..platform.ranks()).collect();
    Network::new(&platform, &ranks).unwrap()
}

/// Contents of a platform: clusters by their numbers, and the links in and between them.
pub fn contents(
    numbers: &[usize],
    on_host: usize,
    within: impl Fn(usize) -> Link,
    between: impl Fn(usize, usize) -> Link,
) -> Contents {
    let clusters = Clusters::new(numbers);
    let mut contents = Contents::default();
    for cluster in clusters.all() {
        let first = contents.hosts.len();
        for ranks in clusters.members(cluster).chunks(on_host) {
            contents.hosts.push(Host {
                name: format!("n{}", ranks[0]),
                ranks: ranks.to_vec(),
            });
        }
        let hosts = contents.hosts.len() - first;
        contents.clusters.push(PlatformCluster {
            name: format!("c{cluster}"),
            hosts: (first..first + hosts).collect(),
            leader: *clusters.members(cluster).last().unwrap(),
            within: (hosts > 1).then(|| within(cluster.0)),
            levels: match on_host {
                1 => Vec::new(),
                _ => vec![Level {
                    name: "node".to_owned(),
                    link: Link::linear(1e-6, 2e-7, 2e-10).unwrap(),
                }],
            },
            contention: None,
        });
    }
    for from in clusters.all() {
        for to in clusters.all().filter(|&to| to != from) {
            contents.links.insert((from, to), between(from.0, to.0));
        }
    }
    contents
}

/// Network of [`of_numbers`] whose clusters show this contention in a total exchange.
pub fn congested(numbers: &[usize], on_host: usize, contention: Contention) -> Network {
    congested_between(numbers, on_host, contention, |_, _| wan(10.0, 100.0))
}

/// Network of [`congested`] on these links between clusters.
pub(crate) fn congested_between(
    numbers: &[usize],
    on_host: usize,
    contention: Contention,
    between: impl Fn(usize, usize) -> Link,
) -> Network {
    let mut contents = contents(numbers, on_host, |_| lan(), between);
    for cluster in &mut contents.clusters {
        cluster.contention = Some(contention);
    }
    finished(contents)
}

/// Clusters on fast links that show contention in exchanges, with their names: in blocks,
/// round-robin, on hosts of several ranks, of unequal sizes, and with enough ranks that only a part
/// of an exchange is read.
pub fn that_respond_to_exchanges() -> Vec<(String, Network)> {
    let blocks = |clusters: usize, members: usize| -> Vec<usize> {
        (0..clusters * members).map(|rank| rank / members).collect()
    };
    let cyclic = |clusters: usize, members: usize| -> Vec<usize> {
        (0..clusters * members)
            .map(|rank| rank % clusters)
            .collect()
    };
    let sizes = [7, 1, 3, 5, 2, 4].into_iter().enumerate();
    let uneven = sizes.flat_map(|(cluster, size)| std::iter::repeat_n(cluster, size));
    let mut networks = Vec::new();
    for (name, numbers, on_host) in [
        ("4 x 4", blocks(4, 4), 1),
        ("4 x 4, cyclic", cyclic(4, 4), 1),
        ("2 x 8 on hosts of 4", blocks(2, 8), 4),
        ("uneven", uneven.collect(), 1),
        ("2 x 32 on hosts of 4", blocks(2, 32), 4),
        ("4 x 16, cyclic", cyclic(4, 16), 1),
    ] {
        for contention in [Contention::GIGA_ETHERNET, Contention::MYRINET] {
            let between = |_, _| wan(1.0, 10_000.0);
            let network = congested_between(&numbers, on_host, contention, between);
            networks.push((format!("{name}, gamma {}", contention.gamma), network));
        }
    }
    networks
}

/// Three clusters of four; four connections together fill their uplinks, and one fills a quarter.
pub fn narrow_connections() -> Network {
    let numbers: Vec<usize> = (0..12).map(|rank| rank / 4).collect();
    let mut contents = contents(&numbers, 1, |_| lan(), |_, _| wan(10.0, 50.0));
    let alone = (1 << 20) as f64 / wan(10.0, 50.0).gap(1 << 20);
    for &(from, to) in contents.links.keys() {
        contents.parallel.push(Parallel {
            from,
            to,
            level: None,
            pairs: 4,
            bytes_per_second: 4.0 * alone,
        });
    }
    finished(contents)
}

/// Four clusters of two hosts of two ranks, on different links.
pub fn platform() -> Platform {
    let numbers: Vec<usize> = (0..16).map(|rank| rank / 4).collect();
    let between = |from: usize, to: usize| wan(1.0 + (4 * from + to) as f64, 100.0);
    Platform::new(contents(&numbers, 2, |_| lan(), between)).unwrap()
}

/// Three clusters of three hosts of four ranks.
pub fn deep() -> Network {
    let numbers: Vec<usize> = (0..36).map(|rank| rank / 12).collect();
    of_numbers(&numbers, 4, |_| lan(), |_, _| wan(10.0, 100.0))
}

/// Four hosts of eight ranks, 10 ms apart; a message between them takes at least 30 us.
pub fn hosts_of_eight() -> Network {
    finished(of_eight())
}

/// Platform of [`hosts_of_eight`].
pub fn hosts_of_eight_platform() -> Platform {
    Platform::new(of_eight()).unwrap()
}

fn of_eight() -> Contents {
    let numbers: Vec<usize> = (0..32).map(|rank| rank / 8).collect();
    let between = |_, _| Link::linear(0.01, 30e-6, 8e-8).unwrap();
    contents(&numbers, 8, |_| lan(), between)
}

/// Ranks in these clusters, on different links, two on a host.
pub fn scattered(numbers: &[usize]) -> Network {
    scattered_on(numbers, 2)
}

/// Network of [`scattered`] with `on_host` ranks on a host.
pub fn scattered_on(numbers: &[usize], on_host: usize) -> Network {
    let wan_of = |from: usize, to: usize| {
        let mix = |salt: usize| ((from + 1) * salt + (to + 2) * (salt + 3)) % 11;
        wan(1.0 + mix(5) as f64, 50.0 * (1 + mix(7)) as f64)
    };
    of_numbers(numbers, on_host, |_| lan(), wan_of)
}

/// `clusters` clusters of `members` ranks, 1 to 12 ms apart and with uplinks of 50 to 600 Mbit/s;
/// the first has one of the slowest.
pub fn many(clusters: usize, members: usize) -> Network {
    let uplink = |cluster: usize| 50.0 * (1 + cluster * 7 % 12) as f64;
    let milliseconds = |from: usize, to: usize| (1 + (7 * from + 5 * to) % 12) as f64;
    network(
        &vec![members; clusters],
        |_| lan(),
        |from, to| {
            let apart = milliseconds(from.min(to), from.max(to));
            wan(apart, uplink(from).min(uplink(to)))
        },
    )
}

/// `L` = 50 us and `g(m)` = 2 us + 9 ns a byte.
pub fn lan() -> Link {
    Link::linear(50e-6, 2e-6, 9e-9).unwrap()
}

/// Link of these milliseconds and Mbit/s (on TCP over Ethernet), with a rendezvous from 64 KiB on,
/// as in MPI libraries.
pub fn wan(milliseconds: f64, mbit: f64) -> Link {
    eager_wan(milliseconds, mbit).with_rendezvous_above(65535)
}

/// Link of [`wan`] without a rendezvous.
pub fn eager_wan(milliseconds: f64, mbit: f64) -> Link {
    let per_byte = 8.0 * 1538.0 / 1448.0 / (mbit * 1e6);
    let sample = |bytes: u64| Sample {
        bytes,
        gap: 5e-6 + per_byte * bytes as f64,
        send: 5e-6,
        receive: 5e-6,
        ..Sample::default()
    };
    Link::new(1e-3 * milliseconds, vec![sample(0), sample(1 << 20)]).unwrap()
}

/// Four clusters of four, 10 ms and 100 Mbit/s apart: `four-by-four`.
pub fn four_by_four() -> Network {
    four_by_four_of(|_, _| wan(10.0, 100.0))
}

/// Four clusters of four on these links.
pub fn four_by_four_of(between: impl Fn(usize, usize) -> Link) -> Network {
    network(&[4; 4], |_| lan(), between)
}

/// Four clusters of four with different delays and uplinks: the unequal WAN of the measured
/// baselines.
pub fn unequal() -> Network {
    network(&[4; 4], |_| lan(), unequal_wan(wan))
}

/// Platforms of [`unequal`], and of four equal clusters of four.
pub fn platforms() -> [Platform; 2] {
    let numbers: Vec<usize> = (0..16).map(|rank| rank / 4).collect();
    let equal = contents(&numbers, 1, |_| lan(), |_, _| wan(10.0, 100.0));
    let unequal = contents(&numbers, 1, |_| lan(), unequal_wan(wan));
    [equal, unequal].map(|contents| Platform::new(contents).unwrap())
}

/// Links of [`unequal`], made by `kind`.
pub fn unequal_wan(kind: fn(f64, f64) -> Link) -> impl Fn(usize, usize) -> Link {
    let delays = [
        [0, 5, 10, 20],
        [5, 0, 8, 15],
        [10, 8, 0, 12],
        [20, 15, 12, 0],
    ];
    let uplinks = [100.0_f64, 100.0, 20.0, 50.0];
    move |from, to| kind(f64::from(delays[from][to]), uplinks[from].min(uplinks[to]))
}

/// Clusters of unequal sizes, a single rank among them.
pub fn uneven() -> Network {
    let latency = |from: usize, to: usize| 2.0 + ((3 * from + 5 * to) % 7) as f64;
    network(
        &[7, 1, 3, 5, 2, 4],
        |_| lan(),
        |from, to| wan(latency(from.min(to), from.max(to)), 200.0),
    )
}

/// Neighbourhoods of sixteen ranks, each of which sends to the next `partners` ranks.
pub fn round(partners: u32) -> Neighbourhoods {
    let ranks = 0..16;
    let edges: Vec<(u32, u32)> = ranks
        .flat_map(|from| (1..=partners).map(move |further| (from, (from + further) % 16)))
        .collect();
    Neighbourhoods::graph(16, &edges).unwrap()
}
