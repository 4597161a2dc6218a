//! Several trees under one new root: machines of a cluster, clusters of a grid.

use crate::error::TopologyError;
use crate::limits::LEVEL_LIMIT;
use crate::tree::{ProcessingUnit, Topology};
use treepie_base::{Leaf, List};

impl Topology {
    /// Builds a cluster: a network above machines, which may differ. The leaves of each machine get
    /// its name as their host; the new level is called "node".
    ///
    /// # Errors
    /// See [`Topology::join`].
    pub fn cluster(machines: Vec<(String, Topology)>) -> Result<Self, TopologyError> {
        let named = machines.into_iter().map(|(host, mut machine)| {
            for leaf in machine.leaves_mut() {
                leaf.host = Some(host.clone());
            }
            machine
        });
        Topology::join("node", &named.collect::<Vec<_>>())
    }

    /// Joins several trees below a new root, whose children, a level called `level_name`, are the
    /// roots of `parts`. Distances become hops.
    ///
    /// A part with fewer levels than the deepest one gets levels of arity 1 where it lacks a name
    /// of the deepest one (a machine without a socket level has one socket), or below its root if
    /// its names differ from these.
    ///
    /// # Errors
    /// There is no part, or there are too many leaves or levels.
    pub fn join(level_name: &str, parts: &[Topology]) -> Result<Self, TopologyError> {
        let mut deepest = parts.first().ok_or(TopologyError::Empty)?;
        for part in parts {
            if part.depth() > deepest.depth() {
                deepest = part;
            }
        }
        let depth = deepest.depth();
        if depth + 1 > LEVEL_LIMIT {
            return Err(TopologyError::TooManyLevels { levels: depth + 1 });
        }
        let mut children = vec![Vec::new(); depth + 1];
        children[0].push(parts.len());
        let mut leaves: List<Leaf, ProcessingUnit> = List::new();
        for part in parts {
            let present = levels_present(part, deepest);
            let mut below = 0;
            for (level, counts) in children[1..].iter_mut().enumerate() {
                if present[level] {
                    counts.extend(part.child_counts(below));
                    below += 1;
                } else {
                    counts.resize(counts.len() + part.node_count(below), 1);
                }
            }
            leaves.extend_from_slice(part.leaves());
        }
        let below = deepest.levels().iter().map(|level| level.name.clone());
        let names = std::iter::once(level_name.to_owned()).chain(below);
        Topology::from_child_counts(names.collect(), &children, leaves)
    }
}

/// For every level of `deepest`, true if `part` has it: by name if its names are some of the
/// deepest one's in the same order, else from the leaves up.
fn levels_present(part: &Topology, deepest: &Topology) -> Vec<bool> {
    let mut present = vec![false; deepest.depth()];
    let mut left = part.levels();
    for (level, here) in deepest.levels().iter().zip(&mut present).rev() {
        if let Some((last, rest)) = left.split_last()
            && last.name == level.name
        {
            *here = true;
            left = rest;
        }
    }
    if !left.is_empty() {
        let missing = deepest.depth() - part.depth();
        present = (0..deepest.depth()).map(|level| level >= missing).collect();
    }
    present
}
