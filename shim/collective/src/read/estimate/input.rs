//! Inputs of cost estimates.

use crate::algorithms::by_cluster::block_tree_shape::OwnBlocks;
use crate::algorithms::by_cluster::inside::{Fan, fans, stage};
use crate::algorithms::by_cluster::stage::{Flows, Stage, Stream};
use crate::clusters::Clusters;
use crate::network::costs::{MessageCost, MessageCosts};
use crate::network::links::Network;
use crate::operation::Operation;
use std::borrow::Cow;
use treepie_base::{Cluster, List, Slice};
use treepie_platform::Link;

/// Ranks and hosts of one cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Size {
    /// Ranks of the cluster.
    pub ranks: usize,
    /// Hosts of the cluster.
    pub hosts: usize,
    /// Ranks on its fullest host.
    pub on_host: usize,
    /// Groups that its leader serves, widest first.
    pub fans: Vec<Fan>,
}

/// Sizes of all clusters.
pub fn sizes(network: &Network, clusters: &Clusters) -> List<Cluster, Size> {
    clusters
        .all()
        .map(|cluster| {
            let mut on: std::collections::HashMap<usize, usize> = Default::default();
            for &rank in clusters.members(cluster) {
                *on.entry(network.host_of()[rank]).or_default() += 1;
            }
            Size {
                ranks: clusters.members(cluster).len(),
                hosts: on.len(),
                on_host: on.values().copied().max().unwrap_or(1),
                fans: fans(clusters, clusters.leader(cluster)),
            }
        })
        .collect()
}

/// Inputs of a cost estimate.
#[derive(Debug, Clone, Copy)]
pub struct CostInput<'a> {
    /// Links.
    pub network: &'a Network,
    /// Ranks in clusters, as for algorithms.
    pub clusters: &'a Clusters,
    /// Sizes of the clusters.
    pub sizes: &'a Slice<Cluster, Size>,
    /// Collective.
    pub operation: Operation,
    /// Bytes of the message, or of one rank's block.
    pub bytes: u64,
    /// Root or, without a root, the leader of the cluster in the centre.
    pub root: usize,
    /// True if operands must stay in order.
    pub ordered: bool,
    /// Costs of one segment.
    pub segment: &'a MessageCosts,
    /// Largest message in bytes for blocks that are sent together.
    pub largest: u64,
    /// Tree between clusters of an algorithm that has one: senders before their receivers, those of
    /// one sender in the order of service.
    pub edges: &'a [(Cluster, Cluster)],
}

