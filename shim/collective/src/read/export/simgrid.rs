//! A network as a platform of SimGrid 3.32, for the replay of time-independent traces.
//!
//! ```text
//!   zone of a cluster: hosts -- cards --> router --up--> (link of the pair: L) --down--> router ...
//! ```
//!
//! Rates are those of messages of one MiB. SMPI's own factors must be switched off by [`OPTIONS`]:
//! latencies and rates here are measured between MPI processes.

use crate::network::links::Network;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use treepie_base::Cluster;
use treepie_base::square::pairs;
use treepie_platform::Link;

/// Options of `smpirun` with which messages take `L + m / rate`, those below 64 KiB are sent
/// eagerly, and acknowledgements take no time.
pub const OPTIONS: &str = "--cfg=smpi/lat-factor:0:1 --cfg=smpi/bw-factor:0:1 \
    --cfg=network/latency-factor:1 --cfg=network/bandwidth-factor:1 --cfg=network/TCP-gamma:0 \
    --cfg=network/weight-S:0 --cfg=smpi/send-is-detached-thresh:65536 \
    --cfg=smpi/async-small-thresh:65536 --cfg=smpi/os:0:0:0 --cfg=smpi/or:0:0:0 \
    --cfg=smpi/ois:0:0:0 --cfg=network/crosstraffic:0";

const LARGE: u64 = 1 << 20;

/// Rate that has no effect, in bytes a second.
const UNLIMITED: f64 = 1e13;

/// Rate in bytes a second at which [`LARGE`] bytes take this many seconds.
fn rate(seconds: f64) -> f64 {
    match seconds > 0.0 {
        true => LARGE as f64 / seconds,
        false => UNLIMITED,
    }
}

/// XML of the platform and its host file, one line for each rank.
pub fn simgrid(network: &Network) -> (String, String) {
    let mut text = String::from(
        "<?xml version='1.0'?>\n\
         <!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n\
         <platform version=\"4.1\">\n<zone id=\"grid\" routing=\"Full\">\n",
    );
    for cluster in network.all_clusters() {
        zone(&mut text, network, cluster);
    }
    links(&mut text, network);
    text.push_str("</zone>\n</platform>\n");
    let list: String = (0..network.ranks())
        .map(|rank| host_of(network, rank))
        .map(|host| format!("h{host}\n"))
        .collect();
    (text, list)
}

/// Host of a rank; if clusters are groups of one host, its group.
fn host_of(network: &Network, rank: usize) -> usize {
    match network.is_in_memory() {
        true => network.cluster_of()[rank].0,
        false => network.host_of()[rank],
    }
}

/// Hosts of a cluster behind its router; half of the latency before it and half behind it. Each
/// host has as many cores as the fullest host has ranks.
fn zone(text: &mut String, network: &Network, cluster: Cluster) {
    let mut ranks_of: BTreeMap<usize, usize> = BTreeMap::new();
    for rank in (0..network.ranks()).filter(|&rank| network.cluster_of()[rank] == cluster) {
        *ranks_of.entry(host_of(network, rank)).or_default() += 1;
    }
    let cores = ranks_of.values().max().copied().unwrap_or(1);
    let hosts: Vec<String> = ranks_of.keys().map(usize::to_string).collect();
    let of = |link: Option<&Link>| {
        let rate = link.map_or(UNLIMITED, |link| rate(link.gap(LARGE)));
        (rate, link.map_or(0.0, Link::latency))
    };
    let (card, latency) = of(network.between_hosts(cluster));
    let (own_rate, own_latency) = of(network.on_host(cluster));
    let _ = writeln!(
        text,
        "<cluster id=\"c{cluster}\" prefix=\"h\" suffix=\"\" radical=\"{}\" speed=\"4Gf\" core=\"{cores}\" \
         bw=\"{card}Bps\" lat=\"{}s\" sharing_policy=\"SPLITDUPLEX\" \
         loopback_bw=\"{own_rate}Bps\" loopback_lat=\"{own_latency}s\" router_id=\"r{cluster}\"/>",
        hosts.join(","),
        latency / 2.0
    );
}

/// Uplinks, downlinks, and a separate link for each two clusters.
fn links(text: &mut String, network: &Network) {
    let clusters = network.all_clusters();
    for cluster in clusters.clone() {
        for (name, seconds) in [
            ("up", network.uplink(cluster, LARGE)),
            ("down", network.downlink(cluster, LARGE)),
        ] {
            let _ = writeln!(
                text,
                "<link id=\"{name}{cluster}\" bandwidth=\"{}Bps\" latency=\"0s\"/>",
                rate(seconds)
            );
        }
    }
    let pairs = || pairs(clusters.clone()).filter(|(from, to)| from != to);
    for (from, to) in pairs() {
        let Some(link) = network.between(from, to) else {
            continue;
        };
        // The cards on the path have half of a latency each.
        let cards: f64 = [from, to]
            .into_iter()
            .filter_map(|cluster| network.between_hosts(cluster))
            .map(|link| link.latency() / 2.0)
            .sum();
        let _ = writeln!(
            text,
            "<link id=\"p{from}-{to}\" bandwidth=\"{}Bps\" latency=\"{}s\" \
             sharing_policy=\"FATPIPE\"/>",
            rate(link.gap(LARGE)),
            (link.latency() - cards).max(0.0)
        );
    }
    for (from, to) in pairs() {
        let _ = writeln!(
            text,
            "<zoneRoute src=\"c{from}\" dst=\"c{to}\" gw_src=\"r{from}\" gw_dst=\"r{to}\" \
             symmetrical=\"NO\"><link_ctn id=\"up{from}\"/><link_ctn id=\"p{from}-{to}\"/>\
             <link_ctn id=\"down{to}\"/></zoneRoute>"
        );
    }
}
