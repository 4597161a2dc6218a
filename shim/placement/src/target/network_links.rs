//! Links of a network between the nodes of a job.

use crate::random::Random;
use crate::target::links::{Links, Load, OFFERS};
use crate::target::near::NearNodes;
use crate::target::network::NetworkTarget;
use crate::target::occupancy::Occupancy;
use treepie_topology::networks::Network;

/// Directed links of the network, by its stated routing.
pub(crate) struct NetworkLinks<'a> {
    pub target: &'a NetworkTarget<'a>,
    pub near: &'a NearNodes,
    pub random: Random,
}

impl NetworkLinks<'_> {
    fn network(&self) -> &Network {
        self.target.nodes.network()
    }

    fn position(&self, slot: usize) -> usize {
        let node = self.target.node_of_slot[slot];
        self.target.nodes.position(node as usize)
    }
}

impl Links for NetworkLinks<'_> {
    fn count(&self) -> usize {
        self.network().links()
    }

    fn weight(&self, link: usize) -> f64 {
        match self.network().ends(link) {
            Some(_) => 1.0 / self.network().capacity(link),
            None => 0.0,
        }
    }

    fn distance(&self, a: usize, b: usize) -> f64 {
        let (a, b) = (self.position(a), self.position(b));
        if a == b {
            return 0.0;
        }
        f64::from(self.network().distance(a, b))
    }

    fn route(&self, a: usize, b: usize, traffic: Load, mut each: impl FnMut(usize, Load)) {
        let (a, b) = (self.position(a), self.position(b));
        if a == b {
            return;
        }
        for (from, to, amount) in [(a, b, traffic.sent), (b, a, traffic.received)] {
            if amount != 0.0 {
                self.network().route(from, to, &mut |link, share| {
                    let load = Load {
                        sent: share * amount,
                        received: 0.0,
                    };
                    each(link, load);
                });
            }
        }
    }

    fn load_of_ranks(&self, link: usize, ranks: &Occupancy) -> Vec<(f64, usize)> {
        let mut loads: Vec<(f64, usize)> = (0..ranks.slot_of.len()).map(|r| (0.0, r)).collect();
        for rank in 0..ranks.slot_of.len() {
            let here = self.position(ranks.slot_of[rank]);
            for partner in ranks.partners[rank].iter().filter(|p| p.sent > 0.0) {
                let other = partner.rank as usize;
                let there = self.position(ranks.slot_of[other]);
                if here != there {
                    self.network().route(here, there, &mut |on, share| {
                        if on == link {
                            loads[rank].0 += share * partner.sent;
                            loads[other].0 += share * partner.sent;
                        }
                    });
                }
            }
        }
        loads
    }

    /// Slots at and near the nodes of the rank's partners, near its own node, and some anywhere.
    fn offers(&mut self, rank: usize, _link: usize, ranks: &Occupancy) -> Vec<usize> {
        let target = self.target;
        let node = |rank: usize| target.node_of_slot[ranks.slot_of[rank]];
        let mut nodes: Vec<u32> = self.near.of(node(rank)).iter().take(8).copied().collect();
        for partner in &ranks.partners[rank] {
            let there = node(partner.rank as usize);
            nodes.push(there);
            nodes.extend(self.near.of(there).iter().take(6));
        }
        let mut offers = Vec::new();
        let step = nodes.len().div_ceil(OFFERS).max(1);
        for &node in nodes.iter().step_by(step) {
            let slots = target.slots_of(node as usize);
            if !slots.is_empty() {
                offers.push(slots[self.random.below(slots.len())] as usize);
            }
        }
        let all = target.slots();
        offers.extend((0..OFFERS / 4).map(|_| all[self.random.below(all.len())] as usize));
        offers.sort_unstable();
        offers.dedup();
        offers
    }
}
