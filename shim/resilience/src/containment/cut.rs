//! Logged messages and rolled-back ranks of a division into groups.

use serde::Serialize;
use treepie_traffic::Matrix;

use crate::containment::domains::Domains;
use crate::containment::error::ContainmentError;

/// Messages between groups, and ranks that one failure rolls back.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cut {
    /// Number of ranks of each group.
    pub sizes: Vec<usize>,
    /// Bytes from one group to another in the run, both directions.
    pub bytes: f64,
    /// Ratio of these bytes to all bytes, from 0 to 1.
    pub bytes_share: f64,
    /// The largest number of bytes that one rank sends to other groups.
    pub largest_log: f64,
    /// The rank that sends them.
    pub largest_log_rank: usize,
    /// Mean number of ranks that are rolled back when a domain fails, over the domains, which all
    /// fail equally often.
    pub rolled_back: f64,
}

impl Cut {
    /// Computes the cut of the sent bytes by `group_of_rank`.
    ///
    /// # Errors
    /// A list has another number of ranks, or there is no traffic.
    pub fn new(
        bytes: &Matrix,
        group_of_rank: &[usize],
        domains: &Domains,
    ) -> Result<Self, ContainmentError> {
        let ranks = bytes.order();
        require_count("groups", group_of_rank.len(), ranks)?;
        require_count("failure domains", domains.of_rank().len(), ranks)?;
        let total = bytes.total();
        if total <= 0.0 {
            return Err(ContainmentError::NoTraffic);
        }
        let log = |rank: usize| logged_by(bytes, group_of_rank, rank);
        let logs: Vec<f64> = (0..ranks).map(log).collect();
        let mut largest_log_rank = 0;
        for rank in 1..ranks {
            if logs[rank] > logs[largest_log_rank] {
                largest_log_rank = rank;
            }
        }
        let logged = logs.iter().sum();
        let sizes = sizes_of(group_of_rank);
        Ok(Cut {
            rolled_back: rolled_back(&sizes, group_of_rank, domains),
            sizes,
            bytes: logged,
            bytes_share: logged / total,
            largest_log: logs[largest_log_rank],
            largest_log_rank,
        })
    }

    /// Number of groups.
    pub fn groups(&self) -> usize {
        self.sizes.len()
    }

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.sizes.iter().sum()
    }

    /// Ratio of the ranks that are rolled back to all ranks, from 0 to 1.
    pub fn rolled_back_share(&self) -> f64 {
        self.rolled_back / self.ranks() as f64
    }
}

/// Sum of the traffic of one rank to other groups, in bytes or messages.
fn logged_by(sent: &Matrix, group_of_rank: &[usize], rank: usize) -> f64 {
    let row = sent.row(rank);
    let leaving = row.filter(|&(to, _)| group_of_rank[to] != group_of_rank[rank]);
    // An empty sum of floats is -0, which would be printed.
    leaving.fold(0.0, |sum, (_, value)| sum + value)
}

/// Sum of the traffic between groups, for example in messages.
pub(super) fn logged(sent: &Matrix, group_of_rank: &[usize]) -> f64 {
    let ranks = 0..sent.order();
    ranks.fold(0.0, |sum, rank| sum + logged_by(sent, group_of_rank, rank))
}

fn sizes_of(group_of_rank: &[usize]) -> Vec<usize> {
    let groups = group_of_rank.iter().max().map_or(0, |&last| last + 1);
    let mut sizes = vec![0; groups];
    for &group in group_of_rank {
        sizes[group] += 1;
    }
    sizes
}

/// Mean over the domains of the ranks of all groups that have a rank in the domain. If no group
/// cuts a domain and all domains are equal, that is the sum of the squares of the sizes, divided by
/// the number of ranks.
fn rolled_back(sizes: &[usize], group_of_rank: &[usize], domains: &Domains) -> f64 {
    let mut groups_of_domain = vec![Vec::new(); domains.count()];
    for (&domain, &group) in domains.of_rank().iter().zip(group_of_rank) {
        groups_of_domain[domain].push(group);
    }
    let mut sum = 0;
    for groups in &mut groups_of_domain {
        groups.sort_unstable();
        groups.dedup();
        sum += groups.iter().map(|&group| sizes[group]).sum::<usize>();
    }
    sum as f64 / domains.count().max(1) as f64
}

pub(super) fn require_count(
    what: &'static str,
    found: usize,
    expected: usize,
) -> Result<(), ContainmentError> {
    if found == expected {
        Ok(())
    } else {
        Err(ContainmentError::WrongCount {
            what,
            found,
            expected,
        })
    }
}
