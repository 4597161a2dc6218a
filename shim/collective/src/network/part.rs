//! Part of a platform that a communicator uses.

use crate::clusters::Clusters;
use crate::network::computing::Computing;
use crate::network::inside::{innermost, known_level, known_link};
use crate::network::links::{LONG, Network, Shared};
use std::sync::Arc;
use treepie_base::square::Square;
use treepie_base::{Cluster, List, Rank};
use treepie_platform::{Contention, Link, Platform};

/// Size in bytes for which links are compared: large enough that their rates dominate.
const LARGE: u64 = 1 << 20;

/// Latency in seconds from which hosts are as far apart as clusters: the cost of messages between
/// them dominates the work of ranks.
const FAR: f64 = 1e-3;

/// Replacement of clusters.
#[derive(Clone, Copy)]
enum InPlace<'a> {
    /// Nothing.
    Nothing,
    /// Hosts of the one cluster.
    Hosts,
    /// These groups of ranks of one host, which share a level of this name.
    Groups(&'a Clusters, &'a str),
}

/// Maximum number of near hosts: the links of each two take half a MiB in each rank.
const MOST_NEAR_HOSTS: usize = 256;

/// Cluster of each rank; `None` if the platform has no such rank.
fn places(platform: &Platform, ranks: &[usize]) -> Option<Vec<Cluster>> {
    let clusters = platform.cluster_of_rank();
    ranks
        .iter()
        .map(|&rank| clusters.get(Rank(rank)).copied())
        .collect()
}

/// Latency in seconds between the hosts of the one cluster that all of these are; `None` if there
/// are several clusters, or the cluster has one host.
fn latency_between_hosts(platform: &Platform, clusters: &[Cluster]) -> Option<f64> {
    let (&one, rest) = clusters.split_first()?;
    let within = platform.clusters()[one].within.as_ref();
    let is_one = rest.iter().all(|&other| other == one);
    within.filter(|_| is_one).map(Link::latency)
}

/// Link that all messages to or from a cluster of the platform share: as fast as the fastest on its
/// `side`, or as several pairs together were measured to be.
fn shared(
    platform: &Platform,
    side: impl Fn(Cluster) -> (Cluster, Cluster),
    cluster: Cluster,
) -> Option<Shared> {
    let link = |other| {
        let (from, to) = side(other);
        platform.between(from, to)
    };
    let others = platform.clusters().keys().filter(|&other| other != cluster);
    let fastest =
        others.min_by(|&one, &other| link(one).gap(LARGE).total_cmp(&link(other).gap(LARGE)))?;
    let link = Arc::new(link(fastest).clone());
    Some(as_measured(platform, (side(fastest), None), link))
}

/// Link that several pairs share between these two clusters, or on this level of one: faster by the
/// measured ratio.
fn as_measured(
    platform: &Platform,
    (ends, level): ((Cluster, Cluster), Option<&str>),
    link: Arc<Link>,
) -> Shared {
    let alone = LARGE as f64 / link.gap(LARGE).max(f64::MIN_POSITIVE);
    let together = platform.contents().parallel.iter();
    let together = together
        .filter(|measured| (measured.from, measured.to) == ends && measured.level == level)
        .map(|measured| measured.bytes_per_second)
        .fold(alone, f64::max);
    Shared {
        share: alone / together,
        link,
    }
}

impl Network {
    /// Part of `platform` that a communicator uses: `ranks` has the rank of the world for each of
    /// its own. `None` if the platform has no such rank.
    ///
    /// If all are in one cluster whose hosts are far from each other (equal sites form one logical
    /// cluster), hosts replace clusters.
    pub fn new(platform: &Platform, ranks: &[usize]) -> Option<Self> {
        let places = places(platform, ranks)?;
        let apart = latency_between_hosts(platform, &places);
        let by_host = apart.is_some_and(|latency| latency >= FAR);
        let place = match by_host {
            true => InPlace::Hosts,
            false => InPlace::Nothing,
        };
        Some(Network::of(platform, ranks, places, place))
    }

