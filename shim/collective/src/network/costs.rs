//! Costs of messages of one size on all paths of a network.

use crate::network::links::Network;
use treepie_base::square::Square;
use treepie_base::{Cluster, List};
use treepie_platform::{Contention, Link};

/// Latency and gap of one message.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MessageCost {
    /// `g`, in seconds.
    pub gap: f64,
    /// `L` and the additional time of a rendezvous, in seconds.
    pub latency: f64,
}

impl MessageCost {
    /// Cost of a message of `bytes` on a link; zero if the link is unknown.
    pub fn on(link: Option<&Link>, bytes: u64) -> Self {
        link.map_or(MessageCost::default(), |link| MessageCost {
            gap: link.gap(bytes),
            latency: link.latency() + link.handshake(bytes),
        })
    }

    /// Cost of a message of `bytes` in a total exchange (thesis item 46).
    pub(crate) fn in_exchange(self, contention: Option<Contention>, bytes: u64) -> Self {
        let met = contention.unwrap_or(Contention::NONE);
        MessageCost {
            gap: met.gamma * self.gap + met.delay(bytes),
            latency: met.gamma * self.latency,
        }
    }

    /// Time of one isolated message, in seconds.
    pub fn seconds(&self) -> f64 {
        self.gap + self.latency
    }
}

/// Costs of messages of one size, between and inside all clusters.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageCosts {
    /// Size in bytes.
    pub bytes: u64,
    /// Seconds on the uplink of each cluster.
    pub uplink: List<Cluster, f64>,
    /// Seconds on the downlink of each cluster.
    pub downlink: List<Cluster, f64>,
    /// From cluster to cluster, row by row; zero from one to itself.
    between: Square<Cluster, MessageCost>,
    /// Between hosts of each cluster.
    pub within: List<Cluster, MessageCost>,
    /// Between ranks of a host of each cluster.
    pub on_host: List<Cluster, MessageCost>,
}

impl MessageCosts {
    /// Costs of messages of `bytes` on a network.
    pub fn new(network: &Network, bytes: u64) -> Self {
        let inside = network.all_clusters();
        // Pairs of near hosts share one link.
        let mut last: Option<(&Link, MessageCost)> = None;
        let between = |(from, to)| match (network.between(from, to), last) {
            (Some(link), Some((before, cost))) if std::ptr::eq(link, before) => cost,
            (link, _) => {
                let cost = MessageCost::on(link, bytes);
                last = link.map(|link| (link, cost)).or(last);
                cost
            }
        };
        MessageCosts {
            bytes,
            uplink: inside.clone().map(|c| network.uplink(c, bytes)).collect(),
            downlink: inside.clone().map(|c| network.downlink(c, bytes)).collect(),
            between: Square::new(network.clusters(), between),
            within: inside
                .clone()
                .map(|c| MessageCost::on(network.within(c), bytes))
                .collect(),
            on_host: inside
                .clone()
                .map(|c| MessageCost::on(network.on_host(c), bytes))
                .collect(),
        }
    }

    /// Cost from one cluster to another.
    pub fn between(&self, from: Cluster, to: Cluster) -> MessageCost {
        self.between[(from, to)]
    }

    /// Costs with the direction of every message reversed.
    pub fn reversed(&self) -> Self {
        MessageCosts {
            uplink: self.downlink.clone(),
            downlink: self.uplink.clone(),
            between: Square::new(self.between.order(), |(from, to)| self.between(to, from)),
            ..self.clone()
        }
    }
}
