//! Which messages are part of a total exchange inside a cluster, and what they meet there.

use std::collections::HashSet;

use crate::collective::network::{Distance, Network};
use crate::collective::plan::{Action, Plan};
use crate::platform::Contention;

/// The ranks that take part in exchanges inside their clusters.
///
/// A rank takes part that sends to more than two thirds of the others of its cluster, or receives
/// from as many: all do so in a total exchange, also where some of its blocks are empty; in rings,
/// trees and exchanges at distances 1, 2, 4, ... nobody does both.
pub struct Exchanges<'a> {
    network: &'a Network,
    plans: &'a [Plan],
    sends: Vec<bool>,
    receives: Vec<bool>,
}

impl<'a> Exchanges<'a> {
    /// Those in these plans, where clusters are known to respond to any.
    pub fn of(network: &'a Network, plans: &'a [Plan]) -> Self {
        let known = (0..network.clusters()).any(|cluster| network.contention(cluster).is_some());
        let mut sizes = vec![0; network.clusters()];
        for &cluster in network.cluster_of() {
            sizes[cluster] += 1;
        }
        let takes_part = |rank: usize, partner: fn(&Action) -> Option<usize>| {
            let here = network.cluster_of()[rank];
            let steps = plans[rank].steps().iter();
            let partners: HashSet<usize> = steps
                .filter_map(|step| partner(&step.action))
                .filter(|&other| network.cluster_of()[other] == here)
                .collect();
            3 * partners.len() > 2 * (sizes[here] - 1)
        };
        let of_all = |partner| {
            let ranks = (0..plans.len()).filter(|_| known);
            ranks.map(|rank| takes_part(rank, partner)).collect()
        };
        Exchanges {
            network,
            plans,
            sends: of_all(receiver),
            receives: of_all(sender),
        }
    }

    /// What a message of a step of `from` to `to` meets. What a rank sends only after another of
    /// its messages (pairwise exchanges, matchings) overflows no buffer, and has no `delta`.
    pub fn met_by(&self, from: usize, to: usize, step: u32) -> Contention {
        let is_part = self.sends.get(from) == Some(&true) && self.receives.get(to) == Some(&true);
        if !is_part || self.network.distance(from, to) == Distance::Grid {
            return Contention::NONE;
        }
        let here = self.network.cluster_of()[from];
        let Some(met) = self.network.contention(here) else {
            return Contention::NONE;
        };
        let plan = &self.plans[from];
        let needs = plan.needs(&plan.steps()[step as usize]).iter();
        let mut needed = needs.map(|&earlier| &plan.steps()[earlier as usize].action);
        match needed.any(|action| receiver(action).is_some()) {
            true => Contention { delta: 0.0, ..met },
            false => met,
        }
    }
}

/// Whom a step sends to.
fn receiver(action: &Action) -> Option<usize> {
    match action {
        Action::Send { to, .. } => Some(*to),
        _ => None,
    }
}

/// Whom a step receives from.
fn sender(action: &Action) -> Option<usize> {
    match action {
        Action::Receive { from, .. } => Some(*from),
        _ => None,
    }
}
