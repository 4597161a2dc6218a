//! Distances between levels, from options.

use treepie_launch::error::CommandError;
use treepie_topology::{Topology, TopologyError};

use super::topology::describe;
use crate::input::machines::is_machine;
use crate::words::pluralize;

pub(crate) fn from_arities(
    option: &str,
    text: &str,
    from_root: &str,
) -> Result<Topology, CommandError> {
    Topology::from_arities(from_root)
        .map_err(|error| CommandError::usage(format!("{option} {text}: {error}")))
}

/// Adds a level of nodes above the tree of a whole machine, unless its top level is such a level: a
/// network is above nodes.
pub(crate) fn with_nodes(tree: Topology) -> Result<Topology, TopologyError> {
    let names = tree.levels().iter().map(|level| level.name.clone());
    let mut names: Vec<String> = names.collect();
    if names.iter().any(|name| is_machine(name)) {
        return Ok(tree);
    }
    let mut arities = tree.arities().unwrap_or_default();
    if arities.len() == 1 {
        arities.push(1);
        names.insert(0, String::new());
    }
    names[0] = "node".to_owned();
    Topology::from_arity_list(&arities, Some(&names))
}

/// Sets distances in KaHIP's form, from the leaves up.
pub(crate) fn with_distances(topology: Topology, text: &str) -> Result<Topology, CommandError> {
    let wrong = |problem: String| CommandError::usage(format!("--distances {text}: {problem}"));
    let mut distances = Vec::new();
    for part in text.split(':') {
        let number: Result<f64, _> = part.trim().parse();
        distances.push(number.map_err(|_| {
            wrong(format!(
                "\"{part}\" is not a number: write one for each level from the cores up, such as \
                 1:10:100"
            ))
        })?);
    }
    let levels = topology.depth();
    if distances.len() != levels {
        let found = pluralize(distances.len(), "distance");
        let levels = pluralize(levels, "level");
        return Err(wrong(format!(
            "{found} for the {levels} of {}: write one for each, from the cores up",
            describe(&topology)
        )));
    }
    let shrinks = distances.windows(2).find(|pair| pair[1] < pair[0]);
    if let Some(pair) = shrinks {
        return Err(wrong(format!(
            "{} comes after {}: distances are written from the cores up and do not shrink towards \
             the root",
            pair[1], pair[0]
        )));
    }
    distances.reverse();
    topology
        .with_level_distances(&distances)
        .map_err(|error| wrong(error.to_string()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn distances_are_read_from_the_cores_up() {
        let tree = Topology::from_arities("16:2:16").unwrap();
        let tree = with_distances(tree, "1:10:100").unwrap();
        assert_eq!(tree.level_distances(), [100.0, 10.0, 1.0]);
    }

    #[test]
    fn wrong_distances_are_refused_with_the_level() {
        for (text, expected) in [
            (
                "1:10",
                "--distances 1:10: 2 distances for the 3 levels of 2 nodes x 2 sockets x 2 cores: \
                 write one for each, from the cores up",
            ),
            (
                "100:10:1",
                "--distances 100:10:1: 10 comes after 100: distances are written from the cores \
                 up and do not shrink towards the root",
            ),
            (
                "1:x:3",
                "--distances 1:x:3: \"x\" is not a number: write one for each level from the \
                 cores up, such as 1:10:100",
            ),
            (
                "1:2:inf",
                "--distances 1:2:inf: distance inf of level 1 is wrong: expected a finite number, \
                 not negative, and not smaller than the distance one level deeper",
            ),
        ] {
            let tree = Topology::from_arities("2:2:2").unwrap();
            assert_eq!(
                with_distances(tree, text).unwrap_err().to_string(),
                expected
            );
        }
    }
}
