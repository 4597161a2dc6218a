//! Which messages are part of a total exchange inside a cluster, and the contention there: one rule
//! for plans that are simulated and for scripts that are read.

use crate::network::links::{Distance, Network};
use crate::plan::step::{Action, Plan};
use std::collections::HashSet;
use treepie_platform::Contention;

/// The ranks that take part in exchanges inside their clusters.
///
/// A rank takes part that sends to more than two thirds of the others of its cluster, or receives
/// from as many: all do so in a total exchange, also where some of its blocks are empty; in rings,
/// trees and exchanges at distances 1, 2, 4, ... nobody does both.
pub struct Exchanges<'a> {
    network: &'a Network,
    sends: Vec<bool>,
    receives: Vec<bool>,
}

/// Whether it is known of any cluster how it responds to an exchange.
pub fn is_contention_known(network: &Network) -> bool {
    (0..network.clusters()).any(|cluster| network.contention(cluster).is_some())
}

/// Whether so many ranks are more than two thirds of the others of a cluster of `size`.
pub(crate) fn is_most(partners: usize, size: usize) -> bool {
    3 * partners > 2 * (size - 1)
}

impl<'a> Exchanges<'a> {
    /// Those of a collective, from all pairs of a cluster that one message or more goes between:
    /// who sends, and to whom, each pair once.
    pub fn new(network: &'a Network, pairs: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut sizes = vec![0; network.clusters()];
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

    /// Those of the plans of all ranks, where contention is known.
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

    /// The contention of a message. What a rank sends only after another of its messages is
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

/// Whether a step of a plan waits for a message that its rank sends before.
pub(crate) fn is_after_another(plan: &Plan, step: u32) -> bool {
    let needs = plan.needs(&plan.steps()[step as usize]).iter();
    let mut needed = needs.map(|&earlier| &plan.steps()[earlier as usize].action);
    needed.any(|action| receiver(action).is_some())
}

/// Whom a step sends to.
fn receiver(action: &Action) -> Option<usize> {
    match action {
        Action::Send { to, .. } => Some(*to),
        _ => None,
    }
}
