//! What messages between the ranks of a communicator meet on a platform.
//!
//! ```text
//!   rank --> host's card --> uplink of its cluster --> connection --> downlink --> card --> rank
//!            \___ inside a cluster only the cards ___/
//! ```
//!
//! A platform says what one message meets: `L + g(m)`. What several messages at the
//! same time have in common follows from it: whatever leaves a host passes its card as
//! fast as its cluster's link is, whatever leaves a cluster its uplink, which is as
//! fast as the fastest link out of it (faster, where several pairs together were measured to be).

mod costs;

use std::sync::Arc;

use crate::collective::Clusters;
use crate::collective::Operation;
use crate::collective::read::models::Computing;
use crate::platform::orders::{Costs, CostsError};
use crate::platform::{Contention, Link, Platform};
pub use costs::{MessageCost, MessageCosts};

/// A link that messages of several pairs share: how long each occupies it is `share`
/// times the gap of a link.
#[derive(Debug, Clone, PartialEq)]
struct Shared {
    link: Arc<Link>,
    share: f64,
}

/// How far apart two ranks are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distance {
    /// On one host.
    Host,
    /// On two hosts of a cluster.
    Cluster,
    /// In two clusters.
    Grid,
}

/// The ranks of a communicator on a platform. Clusters stand in the platform's order, whatever the
/// order of ranks is; those that have no rank here are left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    cluster_of: Vec<usize>,
    host_of: Vec<usize>,
    hosts: usize,
    /// From cluster to cluster, row by row.
    between: Vec<Option<Arc<Link>>>,
    within: Vec<Option<Arc<Link>>>,
    on_host: Vec<Option<Arc<Link>>>,
    contention: Vec<Option<Contention>>,
    uplink: Vec<Option<Shared>>,
    downlink: Vec<Option<Shared>>,
    /// Leader of each cluster.
    leaders: Vec<usize>,
    centre: usize,
    /// The longest latency between two clusters, in seconds.
    farthest: f64,
    /// Seconds that [`LONG`] bytes occupy the slowest of all uplinks and downlinks.
    slowest: f64,
    /// How many members of a cluster share what passes between clusters, at most.
    lanes: usize,
    /// What reductions and copies compute.
    pub computing: Computing,
}

/// The size by which links are compared: large enough that the rate counts.
const LARGE: u64 = 1 << 20;

/// The size by which it is told how much is on its way: as large as messages between clusters are.
const LONG: u64 = 64 << 10;

/// The smallest message that any MPI asks for before it sends it, in bytes.
const LEAST_LIMIT: u64 = 512;

/// From this latency on, in seconds, hosts are as far apart as clusters are: what messages
/// between them take counts, and what ranks do in between does not.
const FAR: f64 = 1e-3;

/// Whether all of these clusters are one whose hosts are far from each other: sites that are alike
/// make one logical cluster, and then each host takes the place of a cluster.
fn hosts_are_far_apart(platform: &Platform, clusters: &[usize]) -> bool {
    let Some((&one, rest)) = clusters.split_first() else {
        return false;
    };
    let within = platform.clusters()[one].within.as_ref();
    rest.iter().all(|&other| other == one) && within.is_some_and(|link| link.latency() >= FAR)
}

/// The link that all messages to or from a cluster of the platform share: as fast as the fastest on
/// its `side`, or as several pairs together were measured to be.
fn shared(
    platform: &Platform,
    side: impl Fn(usize) -> (usize, usize),
    place: usize,
) -> Option<Shared> {
    let link = |other| {
        let (from, to) = side(other);
        platform.between(from, to)
    };
    let others = (0..platform.clusters().len()).filter(|&other| other != place);
    let fastest =
        others.min_by(|&one, &other| link(one).gap(LARGE).total_cmp(&link(other).gap(LARGE)))?;
    let alone = LARGE as f64 / link(fastest).gap(LARGE).max(f64::MIN_POSITIVE);
    let together = platform.contents().parallel.iter();
    let together = together
        .filter(|measured| (measured.from, measured.to) == side(fastest))
        .map(|measured| measured.bytes_per_second)
        .fold(alone, f64::max);
    Some(Shared {
        share: alone / together,
        link: Arc::new(link(fastest).clone()),
    })
}

