//! How many hosts and ranks each cluster has, for predictions.

use crate::platform::{Link, Platform};

/// The size of one cluster and its links.
#[derive(Debug, Clone, Copy)]
pub struct ClusterShape<'a> {
    /// Number of hosts.
    pub hosts: usize,
    /// Number of ranks.
    pub ranks: usize,
    /// Ranks on its fullest host.
    pub ranks_on_host: usize,
    /// Between hosts.
    pub within: Option<&'a Link>,
    /// Between ranks of a host, of the widest level that was measured.
    pub on_host: Option<&'a Link>,
    /// Its answer to a total exchange.
    pub contention: Option<crate::platform::Contention>,
}

/// The sizes of all clusters.
#[derive(Debug, Clone)]
pub struct Shape<'a> {
    /// One for each cluster of the platform.
    pub clusters: Vec<ClusterShape<'a>>,
}

impl<'a> Shape<'a> {
    /// The shape of `platform`, with `ranks` ranks if that is given: every
    /// cluster gets its share of hosts, at least one.
    pub fn of(platform: &'a Platform, ranks: Option<usize>) -> Self {
        let scale = ranks.map_or(1.0, |ranks| ranks as f64 / platform.ranks() as f64);
        let clusters = platform.clusters().iter().enumerate();
        let mut clusters: Vec<ClusterShape> = clusters
            .map(|(place, cluster)| {
                let on = |&host: &usize| platform.hosts()[host].ranks.len();
                let ranks_on_host = cluster.hosts.iter().map(on).max().unwrap_or(1);
                let members = platform.ranks_of(place).len();
                let scaled = (members as f64 * scale).round().max(1.0) as usize;
                ClusterShape {
                    hosts: match scale == 1.0 {
                        true => cluster.hosts.len(),
                        false => scaled.div_ceil(ranks_on_host),
                    },
                    ranks: scaled,
                    ranks_on_host: ranks_on_host.min(scaled),
                    within: cluster.within.as_ref(),
                    on_host: cluster.levels.first().map(|level| &level.link),
                    contention: cluster.contention,
                }
            })
            .collect();
        if let Some(ranks) = ranks {
            level_out(&mut clusters, ranks);
        }
        Shape { clusters }
    }

    /// Number of ranks of all clusters.
    pub fn ranks(&self) -> usize {
        self.clusters.iter().map(|cluster| cluster.ranks).sum()
    }
}

/// Corrects what rounding left over, at the largest cluster.
fn level_out(clusters: &mut [ClusterShape<'_>], ranks: usize) {
    let total: usize = clusters.iter().map(|cluster| cluster.ranks).sum();
    if let Some(largest) = clusters.iter_mut().max_by_key(|cluster| cluster.ranks) {
        let corrected = (largest.ranks + ranks).saturating_sub(total).max(1);
        largest.ranks = corrected;
        largest.hosts = corrected.div_ceil(largest.ranks_on_host.max(1));
    }
}

impl ClusterShape<'_> {
    /// The groups that a message passes one after the other, as `(processes,
    /// link)`: first the hosts, then the ranks of a host. Without a link of its
    /// own a level is served over the other one, and counts with it.
    pub fn phases(&self) -> Vec<(usize, &Link)> {
        match (self.within, self.on_host) {
            (Some(within), Some(on_host)) if self.hosts > 1 => {
                vec![(self.hosts, within), (self.ranks_on_host, on_host)]
            }
            (_, Some(link)) | (Some(link), None) => vec![(self.ranks, link)],
            (None, None) => Vec::new(),
        }
    }
}
