//! The link between two ranks.

use treepie_base::{Cluster, List, Rank};

use crate::description::Platform;
use crate::link::Link;

/// Link between two ranks, for a platform with all its ranks.
pub struct Pairs<'a> {
    platform: &'a Platform,
    cluster_of_rank: List<Rank, Cluster>,
    host_of_rank: Vec<usize>,
}

impl<'a> Pairs<'a> {
    /// The pairs of a platform's ranks.
    pub fn new(platform: &'a Platform) -> Self {
        Pairs {
            platform,
            cluster_of_rank: platform.cluster_of_rank(),
            host_of_rank: platform.host_of_rank(),
        }
    }

    /// The link from one rank to another: on one host, that of the closest shared level that was
    /// measured. `None` for a rank itself, for missing ranks, and if nothing was measured.
    pub fn link(&self, from: usize, to: usize) -> Option<&'a Link> {
        let cluster = *self.cluster_of_rank.get(Rank(from))?;
        let other = *self.cluster_of_rank.get(Rank(to))?;
        if from == to {
            return None;
        }
        if cluster != other {
            return Some(self.platform.between(cluster, other));
        }
        let cluster = &self.platform.clusters()[cluster];
        if self.host_of_rank[from] != self.host_of_rank[to] {
            return cluster.within.as_ref();
        }
        let inside = self.platform.inside().iter();
        let shared = inside.filter(|inside| inside.group_of_rank[from] == inside.group_of_rank[to]);
        let shared: Vec<&str> = shared.map(|inside| inside.level.as_str()).collect();
        let mut levels = cluster.levels.iter().rev();
        let closest = levels.find(|level| shared.contains(&level.name.as_str()));
        closest.or(cluster.levels.first()).map(|level| &level.link)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::path::Path;

    use super::*;
    use crate::file::PlatformFile;

    const TWO_CLUSTERS: &str = "\
treepie: platform
version: 1
hosts:
- {name: a1, ranks: 0-3}
- {name: a2, ranks: 4}
- {name: b1, ranks: 5-6}
inside:
- {level: socket, groups: \"0,0,1,1,2,3,3\"}
clusters:
- name: a
  hosts: [a1, a2]
  leader: 0
  within: {latency_us: 50, samples: [0 5]}
  levels:
  - {level: node, latency_us: 2, samples: [0 1]}
  - {level: socket, latency_us: 1, samples: [0 1]}
- {name: b, hosts: [b1], leader: 5}
links:
- {from: a, to: b, latency_us: 10000, samples: [0 5]}
";

    #[test]
    fn two_ranks_have_the_link_of_the_closest_level_that_both_share() {
        let file = PlatformFile::from_text(Path::new("p.yaml"), TWO_CLUSTERS).unwrap();
        let pairs = Pairs::new(&file.platform);
        let microseconds = |from, to| {
            let link = pairs.link(from, to);
            link.map(|link| (link.latency() * 1e6).round())
        };
        let found = [(0, 1), (0, 2), (3, 4), (6, 0)].map(|(from, to)| microseconds(from, to));
        assert_eq!(found, [1.0, 2.0, 50.0, 10000.0].map(Some));
        let without = [(5, 6), (2, 2), (0, 7)].map(|(from, to)| microseconds(from, to));
        assert_eq!(without, [None; 3]);
    }
}
