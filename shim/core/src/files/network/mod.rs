//! Networks as Slurm describes them: what `scontrol show topology` prints, or
//! the lines of `topology.conf`.
//!
//! ```text
//! SwitchName=s0 Level=0 LinkSpeed=1 Nodes=tux[0-3]
//! SwitchName=s1 Level=0 LinkSpeed=1 Nodes=tux[4-7]
//! SwitchName=s2 Level=1 LinkSpeed=1 Nodes=tux[0-7] Switches=s[0-1]
//! ```
//!
//! A network is a [`Topology`] whose leaves are hosts. Switches that no other
//! one names are joined by the root. Blocks (`BlockName=`) are switches too.

mod host_list;

use std::collections::{HashMap, HashSet};
use std::path::Path;

pub use host_list::expand;

use super::{FileError, text, topology};
use crate::topology::{Leaf, Topology, Tree};

/// Deeper than this is no network.
const MOST_LEVELS: usize = 32;

/// Reads a network: a topology file of treepie whose leaves are named hosts, or
/// Slurm's text.
///
/// # Errors
/// A file that cannot be read, or holds neither.
pub fn read(path: &Path) -> Result<Topology, FileError> {
    from_text(path, &text::read(path)?)
}

/// Whether a file can be read and holds Slurm's text.
pub fn is_of_slurm(path: &Path) -> bool {
    text::read(path).is_ok_and(|text| has_switches(&text))
}

fn has_switches(text: &str) -> bool {
    let of_slurm = |line: &str| line.starts_with("SwitchName=") || line.starts_with("BlockName=");
    text.lines().any(|line| of_slurm(line.trim_start()))
}

/// The network in the text of a file; `path` is for messages.
///
/// # Errors
/// Text that is no network; a topology with a leaf that has no host.
pub fn from_text(path: &Path, text: &str) -> Result<Topology, FileError> {
    if has_switches(text) {
        return Switches::read(path, text)?.network(path);
    }
    let network = topology::from_text(path, text)?;
    match network.leaves().iter().position(|leaf| leaf.host.is_none()) {
        None => Ok(network),
        Some(leaf) => Err(FileError::field(
            path,
            "machines",
            format!(
                "no host is named for leaf {leaf}; the leaves of a network are hosts, each \
                 written as `- {{host: NAME, cores: {leaf}}}`"
            ),
        )),
    }
}

/// One line of Slurm's text.
struct Switch {
    name: String,
    line: usize,
    nodes: Vec<String>,
    switches: Vec<String>,
}

struct Switches {
    all: Vec<Switch>,
    by_name: HashMap<String, usize>,
}

