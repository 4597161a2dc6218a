//! Links, which messages pass one after the other.

use crate::network::links::{Distance, Network};
use crate::read::simulate::outcome::Sending;
use std::collections::HashMap;
use treepie_base::{Cluster, List};
use treepie_platform::Contention;

/// Times of the first and the last byte of a message at some place.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Passing {
    /// Arrival of the first byte.
    pub head: f64,
    /// Arrival of the last byte.
    pub tail: f64,
}

impl Passing {
    /// Passes a link that is free from time `free` on and takes `seconds` for the message.
    fn through(self, free: &mut f64, seconds: f64) -> Passing {
        let head = self.head.max(*free);
        *free = head + seconds;
        Passing {
            head,
            tail: self.tail.max(*free),
        }
    }

    /// Passes a card that is faster than the rest of the path: it shares the card with other
    /// messages, as connections do. Its first byte does not wait. Its last one has passed when all
    /// earlier messages have, or sooner, as messages of its kind have at least half of the card.
    fn beside(self, card: &mut Card, seconds: f64) -> Passing {
        card.free = self.head.max(card.free) + seconds;
        card.far = self.head.max(card.far) + 2.0 * seconds;
        Passing {
            head: self.head,
            tail: self.tail.max(card.free.min(card.far)),
        }
    }

    /// Later by this many seconds.
    pub fn after(self, seconds: f64) -> Passing {
        Passing {
            head: self.head + seconds,
            tail: self.tail + seconds,
        }
    }
}

/// One direction of a host's card.
#[derive(Debug, Clone, Copy, Default)]
struct Card {
    /// Time at which it is free again.
    free: f64,
    /// Time at which the messages between clusters, with half of its rate, have passed.
    far: f64,
}

/// Seconds for which a message occupies each link on its path.
#[derive(Debug, Clone, Copy)]
pub struct MessagePath {
    from: usize,
    to: usize,
    distance: Distance,
    /// `L`, with contention.
    pub latency: f64,
    /// Additional time of a rendezvous.
    pub handshake: f64,
    /// `g(m)` of the link, with contention.
    gap: f64,
    /// On the uplink of the sender's cluster, if it leaves it.
    pub uplink: f64,
    /// On the downlink of the receiver's cluster.
    pub downlink: f64,
    /// On the cards of both hosts, between clusters: the time of a message inside, if there is a
    /// link between hosts.
    cards: [f64; 2],
}

impl MessagePath {
    /// Occupied times for a message between other ranks of the same clusters.
    pub fn of(self, from: usize, to: usize) -> MessagePath {
        MessagePath { from, to, ..self }
    }

    /// True if it is sent to another cluster.
    pub fn is_far(&self) -> bool {
        self.distance == Distance::Grid
    }

    /// Seconds for which it occupies shared links: the sender's card, the uplink, the downlink, the
    /// receiver's card. Zero on one host.
    pub fn shared(&self) -> [f64; 4] {
        match self.distance {
            Distance::Host => [0.0; 4],
            Distance::Cluster => [self.gap, 0.0, 0.0, self.gap],
            Distance::Grid => [self.cards[0], self.uplink, self.downlink, self.cards[1]],
        }
    }
}

/// Time at which each link is free again.
pub struct Links<'a> {
    network: &'a Network,
    sending: Sending,
    /// For each rank, messages on its host, or all messages in the one-port model.
    port_out: Vec<f64>,
    port_in: Vec<f64>,
    card_out: Vec<Card>,
    card_in: Vec<Card>,
    uplink: List<Cluster, f64>,
    downlink: List<Cluster, f64>,
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
            card_out: vec![Card::default(); hosts],
            card_in: vec![Card::default(); hosts],
            uplink: vec![0.0; clusters].into(),
            downlink: vec![0.0; clusters].into(),
            connections: HashMap::new(),
        }
    }

    /// Occupied times of a message on its path; `met` is its contention.
    pub fn way(&self, (from, to, bytes): (usize, usize, u64), met: Contention) -> MessagePath {
        let network = self.network;
        let link = network.link(from, to);
        let gap = link.map_or(0.0, |link| link.gap(bytes));
        let gap = met.gamma * gap + met.delay(bytes);
        let mut way = MessagePath {
            from,
            to,
            distance: match self.sending {
                // Only a port is occupied.
                Sending::OnePort => Distance::Host,
                Sending::Overlapping => network.distance(from, to),
            },
            latency: met.gamma * link.map_or(0.0, |link| link.latency()),
            handshake: link.map_or(0.0, |link| link.handshake(bytes)),
            gap,
            uplink: 0.0,
            downlink: 0.0,
            cards: [0.0; 2],
        };
        if way.distance == Distance::Grid {
            let clusters = [from, to].map(|rank| network.cluster_of()[rank]);
            way.uplink = network.uplink(clusters[0], bytes);
            way.downlink = network.downlink(clusters[1], bytes);
            way.cards = clusters.map(|cluster| {
                let within = network.between_hosts(cluster);
                within.map_or(0.0, |link| link.gap(bytes)).min(gap)
            });
        }
        way
    }

    /// Sends a message from its sender: the times at which it is on its way.
    pub(crate) fn depart(&mut self, now: f64, way: &MessagePath) -> Passing {
        let start = Passing {
            head: now,
            tail: now,
        };
        let card = &mut self.card_out[self.network.host_of()[way.from]];
        match way.distance {
            Distance::Host => start.through(&mut self.port_out[way.from], way.gap),
            Distance::Cluster => start.through(&mut card.free, way.gap),
            Distance::Grid => {
                let here = self.network.cluster_of()[way.from];
                let own = self.connections.entry((way.from, way.to)).or_default();
                start
                    .beside(card, way.cards[0])
                    .through(&mut self.uplink[here], way.uplink)
                    .through(own, way.gap)
            }
        }
    }

    /// Passes a message into the cluster of its receiver: the times at which it arrives at the
    /// host.
    pub fn enter(&mut self, passing: Passing, way: &MessagePath) -> Passing {
        if !way.is_far() {
            return passing;
        }
        let there = self.network.cluster_of()[way.to];
        passing.through(&mut self.downlink[there], way.downlink)
    }

    /// Passes a message into the host of its receiver: the times of its arrival.
    pub fn arrive(&mut self, passing: Passing, way: &MessagePath) -> Passing {
        let card = &mut self.card_in[self.network.host_of()[way.to]];
        match way.distance {
            Distance::Host => passing.through(&mut self.port_in[way.to], way.gap),
            Distance::Cluster => passing.through(&mut card.free, way.gap),
            Distance::Grid => passing.beside(card, way.cards[1]),
        }
    }
}
