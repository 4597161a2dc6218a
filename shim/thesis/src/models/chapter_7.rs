//! Scatters and total exchanges over clusters (thesis 7.2 and 7.3, items 66 to 69 and 73), if a
//! process sends one message at a time. The size is that of one message, from process to process.

use crate::links::{MessageModel, Modelled};
use crate::models::formula::Reading;
use crate::models::table_6_3::Scatter;
use treepie_base::Cluster;
use treepie_collective::{Clusters, Network};

/// Order in which a scatter serves clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Served {
    /// In the order of the list (item 68).
    InOrder,
    /// First the one that would complete last if it were served alone (item 69).
    SlowestFirst,
}

/// Seconds until the last of these messages of a root has arrived: each has a time for which it
/// occupies the root, and a later arrival.
fn sent_in_turn(messages: impl IntoIterator<Item = (f64, f64)>) -> f64 {
    let mut busy = 0.0;
    let ends = messages.into_iter().map(|(seconds, later)| {
        busy += seconds;
        busy + later
    });
    ends.fold(0.0, f64::max)
}

/// A scatter from rank 0 to each process separately (item 66). Connections between clusters start
/// slowly: each takes `round_trips` additional round trips.
pub fn scatter_direct(network: &Network, bytes: u64, round_trips: f64) -> f64 {
    let message = |to: usize| {
        let link = network.link(0, to)?;
        let is_far = network.cluster_of()[0] != network.cluster_of()[to];
        let start = if is_far {
            round_trips * 2.0 * link.latency()
        } else {
            0.0
        };
        Some((link.gap(bytes) + start, link.latency()))
    };
    sent_in_turn((1..network.ranks()).filter_map(message))
}

/// A scatter from rank 0 with one message for each cluster, whose leader continues with the best
/// strategy of table 6.3; its own cluster is served last, process by process.
pub fn scatter_grouped(network: &Network, clusters: &Clusters, bytes: u64, served: Served) -> f64 {
    let root = clusters.of(0);
    let reading = Reading {
        model: MessageModel::PLogP,
        ..Reading::default()
    };
    let inside = |cluster: Cluster| {
        let link = network
            .within(cluster)
            .map(|link| Modelled::new(reading.model, link));
        let size = clusters.members(cluster).len();
        let best = |link| {
            let group = reading.group(size, link);
            Scatter::ALL
                .map(|strategy| strategy.seconds(group, bytes))
                .into_iter()
                .fold(f64::INFINITY, f64::min)
        };
        link.as_ref().map_or(0.0, best)
    };
    let message = |cluster: Cluster| {
        let link = network.between(root, cluster)?;
        let all = bytes * clusters.members(cluster).len() as u64;
        Some((link.gap(all), link.latency() + inside(cluster)))
    };
    let mut messages: Vec<(f64, f64)> = clusters.others(root).filter_map(message).collect();
    if served == Served::SlowestFirst {
        messages.sort_by(|one, other| (other.0 + other.1).total_cmp(&(one.0 + one.1)));
    }
    let own = clusters.members(root).iter().filter(|&&member| member != 0);
    let own = own.filter_map(|&member| network.link(0, member));
    messages.extend(own.map(|link| (link.gap(bytes), link.latency())));
    sent_in_turn(messages)
}

/// Lower bound of a total exchange: the process that sends longest, one message at a time (section
/// 6.4 for one cluster: `(P - 1) g(m) + L`).
pub fn exchange_bound(network: &Network, bytes: u64) -> f64 {
    let all = || 0..network.ranks();
    let sending = |from: usize| {
        let links = all()
            .filter(|&to| to != from)
            .filter_map(|to| network.link(from, to));
        let latency = |least: f64, latency: f64| least.min(latency);
        links.clone().map(|link| link.gap(bytes)).sum::<f64>()
            + links
                .map(|link| link.latency())
                .fold(f64::INFINITY, latency)
    };
    all().map(sending).fold(0.0, f64::max)
}