impl Switches {
    fn read(path: &Path, text: &str) -> Result<Self, FileError> {
        let mut found = Switches {
            all: Vec::new(),
            by_name: HashMap::new(),
        };
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let wrong = |problem: String| wrong_line(path, number + 1, problem);
            let switch = Switch::read(line, number + 1).map_err(wrong)?;
            let name = switch.name.clone();
            if let Some(first) = found.by_name.insert(name, found.all.len()) {
                let first = found.all[first].line;
                let problem = format!(
                    "{} was described on line {first} already; keep one of them",
                    switch.name
                );
                return Err(wrong_line(path, number + 1, problem));
            }
            found.all.push(switch);
        }
        Ok(found)
    }

    /// The tree of all switches.
    fn network(&self, path: &Path) -> Result<Topology, FileError> {
        let below: HashSet<&String> = self.all.iter().flat_map(|s| &s.switches).collect();
        let tops = self
            .all
            .iter()
            .filter(|switch| !below.contains(&switch.name));
        let mut seen = HashMap::new();
        let mut trees = Vec::new();
        for top in tops {
            trees.push(self.tree(path, top, &mut seen, 0)?);
        }
        if trees.is_empty() {
            let problem = "every switch is below another one; one has to be at the top".to_owned();
            return Err(wrong_line(
                path,
                self.all.first().map_or(0, |s| s.line),
                problem,
            ));
        }
        // A single switch at the top is the root itself.
        let tree = match trees.pop() {
            Some(only) if trees.is_empty() => only,
            last => Tree::Inner(trees.into_iter().chain(last).collect()),
        };
        let problem = |error| FileError::field(path, "network", error);
        let bare = Topology::from_tree(&tree, None).map_err(problem)?;
        let switches = (1..bare.depth()).rev().map(|height| match height {
            1 => "switch".to_owned(),
            _ => format!("switch{height}"),
        });
        let names: Vec<String> = switches.chain(["node".to_owned()]).collect();
        bare.with_level_names(names).map_err(problem)
    }

    /// A switch with all that is below it.
    fn tree<'a>(
        &'a self,
        path: &Path,
        switch: &'a Switch,
        seen: &mut HashMap<&'a str, &'a str>,
        depth: usize,
    ) -> Result<Tree, FileError> {
        let wrong = |problem: String| wrong_line(path, switch.line, problem);
        if depth == MOST_LEVELS {
            let name = &switch.name;
            return Err(wrong(format!(
                "{name} is below itself, or below {depth} others"
            )));
        }
        let mut parts = Vec::new();
        for name in &switch.switches {
            let child = self.by_name.get(name).map(|&place| &self.all[place]);
            let child = child.ok_or_else(|| {
                wrong(format!(
                    "no line describes {name}; add one, or leave it out"
                ))
            })?;
            if let Some(other) = seen.insert(&child.name, &switch.name) {
                return Err(wrong(format!(
                    "{name} is below both {other} and {}; a tree was expected",
                    switch.name
                )));
            }
            parts.push(self.tree(path, child, seen, depth + 1)?);
        }
        // The upper switches list all nodes below them: those are known already.
        let inner = !switch.switches.is_empty();
        for name in &switch.nodes {
            match seen.get(name.as_str()) {
                Some(_) if inner => {}
                Some(other) => {
                    return Err(wrong(format!(
                        "{name} is below both {other} and {}; a tree was expected",
                        switch.name
                    )));
                }
                None => {
                    seen.insert(name, &switch.name);
                    parts.push(Tree::Leaf(Leaf {
                        host: Some(name.clone()),
                        ..Leaf::default()
                    }));
                }
            }
        }
        match parts.is_empty() {
            true => Err(wrong(format!(
                "{} has neither nodes nor switches; write `Nodes=` or `Switches=`",
                switch.name
            ))),
            false => Ok(Tree::Inner(parts)),
        }
    }
}

impl Switch {
    fn read(line: &str, number: usize) -> Result<Self, String> {
        let mut switch = Switch {
            name: String::new(),
            line: number,
            nodes: Vec::new(),
            switches: Vec::new(),
        };
        for word in line.split_whitespace() {
            let Some((key, value)) = word.split_once('=') else {
                return Err(format!(
                    "`{word}` was found, a word such as `Nodes=tux[0-3]` was expected"
                ));
            };
            match key {
                "SwitchName" | "BlockName" => switch.name = value.to_owned(),
                "AggregatedBlock" => {
                    switch.name = value.to_owned();
                    switch.switches = expand(value)?;
                }
                "Nodes" => switch.nodes = expand(value)?,
                "Switches" => switch.switches = expand(value)?,
                // Level, LinkSpeed, BlockIndex and what later versions add.
                _ => {}
            }
        }
        match switch.name.is_empty() {
            true => Err("no `SwitchName=` was found; every line describes a switch".to_owned()),
            false => Ok(switch),
        }
    }
}

