//! Order of hosts that spreads each failure domain over the sets.

use super::rules::{hosts_in_order, require_alike, set_sizes};
use crate::containment::domains::Domains;
use crate::containment::error::ContainmentError;
use treepie_base::{Leaf, List, Rank, Slice};

/// Orders hosts, given the domain of each, such that consecutive sets of at least `size` have as
/// few hosts of one domain as possible: no set has two if no domain has more hosts than there are
/// sets. The largest domain is distributed first, each host to a set with the fewest hosts of its
/// domain, and of these to the one with the most free places.
pub fn dealt(domain_of_host: &[usize], size: usize) -> Vec<usize> {
    let mut hosts_of = vec![Vec::new(); domain_of_host.iter().max().map_or(0, |&last| last + 1)];
    for (host, &domain) in domain_of_host.iter().enumerate() {
        hosts_of[domain].push(host);
    }
    hosts_of.sort_by_key(|hosts| std::cmp::Reverse(hosts.len()));
    let sizes = set_sizes(domain_of_host.len(), size);
    let mut sets: Vec<Vec<usize>> = vec![Vec::new(); sizes.len()];
    for hosts in hosts_of {
        let mut own = vec![0; sets.len()];
        for host in hosts {
            let room = |set: usize| sizes[set] - sets[set].len();
            let free = (0..sets.len()).filter(|&set| room(set) > 0);
            let best = free.min_by_key(|&set| (own[set], std::cmp::Reverse(room(set))));
            // The sets have as many places as there are hosts.
            let Some(set) = best else { break };
            own[set] += 1;
            sets[set].push(host);
        }
    }
    sets.concat()
}

/// The leaf of each rank after the ranks of the `i`-th host, numbered by first ranks, have moved to
/// host `order[i]`, to the leaves with the same index. Ranks that shared a host still do.
///
/// # Errors
/// Hosts have different numbers of ranks.
pub fn moved_to(
    order: &[usize],
    hosts: &Domains,
    leaf_of_rank: &Slice<Rank, Leaf>,
) -> Result<List<Rank, Leaf>, ContainmentError> {
    let ordered = hosts_in_order(hosts);
    require_alike(
        &ordered,
        "hosts can change places only where all have as many",
    )?;
    let by_leaf = |ranks: &Vec<usize>| {
        let mut ranks = ranks.clone();
        ranks.sort_unstable_by_key(|&rank| leaf_of_rank[Rank(rank)]);
        ranks
    };
    let ordered: Vec<Vec<usize>> = ordered.iter().map(by_leaf).collect();
    let mut moved = leaf_of_rank.to_owned();
    for (from, &to) in order.iter().enumerate() {
        for (&rank, &place) in ordered[from].iter().zip(&ordered[to]) {
            moved[Rank(rank)] = leaf_of_rank[Rank(place)];
        }
    }
    Ok(moved)
}
