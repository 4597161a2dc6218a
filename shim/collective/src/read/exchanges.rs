//! Messages that belong to a total exchange inside a cluster, and their contention: one rule for
//! simulated plans and for scripts.

use crate::network::links::{Distance, Network};
use crate::plan::step::{Action, Plan};
use std::collections::HashSet;
use treepie_base::{Cluster, List};
use treepie_platform::Contention;

/// Ranks that take part in exchanges inside their clusters.
///
/// A rank takes part if it sends to more than two thirds of the others of its cluster, or receives
/// from as many. All do so in a total exchange, even if some of its blocks are empty; in rings,
/// trees and exchanges at distances 1, 2, 4, ... no rank does both.
pub struct Exchanges<'a> {
    network: &'a Network,
    sends: Vec<bool>,
    receives: Vec<bool>,
}

/// True if the contention of any cluster in an exchange is known.
pub fn is_contention_known(network: &Network) -> bool {
    network
        .all_clusters()
        .any(|cluster| network.contention(cluster).is_some())
}

/// True if this number of ranks exceeds two thirds of the others of a cluster of `size`.
pub(crate) fn is_most(partners: usize, size: usize) -> bool {
    3 * partners > 2 * (size - 1)
}

impl<'a> Exchanges<'a> {
    /// Exchanges of a collective, from all pairs of ranks of a cluster with at least one message:
    /// sender and receiver, each pair once.
    pub fn new(network: &'a Network, pairs: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut sizes: List<Cluster, usize> = vec![0; network.clusters()].into();
        for &cluster in network.cluster_of() {
            sizes[cluster] += 1;
        }
        let (mut receivers, mut senders) = (vec![0; network.ranks()], vec![0; network.ranks()]);
        for (from, to) in pairs {
            receivers[from] += 1;
            senders[to] += 1;
        }
        let takes_part = |partners: Vec<usize>| {
            let by_rank = partners.into_iter().zip(network.cluster_of());
            by_rank
                .map(|(partners, &here)| is_most(partners, sizes[here]))
                .collect()
        };
        Exchanges {
            network,
            sends: takes_part(receivers),
            receives: takes_part(senders),
        }
    }

    /// Exchanges of the plans of all ranks, if contention is known.
    pub(crate) fn of_plans(network: &'a Network, plans: &[Plan]) -> Option<Self> {
        let clusters = network.cluster_of();
        let near = |(from, plan): (usize, &Plan)| -> Vec<(usize, usize)> {
            let receivers = plan
                .steps()
                .iter()
                .filter_map(|step| receiver(&step.action));
            let near = receivers.filter(|&to| clusters[to] == clusters[from]);
            let near: HashSet<usize> = near.collect();
            near.into_iter().map(|to| (from, to)).collect()
        };
        let pairs = plans.iter().enumerate().flat_map(near);
        is_contention_known(network).then(|| Exchanges::new(network, pairs))
    }

    /// Contention of a message. A message that is sent only after another of the rank's messages is
    /// complete (pairwise exchanges, matchings) overflows no buffer, and has no `delta`.
    pub fn contention(&self, from: usize, to: usize, is_after_another: bool) -> Contention {
        let is_part = self.sends[from] && self.receives[to];
        if !is_part || self.network.distance(from, to) == Distance::Grid {
            return Contention::NONE;
        }
        let here = self.network.cluster_of()[from];
        match self.network.contention(here) {
            Some(met) if is_after_another => Contention { delta: 0.0, ..met },
            Some(met) => met,
            None => Contention::NONE,
        }
    }
}

/// True if a step of a plan waits for an earlier message of its rank.
pub(crate) fn is_after_another(plan: &Plan, step: u32) -> bool {
    let needs = plan.needs(&plan.steps()[step as usize]).iter();
    let mut needed = needs.map(|&earlier| &plan.steps()[earlier as usize].action);
    needed.any(|action| receiver(action).is_some())
}

/// Receiver of a step.
fn receiver(action: &Action) -> Option<usize> {
    match action {
        Action::Send { to, .. } => Some(*to),
        _ => None,
    }
}