    /// Part whose ranks are all in one cluster, on two to 256 near hosts, which replace clusters.
    /// `None` otherwise.
    pub fn between_near_hosts(platform: &Platform, ranks: &[usize]) -> Option<Self> {
        let places = places(platform, ranks)?;
        latency_between_hosts(platform, &places).filter(|&latency| latency < FAR)?;
        let network = Network::of(platform, ranks, places, InPlace::Hosts);
        let is_near = (2..=MOST_NEAR_HOSTS).contains(&network.hosts);
        is_near.then_some(Network { is_near, ..network })
    }

    /// Part whose ranks are all on one host; its groups on the widest level that divides them
    /// replace clusters. `None` otherwise, or if no level divides them. If no links inside hosts
    /// were measured, they are assumed to be as in [memory](Network::in_memory).
    pub fn inside_host(platform: &Platform, ranks: &[usize]) -> Option<Self> {
        let places = places(platform, ranks)?;
        let hosts = platform.host_of_rank();
        let is_one_host = ranks
            .windows(2)
            .all(|pair| hosts[pair[0]] == hosts[pair[1]]);
        if !is_one_host {
            return None;
        }
        let one = Clusters::one(ranks.len());
        let (clusters, names) = one.with_inside(platform.inside(), ranks);
        let (clusters, widest) = (clusters.parted_inside(), *names.first()?);
        if platform.clusters()[*places.first()?].levels.is_empty() {
            return Some(Network::in_memory(&clusters));
        }
        let place = InPlace::Groups(&clusters, widest);
        Some(Network {
            is_near: true,
            is_in_memory: true,
            ..Network::of(platform, ranks, places, place)
        })
    }

    /// Part of ranks in these clusters of the platform; if `place` replaces clusters, they are in
    /// one.
    fn of(platform: &Platform, ranks: &[usize], places: Vec<Cluster>, place: InPlace) -> Self {
        let hosts = platform.host_of_rank();
        let of_ranks: Vec<usize> = ranks.iter().map(|&rank| hosts[rank]).collect();
        let numbering = match place {
            InPlace::Nothing => Clusters::new(&places),
            InPlace::Hosts => Clusters::new(&of_ranks),
            InPlace::Groups(clusters, _) => clusters.without_closer(),
        };
        let is_one = !matches!(place, InPlace::Nothing);
        let leveled = numbering.clone().with_closer(&of_ranks);
        let (leveled, names) = leveled.with_inside(platform.inside(), ranks);
        let count = numbering.count();
        // The platform's cluster for each cluster here.
        let known: List<Cluster, Cluster> = numbering
            .all()
            .map(|c| places[numbering.members(c)[0]])
            .collect();
        let mut host_number = std::collections::HashMap::new();
        let host_of: Vec<usize> = of_ranks
            .iter()
            .map(|&host| {
                let next = host_number.len();
                *host_number.entry(host).or_insert(next)
            })
            .collect();
        let levels = |c: Cluster| platform.clusters()[known[c]].levels.as_slice();
        let inside = innermost(&leveled, names.len(), |level, c| {
            known_link(levels(c), names.get(level + 1).copied())
        });
        let mut network = Network {
            cluster_of: (0..ranks.len()).map(|rank| numbering.of(rank)).collect(),
            hosts: host_number.len(),
            host_of,
            between: Square::filled(count, None),
            within: vec![None; count].into(),
            on_host: vec![None; count].into(),
            inside,
            contention: vec![None; count].into(),
            uplink: vec![None; count].into(),
            downlink: vec![None; count].into(),
            leaders: numbering
                .all()
                .map(|c| {
                    let members = numbering.members(c);
                    let wanted = platform.clusters()[known[c]].leader;
                    let is_wanted = |&&member: &&usize| ranks[member] == wanted;
                    *members.iter().find(is_wanted).unwrap_or(&members[0])
                })
                .collect(),
            centre: Cluster(0),
            farthest: 0.0,
            slowest: 0.0,
            is_near: false,
            is_in_memory: false,
            lanes: 1,
            computing: Computing::default(),
        };
        for (c, &here) in known.iter_enumerated() {
            let cluster = &platform.clusters()[here];
            let within = cluster.within.clone().map(Arc::new);
            network.within[c] = within.clone().filter(|_| !is_one);
            let members = numbering.members(c).len();
            let holds = |known: &Contention| !is_one && known.holds_among(members);
            network.contention[c] = cluster.contention.filter(holds);
            network.on_host[c] = match (names.first(), place) {
                (None, InPlace::Nothing | InPlace::Hosts) => {
                    let widest = cluster.levels.first();
                    widest.map(|level| Arc::new(level.link.clone()))
                }
                (next, _) => known_link(&cluster.levels, next.copied()),
            };
            let (across, level) = match place {
                InPlace::Nothing | InPlace::Hosts => (within, None),
                InPlace::Groups(_, level) => {
                    let known = known_level(&cluster.levels, Some(level));
                    let link = known.map(|level| Arc::new(level.link.clone()));
                    (link, known.map(|level| level.name.as_str()))
                }
            };
            for (other, &there) in known.iter_enumerated() {
                if other != c {
                    network.between[(c, other)] = match is_one {
                        true => across.clone(),
                        false => Some(Arc::new(platform.between(here, there).clone())),
                    };
                }
            }
            let card = || {
                let link = across.clone()?;
                Some(as_measured(platform, ((here, here), level), link))
            };
            (network.uplink[c], network.downlink[c]) = match is_one {
                true => (card(), card()),
                false => (
                    shared(platform, |other| (here, other), here),
                    shared(platform, |other| (other, here), here),
                ),
            };
        }
        network.with_totals()
    }

