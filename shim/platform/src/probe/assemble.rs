//! Assembly of measurements into a platform.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use treepie_base::{Cluster, List};

use crate::clustering::Partition;
use crate::contention::Contention;
use crate::contents::{Contents, Host, Level, Parallel, PlatformCluster, PlatformError, Probing};
use crate::description::Platform;
use crate::inside::{Identity, Inside, LEVELS};
use crate::latency::LatencyMatrix;
use crate::link::Link;
use crate::probe::options::Options;

/// Hosts of all ranks.
pub(super) struct RankPlaces {
    /// Hosts in the order of their lowest rank.
    pub(super) hosts: Vec<Host>,
    identities: Vec<Identity>,
}

/// Two ranks inside a cluster whose link is to be measured.
pub(super) struct InnerPair {
    pub(super) pair: (usize, usize),
    pub(super) cluster: Cluster,
    /// Level that the two share: `None` for a cluster, else the level's name.
    pub(super) level: Option<&'static str>,
}

/// Pairs that can send simultaneously, each of ranks that are in no other pair.
pub(super) struct Lanes {
    pub(super) from: Cluster,
    pub(super) to: Cluster,
    /// See [`Parallel`].
    pub(super) level: Option<&'static str>,
    pub(super) pairs: Vec<(usize, usize)>,
}

impl RankPlaces {
    /// Hosts from the identities of the ranks.
    pub(super) fn new(identities: &[Identity]) -> RankPlaces {
        let mut place_of: HashMap<&str, usize> = HashMap::new();
        let mut hosts: Vec<Host> = Vec::new();
        for (rank, identity) in identities.iter().enumerate() {
            let place = *place_of.entry(&identity.host).or_insert_with(|| {
                hosts.push(Host {
                    name: identity.host.clone(),
                    ranks: Vec::new(),
                });
                hosts.len() - 1
            });
            hosts[place].ranks.push(rank);
        }
        RankPlaces {
            hosts,
            identities: identities.to_vec(),
        }
    }

    /// For each cluster, the pairs to measure inside: two hosts; for each level inside hosts, two
    /// ranks that share it and nothing closer.
    pub(super) fn inner_pairs(&self, partition: &Partition) -> List<Cluster, Vec<InnerPair>> {
        let clusters = partition.clusters.iter_enumerated();
        clusters
            .map(|(cluster, hosts)| {
                let mut pairs = Vec::new();
                let mut push = |pair: Option<(usize, usize)>, level| {
                    pairs.extend(pair.map(|pair| InnerPair {
                        pair,
                        cluster,
                        level,
                    }));
                };
                let first = |host: usize| self.hosts[host].ranks[0];
                push(
                    hosts.get(1).map(|&other| (first(hosts[0]), first(other))),
                    None,
                );
                for level in LEVELS {
                    push(self.on_host(hosts, level), Some(level));
                }
                pairs
            })
            .collect()
    }

    /// Pairs between any two clusters, between two hosts of each, and on a host of each that share
    /// a level and nothing closer.
    pub(super) fn lanes(&self, partition: &Partition) -> Vec<Lanes> {
        let clusters = &partition.clusters;
        let mut all = Vec::new();
        let mut push = |from, to, level, pairs: Vec<_>| {
            all.push(Lanes {
                from,
                to,
                level,
                pairs,
            });
        };
        for (from, hosts) in clusters.iter_enumerated() {
            for to in clusters.keys().filter(|&to| to != from) {
                let ranks = [from, to].map(|one| self.ranks_round_robin(&clusters[one]));
                push(from, to, None, zipped(&ranks[0], &ranks[1]));
            }
            if let [one, other, ..] = hosts[..] {
                let ranks = [one, other].map(|host| &self.hosts[host].ranks);
                push(from, from, None, zipped(ranks[0], ranks[1]));
            }
            for level in LEVELS {
                let on_hosts = hosts.iter().map(|&host| self.disjoint_pairs(host, level));
                let most = on_hosts.max_by_key(Vec::len).unwrap_or_default();
                push(from, from, Some(level), most);
            }
        }
        all.retain(|lanes| !lanes.pairs.is_empty());
        all
    }

    /// Disjoint pairs of ranks of a host whose closest common level is this one.
    fn disjoint_pairs(&self, host: usize, level: &str) -> Vec<(usize, usize)> {
        let mut left = self.hosts[host].ranks.clone();
        let mut pairs = Vec::new();
        while let Some((&one, others)) = left.split_first() {
            let is_partner =
                |&other: &usize| self.identities[one].shared(&self.identities[other]) == level;
            let partner = others.iter().copied().find(is_partner);
            pairs.extend(partner.map(|other| (one, other)));
            left.retain(|&rank| rank != one && Some(rank) != partner);
        }
        pairs
    }

    /// The ranks of these hosts round-robin: one of each host before the second of any.
    pub(super) fn ranks_round_robin(&self, hosts: &[usize]) -> Vec<usize> {
        let ranks = |&host: &usize| self.hosts[host].ranks.as_slice();
        let deepest = hosts.iter().map(|host| ranks(host).len()).max();
        let turn = |turn: usize| {
            hosts
                .iter()
                .filter_map(move |h| ranks(h).get(turn).copied())
        };
        (0..deepest.unwrap_or(0)).flat_map(turn).collect()
    }

