//! Links that messages pass one after the other.

use crate::network::links::{Distance, Network};
use crate::read::simulate::outcome::Sending;
use std::collections::HashMap;
use treepie_platform::Contention;

/// First and last byte of a message at some place.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Passing {
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

    /// Through a card that is faster than the rest of the way: it shares with what else goes on
    /// there, as connections do. Its first byte does not wait; its last one is through when all is
    /// that came before it, or before that, as messages of its kind have half of the card at least.
    fn beside(self, card: &mut Card, seconds: f64) -> Passing {
        card.free = self.head.max(card.free) + seconds;
        card.far = self.head.max(card.far) + 2.0 * seconds;
        Passing {
            head: self.head,
            tail: self.tail.max(card.free.min(card.far)),
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

/// One direction of a host's card.
#[derive(Debug, Clone, Copy, Default)]
struct Card {
    /// When it is free again.
    free: f64,
    /// When messages between clusters have passed that have half of it.
    far: f64,
}

/// Seconds of a message on its way: of each link, how long it is occupied.
#[derive(Debug, Clone, Copy)]
pub struct Way {
    from: usize,
    to: usize,
    distance: Distance,
    /// `L`, with what the message meets.
    pub latency: f64,
    /// What it needs beyond that where it asks first.
    pub handshake: f64,
    /// `g(m)` of the link that it takes, with what it meets there.
    gap: f64,
    /// On the uplink of the sender's cluster, to another one.
    pub uplink: f64,
    /// On the downlink of the receiver's.
    pub downlink: f64,
    /// On the cards of both hosts, between clusters: as long as a message inside would, where there
    /// is a link between hosts.
    cards: [f64; 2],
}

impl Way {
    /// The same between other ranks of the same clusters.
    pub fn of(self, from: usize, to: usize) -> Way {
        Way { from, to, ..self }
    }

    /// Whether it goes to another cluster.
    pub fn is_far(&self) -> bool {
        self.distance == Distance::Grid
    }

    /// Seconds that it occupies what others share: the sender's card, the uplink, the downlink, the
    /// receiver's card. Nothing on one host.
    pub fn shared(&self) -> [f64; 4] {
        match self.distance {
            Distance::Host => [0.0; 4],
            Distance::Cluster => [self.gap, 0.0, 0.0, self.gap],
            Distance::Grid => [self.cards[0], self.uplink, self.downlink, self.cards[1]],
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
    card_out: Vec<Card>,
    card_in: Vec<Card>,
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
            card_out: vec![Card::default(); hosts],
            card_in: vec![Card::default(); hosts],
            uplink: vec![0.0; clusters],
            downlink: vec![0.0; clusters],
            connections: HashMap::new(),
        }
    }

    /// What a message occupies on its way; `met` is the contention there.
    pub fn way(&self, (from, to, bytes): (usize, usize, u64), met: Contention) -> Way {
        let network = self.network;
        let link = network.link(from, to);
        let gap = link.map_or(0.0, |link| link.gap(bytes));
        let gap = met.gamma * gap + met.delay(bytes);
        let mut way = Way {
            from,
            to,
            distance: match self.sending {
                // A port is all that is occupied.
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

    /// A message starts from its sender: when it is on the way.
    pub(crate) fn depart(&mut self, now: f64, way: &Way) -> Passing {
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

    /// A message comes to the cluster of its receiver: when it comes to the host.
    pub fn enter(&mut self, passing: Passing, way: &Way) -> Passing {
        if !way.is_far() {
            return passing;
        }
        let there = self.network.cluster_of()[way.to];
        passing.through(&mut self.downlink[there], way.downlink)
    }

    /// A message comes to the host of its receiver: when it is there.
    pub fn arrive(&mut self, passing: Passing, way: &Way) -> Passing {
        let card = &mut self.card_in[self.network.host_of()[way.to]];
        match way.distance {
            Distance::Host => passing.through(&mut self.port_in[way.to], way.gap),
            Distance::Cluster => passing.through(&mut card.free, way.gap),
            Distance::Grid => passing.beside(card, way.cards[1]),
        }
    }
}