    /// Adds the values that depend on all links.
    pub(super) fn with_totals(mut self) -> Self {
        let clusters = self.all_clusters();
        let mut members: List<Cluster, usize> = vec![0; self.clusters()].into();
        for &cluster in &self.cluster_of {
            members[cluster] += 1;
        }
        self.centre = self.nearest_to_all();
        let latencies = self.between.values().iter().flatten();
        self.farthest = latencies.map(|link| link.latency()).fold(0.0, f64::max);
        self.slowest = clusters
            .clone()
            .map(|c| self.uplink(c, LONG).max(self.downlink(c, LONG)))
            .fold(0.0, f64::max);
        let lanes = clusters.map(|c| self.members_to_fill(c, members[c]));
        self.lanes = lanes.max().unwrap_or(1);
        self
    }

    /// Number of a cluster's `members` that share the traffic between clusters: all if each may
    /// have a card of its own; on one host, as many as fill its uplink and reduce at its rate.
    fn members_to_fill(&self, cluster: Cluster, members: usize) -> usize {
        if self.between_hosts(cluster).is_some() {
            return members;
        }
        let inside = self.on_host(cluster).map_or(0.0, |link| link.gap(LONG));
        let work = (members - 1) as f64 * (inside + self.computing.seconds(LONG));
        let passing = self.uplink(cluster, LONG).max(self.downlink(cluster, LONG));
        let to_keep_up = (work / passing.max(f64::MIN_POSITIVE)).ceil() as usize;
        self.pairs_to_fill(cluster)
            .max(to_keep_up)
            .clamp(1, members)
    }

    /// Network with one rank of each host, if every host has the same number of ranks, above one:
    /// for collectives in two levels, inside hosts and between them.
    pub fn one_of_each_host(&self) -> Option<Network> {
        let each = self.ranks() / self.hosts;
        if each < 2 || self.hosts < 2 {
            return None;
        }
        let mut met = vec![0; self.hosts];
        let mut kept = Vec::with_capacity(self.hosts);
        for (rank, &host) in self.host_of.iter().enumerate() {
            met[host] += 1;
            if met[host] == 1 {
                kept.push(rank);
            }
        }
        if met.iter().any(|&ranks| ranks != each) {
            return None;
        }
        let cluster_of: Vec<Cluster> = kept.iter().map(|&rank| self.cluster_of[rank]).collect();
        let first = |cluster| cluster_of.iter().position(|&of| of == cluster);
        Some(Network {
            leaders: self
                .all_clusters()
                .map(|cluster| first(cluster).unwrap_or(0))
                .collect(),
            host_of: (0..self.hosts).collect(),
            inside: Vec::new(),
            cluster_of,
            ..self.clone()
        })
    }