impl CostInput<'_> {
    /// Number of clusters.
    pub(super) fn count(&self) -> usize {
        self.sizes.len()
    }

    /// All clusters except one.
    pub(super) fn others(&self, cluster: Cluster) -> impl Iterator<Item = Cluster> + use<> {
        self.sizes.keys().filter(move |&other| other != cluster)
    }

    /// Cluster of most ranks; the last of several.
    pub(super) fn largest_cluster(&self) -> Cluster {
        let largest = self.sizes.keys().max_by_key(|&cluster| self.ranks(cluster));
        largest.unwrap_or_default()
    }

    /// Number of clusters minus one.
    pub(super) fn number_of_others(&self) -> f64 {
        (self.count() - 1) as f64
    }

    /// Cluster of the root.
    pub(super) fn root_cluster(&self) -> Cluster {
        self.clusters.of(self.root)
    }

    /// Ranks of a cluster.
    pub(super) fn ranks(&self, cluster: Cluster) -> u64 {
        self.sizes[cluster].ranks as u64
    }

    /// Ranks of all clusters.
    pub(super) fn all_ranks(&self) -> u64 {
        self.clusters.ranks() as u64
    }

    /// Number of segments of `bytes`, at least one.
    pub(super) fn segments(&self, bytes: u64) -> f64 {
        bytes.div_ceil(self.segment.bytes.max(1)).max(1) as f64
    }

    /// Load of `bytes` on a link, in segments: the last one counts in proportion.
    pub(super) fn volume(&self, bytes: u64) -> f64 {
        match (self.segment.bytes, bytes) {
            (0, _) => 1.0,
            (_, 0) => 0.0,
            (segment, bytes) => (bytes as f64 / segment as f64).max(1.0),
        }
    }

    /// Seconds that `bytes`, sent together, occupy a link on which one message takes `gap(bytes)`.
    fn together(&self, bytes: u64, gap: impl Fn(u64) -> f64) -> f64 {
        match bytes <= self.largest {
            true => gap(bytes),
            false => bytes as f64 / self.largest.max(1) as f64 * gap(self.largest),
        }
    }

    /// Seconds that `bytes`, sent together, occupy the uplink of a cluster.
    pub(super) fn uplink(&self, cluster: Cluster, bytes: u64) -> f64 {
        self.together(bytes, |bytes| self.network.uplink(cluster, bytes))
    }

    /// Seconds that `bytes`, sent together, occupy the downlink of a cluster.
    pub(super) fn downlink(&self, cluster: Cluster, bytes: u64) -> f64 {
        self.together(bytes, |bytes| self.network.downlink(cluster, bytes))
    }

    /// Cost of `bytes`, sent together, on the connection between two ranks of these clusters.
    pub(super) fn connection(&self, from: Cluster, to: Cluster, bytes: u64) -> MessageCost {
        let link = self.network.between(from, to);
        MessageCost {
            gap: self.together(bytes, |bytes| link.map_or(0.0, |link| link.gap(bytes))),
            ..MessageCost::on(link, bytes.min(self.largest))
        }
    }

    /// Seconds that `bytes`, sent together from one cluster to another, occupy the card of their
    /// host in the first.
    pub(super) fn card_together(&self, here: Cluster, there: Cluster, bytes: u64) -> f64 {
        let within = self.network.between_hosts(here);
        let card = within.map_or(0.0, |link| self.together(bytes, |bytes| link.gap(bytes)));
        card.min(self.connection(here, there, bytes).gap)
    }

    /// Seconds in which the messages of a leader's cluster pass its card, in `segments`, together
    /// with those from other clusters. These occupy it for `far` seconds each, `latency` later:
    /// messages from inside wait for those that arrived before them.
    pub(super) fn on_card(&self, cluster: Cluster, segments: f64, far: f64, latency: f64) -> f64 {
        let inside = self.inside(cluster, self.bytes);
        let beside = (segments * inside.period - latency).max(0.0);
        segments * inside.card + beside.min(segments * far)
    }

    /// Seconds of two stages that `bytes`, sent together, pass in segments.
    pub(super) fn piped(&self, one: f64, other: f64, bytes: u64) -> f64 {
        let pieces = bytes.div_ceil(self.largest.max(1)).max(1);
        one.max(other) + one.min(other) / pieces as f64
    }

    /// Costs of the segments of a message of `bytes` if each of `targets` receives the same number.
    pub(super) fn segments_for(&self, bytes: u64, targets: usize) -> Cow<'_, MessageCosts> {
        // An empty part, or a small one, has little effect.
        if 2 * bytes < self.bytes || bytes == 0 {
            return Cow::Borrowed(self.segment);
        }
        let targets = targets.max(1) as u64;
        let rounds = bytes.div_ceil(self.segment.bytes.max(1).saturating_mul(targets));
        let segment = bytes.div_ceil((rounds * targets).max(1));
        match 4 * segment < 3 * self.segment.bytes {
            true => Cow::Owned(MessageCosts::new(self.network, segment)),
            false => Cow::Borrowed(self.segment),
        }
    }

    /// Maximum of latency and rendezvous of a message of `bytes` to another cluster, in seconds.
    pub(super) fn late(&self, bytes: u64) -> f64 {
        let others = |from| self.others(from).map(move |to| (from, to));
        let pairs = self.sizes.keys().flat_map(others);
        let links = pairs.filter_map(|(from, to)| self.network.between(from, to));
        links
            .map(|link| link.latency() + link.handshake(bytes))
            .fold(0.0, f64::max)
    }

    /// Seconds that a segment between two clusters occupies the card of its host in the first of
    /// them.
    pub(super) fn far_card(&self, here: Cluster, there: Cluster) -> f64 {
        match self.network.between_hosts(here) {
            Some(_) => {
                let far = self.segment.between(here, there).gap;
                far.min(self.segment.within[here].gap)
            }
            None => 0.0,
        }
    }

    /// Maximum over clusters.
    pub(super) fn largest(&self, of: impl Fn(Cluster) -> f64) -> f64 {
        self.sizes.keys().map(of).fold(0.0, f64::max)
    }

    /// Maximum over all messages between two clusters.
    pub(super) fn largest_between(&self, of: impl Fn(MessageCost) -> f64) -> f64 {
        self.largest(|from| {
            let others = self.others(from);
            let costs = others.map(|to| of(self.segment.between(from, to)));
            costs.fold(0.0, f64::max)
        })
    }

    /// Seconds of one segment on the slower of the uplink and the downlink of a cluster.
    pub(super) fn access(&self, cluster: Cluster) -> f64 {
        self.segment.uplink[cluster].max(self.segment.downlink[cluster])
    }

    /// Seconds to reduce one segment.
    pub(super) fn reducing(&self) -> f64 {
        let bytes = self.segment.bytes.min(self.bytes);
        self.network.computing.seconds(bytes)
    }

    /// Bytes that each other cluster receives directly, so that the path is full while the first
    /// segments return over a relay: the bandwidth-delay product, shared among the others.
    pub(super) fn direct_part(&self) -> u64 {
        let product = self.network.in_flight(self.operation, self.root_cluster());
        match self.count() - 1 {
            0 | 1 => self.bytes,
            others => (product / others as u64).min(self.bytes),
        }
    }

    /// Stage of the segments of `bytes` from the leader of a cluster to its members, or back to it
    /// if they are reduced.
    pub(super) fn inside(&self, cluster: Cluster, bytes: u64) -> Stage {
        self.inside_in(cluster, self.segment.bytes.min(bytes), bytes)
    }

    /// Stage of `bytes` in messages of `message` bytes.
    pub(super) fn inside_in(&self, cluster: Cluster, message: u64, bytes: u64) -> Stage {
        let stream = Stream {
            bytes: message,
            messages: bytes.div_ceil(message.max(1)).max(1),
            flows: Flows::of(self.operation),
        };
        stage(self.network, cluster, &self.sizes[cluster].fans, stream)
    }

    /// Cost of a segment in a total exchange between members of a cluster.
    pub(super) fn in_exchange(&self, cluster: Cluster, cost: MessageCost) -> MessageCost {
        let bytes = self.segment.bytes.min(self.bytes);
        cost.in_exchange(self.network.contention(cluster), bytes)
    }

    /// Seconds of the busiest card if all members of a cluster send the others `messages` of
    /// `bytes` each.
    pub(super) fn exchanged(&self, cluster: Cluster, messages: f64, bytes: u64) -> f64 {
        self.between_members(cluster, messages, bytes, self.sizes[cluster].on_host)
    }

    /// Seconds in which one member of a cluster sends the others `messages` of `bytes`, or receives
    /// them.
    pub(super) fn spread(&self, cluster: Cluster, messages: f64, bytes: u64) -> f64 {
        self.between_members(cluster, messages, bytes, 1)
    }

    /// Seconds in which the blocks of `ranks` members of a cluster, on the maximum number of hosts,
    /// pass from one of them to the others, or back.
    pub(super) fn own_blocks(&self, cluster: Cluster, ranks: u64) -> f64 {
        let blocks = OwnBlocks {
            bytes: self.bytes,
            largest: self.largest,
        };
        let mut left = ranks as usize;
        let fans = self.sizes[cluster].fans.iter().map(|fan| {
            let count = fan.count.min(left).max(1);
            left = left.div_ceil(count);
            Fan { count, ..*fan }
        });
        let fans: Vec<Fan> = fans.collect();
        let by_levels = blocks.by_levels(self.network, &fans);
        by_levels.unwrap_or_else(|| self.spread(cluster, (ranks - 1) as f64, self.bytes))
    }

    /// Seconds of the busiest card or rank if `senders` members on one host exchange `messages` of
    /// `bytes` each with the members of their cluster.
    pub(super) fn between_members(
        &self,
        cluster: Cluster,
        messages: f64,
        bytes: u64,
        senders: usize,
    ) -> f64 {
        let size = &self.sizes[cluster];
        if size.ranks < 2 || messages <= 0.0 {
            return 0.0;
        }
        let contention = self
            .network
            .contention(cluster)
            .filter(|_| senders == size.on_host);
        let cost = |link: Option<&Link>| {
            let message = bytes.min(self.largest);
            let cost = MessageCost::on(link, message).in_exchange(contention, message);
            MessageCost {
                gap: messages * bytes.max(1) as f64 / message.max(1) as f64 * cost.gap,
                ..cost
            }
        };
        let on_host = cost(self.network.on_host(cluster));
        if size.hosts == 1 {
            // Ranks of a host copy the data that they send and receive.
            let copies = if senders == 1 { 1.0 } else { 2.0 };
            return copies * on_host.gap + on_host.latency;
        }
        let within = cost(self.network.within(cluster));
        let near = (size.on_host - 1) as f64 / (size.ranks - 1) as f64;
        let card = (1.0 - near) * senders as f64 * within.gap;
        card.max(near * on_host.gap) + within.latency
    }
}
