//! Time for which the messages of plans occupy each shared link.

use crate::network::links::{Distance, Network};
use crate::plan::step::{Action, Plan};
use crate::read::simulate::links::Links;
use crate::read::simulate::outcome::Sending;
use std::collections::BTreeSet;
use treepie_base::{Cluster, List};
use treepie_platform::Contention;

/// Use of a link.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Occupied {
    /// Seconds for which messages occupy it in total.
    pub seconds: f64,
    /// Number of ranks with such messages: senders of leaving ones, receivers of arriving ones.
    pub ranks: usize,
}

/// Use of all shared links, by host and by cluster of a network.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Occupancy {
    /// Messages that leave each host.
    pub card_out: Vec<Occupied>,
    /// Messages that arrive at each host.
    pub card_in: Vec<Occupied>,
    /// Messages that leave each cluster.
    pub uplink: List<Cluster, Occupied>,
    /// Messages that arrive at each cluster.
    pub downlink: List<Cluster, Occupied>,
}

impl Occupancy {
    /// Occupancy by the messages of all ranks' plans, whose units have `unit_bytes` bytes.
    pub fn new(network: &Network, plans: &[Plan], unit_bytes: u64) -> Self {
        let links = Links::new(network, Sending::Overlapping);
        let mut occupancy = Occupancy {
            card_out: vec![Occupied::default(); network.hosts()],
            card_in: vec![Occupied::default(); network.hosts()],
            uplink: vec![Occupied::default(); network.clusters()].into(),
            downlink: vec![Occupied::default(); network.clusters()].into(),
        };
        let mut receivers = BTreeSet::new();
        for (from, plan) in plans.iter().enumerate() {
            let mut has_sent = [false; 2];
            for step in plan.steps() {
                let Action::Send { to, range, .. } = step.action else {
                    continue;
                };
                let distance = network.distance(from, to);
                if distance == Distance::Host {
                    continue;
                }
                let bytes = range.length * unit_bytes;
                let [out, up, down, into] = links.way((from, to, bytes), Contention::NONE).shared();
                let (hosts, clusters) = (network.host_of(), network.cluster_of());
                let is_far = distance == Distance::Grid;
                let first = |flag: &mut bool| usize::from(!std::mem::replace(flag, true));
                occupancy.card_out[hosts[from]].add(out, first(&mut has_sent[0]));
                let new = usize::from(receivers.insert((false, to)));
                occupancy.card_in[hosts[to]].add(into, new);
                if is_far {
                    occupancy.uplink[clusters[from]].add(up, first(&mut has_sent[1]));
                    let new = usize::from(receivers.insert((true, to)));
                    occupancy.downlink[clusters[to]].add(down, new);
                }
            }
        }
        occupancy
    }
}

impl Occupied {
    fn add(&mut self, seconds: f64, ranks: usize) {
        self.seconds += seconds;
        self.ranks += ranks;
    }
}
