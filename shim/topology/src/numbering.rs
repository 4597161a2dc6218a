//! Physical numbers of the leaves: the numbers by which a launcher counts cores. They depend on the
//! firmware, not on the tree (thesis 1.2.2 and table 1.1).

use std::collections::HashMap;

use crate::error::TopologyError;
use crate::tree::{ProcessingUnit, Topology};
use treepie_base::{Leaf, List};

impl Topology {
    /// Sets a physical number for each leaf, in logical order. Numbers may repeat only on different
    /// machines.
    ///
    /// # Errors
    /// The number of physical numbers differs from that of leaves, or a number occurs twice on one
    /// host, or twice below one node just above the leaves.
    pub fn with_os_indices(mut self, numbers: &[usize]) -> Result<Self, TopologyError> {
        if numbers.len() != self.leaf_count() {
            return Err(TopologyError::WrongCount {
                what: "physical numbers",
                found: numbers.len(),
                expected: format!("{} leaves", self.leaf_count()),
            });
        }
        for (leaf, &number) in self.leaves_mut().iter_mut().zip(numbers) {
            leaf.os_index = Some(number);
        }
        let lowest = self.depth() - 1;
        self.require_distinct(|leaf| Some(self.ancestor(leaf, lowest)))?;
        self.require_distinct(|leaf| self.leaf(leaf).host.as_deref())?;
        Ok(self)
    }

    /// Replaces the leaves: hosts, physical numbers and forbidden cores from a file.
    ///
    /// # Errors
    /// The number of leaves differs, or a physical number occurs twice on one host or, if hosts
    /// have no names, twice below one node just above the leaves.
    pub fn with_leaves(
        mut self,
        leaves: List<Leaf, ProcessingUnit>,
    ) -> Result<Self, TopologyError> {
        if leaves.len() != self.leaf_count() {
            return Err(TopologyError::WrongCount {
                what: "descriptions of leaves",
                found: leaves.len(),
                expected: format!("{} leaves", self.leaf_count()),
            });
        }
        self.leaves_mut().clone_from_slice(&leaves);
        let lowest = self.depth() - 1;
        self.require_distinct(|leaf| match self.leaf(leaf).host.as_deref() {
            Some(host) => Some((Some(host), 0)),
            None => Some((None, self.ancestor(leaf, lowest))),
        })?;
        Ok(self)
    }

    /// Numbers the tree by levels, the fastest first: with `["socket", "core"]` consecutive numbers
    /// go to one socket after the other, and to the next core after one round over all sockets.
    /// Levels that are not named are numbered separately: a tree of nodes, sockets and cores begins
    /// with 0 on every node. (Thesis table 1.1, "numbering order".)
    ///
    /// # Errors
    /// No level has a given name, or numbers repeat below one parent because the lowest level is
    /// not among the names.
    pub fn with_numbering(self, fastest_first: &[&str]) -> Result<Self, TopologyError> {
        let depths = fastest_first
            .iter()
            .map(|name| self.depth_of(name))
            .collect::<Result<Vec<_>, _>>()?;
        let mut places: Vec<(Vec<usize>, Vec<usize>, Leaf)> = (self.leaves().keys())
            .map(|leaf| {
                let mut path = self.path(leaf);
                let counted = depths.iter().rev().map(|&d| path[d]).collect();
                depths.iter().for_each(|&d| path[d] = 0);
                (path, counted, leaf)
            })
            .collect();
        places.sort();
        let mut numbers = vec![0; self.leaf_count()];
        let mut next = 0;
        for (at, (group, _, leaf)) in places.iter().enumerate() {
            if at > 0 && places[at - 1].0 != *group {
                next = 0;
            }
            numbers[leaf.0] = next;
            next += 1;
        }
        self.with_os_indices(&numbers)
    }

    /// The leaves by physical number, machine after machine. Machines are the hosts, or without
    /// host names the subtrees of the highest level in which no number repeats. If a number is
    /// unknown, the logical order.
    pub fn physical_order(&self) -> Vec<Leaf> {
        let mut order: Vec<Leaf> = self.leaves().keys().collect();
        if self.leaves().iter().any(|leaf| leaf.os_index.is_none()) {
            return order;
        }
        let machines = self.machines();
        order.sort_by_key(|&leaf| (machines[leaf], self.leaf(leaf).os_index));
        order
    }

    /// The machine of every leaf, machines counted from left to right.
    fn machines(&self) -> List<Leaf, usize> {
        let hosts: Option<Vec<&str>> = self.leaves().iter().map(|l| l.host.as_deref()).collect();
        if let Some(hosts) = hosts {
            let mut seen = HashMap::new();
            let number = |host| {
                let next = seen.len();
                *seen.entry(host).or_insert(next)
            };
            return hosts.into_iter().map(number).collect();
        }
        let depth = (0..self.depth())
            .find(|&depth| {
                self.require_distinct(|leaf| Some(self.ancestor(leaf, depth)))
                    .is_ok()
            })
            .unwrap_or(self.depth());
        let leaves = self.leaves().keys();
        leaves.map(|leaf| self.ancestor(leaf, depth)).collect()
    }

    /// Checks that no physical number occurs twice within one machine.
    fn require_distinct<M: std::hash::Hash + Eq>(
        &self,
        machine_of: impl Fn(Leaf) -> Option<M>,
    ) -> Result<(), TopologyError> {
        let mut seen = HashMap::new();
        for (second, leaf) in self.leaves().iter_enumerated() {
            let (Some(os_index), Some(machine)) = (leaf.os_index, machine_of(second)) else {
                continue;
            };
            if let Some(first) = seen.insert((machine, os_index), second) {
                return Err(TopologyError::NumberTwice {
                    os_index,
                    first,
                    second,
                });
            }
        }
        Ok(())
    }

    /// Index in [`Topology::levels`] of the level called `name`.
    fn depth_of(&self, name: &str) -> Result<usize, TopologyError> {
        let names: Vec<&str> = self.levels().iter().map(|l| l.name.as_str()).collect();
        names
            .iter()
            .position(|known| *known == name)
            .ok_or_else(|| TopologyError::NoSuchLevel {
                name: name.to_owned(),
                known: names.join(", "),
            })
    }
}