    /// Two ranks of one of these hosts whose closest common level is this one.
    fn on_host(&self, hosts: &[usize], level: &str) -> Option<(usize, usize)> {
        let identity = |rank: usize| &self.identities[rank];
        hosts.iter().find_map(|&host| {
            let ranks = &self.hosts[host].ranks;
            let pairs = ranks.iter().enumerate();
            pairs
                .flat_map(|(place, &one)| ranks[place + 1..].iter().map(move |&other| (one, other)))
                .find(|&(one, other)| identity(one).shared(identity(other)) == level)
        })
    }
}

fn zipped(one: &[usize], other: &[usize]) -> Vec<(usize, usize)> {
    one.iter().copied().zip(other.iter().copied()).collect()
}

/// All measurements.
#[derive(Default)]
pub(super) struct Measured {
    pub(super) latency_pairs: usize,
    pub(super) between: BTreeMap<(Cluster, Cluster), Link>,
    /// Links between clusters that were known before.
    pub(super) known: BTreeSet<(Cluster, Cluster)>,
    pub(super) inside: HashMap<Cluster, HashMap<Option<&'static str>, Link>>,
    pub(super) parallel: Vec<Parallel>,
    pub(super) contention: HashMap<Cluster, Contention>,
    pub(super) left_out: Vec<String>,
    pub(super) seconds: f64,
}

/// Builds the platform; missing links are filled in.
pub(super) fn assemble(
    place: &RankPlaces,
    partition: &Partition,
    latencies: &LatencyMatrix,
    mut measured: Measured,
    options: &Options,
) -> Result<Platform, PlatformError> {
    let filler = Filler::new(&measured, latencies, partition);
    let mut clusters: List<Cluster, _> = List::new();
    for (number, hosts) in partition.clusters.iter_enumerated() {
        let mut inside = measured.inside.remove(&number).unwrap_or_default();
        let within = inside.remove(&None);
        let levels = LEVELS.into_iter().filter_map(|name| {
            inside.remove(&Some(name)).map(|link| Level {
                name: name.to_owned(),
                link,
            })
        });
        clusters.push(PlatformCluster {
            name: format!("cluster{number}"),
            hosts: hosts.clone(),
            leader: place.hosts[hosts[0]].ranks[0],
            within: match hosts.len() {
                1 => None,
                _ => Some(within.unwrap_or_else(|| filler.link(number, number))),
            },
            levels: levels.collect(),
            contention: measured.contention.remove(&number),
        });
    }
    // One probe for each pair of clusters and one inside each, as in the thesis.
    let numbers = clusters.keys();
    let mut pairs_between = 0;
    for a in numbers.clone() {
        for b in numbers.clone().skip(a.0 + 1) {
            let known = |pair| measured.between.contains_key(&pair);
            if known((a, b)) || known((b, a)) {
                pairs_between += 1;
            } else {
                measured.between.insert((a, b), filler.link(a, b));
            }
        }
    }
    let inner: usize = clusters
        .iter()
        .map(|cluster| usize::from(cluster.within.is_some()) + cluster.levels.len())
        .sum();
    let ranks: usize = place.hosts.iter().map(|host| host.ranks.len()).sum();
    Platform::new(Contents {
        hosts: place.hosts.clone(),
        inside: Inside::of(&place.identities),
        clusters,
        links: measured.between,
        parallel: measured.parallel,
        tolerance: Some(options.tolerance),
        probing: Some(Probing {
            seconds: measured.seconds,
            budget: options.budget,
            latency_pairs: measured.latency_pairs,
            probes: pairs_between + inner,
            pairs: ranks * ranks.saturating_sub(1) / 2,
            left_out: measured.left_out,
        }),
    })
}

/// Links for pairs that were not measured for lack of time: the known latency, and the samples of
/// the slowest measured link.
struct Filler {
    slowest: Option<Link>,
    /// Mean latency between hosts of two clusters, and inside one.
    latency: HashMap<(Cluster, Cluster), f64>,
}

impl Filler {
    fn new(measured: &Measured, latencies: &LatencyMatrix, partition: &Partition) -> Filler {
        let inside = measured.inside.values().flat_map(HashMap::values);
        let all = measured.between.values().chain(inside);
        let cost = |link: &&Link| link.delivery(1 << 20);
        let slowest = all
            .max_by(|one, other| cost(one).total_cmp(&cost(other)))
            .cloned();
        let cluster_of = partition.cluster_of();
        let mut sums: HashMap<(Cluster, Cluster), (f64, f64)> = HashMap::new();
        for (a, b, seconds) in latencies.links() {
            let (a, b) = (cluster_of[a], cluster_of[b]);
            let sum = sums.entry((a.min(b), a.max(b))).or_default();
            *sum = (sum.0 + seconds, sum.1 + 1.0);
        }
        let mean = |(pair, (sum, count)): (_, (f64, f64))| (pair, sum / count);
        Filler {
            slowest,
            latency: sums.into_iter().map(mean).collect(),
        }
    }

    fn link(&self, from: Cluster, to: Cluster) -> Link {
        /// Assumption without any measurement: a slow wide-area link.
        const UNKNOWN: f64 = 0.1;
        let known = self.latency.get(&(from.min(to), from.max(to))).copied();
        let latency = known.unwrap_or(UNKNOWN);
        let samples = self.slowest.as_ref().map(|link| link.samples().to_vec());
        let link = match samples {
            Some(samples) => Link::new(latency, samples),
            None => Link::linear(latency, 1e-5, 1e-7),
        };
        link.expect("the latency is above 0 and the samples were measured")
    }
}
