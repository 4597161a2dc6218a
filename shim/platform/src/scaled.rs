//! A platform with another number of ranks.

use treepie_base::{Cluster, List};

use crate::contents::{Contents, Host, PlatformCluster};
use crate::description::Platform;

impl Platform {
    /// Enlarges or shrinks all clusters alike to `ranks` ranks in blocks: every cluster gets its
    /// share of hosts, and at least one rank.
    #[must_use]
    pub fn scaled(&self, ranks: usize) -> Platform {
        let sizes = self.scaled_sizes(ranks);
        let mut contents = Contents {
            hosts: Vec::new(),
            inside: Vec::new(),
            clusters: List::new(),
            ..self.contents().clone()
        };
        let mut next = 0;
        for (cluster, size) in self.clusters().iter().zip(sizes) {
            let on = |&host: &usize| self.hosts()[host].ranks.len();
            // If no link between hosts is known, all ranks stay on one host.
            let on_host = match cluster.within {
                Some(_) => cluster.hosts.iter().map(on).max().unwrap_or(1),
                None => size,
            };
            let (first, members) = (contents.hosts.len(), next..next + size);
            let members: Vec<usize> = members.collect();
            for on_one in members.chunks(on_host.max(1)) {
                contents.hosts.push(Host {
                    name: format!("{}-{}", cluster.name, contents.hosts.len() - first),
                    ranks: on_one.to_vec(),
                });
            }
            let hosts: Vec<usize> = (first..contents.hosts.len()).collect();
            contents.clusters.push(PlatformCluster {
                leader: next,
                within: cluster.within.clone().filter(|_| hosts.len() > 1),
                hosts,
                ..cluster.clone()
            });
            next += size;
        }
        Platform::new(contents).expect("the parts of a platform fit each other at any size")
    }

    /// Ranks of each cluster: in proportion, with the remainder of rounding on the largest.
    fn scaled_sizes(&self, ranks: usize) -> List<Cluster, usize> {
        let scale = ranks as f64 / self.ranks() as f64;
        let share = |cluster| {
            (self.ranks_of(cluster).len() as f64 * scale)
                .round()
                .max(1.0) as usize
        };
        let mut sizes: List<Cluster, usize> = self.clusters().keys().map(share).collect();
        let total: usize = sizes.iter().sum();
        if let Some(largest) = sizes.iter_mut().max() {
            *largest = (*largest + ranks).saturating_sub(total).max(1);
        }
        sizes
    }
}
