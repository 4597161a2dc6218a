//! Contention of each cluster, from timed total exchanges.

use treepie_base::statistics::median;

use super::assemble::{Measured, RankPlaces};
use super::initiator::Initiator;
use crate::clustering::Partition;
use crate::contention::{Contention, TimedExchange, Unsaturated};
use crate::inside::LEVELS;
use crate::link::Link;
use crate::probe::messenger::Messenger;
use crate::probe::orders::run_exchange;

/// Least number of ranks whose exchange can overload anything: each of two ranks has one partner.
const FEWEST_RANKS: usize = 3;
/// Number of timed exchanges, after a first one that sets up connections.
const TIMES: usize = 4;
/// Maximum number of bytes that a rank receives in an exchange.
const MOST_BYTES: u64 = 16 << 20;
/// Least size in bytes; below it, latencies dominate.
const SMALLEST: u64 = 1 << 10;
/// Ratio of an exchange's time to its bound assumed before any measurement of the cluster.
const EXPECTED: f64 = 4.0;

/// Measures the contention of every cluster, as far as time permits.
pub(super) fn all_clusters(
    initiator: &mut Initiator<'_, impl Messenger>,
    place: &RankPlaces,
    partition: &Partition,
    measured: &mut Measured,
) {
    for (cluster, hosts) in partition.clusters.iter_enumerated() {
        let ranks = place.ranks_round_robin(hosts);
        if ranks.len() < FEWEST_RANKS {
            let count = ranks.len();
            initiator.left_out.push(format!(
                "contention of cluster{cluster}: it has {count} of the {FEWEST_RANKS} ranks that \
                 an exchange needs to fill its links; nothing is stored"
            ));
            continue;
        }
        let links = measured.inside.get(&cluster);
        let links = links.map(|known| Links {
            within: known.get(&None).cloned(),
            on_host: LEVELS
                .iter()
                .find_map(|&level| known.get(&Some(level)))
                .cloned(),
        });
        let exchanges = links.map(|links| of_cluster(initiator, place, &ranks, &links));
        match Contention::fit(&exchanges.unwrap_or_default()) {
            Ok(contention) => {
                measured.contention.insert(cluster, contention);
            }
            Err(reason) => initiator.left_out.push(format!(
                "contention of cluster{cluster}: {reason}; nothing is stored{}",
                match reason {
                    Unsaturated::Few(_) => ", give a longer --time-limit",
                    Unsaturated::Idle { .. } | Unsaturated::Scattered { .. } =>
                        ", measure it on quiet hosts",
                }
            )),
        }
    }
}

/// The links of a cluster, as far as measured.
pub(crate) struct Links {
    within: Option<Link>,
    on_host: Option<Link>,
}

impl Links {
    /// The bound of a free network, and the addition by a rendezvous, in seconds: messages that
    /// leave a host pass its network card one after the other, and so do those of a rank to others
    /// of its host.
    fn bound(&self, on_hosts: &[usize], bytes: u64) -> Option<(f64, f64)> {
        let all: usize = on_hosts.iter().sum();
        let mut load = 0.0_f64;
        let mut widest = self.on_host.as_ref();
        for &here in on_hosts {
            if here < all {
                let within = self.within.as_ref()?;
                load = load.max((here * (all - here)) as f64 * within.gap(bytes));
                widest = Some(within);
            }
            if here > 1 {
                let on_host = self.on_host.as_ref().or(self.within.as_ref())?;
                load = load.max((here - 1) as f64 * on_host.gap(bytes));
            }
        }
        let widest = widest?;
        Some((load + widest.latency(), widest.handshake(bytes)))
    }
}

/// Measures exchanges of all `ranks`, of half of them, and of a quarter, from small sizes to large
/// ones.
pub(crate) fn of_cluster(
    initiator: &mut Initiator<'_, impl Messenger>,
    place: &RankPlaces,
    ranks: &[usize],
    links: &Links,
) -> Vec<TimedExchange> {
    let mut found = Vec::new();
    let mut slowdown = EXPECTED;
    let mut counts = [ranks.len(), ranks.len() / 2, ranks.len() / 4].map(|n| n.max(FEWEST_RANKS));
    counts.sort_unstable();
    let largest = initiator
        .options
        .largest
        .min(MOST_BYTES / ranks.len() as u64);
    let sizes = |bytes: &u64| Some(bytes / 4).filter(|&smaller| smaller >= SMALLEST);
    let mut sizes: Vec<u64> = std::iter::successors(Some(largest), sizes).collect();
    sizes.reverse();
    for (at, &count) in counts.iter().enumerate() {
        if counts[..at].contains(&count) {
            continue;
        }
        let members = &ranks[..count];
        let mut on_hosts = vec![0; place.hosts.len()];
        for (host, on_host) in place.hosts.iter().zip(&mut on_hosts) {
            *on_host = host
                .ranks
                .iter()
                .filter(|rank| members.contains(rank))
                .count();
        }
        on_hosts.retain(|&on_host| on_host > 0);
        for &bytes in &sizes {
            let Some((bound, handshake)) = links.bound(&on_hosts, bytes) else {
                return found;
            };
            if slowdown * bound * TIMES as f64 > initiator.left(1.0) {
                break;
            }
            let times = run_exchange(initiator.messenger, members, bytes, 1 + TIMES);
            let seconds = median(&times[1..]).unwrap_or(0.0);
            slowdown = 2.0 * seconds / bound;
            found.push(TimedExchange {
                ranks: count,
                bytes,
                bound,
                seconds: (seconds - handshake).max(seconds / 2.0),
            });
        }
    }
    found
}
