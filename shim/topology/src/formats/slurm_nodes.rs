//! Output of `scontrol show node`, also with `--json`: `Topology=` of each node with the names of
//! its switches, or its coordinates on a ring or torus (Slurm 26.05).

use std::collections::BTreeMap;
use std::path::Path;

use treepie_base::FileError;
use treepie_base::yaml::Value;

use super::lines;
use super::slurm::switches::Switches;
use super::tori::{Torus, of_tori};
use crate::networks::site::Site;

/// True if a text begins with a node.
pub(super) fn recognize(text: &str) -> bool {
    lines::first(text).is_some_and(|line| lines::begins(line, "NodeName="))
}

/// Reads the nodes; `name` selects one of the topologies that they are in, or one of several tori.
pub(super) fn read(path: &Path, text: &str, name: Option<&str>) -> Result<Site, FileError> {
    of_nodes(path, &nodes(path, text)?, name)
}

/// Reads the list of `scontrol show node --json`: objects with `name` and `topology`.
pub(super) fn from_json(
    path: &Path,
    nodes: &[Value],
    name: Option<&str>,
) -> Result<Site, FileError> {
    let wrong = |problem: String| FileError::field(path, "nodes", problem);
    let nodes = nodes.iter().map(|node| {
        let text = |key| node.get(key).and_then(Value::as_str);
        let host = text("name").ok_or_else(|| wrong("a node has no name".to_owned()))?;
        match text("topology") {
            Some(topology) if !topology.is_empty() => Ok((host.to_owned(), topology.to_owned())),
            _ => Err(wrong(format!(
                "{host} has no topology; nothing is known of its place"
            ))),
        }
    });
    of_nodes(path, &nodes.collect::<Result<Vec<_>, _>>()?, name)
}

/// Builds the network from nodes and the location of each.
fn of_nodes(
    path: &Path,
    nodes: &[(String, String)],
    name: Option<&str>,
) -> Result<Site, FileError> {
    // The nodes of each topology and their locations in it.
    let mut topologies: BTreeMap<&str, Vec<(&str, Vec<&str>)>> = BTreeMap::new();
    for (node, topology) in nodes {
        for place in topology.split(',').filter(|place| !place.is_empty()) {
            let mut parts = place.split(':');
            let topology = parts.next().unwrap_or_default();
            topologies
                .entry(topology)
                .or_default()
                .push((node, parts.collect()));
        }
    }
    let known: Vec<&str> = topologies.keys().copied().collect();
    let wrong = |problem: String| FileError::field(path, "Topology", problem);
    let first = nodes.first().map_or("", |(_, topology)| topology.as_str());
    let first = first.split(':').next().unwrap_or_default();
    let (chosen, part) = match name {
        None => (topologies.get(first), None),
        Some(name) => match topologies.get(name) {
            Some(found) => (Some(found), None),
            None => (topologies.get(first), Some(name)),
        },
    };
    let places = chosen.ok_or_else(|| match name {
        None => wrong("no node has one; this Slurm does not say where nodes are".to_owned()),
        Some(name) => wrong(format!("has no {name}; there are {}", known.join(", "))),
    })?;
    match tori(places) {
        Some(tori) => of_tori(path, tori, part),
        None => tree(path, places),
    }
}

/// The names of nodes and their `Topology=`.
fn nodes(path: &Path, text: &str) -> Result<Vec<(String, String)>, FileError> {
    let mut nodes: Vec<(String, Option<String>, usize)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for word in line.split_whitespace() {
            let Some((key, value)) = word.split_once('=') else {
                continue;
            };
            if key.eq_ignore_ascii_case("NodeName") {
                nodes.push((value.to_owned(), None, number + 1));
            } else if key.eq_ignore_ascii_case("Topology")
                && let Some(node) = nodes.last_mut()
            {
                node.1 = Some(value.to_owned());
            }
        }
    }
    let named = nodes
        .into_iter()
        .map(|(node, topology, line)| match topology {
            Some(topology) => Ok((node, topology)),
            None => {
                let problem = format!("{node} has no `Topology=`; nothing is known of its place");
                Err(FileError::at(path, line, problem))
            }
        });
    named.collect()
}

