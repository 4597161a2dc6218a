//! Rules by which the three libraries form sets, from their sources: redset bdf77a1 (SCR), FTI
//! f60871f (`topo.c`), ER b7d3dca with VELOC 5e8c1fa (`ec_module`).

use crate::containment::domains::Domains;
use crate::containment::error::ContainmentError;
use crate::containment::redundancy::sets::{Scheme, Sets};

/// Size of VELOC's sets, which no setting changes.
pub const VELOC_SET_SIZE: usize = 8;

/// FTI's default group size.
pub const FTI_SET_SIZE: usize = 4;

/// Sizes of the sets into which redset cuts a line of `members`, for sets of at least `least`.
pub(crate) fn set_sizes(members: usize, least: usize) -> Vec<usize> {
    let sets = members / least.max(1);
    match sets {
        0 if members == 0 => Vec::new(),
        0 => vec![members],
        _ => (0..sets)
            .map(|set| members / sets + usize::from(set < members % sets))
            .collect(),
    }
}

/// SCR: the ranks of each failure group are numbered in world order; equal numbers form a line
/// across the groups, in world order, which is cut into consecutive sets of at least `size`.
///
/// # Errors
/// Sets have fewer than two members.
pub fn scr(groups: &Domains, size: usize, scheme: Scheme) -> Result<Sets, ContainmentError> {
    require_size(size)?;
    let mut next = vec![0; groups.count()];
    let mut lines: Vec<Vec<usize>> = Vec::new();
    for (rank, &group) in groups.of_rank().iter().enumerate() {
        let line = next[group];
        next[group] += 1;
        if line == lines.len() {
            lines.push(Vec::new());
        }
        lines[line].push(rank);
    }
    let members = lines.into_iter().flat_map(|line| cut(line, size)).collect();
    Ok(Sets { scheme, members })
}

/// FTI: `size` hosts in the order of their first ranks form a sector, and the ranks with the same
/// index on the hosts of a sector form a set.
///
/// # Errors
/// Hosts have different numbers of ranks, or the number of hosts is not a multiple of `size`: FTI
/// does not start with them.
pub fn fti(hosts: &Domains, size: usize, scheme: Scheme) -> Result<Sets, ContainmentError> {
    require_size(size)?;
    let ordered = hosts_in_order(hosts);
    require_alike(
        &ordered,
        "FTI starts only with as many on each, its node_size",
    )?;
    if !ordered.len().is_multiple_of(size) {
        return Err(ContainmentError::BadSetSize {
            size,
            expected: format!(
                "a divisor of the number of hosts, {}, because FTI starts only with one",
                ordered.len()
            ),
        });
    }
    let ranks = ordered.first().map_or(0, Vec::len);
    let sectors = ordered.chunks(size);
    let members = sectors.flat_map(|sector| {
        let at = |place: usize| sector.iter().map(|host| host[place]).collect();
        (0..ranks).map(at).collect::<Vec<_>>()
    });
    Ok(Sets {
        scheme,
        members: members.collect(),
    })
}

/// VELOC: one backend per host, parities over sets of at least 8 in the order of the hosts. A host
/// is represented by its first rank.
pub fn veloc(hosts: &Domains) -> Sets {
    let firsts = hosts_in_order(hosts).into_iter().map(|ranks| ranks[0]);
    Sets {
        scheme: Scheme::Xor,
        members: cut(firsts.collect(), VELOC_SET_SIZE),
    }
}

/// The ranks of each host, the hosts in the order of their first ranks.
pub fn hosts_in_order(hosts: &Domains) -> Vec<Vec<usize>> {
    let mut ranks_of = vec![Vec::new(); hosts.count()];
    for (rank, &host) in hosts.of_rank().iter().enumerate() {
        ranks_of[host].push(rank);
    }
    ranks_of.sort_unstable_by_key(|ranks| ranks[0]);
    ranks_of
}

/// Checks that all hosts have the same number of ranks.
pub(super) fn require_alike(
    hosts: &[Vec<usize>],
    remedy: &'static str,
) -> Result<(), ContainmentError> {
    let expected = hosts.first().map_or(0, Vec::len);
    match hosts.iter().position(|ranks| ranks.len() != expected) {
        None => Ok(()),
        Some(host) => Err(ContainmentError::UnequalHosts {
            host,
            found: hosts[host].len(),
            expected,
            remedy,
        }),
    }
}

fn require_size(size: usize) -> Result<(), ContainmentError> {
    if size < 2 {
        Err(ContainmentError::BadSetSize {
            size,
            expected: "2 or more, because a set of one protects nothing".to_owned(),
        })
    } else {
        Ok(())
    }
}

/// Consecutive parts of a line, of at least `size`.
fn cut(line: Vec<usize>, size: usize) -> Vec<Vec<usize>> {
    let mut line = line.into_iter();
    let sizes = set_sizes(line.len(), size).into_iter();
    sizes
        .map(|size| line.by_ref().take(size).collect())
        .collect()
}