impl Network {
    /// The part of `platform` that a communicator uses: `ranks` has the rank of the
    /// world for each of its own. `None` if the platform has no such rank.
    pub fn new(platform: &Platform, ranks: &[usize]) -> Option<Self> {
        let (clusters, hosts) = (platform.cluster_of_rank(), platform.host_of_rank());
        let places: Option<Vec<usize>> = ranks.iter().map(|&r| clusters.get(r).copied()).collect();
        let places = places?;
        let by_host = hosts_are_far_apart(platform, &places);
        let numbering = match by_host {
            true => Clusters::new(&ranks.iter().map(|&rank| hosts[rank]).collect::<Vec<_>>()),
            false => Clusters::new(&places),
        };
        let count = numbering.count();
        // The platform's cluster for each of ours.
        let known: Vec<usize> = (0..count)
            .map(|c| places[numbering.members(c)[0]])
            .collect();
        let mut host_number = std::collections::HashMap::new();
        let host_of: Vec<usize> = ranks
            .iter()
            .map(|&rank| {
                let next = host_number.len();
                *host_number.entry(hosts[rank]).or_insert(next)
            })
            .collect();
        let mut network = Network {
            cluster_of: (0..ranks.len()).map(|rank| numbering.of(rank)).collect(),
            hosts: host_number.len(),
            host_of,
            between: vec![None; count * count],
            within: vec![None; count],
            on_host: vec![None; count],
            contention: vec![None; count],
            uplink: vec![None; count],
            downlink: vec![None; count],
            leaders: (0..count)
                .map(|c| {
                    let members = numbering.members(c);
                    let wanted = platform.clusters()[known[c]].leader;
                    let is_wanted = |&&member: &&usize| ranks[member] == wanted;
                    *members.iter().find(is_wanted).unwrap_or(&members[0])
                })
                .collect(),
            centre: 0,
            farthest: 0.0,
            slowest: 0.0,
            lanes: 1,
            computing: Computing::default(),
        };
        for (c, &place) in known.iter().enumerate() {
            let cluster = &platform.clusters()[place];
            let within = cluster.within.clone().map(Arc::new);
            network.within[c] = within.clone().filter(|_| !by_host);
            network.contention[c] = cluster.contention.filter(|_| !by_host);
            let closest = cluster.levels.first();
            network.on_host[c] = closest.map(|level| Arc::new(level.link.clone()));
            for (other, &there) in known.iter().enumerate() {
                if other != c {
                    network.between[c * count + other] = match by_host {
                        true => within.clone(),
                        false => Some(Arc::new(platform.between(place, there).clone())),
                    };
                }
            }
            let card = || within.clone().map(|link| Shared { link, share: 1.0 });
            (network.uplink[c], network.downlink[c]) = match by_host {
                true => (card(), card()),
                false => (
                    shared(platform, |other| (place, other), place),
                    shared(platform, |other| (other, place), place),
                ),
            };
        }
        network.centre = network.nearest_to_all();
        let latencies = network.between.iter().flatten();
        network.farthest = latencies.map(|link| link.latency()).fold(0.0, f64::max);
        network.slowest = (0..count)
            .map(|c| network.uplink(c, LONG).max(network.downlink(c, LONG)))
            .fold(0.0, f64::max);
        let lanes = (0..count).map(|c| network.members_to_fill(c, numbering.members(c).len()));
        network.lanes = lanes.max().unwrap_or(1);
        Some(network)
    }

