//! Levels inside a host: the parts that processes share, and the part to which each is bound.
//!
//! ```text
//!   node > socket > numa > l3 > l2 > core
//! ```

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use treepie_base::list;

/// Levels that two processes of a host may share, the widest first: the host itself, a socket, a
/// NUMA node, a cache of the third or second level, a core.
pub const LEVELS: [&str; 6] = ["node", "socket", "numa", "l3", "l2", "core"];

/// Number of levels below the host itself.
const INNER: usize = LEVELS.len() - 1;

/// Location of a process.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Identity {
    /// Its host's name.
    pub host: String,
    /// For each level below the host, the group to which it is bound, by any number that is unique
    /// on the host; `None` if it may run in several, or the level is not known.
    pub groups: [Option<usize>; INNER],
}

impl Identity {
    /// The closest level that two ranks of a host are certain to share.
    pub fn shared(&self, other: &Identity) -> &'static str {
        let is_shared = |&level: &usize| {
            self.groups[level].is_some() && self.groups[level] == other.groups[level]
        };
        let closest = (0..INNER).rev().find(is_shared);
        LEVELS[closest.map_or(0, |level| level + 1)]
    }
}

/// A level inside hosts, with the binding of the ranks of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inside {
    /// Its name.
    pub level: String,
    /// The group of each rank. Groups of different hosts have different numbers.
    #[serde(rename = "groups", with = "list")]
    pub group_of_rank: Vec<usize>,
}

impl Inside {
    /// The levels to which the ranks of a job are bound, the widest first, without those that
    /// divide no ranks of a host, join none, or equal the previous one. A level does not divide a
    /// host if one of its ranks may leave its group: ranks may then migrate.
    pub fn of(identities: &[Identity]) -> Vec<Inside> {
        let mut all: Vec<Inside> = Vec::new();
        for (place, level) in LEVELS[1..].iter().enumerate() {
            let free = identities.iter().filter(|one| one.groups[place].is_none());
            let free: HashSet<&str> = free.map(|one| one.host.as_str()).collect();
            let mut known = HashMap::new();
            let mut group = |one: &Identity| {
                let bound = one.groups[place].filter(|_| !free.contains(one.host.as_str()));
                let next = known.len();
                *known.entry((one.host.clone(), bound)).or_insert(next)
            };
            let group_of_rank: Vec<usize> = identities.iter().map(&mut group).collect();
            let hosts: HashSet<&String> = known.keys().map(|(host, _)| host).collect();
            let parts = hosts.len() < known.len();
            let mut sizes = vec![0; known.len()];
            for &group in &group_of_rank {
                sizes[group] += 1;
            }
            let mut groups = known.iter().filter(|((_, bound), _)| bound.is_some());
            let joins = groups.any(|(_, &group)| sizes[group] > 1);
            let is_new = all
                .last()
                .is_none_or(|last| last.group_of_rank != group_of_rank);
            if parts && joins && is_new {
                all.push(Inside {
                    level: (*level).to_owned(),
                    group_of_rank,
                });
            }
        }
        all
    }

    /// The groups of some ranks.
    pub fn groups_of(&self, ranks: &[usize]) -> Vec<usize> {
        ranks.iter().map(|&rank| self.group_of_rank[rank]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranks 0 to 63 on the cores of a host with 2 sockets of 4 NUMA nodes of 8 cores, whose caches
    /// of the third level serve 4 cores each.
    fn on(host: &str, core: usize) -> Identity {
        let groups = [32, 8, 4, 1, 1].map(|cores| Some(core / cores * cores));
        Identity {
            host: host.to_owned(),
            groups,
        }
    }

    fn names(levels: &[Inside]) -> Vec<&str> {
        levels.iter().map(|inside| inside.level.as_str()).collect()
    }

    #[test]
    fn the_closest_shared_level_is_the_deepest_group_that_both_may_not_leave() {
        let zero = on("a", 0);
        let shared = |core| zero.shared(&on("a", core));
        assert_eq!(
            [0, 1, 4, 8, 32].map(shared),
            ["core", "l3", "numa", "socket", "node"]
        );
        let free = Identity::default();
        assert_eq!((zero.shared(&free), free.shared(&free)), ("node", "node"));
    }

    #[test]
    fn levels_are_those_that_part_and_join_ranks_of_a_host() {
        let all: Vec<Identity> = (0..64).map(|core| on("a", core)).collect();
        let levels = Inside::of(&all);
        // Each rank has its own core.
        assert_eq!(names(&levels), ["socket", "numa", "l3"]);
        assert_eq!(levels[0].group_of_rank, [[0; 32], [1; 32]].concat());
        assert_eq!(levels[1].groups_of(&[0, 8, 7, 63]), [0, 1, 0, 7]);
        // On the first cores of each NUMA node, nodes equal caches, and cores are single.
        let spread: Vec<Identity> = (0..64).step_by(4).map(|core| on("a", core)).collect();
        assert_eq!(names(&Inside::of(&spread)), ["socket", "numa"]);
        let on_one_cache: Vec<Identity> = (0..4).map(|core| on("a", core)).collect();
        assert_eq!(Inside::of(&on_one_cache), []);
        // Several ranks of a core are near each other.
        let crowded: Vec<Identity> = (0..8).map(|rank| on("a", rank / 4)).collect();
        assert_eq!(names(&Inside::of(&crowded)), ["l2"]);
    }

    #[test]
    fn groups_of_two_hosts_differ_and_a_rank_that_moves_makes_its_host_one_group() {
        let both = |core| [on("a", core), on("b", core)];
        let mut all: Vec<Identity> = [0, 1, 32, 33].into_iter().flat_map(both).collect();
        let levels = Inside::of(&all);
        assert_eq!(names(&levels), ["socket"]);
        assert_eq!(levels[0].group_of_rank, [0, 1, 0, 1, 2, 3, 2, 3]);
        all[1].groups[0] = None;
        assert_eq!(Inside::of(&all)[0].group_of_rank, [0, 1, 0, 1, 2, 1, 2, 1]);
        all[0].groups = [None; INNER];
        assert_eq!(names(&Inside::of(&all)), ["numa"]);
    }
}