fn wrong_line(path: &Path, line: usize, problem: String) -> FileError {
    FileError::Text {
        path: path.to_owned(),
        line,
        column: 0,
        problem: super::error::one_line(&problem),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;

    const SLURM: &str = "\
# two leaf switches below one
SwitchName=s0 Level=0 LinkSpeed=1 Nodes=tux[0-3]
SwitchName=s1 Level=0 LinkSpeed=1 Nodes=tux[4-5]
SwitchName=s2 Level=1 LinkSpeed=1 Nodes=tux[0-5] Switches=s[0-1]
";

    fn network(text: &str) -> Result<Topology, String> {
        from_text(Path::new("t.conf"), text).map_err(|error| error.to_string())
    }

    #[test]
    fn what_scontrol_shows_is_a_tree_of_switches() {
        let found = network(SLURM).unwrap();
        assert_eq!(
            found.hosts(),
            ["tux0", "tux1", "tux2", "tux3", "tux4", "tux5"]
        );
        let names: Vec<&str> = found.levels().iter().map(|l| l.name.as_str()).collect();
        assert_eq!(names, ["switch", "node"]);
        assert_eq!(found.children(0, 0).len(), 2);
        assert_eq!(found.distance(3, 4), 4);
    }

    #[test]
    fn switches_that_nothing_joins_are_joined_by_the_root() {
        let found = network("SwitchName=a Nodes=n[0-1]\nSwitchName=b Nodes=n[2-4]\n").unwrap();
        assert_eq!(found.children(0, 0).len(), 2);
        assert_eq!(found.leaf_count(), 5);
        let one = network("SwitchName=a Nodes=n[0-1]\n").unwrap();
        assert_eq!(one.arities(), Some(vec![2]));
    }

    #[test]
    fn a_topology_file_whose_leaves_are_hosts_is_a_network() {
        let text = "treepie: topology\nversion: 1\nlevels: [cluster, node]\ntree: [1, 2]\n\
                    machines: [{host: a, cores: 0}, {host: b, cores: 1}, {host: c, cores: 2}]\n";
        assert_eq!(network(text).unwrap().hosts(), ["a", "b", "c"]);
        let nameless = network("treepie: topology\nversion: 1\narities: 2\n").unwrap_err();
        assert_eq!(
            nameless,
            "t.conf: machines: no host is named for leaf 0; the leaves of a network are hosts, \
             each written as `- {host: NAME, cores: 0}`"
        );
    }

    #[test]
    fn wrong_networks_name_the_line() {
        for (text, expected) in [
            (
                "SwitchName=a Nodes=n0\nSwitchName=b Nodes=n0\n",
                "t.conf:2: n0 is below both a and b; a tree was expected",
            ),
            (
                "SwitchName=a Switches=b\n",
                "t.conf:1: no line describes b; add one, or leave it out",
            ),
            (
                "SwitchName=a Switches=b\nSwitchName=b Switches=a\n",
                "t.conf:1: every switch is below another one; one has to be at the top",
            ),
            (
                "SwitchName=a Nodes=n[0\n",
                "t.conf:1: `n[0` lacks a closing bracket; write `name[0-3]`",
            ),
            (
                "SwitchName=a Nodes=n0\nNodes=n1\n",
                "t.conf:2: no `SwitchName=` was found; every line describes a switch",
            ),
            (
                "SwitchName=a Nodes=n0\nSwitchName=a Nodes=n1\n",
                "t.conf:2: a was described on line 1 already; keep one of them",
            ),
            (
                "SwitchName=a\n",
                "t.conf:1: a has neither nodes nor switches; write `Nodes=` or `Switches=`",
            ),
            (
                "SwitchName=a Nodes=n0 up\n",
                "t.conf:1: `up` was found, a word such as `Nodes=tux[0-3]` was expected",
            ),
            (
                "SwitchName=t Switches=a,b\nSwitchName=a Switches=c\nSwitchName=b Switches=c\n\
                 SwitchName=c Nodes=n0\n",
                "t.conf:3: c is below both a and b; a tree was expected",
            ),
        ] {
            assert_eq!(network(text).unwrap_err(), expected);
        }
    }

    proptest! {
        #[test]
        fn damaged_networks_are_read_or_refused_in_one_line(
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<char>()), 1..8),
        ) {
            let mut text: Vec<char> = SLURM.chars().collect();
            for (place, letter) in damage {
                let place = place.index(text.len());
                text[place] = letter;
            }
            let text: String = text.into_iter().collect();
            match network(&text) {
                Ok(found) => prop_assert!(found.leaves().iter().all(|leaf| leaf.host.is_some())),
                Err(message) => prop_assert!(!message.contains('\n'), "{}", message),
            }
        }
    }
}
