//! Contention of messages of scripts that belong to total exchanges inside clusters.

use crate::clusters::Clusters;
use crate::network::costs::MessageCost;
use crate::network::links::{Distance, Network};
use crate::read::cost::script::{OneByOne, Scripts};
use crate::read::exchanges::{Exchanges, is_contention_known, is_most};
use treepie_base::{Cluster, List};
use treepie_platform::{Contention, Link};

/// Placeholder for a receiver's number.
const NONE: u32 = u32::MAX;

/// Messages of a rank to another.
#[derive(Debug, Clone, Copy)]
struct Receiver {
    messages: u32,
    bytes: u64,
    is_after_another: bool,
}

/// Exchanges of scripts whose messages are read; `None` if no contention is known, or no rank sends
/// to many and none receives from many.
pub(super) fn exchanges<'a>(network: &'a Network, scripts: &Scripts) -> Option<Exchanges<'a>> {
    if !is_contention_known(network) || !may_exchange(network, scripts) {
        return None;
    }
    let mut pairs = Vec::new();
    for_each_near(network, scripts, |from, to, _| pairs.push((from, to)));
    Some(Exchanges::new(network, pairs))
}

/// True if a rank sends, and a rank receives, as many messages as in an exchange inside the
/// smallest cluster: in trees they do not.
fn may_exchange(network: &Network, scripts: &Scripts) -> bool {
    let mut sizes: List<Cluster, usize> = vec![0; network.clusters()].into();
    for &cluster in network.cluster_of() {
        sizes[cluster] += 1;
    }
    let sizes = sizes.into_iter().filter(|&size| size > 1);
    let Some(smallest) = sizes.min() else {
        return false;
    };
    let is_many = |messages: usize| is_most(messages, smallest);
    let each = || scripts.read_ones().map(|(script, _)| script);
    each().any(|script| is_many(script.told.len()))
        && each().any(|script| is_many(script.senders.len()))
}

/// Calls `found` with every pair of ranks of a cluster that exchange messages.
fn for_each_near(
    network: &Network,
    scripts: &Scripts,
    mut found: impl FnMut(usize, usize, &Receiver),
) {
    let clusters = Clusters::new(network.cluster_of());
    let mut places = vec![NONE; network.ranks()];
    let mut receivers: Vec<Receiver> = Vec::new();
    for (script, ranks) in scripts.read_ones() {
        for told in &script.told {
            let place = &mut places[told.to as usize];
            if *place == NONE {
                *place = receivers.len() as u32;
                receivers.push(Receiver {
                    messages: 0,
                    bytes: 0,
                    is_after_another: told.is_after_another,
                });
            }
            let receiver = &mut receivers[*place as usize];
            receiver.messages += 1;
            receiver.bytes += told.bytes;
        }
        for rank in ranks {
            for &to in clusters.members(clusters.of(rank)) {
                let place = places[scripts.read_as(rank, to)];
                if place != NONE && to != rank {
                    found(rank, to, &receivers[place as usize]);
                }
            }
        }
        receivers.clear();
        for told in &script.told {
            places[told.to as usize] = NONE;
        }
    }
}

/// Seconds of exchanges inside clusters, in full.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Inside {
    /// Occupied time of the busiest card, or port, including its ranks' messages to other clusters.
    pub busiest: f64,
    /// Time that contention adds for the rank whose messages take the longest to leave.
    pub added: f64,
}

/// Times of exchanges inside clusters; `None` if no message is subject to contention.
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

/// Seconds that messages inside clusters occupy.
struct Loads<'a> {
    network: &'a Network,
    /// Occupied seconds of each host's card and, in `ports`, of each rank for messages on its host.
    cards: Vec<f64>,
    ports: Vec<f64>,
    /// [`Inside::added`] of each rank.
    added: Vec<f64>,
    /// Number of messages of each rank inside its cluster.
    near: Vec<u32>,
    /// Longest latency with contention; 0 if no message is subject to any.
    latency: f64,
    /// Last message and its cost: often equal to the next.
    last: Option<(Kind, Cost)>,
}

/// Messages of the same cost: their cluster, distance, bytes, and contention.
type Kind = (Cluster, Distance, u64, Contention);

/// Seconds of a message with contention.
#[derive(Debug, Clone, Copy)]
struct Cost {
    gap: f64,
    latency: f64,
    /// Time that contention adds to both.
    added: f64,
    /// True if it uses a rendezvous.
    asks: bool,
}

impl Cost {
    fn new(link: Option<&Link>, bytes: u64, contention: Contention) -> Self {
        let alone = MessageCost::on(link, bytes);
        let latency = link.map_or(0.0, Link::latency);
        let met = MessageCost { latency, ..alone }.in_exchange(Some(contention), bytes);
        Cost {
            gap: met.gap,
            latency: met.latency,
            added: met.seconds() - alone.gap - latency,
            asks: alone.latency > latency,
        }
    }
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
            last: None,
        }
    }

    /// Adds the messages of `from` to a rank of its cluster.
    fn add(
        &mut self,
        from: usize,
        to: usize,
        receiver: &Receiver,
        contention: Contention,
        one_by_one: OneByOne,
    ) {
        self.near[from] += receiver.messages;
        let bytes = receiver.bytes / u64::from(receiver.messages);
        let (here, distance) = (
            self.network.cluster_of()[from],
            self.network.distance(from, to),
        );
        let kind = (here, distance, bytes, contention);
        let cost = match self.last {
            Some((last, cost)) if last == kind => cost,
            _ => Cost::new(self.network.link(from, to), bytes, contention),
        };
        self.last = Some((kind, cost));
        let messages = f64::from(receiver.messages);
        match distance {
            Distance::Host => self.ports[from] += messages * cost.gap,
            _ => self.cards[self.network.host_of()[from]] += messages * cost.gap,
        }
        if contention != Contention::NONE {
            self.latency = self.latency.max(cost.latency);
            let is_waited_for = one_by_one == OneByOne::Exchanges || cost.asks;
            if receiver.is_after_another && is_waited_for {
                self.added[from] += messages * cost.added;
            }
        }
    }

    /// Adds the messages of all ranks to other clusters, which pass their hosts' cards.
    fn add_far(&mut self, scripts: &Scripts) {
        for (script, ranks) in scripts.read_ones() {
            let messages = script.told.len() as u32;
            let bytes: u64 = script.told.iter().map(|told| told.bytes).sum();
            let usual = bytes / u64::from(messages.max(1));
            let clusters = self.network.all_clusters();
            let gaps: List<Cluster, f64> =
                clusters.map(|here| self.card_gap(here, usual)).collect();
            for rank in ranks {
                let far = f64::from(messages - self.near[rank]);
                self.cards[self.network.host_of()[rank]] +=
                    far * gaps[self.network.cluster_of()[rank]];
            }
        }
    }

    /// Seconds that a message to another cluster occupies its sender's card, on average over all.
    fn card_gap(&self, here: Cluster, bytes: u64) -> f64 {
        let card = self.network.between_hosts(here);
        let card = card.map_or(0.0, |link| link.gap(bytes));
        let clusters = self.network.all_clusters();
        let others = clusters.filter_map(|to| self.network.between(here, to));
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