/// Returns rings and tori, if all locations are a name with one coordinate, or with three.
fn tori(places: &[(&str, Vec<&str>)]) -> Option<Vec<Torus>> {
    let dimensions = places.first()?.1.len().checked_sub(1)?;
    if dimensions != 1 && dimensions != 3 {
        return None;
    }
    let mut found: BTreeMap<&str, Vec<(String, Vec<usize>)>> = BTreeMap::new();
    for (node, parts) in places {
        let (torus, at) = parts.split_first()?;
        let at: Option<Vec<usize>> = at.iter().map(|part| part.parse().ok()).collect();
        let at = at.filter(|at| at.len() == dimensions)?;
        found
            .entry(torus)
            .or_default()
            .push(((*node).to_owned(), at));
    }
    let torus = |(name, hosts)| Torus::smallest(name, hosts);
    Some(found.into_iter().map(torus).collect())
}

/// Builds the tree of switches from the top down.
fn tree(path: &Path, places: &[(&str, Vec<&str>)]) -> Result<Site, FileError> {
    let mut below: BTreeMap<String, (Vec<String>, Vec<String>)> = BTreeMap::new();
    for (node, parts) in places {
        let mut above: Option<String> = None;
        let mut whole = String::new();
        for part in parts {
            // Blocks and switches with the same name below different ones are different.
            whole = format!("{whole}:{part}");
            if let Some(above) = above {
                let switches = &mut below.entry(above).or_default().0;
                if switches.last() != Some(&whole) && !switches.contains(&whole) {
                    switches.push(whole.clone());
                }
            }
            above = Some(whole.clone());
        }
        below.entry(whole).or_default().1.push((*node).to_owned());
    }
    Switches::of_parts(path, "Topology", below)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(text: &str, name: Option<&str>) -> Result<Site, String> {
        read(Path::new("nodes"), text, name).map_err(|error| error.to_string())
    }

    #[test]
    fn switches_rings_and_coordinates_are_told_apart() {
        let tree = "NodeName=a CPUTot=4\n   Topology=fabric:top:leaf1\n\
                    NodeName=b Topology=fabric:top:leaf1\nNodeName=c Topology=fabric:top:leaf2\n";
        let found = site(tree, None).unwrap();
        assert_eq!(found.network().describe(), "tree: 2 x switch, 3 x node");
        let ring = "NodeName=a Topology=loop:r0:0\nNodeName=b Topology=loop:r0:1\n\
                    NodeName=c Topology=loop:r0:2\n";
        assert_eq!(site(ring, None).unwrap().network().describe(), "torus 3");
        let torus = "NodeName=a Topology=fabric:top:l1,cube:pod:0:0:1\n\
                     NodeName=b Topology=fabric:top:l2,cube:pod:3:1:0\n";
        let found = site(torus, Some("cube")).unwrap();
        assert_eq!(found.network().describe(), "mesh 4x2x2");
        assert_eq!(found.positions_of(&["a", "b"]).unwrap(), [8, 7]);
        assert_eq!(site(torus, None).unwrap().nodes(), 2);
    }

    #[test]
    fn nodes_without_a_place_are_named_with_their_line() {
        assert_eq!(
            site("NodeName=a Topology=f:s\nNodeName=b State=IDLE\n", None).unwrap_err(),
            "nodes:2: b has no `Topology=`; nothing is known of its place"
        );
        let same = "NodeName=a Topology=cube:pod:0:0:0\nNodeName=b Topology=cube:pod:0:0:0\n";
        assert_eq!(
            site(same, None).unwrap_err(),
            "nodes: hosts: a and b are both at [0, 0, 0]; correct one of them"
        );
    }
}