    /// How many of a cluster's `members` share what passes between clusters: all where each may
    /// have a card of its own; on one host so many that they fill its uplink and reduce as fast as
    /// it carries.
    fn members_to_fill(&self, cluster: usize, members: usize) -> usize {
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

    /// The same with one rank of each host, if every host has as many ranks, and several: what
    /// collectives in two levels, inside hosts and between them, see of it.
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
        let cluster_of: Vec<usize> = kept.iter().map(|&rank| self.cluster_of[rank]).collect();
        let first = |cluster| cluster_of.iter().position(|&of| of == cluster);
        Some(Network {
            leaders: (0..self.clusters())
                .map(|cluster| first(cluster).unwrap_or(0))
                .collect(),
            host_of: (0..self.hosts).collect(),
            cluster_of,
            ..self.clone()
        })
    }

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.cluster_of.len()
    }

    /// Number of clusters.
    pub fn clusters(&self) -> usize {
        self.within.len()
    }

    /// Number of hosts.
    pub fn hosts(&self) -> usize {
        self.hosts
    }

    /// The cluster of every rank.
    pub fn cluster_of(&self) -> &[usize] {
        &self.cluster_of
    }

    /// The host of every rank.
    pub fn host_of(&self) -> &[usize] {
        &self.host_of
    }

    /// The rank that speaks for each cluster: the platform's coordinator, or the lowest
    /// where that one is not in the communicator.
    pub fn leaders(&self) -> &[usize] {
        &self.leaders
    }

    /// The cluster from which all others are reached soonest, there and back: from which
    /// collectives without a root start.
    pub fn centre(&self) -> usize {
        self.centre
    }

    fn nearest_to_all(&self) -> usize {
        const USUAL: u64 = 64 << 10;
        let count = self.clusters();
        let way = |from, to| {
            self.between(from, to)
                .map_or(0.0, |link| link.latency() + link.gap(USUAL))
        };
        let ways =
            |from: usize| -> f64 { (0..count).map(|to| way(from, to) + way(to, from)).sum() };
        let all: Vec<f64> = (0..count).map(ways).collect();
        let nearer = |best: usize, other: usize| if all[other] < all[best] { other } else { best };
        (0..count).reduce(nearer).unwrap_or(0)
    }

    /// How far apart two ranks are.
    pub fn distance(&self, one: usize, other: usize) -> Distance {
        match self.cluster_of[one] == self.cluster_of[other] {
            false => Distance::Grid,
            true if self.host_of[one] == self.host_of[other] => Distance::Host,
            true => Distance::Cluster,
        }
    }

    /// The link from one rank to another; `None` where nothing is known about ranks so
    /// close, which are taken to need no time.
    pub fn link(&self, from: usize, to: usize) -> Option<&Link> {
        let here = self.cluster_of[from];
        match self.distance(from, to) {
            Distance::Grid => self.between(here, self.cluster_of[to]),
            Distance::Cluster => self.within(here),
            Distance::Host => self.on_host(here),
        }
    }

    /// The link from one cluster to another; `None` from one to itself.
    pub fn between(&self, from: usize, to: usize) -> Option<&Link> {
        self.between[from * self.clusters() + to].as_deref()
    }

    /// The link between hosts of a cluster, or the closest that is known.
    pub fn within(&self, cluster: usize) -> Option<&Link> {
        let known = self.within[cluster].as_ref();
        known.or(self.on_host[cluster].as_ref()).map(Arc::as_ref)
    }

    /// The link between hosts of a cluster, where it has several.
    pub fn between_hosts(&self, cluster: usize) -> Option<&Link> {
        self.within[cluster].as_deref()
    }

    /// The link between ranks of a host of a cluster, or the closest that is known.
    pub fn on_host(&self, cluster: usize) -> Option<&Link> {
        let known = self.on_host[cluster].as_ref();
        known.or(self.within[cluster].as_ref()).map(Arc::as_ref)
    }

    /// How a cluster responds to a total exchange among its ranks, if that was measured.
    pub fn contention(&self, cluster: usize) -> Option<Contention> {
        self.contention[cluster]
    }

    /// The same network where no contention is known.
    #[cfg(test)]
    pub(in crate::collective) fn without_contention(mut self) -> Self {
        self.contention.fill(None);
        self
    }

    /// Seconds that a message of `bytes` occupies the uplink of a cluster.
    pub fn uplink(&self, cluster: usize, bytes: u64) -> f64 {
        let uplink = self.uplink[cluster].as_ref();
        uplink.map_or(0.0, |shared| shared.share * shared.link.gap(bytes))
    }

    /// Seconds that a message of `bytes` occupies the downlink of a cluster.
    pub fn downlink(&self, cluster: usize, bytes: u64) -> f64 {
        let downlink = self.downlink[cluster].as_ref();
        downlink.map_or(0.0, |shared| shared.share * shared.link.gap(bytes))
    }

    /// Bytes that pass the link which an operation keeps busiest in the longest latency: the uplink
    /// of cluster `home`, from which all comes, or its downlink, to which all goes; without a root,
    /// the slowest of all.
    pub fn in_flight(&self, operation: Operation, home: usize) -> u64 {
        let seconds = match operation {
            Operation::Bcast => self.uplink(home, LONG),
            Operation::Reduce => self.downlink(home, LONG),
            _ => self.slowest,
        };
        (self.farthest / seconds.max(f64::MIN_POSITIVE) * LONG as f64) as u64
    }

    /// The largest message that goes at once between any two clusters; what is larger asks its
    /// receiver first, which costs two latencies more. `None` where no such limit is known.
    pub fn eager_limit(&self) -> Option<u64> {
        let limits = self.between.iter().flatten();
        let limits = limits.filter_map(|link| link.eager_limit());
        // No MPI asks for so little: that was noise.
        limits.filter(|&limit| limit >= LEAST_LIMIT).min()
    }

    /// The same network where messages of more than `limit` bytes ask first between clusters, on
    /// links that do not show where they do: what is known of the MPI, for platforms that were
    /// not measured with it.
    pub fn with_eager_limit(mut self, limit: u64) -> Self {
        let limit = limit.max(LEAST_LIMIT);
        for link in self.between.iter_mut().flatten() {
            if link.eager_limit().is_none() {
                *link = Arc::new(link.with_rendezvous_above(limit));
            }
        }
        self
    }

    /// How many ranks of each cluster fill its uplink together: 1 where one alone does.
    pub fn pairs_to_fill(&self, cluster: usize) -> usize {
        let share = self.uplink[cluster]
            .as_ref()
            .map_or(1.0, |shared| shared.share);
        (1.0 / share.max(1e-3)).round().max(1.0) as usize
    }

    /// How many ranks of a cluster it takes at most to keep the links between clusters busy with
    /// what clusters reduce.
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// Costs of one message between coordinators, of `bytes(from, to)`, and what each
    /// cluster needs `inside`: what orders between clusters are made from.
    ///
    /// # Errors
    /// Times inside that are no numbers.
    pub fn costs(
        &self,
        bytes: impl Fn(usize, usize) -> u64,
        inside: Vec<f64>,
    ) -> Result<Costs, CostsError> {
        let clusters = self.clusters();
        let mut gap = vec![0.0; clusters * clusters];
        let mut latency = gap.clone();
        for from in 0..clusters {
            for to in 0..clusters {
                if let Some(link) = self.between(from, to) {
                    let bytes = bytes(from, to);
                    gap[from * clusters + to] = link.gap(bytes);
                    latency[from * clusters + to] = link.latency() + link.handshake(bytes);
                }
            }
        }
        Costs::new(gap, latency, inside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::grids;

    #[test]
    fn hosts_take_the_place_of_clusters_where_all_are_one_and_far_apart() {
        let far = grids::wan(10.0, 100.0);
        let one = grids::of_numbers(&[0; 12], 4, |_| far.clone(), |_, _| unreachable!());
        assert_eq!((one.clusters(), one.hosts()), (3, 3));
        assert_eq!(one.between(0, 2), Some(&far));
        assert_eq!(one.between_hosts(1), None);
        assert_eq!(one.uplink(1, LARGE), far.gap(LARGE));
        assert_eq!(one.distance(0, 3), Distance::Host);
        let near = grids::lan();
        let one = grids::of_numbers(&[0; 12], 4, |_| near.clone(), |_, _| unreachable!());
        assert_eq!((one.clusters(), one.hosts()), (1, 3));
    }
}
