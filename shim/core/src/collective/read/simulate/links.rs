//! Links that messages pass one after the other.

use std::collections::HashMap;

use super::Sending;
use crate::collective::network::{Distance, Network};
use crate::platform::Contention;

/// First and last byte of a message at some place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Passing {
    /// When the first byte is there.
    pub head: f64,
    /// When the last byte is.
    pub tail: f64,
}

impl Passing {
    /// Through a link that is free from `free` on and needs `seconds` for the message.
    fn through(self, free: &mut f64, seconds: f64) -> Passing {
        let head = self.head.max(*free);
        *free = head + seconds;
        Passing {
            head,
            tail: self.tail.max(*free),
        }
    }

    /// Through a link that is faster than the rest of the way: it shares with what else goes on
    /// there, as connections do, and does not wait.
    fn beside(self, free: &mut f64, seconds: f64) -> Passing {
        *free = self.head.max(*free) + seconds;
        Passing {
            head: self.head,
            tail: self.tail.max(self.head + seconds),
        }
    }

    /// The same, later.
    pub fn after(self, seconds: f64) -> Passing {
        Passing {
            head: self.head + seconds,
            tail: self.tail + seconds,
        }
    }
}

/// When each link is free again.
pub struct Links<'a> {
    network: &'a Network,
    sending: Sending,
    /// Of each rank: for messages on its host, or all of them with one port.
    port_out: Vec<f64>,
    port_in: Vec<f64>,
    card_out: Vec<f64>,
    card_in: Vec<f64>,
    uplink: Vec<f64>,
    downlink: Vec<f64>,
    connections: HashMap<(usize, usize), f64>,
}

impl<'a> Links<'a> {
    /// All links free.
    pub fn new(network: &'a Network, sending: Sending) -> Self {
        let (ranks, hosts, clusters) = (network.ranks(), network.hosts(), network.clusters());
        Links {
            network,
            sending,
            port_out: vec![0.0; ranks],
            port_in: vec![0.0; ranks],
            card_out: vec![0.0; hosts],
            card_in: vec![0.0; hosts],
            uplink: vec![0.0; clusters],
            downlink: vec![0.0; clusters],
            connections: HashMap::new(),
        }
    }

    /// A message starts from its sender: when it is on the way. `met` is what it meets there.
    pub fn depart(
        &mut self,
        now: f64,
        (from, to, bytes): (usize, usize, u64),
        met: Contention,
    ) -> Passing {
        let network = self.network;
        let start = Passing {
            head: now,
            tail: now,
        };
        let gap = gap(network, (from, to, bytes), met);
        if self.sending == Sending::OnePort {
            return start.through(&mut self.port_out[from], gap);
        }
        let card = &mut self.card_out[network.host_of()[from]];
        match network.distance(from, to) {
            Distance::Host => start.through(&mut self.port_out[from], gap),
            Distance::Cluster => start.through(card, gap),
            Distance::Grid => {
                let here = network.cluster_of()[from];
                let own = self.connections.entry((from, to)).or_default();
                start
                    .beside(card, card_seconds(network, here, bytes, gap))
                    .through(&mut self.uplink[here], network.uplink(here, bytes))
                    .through(own, gap)
            }
        }
    }

    /// A message comes to its receiver: when it is there.
    pub fn arrive(
        &mut self,
        passing: Passing,
        (from, to, bytes): (usize, usize, u64),
        met: Contention,
    ) -> Passing {
        let network = self.network;
        let gap = gap(network, (from, to, bytes), met);
        if self.sending == Sending::OnePort {
            return passing.through(&mut self.port_in[to], gap);
        }
        let card = &mut self.card_in[network.host_of()[to]];
        match network.distance(from, to) {
            Distance::Host => passing.through(&mut self.port_in[to], gap),
            Distance::Cluster => passing.through(card, gap),
            Distance::Grid => {
                let there = network.cluster_of()[to];
                passing
                    .through(&mut self.downlink[there], network.downlink(there, bytes))
                    .beside(card, card_seconds(network, there, bytes, gap))
            }
        }
    }
}

/// `g(m)` of the link that a message takes, with what it meets there.
fn gap(network: &Network, (from, to, bytes): (usize, usize, u64), met: Contention) -> f64 {
    let gap = network.link(from, to).map_or(0.0, |link| link.gap(bytes));
    met.gamma * gap + met.delay(bytes)
}

/// How long a message between clusters occupies the card of a host: as one inside would, where
/// there is a link between hosts.
fn card_seconds(network: &Network, cluster: usize, bytes: u64, gap: f64) -> f64 {
    let within = network
        .between_hosts(cluster)
        .map_or(0.0, |link| link.gap(bytes));
    within.min(gap)
}