    /// Cluster with the shortest sum of round trips to all others; the lowest of several.
    fn nearest_to_all(&self) -> Cluster {
        const USUAL: u64 = 64 << 10;
        let clusters = self.all_clusters();
        let message = |from, to| {
            self.between(from, to)
                .map_or(0.0, |link| link.latency() + link.gap(USUAL))
        };
        let round_trips = |from: Cluster| -> f64 {
            let others = clusters.clone();
            others.map(|to| message(from, to) + message(to, from)).sum()
        };
        let all: List<Cluster, f64> = clusters.clone().map(round_trips).collect();
        let nearer = |best, other| if all[other] < all[best] { other } else { best };
        clusters.clone().reduce(nearer).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grids;
    use crate::network::links::Distance;
    use treepie_platform::Parallel;

    #[test]
    fn hosts_take_the_place_of_clusters_where_all_are_one_and_far_apart() {
        let far = grids::wan(10.0, 100.0);
        let one = grids::of_numbers(&[0; 12], 4, |_| far.clone(), |_, _| unreachable!());
        assert_eq!((one.clusters(), one.hosts()), (3, 3));
        let [first, second, third] = [0, 1, 2].map(Cluster);
        assert_eq!(one.between(first, third), Some(&far));
        assert_eq!(one.between_hosts(second), None);
        assert_eq!(one.uplink(second, LARGE), far.gap(LARGE));
        assert_eq!(one.distance(0, 3), Distance::Host);
        let near = grids::lan();
        let one = grids::of_numbers(&[0; 12], 4, |_| near.clone(), |_, _| unreachable!());
        assert_eq!((one.clusters(), one.hosts()), (1, 3));
        assert!(!one.is_near());
    }

    #[test]
    fn several_pairs_of_hosts_or_groups_at_once_fill_what_they_share() {
        let together = |level, pairs, bytes_per_second| Parallel {
            from: Cluster(0),
            to: Cluster(0),
            level,
            pairs,
            bytes_per_second,
        };
        let link = grids::lan();
        let alone = LARGE as f64 / link.gap(LARGE);
        let numbers = [0; 8];
        let mut contents = grids::contents(&numbers, 4, |_| grids::lan(), |_, _| unreachable!());
        contents.parallel = vec![together(None, 1, alone), together(None, 4, 3.0 * alone)];
        let one = Platform::new(contents.clone()).unwrap();
        let near = Network::between_near_hosts(&one, &(0..8).collect::<Vec<_>>()).unwrap();
        assert_eq!((near.clusters(), near.pairs_to_fill(Cluster(0))), (2, 3));
        // Measurements inside hosts do not apply to the links between them.
        contents.parallel = vec![together(Some("node"), 4, 3.0 * alone)];
        let other = Platform::new(contents).unwrap();
        let near = Network::between_near_hosts(&other, &(0..8).collect::<Vec<_>>()).unwrap();
        assert_eq!(near.pairs_to_fill(Cluster(0)), 1);
    }

    #[test]
    fn near_hosts_take_the_place_of_clusters_where_that_is_asked_for() {
        let [equal, _] = grids::platforms();
        let cluster = equal.ranks_of(Cluster(1));
        let near = Network::between_near_hosts(&equal, &cluster).unwrap();
        assert_eq!((near.clusters(), near.hosts()), (4, 4));
        assert!(near.is_near());
        assert_eq!(near.between(Cluster(0), Cluster(3)), Some(&grids::lan()));
        let all: Vec<usize> = (0..equal.ranks()).collect();
        assert_eq!(Network::between_near_hosts(&equal, &all), None);
        assert_eq!(Network::between_near_hosts(&equal, &cluster[..1]), None);
    }
}
