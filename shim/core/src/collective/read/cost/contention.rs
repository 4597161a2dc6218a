//! Contention of the messages of scripts that are part of total exchanges inside clusters.

use super::script::{OneByOne, Receiver, Scripts};
use crate::collective::read::exchanges::{Exchanges, is_contention_known};
use crate::collective::{Clusters, Distance, Network};
use crate::platform::Contention;

/// In place of a receiver's number.
const NONE: u32 = u32::MAX;

/// The exchanges of scripts whose receivers are read; `None` where no contention is known.
pub(super) fn exchanges<'a>(network: &'a Network, scripts: &Scripts) -> Option<Exchanges<'a>> {
    is_contention_known(network).then(|| {
        let mut pairs = Vec::new();
        for_each_near(network, scripts, |from, to, _| pairs.push((from, to)));
        Exchanges::new(network, pairs)
    })
}

/// Calls `found` with every pair of ranks of a cluster that messages go between.
fn for_each_near(
    network: &Network,
    scripts: &Scripts,
    mut found: impl FnMut(usize, usize, &Receiver),
) {
    let clusters = Clusters::new(network.cluster_of());
    let mut places = vec![NONE; network.ranks()];
    for (script, ranks) in scripts.read_ones() {
        for (place, receiver) in script.receivers.iter().enumerate() {
            places[receiver.rank as usize] = place as u32;
        }
        for rank in ranks {
            for &to in clusters.members(clusters.of(rank)) {
                let place = places[scripts.read_as(rank, to)];
                if place != NONE && to != rank {
                    found(rank, to, &script.receivers[place as usize]);
                }
            }
        }
        for receiver in &script.receivers {
            places[receiver.rank as usize] = NONE;
        }
    }
}

/// Seconds that exchanges inside clusters take, whole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Inside {
    /// Until all has passed the card, or port, that is occupied longest; what its ranks send to
    /// other clusters passes there, too.
    pub busiest: f64,
    /// That contention adds for the rank that waits longest for its messages to leave.
    pub added: f64,
}

/// What exchanges inside clusters take; `None` where no message meets contention.
pub(super) fn inside(network: &Network, scripts: &Scripts, one_by_one: OneByOne) -> Option<Inside> {
    let exchanges = exchanges(network, scripts)?;
    let mut loads = Loads::new(network);
    for_each_near(network, scripts, |from, to, receiver| {
        let contention = exchanges.contention(from, to, receiver.is_after_another);
        loads.add(from, to, receiver, contention, one_by_one);
    });
    loads.add_far(scripts);
    (loads.latency > 0.0).then(|| Inside {
        busiest: loads.busiest() + loads.latency,
        added: loads.added.iter().copied().fold(0.0, f64::max),
    })
}

/// Seconds that what is sent inside clusters occupies.
struct Loads<'a> {
    network: &'a Network,
    /// Of each host's card, and of each rank for what stays on its host.
    cards: Vec<f64>,
    ports: Vec<f64>,
    /// [`Inside::added`] of each rank.
    added: Vec<f64>,
    /// Messages of each rank that stay in its cluster.
    near: Vec<u32>,
    /// The longest latency with contention; 0 where no message meets any.
    latency: f64,
}

impl<'a> Loads<'a> {
    fn new(network: &'a Network) -> Self {
        let nothing = vec![0.0; network.ranks()];
        Loads {
            network,
            cards: vec![0.0; network.hosts()],
            ports: nothing.clone(),
            added: nothing,
            near: vec![0; network.ranks()],
            latency: 0.0,
        }
    }

    /// What `from` sends to a rank of its cluster.
    fn add(
        &mut self,
        from: usize,
        to: usize,
        receiver: &Receiver,
        contention: Contention,
        one_by_one: OneByOne,
    ) {
        self.near[from] += receiver.messages;
        let Some(link) = self.network.link(from, to) else {
            return;
        };
        let messages = f64::from(receiver.messages);
        let bytes = receiver.bytes / u64::from(receiver.messages);
        let free = link.gap(bytes);
        let gap = contention.gamma * free + contention.delay(bytes);
        match self.network.distance(from, to) {
            Distance::Host => self.ports[from] += messages * gap,
            _ => self.cards[self.network.host_of()[from]] += messages * gap,
        }
        if contention == Contention::NONE {
            return;
        }
        let latency = contention.gamma * link.latency();
        self.latency = self.latency.max(latency);
        let is_waited_for = one_by_one == OneByOne::Exchanges || link.handshake(bytes) > 0.0;
        if receiver.is_after_another && is_waited_for {
            self.added[from] += messages * (gap - free + latency - link.latency());
        }
    }

    /// What passes the cards of all ranks on its way to other clusters.
    fn add_far(&mut self, scripts: &Scripts) {
        for (script, ranks) in scripts.read_ones() {
            let messages: u32 = script.receivers.iter().map(|to| to.messages).sum();
            let bytes: u64 = script.receivers.iter().map(|to| to.bytes).sum();
            let usual = bytes / u64::from(messages.max(1));
            let clusters = 0..self.network.clusters();
            let gaps: Vec<f64> = clusters.map(|here| self.card_gap(here, usual)).collect();
            for rank in ranks {
                let far = f64::from(messages - self.near[rank]);
                self.cards[self.network.host_of()[rank]] +=
                    far * gaps[self.network.cluster_of()[rank]];
            }
        }
    }

    /// Seconds that a message to another cluster occupies its sender's card, on average of all.
    fn card_gap(&self, here: usize, bytes: u64) -> f64 {
        let card = self.network.between_hosts(here);
        let card = card.map_or(0.0, |link| link.gap(bytes));
        let others = (0..self.network.clusters()).filter_map(|to| self.network.between(here, to));
        let (count, seconds) = others.fold((0, 0.0), |(count, seconds), link| {
            (count + 1, seconds + link.gap(bytes).min(card))
        });
        seconds / f64::from(count.max(1))
    }

    fn busiest(&self) -> f64 {
        let all = self.cards.iter().chain(&self.ports);
        all.copied().fold(0.0, f64::max)
    }
}
