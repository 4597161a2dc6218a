//! Networks as Slurm describes them: what `scontrol show topology` prints, or the lines of
//! `topology.conf`.
//!
//! ```text
//! SwitchName=s0 Level=0 LinkSpeed=1 Nodes=tux[0-3]        BlockName=b1 Nodes=tux[0-3]
//! SwitchName=s1 Level=0 LinkSpeed=1 Nodes=tux[4-7]        BlockName=b2 Nodes=tux[4-7]
//! SwitchName=s2 Level=1 Nodes=tux[0-7] Switches=s[0-1]    BlockSizes=4,8
//!
//! RingName=r0 Nodes=tux[0-7]                              TorusName=pod Dims=4x4x2 Nodes=tux[0-31]
//! ```
//!
//! Keys are taken in any case, a `\` at the end continues a line, and two lines may describe one
//! switch. Switches that no other one names are joined by the root; several over the same switches
//! are one with as many links. Where switches are below several that are not alike, the network is
//! a graph.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use super::parts::{GraphBuilder, Torus, hosts_of, of_tori};
use super::{expand, in_network, of_tree};
use crate::files::{FileError, text, topology};
use crate::topology::networks::{FatTree, Host, Network, Site};
use crate::topology::{Leaf, Topology, Tree};

/// Deeper than this is no network.
const MOST_LEVELS: usize = 32;

/// Reads a network that is a tree: a topology file of treepie whose leaves are named hosts, or
/// Slurm's text.
///
/// # Errors
/// A file that cannot be read, or holds neither.
pub fn read(path: &Path) -> Result<Topology, FileError> {
    from_text(path, &text::read(path)?)
}

/// Whether a file can be read and holds Slurm's text.
pub fn is_of_slurm(path: &Path) -> bool {
    text::read(path).is_ok_and(|text| has_records(&text))
}

/// Keys that begin a record.
const RECORDS: [&str; 7] = [
    "SwitchName=",
    "BlockName=",
    "AggregatedBlock=",
    "BlockSizes=",
    "RingName=",
    "TorusName=",
    "PlacementDims=",
];

/// Whether a line is a record of Slurm's text.
pub(super) fn is_record(line: &str) -> bool {
    let starts = |key: &&str| {
        line.get(..key.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(key))
    };
    RECORDS.iter().any(starts)
}

fn has_records(text: &str) -> bool {
    text.lines().any(|line| is_record(line.trim_start()))
}

/// The tree in the text of a file; `path` is for messages.
///
/// # Errors
/// Text that is no network, or none that is a tree; a topology with a leaf that has no host.
pub fn from_text(path: &Path, text: &str) -> Result<Topology, FileError> {
    if has_records(text) {
        let records = Records::read(path, text)?;
        return Ok(records.switches.network(path)?.0);
    }
    with_hosts(path, topology::from_text(path, text)?)
}

/// A tree all of whose leaves are named hosts.
pub(super) fn with_hosts(path: &Path, network: Topology) -> Result<Topology, FileError> {
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

/// The network of any kind in Slurm's text.
pub(super) fn site(path: &Path, text: &str, name: Option<&str>) -> Result<Site, FileError> {
    let records = Records::read(path, text)?;
    if !records.tori.is_empty() {
        return of_tori(path, records.tori, name);
    }
    if let Some(name) = name {
        let problem = format!("has one network only, and none called {name}; leave the name out");
        return Err(FileError::field(path, "network", problem));
    }
    records.switches.site(path)
}

/// What the lines of a file describe.
#[derive(Default)]
struct Records {
    switches: Switches,
    tori: Vec<Torus>,
}

impl Records {
    fn read(path: &Path, text: &str) -> Result<Self, FileError> {
        let mut found = Records::default();
        let mut sizes: Option<(usize, Vec<usize>)> = None;
        for (number, line) in joined(text) {
            let wrong = |problem: String| wrong_line(path, number, problem);
            let fields = Fields::of(&line).map_err(wrong)?;
            match fields.kind() {
                Some(Kind::Sizes(list)) => {
                    let list = list
                        .split(',')
                        .map(|size| size.trim().parse::<usize>().ok());
                    let list: Option<Vec<usize>> = list.collect();
                    let list = list.filter(|list| list.iter().all(|&size| size > 0));
                    let expected = "`BlockSizes=` lists whole numbers, such as 4,8".to_owned();
                    sizes = Some((number, list.ok_or_else(|| wrong(expected))?));
                }
                Some(Kind::Ring(name)) => {
                    let hosts = expand(fields.get("nodes").unwrap_or_default()).map_err(wrong)?;
                    let count = [hosts.len()];
                    let ring = Torus::in_order(name, &count, hosts).map_err(wrong)?;
                    found.tori.push(ring);
                }
                Some(Kind::Torus(name)) => {
                    let dims = dimensions(fields.get("dims")).map_err(wrong)?;
                    let hosts = expand(fields.get("nodes").unwrap_or_default()).map_err(wrong)?;
                    found
                        .tori
                        .push(Torus::in_order(name, &dims, hosts).map_err(wrong)?);
                }
                Some(Kind::Placement) => {}
                Some(Kind::Switch(name)) => {
                    let switch = Switch::of(name, &fields, number).map_err(wrong)?;
                    found.switches.add(switch).map_err(wrong)?;
                }
                Some(Kind::Aggregate(name)) => {
                    let blocks = expand(name).map_err(wrong)?;
                    found
                        .switches
                        .aggregate(name, &blocks, number)
                        .map_err(wrong)?;
                }
                None => {
                    let problem = "no `SwitchName=` was found; every line describes a switch";
                    return Err(wrong(problem.to_owned()));
                }
            }
        }
        if let Some((line, sizes)) = sizes {
            let wrong = |problem: String| wrong_line(path, line, problem);
            found.switches.group_blocks(&sizes).map_err(wrong)?;
        }
        Ok(found)
    }
}

/// Lines with their numbers, without comments; a line that ends in a backslash goes on.
fn joined(text: &str) -> impl Iterator<Item = (usize, String)> + '_ {
    let mut lines = text.lines().enumerate();
    std::iter::from_fn(move || {
        loop {
            let (number, line) = lines.next()?;
            let mut whole = without_comment(line).to_owned();
            while let Some(open) = whole.strip_suffix('\\') {
                whole = open.to_owned();
                let Some((_, next)) = lines.next() else { break };
                whole.push_str(without_comment(next));
            }
            let whole = whole.trim().to_owned();
            if !whole.is_empty() {
                return Some((number + 1, whole));
            }
        }
    })
}

fn without_comment(line: &str) -> &str {
    line.split('#').next().unwrap_or_default().trim_end()
}

/// What a line is about.
enum Kind<'a> {
    Switch(&'a str),
    Aggregate(&'a str),
    Sizes(&'a str),
    Ring(&'a str),
    Torus(&'a str),
    Placement,
}

/// The words `Key=Value` of a line; keys in lower case.
struct Fields<'a>(Vec<(String, &'a str)>);

impl<'a> Fields<'a> {
    fn of(line: &'a str) -> Result<Self, String> {
        let open = line.matches('[').count() > line.matches(']').count();
        let fields = line.split_whitespace().map(|word| {
            let (key, value) = word.split_once('=').ok_or_else(|| {
                format!("`{word}` was found, a word such as `Nodes=tux[0-3]` was expected")
            })?;
            Ok((key.to_ascii_lowercase(), value))
        });
        let fields = fields.collect::<Result<Vec<_>, String>>()?;
        // What is printed is cut off at a length of the environment.
        if open && line.len() > 100 {
            return Err(
                "the line ends inside a bracket; print it again with SLURM_TOPO_LEN=100000"
                    .to_owned(),
            );
        }
        Ok(Fields(fields))
    }

    fn get(&self, key: &str) -> Option<&'a str> {
        let found = self.0.iter().find(|(known, _)| known == key);
        found.map(|&(_, value)| value)
    }

    fn kind(&self) -> Option<Kind<'a>> {
        let named = |key: &str| self.get(key).filter(|name| !name.is_empty());
        None.or_else(|| named("switchname").map(Kind::Switch))
            .or_else(|| named("blockname").map(Kind::Switch))
            .or_else(|| named("aggregatedblock").map(Kind::Aggregate))
            .or_else(|| named("ringname").map(Kind::Ring))
            .or_else(|| named("torusname").map(Kind::Torus))
            .or_else(|| named("blocksizes").map(Kind::Sizes))
            .or_else(|| named("placementdims").map(|_| Kind::Placement))
    }
}

fn dimensions(text: Option<&str>) -> Result<Vec<usize>, String> {
    let text = text.ok_or("`Dims=` is missing; write it as Dims=4x4x2")?;
    let sizes = text
        .split('x')
        .map(|size| size.parse::<usize>().ok().filter(|&size| size > 0));
    let sizes: Option<Vec<usize>> = sizes.collect();
    sizes.ok_or_else(|| format!("`Dims={text}` lists no sizes; write them as 4x4x2"))
}

/// One switch or block.
#[derive(Clone)]
pub(super) struct Switch {
    pub name: String,
    /// 0 where a file has no lines.
    pub line: usize,
    pub nodes: Vec<String>,
    pub switches: Vec<String>,
}

impl Switch {
    fn of(name: &str, fields: &Fields, line: usize) -> Result<Self, String> {
        let list = |key| fields.get(key).map_or(Ok(Vec::new()), expand);
        Ok(Switch {
            name: name.to_owned(),
            line,
            nodes: list("nodes")?,
            switches: list("switches")?,
        })
    }
}

/// All switches of a file.
#[derive(Default)]
pub(super) struct Switches {
    all: Vec<Switch>,
    by_name: HashMap<String, usize>,
}

impl Switches {
    /// Adds a switch. Two lines may share one switch, if one has its nodes and the other its
    /// switches.
    pub(super) fn add(&mut self, switch: Switch) -> Result<(), String> {
        let Some(&first) = self.by_name.get(&switch.name) else {
            self.by_name.insert(switch.name.clone(), self.all.len());
            self.all.push(switch);
            return Ok(());
        };
        let first = &mut self.all[first];
        let parts = |s: &Switch| (!s.nodes.is_empty(), !s.switches.is_empty());
        match (parts(first), parts(&switch)) {
            ((true, false), (false, true)) => first.switches = switch.switches,
            ((false, true), (true, false)) => first.nodes = switch.nodes,
            _ => {
                return Err(format!(
                    "{} was described on line {} already; keep one of them",
                    switch.name, first.line
                ));
            }
        }
        Ok(())
    }

    /// The network of switches by name, each with the switches and the nodes below it. `field` is
    /// for messages.
    pub(super) fn of_parts(
        path: &Path,
        field: &str,
        parts: BTreeMap<String, (Vec<String>, Vec<String>)>,
    ) -> Result<Site, FileError> {
        let mut found = Switches::default();
        for (name, (switches, nodes)) in parts {
            let switch = Switch {
                name,
                line: 0,
                nodes,
                switches,
            };
            let wrong = |problem| FileError::field(path, field, problem);
            found.add(switch).map_err(wrong)?;
        }
        found.site(path)
    }

    /// Adds a group of blocks, above the groups of some of them that there are.
    fn aggregate(&mut self, name: &str, blocks: &[String], line: usize) -> Result<(), String> {
        let within: HashSet<&String> = blocks.iter().collect();
        let mut above: HashMap<String, String> = HashMap::new();
        for switch in &self.all {
            for child in &switch.switches {
                above.insert(child.clone(), switch.name.clone());
            }
        }
        let mut children: Vec<String> = Vec::new();
        for block in blocks {
            let mut top = block.clone();
            while let Some(next) = above.get(&top) {
                top.clone_from(next);
            }
            if !children.contains(&top) {
                children.push(top);
            }
        }
        let whole = |top: &String| {
            let below = self.blocks_below(top);
            below.iter().all(|block| within.contains(block))
        };
        if !children.iter().all(whole) {
            return Err(format!(
                "{name} has parts of other groups of blocks; correct its blocks"
            ));
        }
        self.add(Switch {
            name: name.to_owned(),
            line,
            nodes: Vec::new(),
            switches: children,
        })
    }

    fn blocks_below(&self, name: &str) -> Vec<String> {
        let switch = self.by_name.get(name).map(|&at| &self.all[at]);
        match switch {
            Some(switch) if !switch.switches.is_empty() => {
                let below = switch.switches.iter();
                below.flat_map(|child| self.blocks_below(child)).collect()
            }
            _ => vec![name.to_owned()],
        }
    }

    /// Groups consecutive blocks as `BlockSizes` says: the n-th size is so many times the first.
    pub(super) fn group_blocks(&mut self, sizes: &[usize]) -> Result<(), String> {
        let base = sizes[0];
        let mut parts: Vec<String> = self.all.iter().map(|block| block.name.clone()).collect();
        let mut joined = 1;
        for &size in &sizes[1..] {
            let times = size / base;
            if !size.is_multiple_of(base) || !times.is_power_of_two() || times <= joined {
                return Err(format!(
                    "block size {size} is no power of two times {base}, growing; correct `BlockSizes=`"
                ));
            }
            let step = times / joined;
            joined = times;
            if parts.len() <= step {
                break;
            }
            let mut groups = Vec::new();
            for (number, group) in parts.chunks(step).enumerate() {
                let name = format!("blocks of {size}, {number}");
                self.add(Switch {
                    name: name.clone(),
                    line: 0,
                    nodes: Vec::new(),
                    switches: group.to_vec(),
                })?;
                groups.push(name);
            }
            parts = groups;
        }
        Ok(())
    }

    /// A tree, a fat tree, or a graph.
    pub(super) fn site(&self, path: &Path) -> Result<Site, FileError> {
        if self.is_graph() {
            return self.graph(path);
        }
        let (tree, parents) = self.network(path)?;
        let several = parents.iter().any(|&count| count > 1);
        if let (true, Some(arities)) = (several, tree.arities()) {
            let children: Vec<usize> = arities.into_iter().rev().collect();
            let fat = FatTree::new(&children, &parents, &vec![1; children.len()]);
            let hosts: Vec<Host> = hosts_of(&tree);
            let network = Network::FatTree(in_network(path, fat)?);
            return in_network(path, Site::new(network, hosts));
        }
        of_tree(path, tree)
    }

    /// Whether a switch is below several that are not alike.
    fn is_graph(&self) -> bool {
        let mut above: HashMap<&String, &Vec<String>> = HashMap::new();
        self.all.iter().any(|switch| {
            switch.switches.iter().any(|child| {
                let other = above.insert(child, &switch.switches);
                other.is_some_and(|other| *other != switch.switches)
            })
        })
    }

    /// All switches as a graph, hosts on the lowest switch that lists them.
    fn graph(&self, path: &Path) -> Result<Site, FileError> {
        let mut builder = GraphBuilder::default();
        let mut seen: HashSet<&String> = HashSet::new();
        for switch in self.all.iter().filter(|switch| switch.switches.is_empty()) {
            let vertex = builder.vertex(&switch.name);
            for node in &switch.nodes {
                seen.insert(node);
                builder.host(node, vertex);
            }
        }
        for switch in self.all.iter().filter(|switch| !switch.switches.is_empty()) {
            let vertex = builder.vertex(&switch.name);
            for child in &switch.switches {
                if !self.by_name.contains_key(child) {
                    return Err(missing(path, switch, child));
                }
                let below = builder.vertex(child);
                builder.link(vertex, below, 1, 1.0);
            }
            for node in switch.nodes.iter().filter(|node| seen.insert(node)) {
                builder.host(node, vertex);
            }
        }
        builder.site(path, 2)
    }

    /// The tree of all switches, and the number of parents of each level from the hosts up.
    fn network(&self, path: &Path) -> Result<(Topology, Vec<usize>), FileError> {
        let below: HashSet<&String> = self.all.iter().flat_map(|s| &s.switches).collect();
        // Switches above the same ones are one with several links.
        let mut alike: HashMap<&Vec<String>, usize> = HashMap::new();
        let mut tops = Vec::new();
        let mut dropped: HashSet<&str> = HashSet::new();
        for switch in &self.all {
            if !switch.switches.is_empty() {
                let count = alike.entry(&switch.switches).or_default();
                *count += 1;
                if *count > 1 {
                    dropped.insert(&switch.name);
                    continue;
                }
            }
            if !below.contains(&switch.name) {
                tops.push(switch);
            }
        }
        let mut seen = HashMap::new();
        let mut trees = Vec::new();
        let mut parents: Vec<usize> = vec![1; MOST_LEVELS + 1];
        for top in tops {
            let (tree, height) = self.tree(path, top, &mut seen, &dropped, 0)?;
            self.count_parents(top, height, &alike, &mut parents);
            trees.push(tree);
        }
        if trees.is_empty() {
            let problem = "every switch is below another one; one has to be at the top".to_owned();
            let line = self.all.first().map_or(0, |s| s.line);
            return Err(wrong_line(path, line, problem));
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
        parents.truncate(bare.depth());
        Ok((bare.with_level_names(names).map_err(problem)?, parents))
    }

    /// Notes how many switches stand above the same ones, by height.
    fn count_parents(
        &self,
        switch: &Switch,
        height: usize,
        alike: &HashMap<&Vec<String>, usize>,
        parents: &mut [usize],
    ) {
        let count = alike.get(&switch.switches).copied().unwrap_or(1);
        if let Some(parents) = parents.get_mut(height - 1) {
            *parents = (*parents).max(count);
        }
        for child in &switch.switches {
            if let Some(&child) = self.by_name.get(child)
                && height > 1
            {
                self.count_parents(&self.all[child], height - 1, alike, parents);
            }
        }
    }

    /// A switch with all that is below it, and its height above the hosts.
    fn tree<'a>(
        &'a self,
        path: &Path,
        switch: &'a Switch,
        seen: &mut HashMap<&'a str, &'a str>,
        dropped: &HashSet<&str>,
        depth: usize,
    ) -> Result<(Tree, usize), FileError> {
        let wrong = |problem: String| wrong_line(path, switch.line, problem);
        if depth == MOST_LEVELS {
            let name = &switch.name;
            return Err(wrong(format!(
                "{name} is below itself, or below {depth} others"
            )));
        }
        let mut parts = Vec::new();
        let mut height = 1;
        for name in &switch.switches {
            let child = self.by_name.get(name).map(|&place| &self.all[place]);
            let child = child.ok_or_else(|| missing(path, switch, name))?;
            if dropped.contains(name.as_str()) {
                continue;
            }
            if let Some(other) = seen.insert(&child.name, &switch.name) {
                return Err(wrong(format!(
                    "{name} is below both {other} and {}; a tree was expected",
                    switch.name
                )));
            }
            let (part, below) = self.tree(path, child, seen, dropped, depth + 1)?;
            parts.push(part);
            height = height.max(below + 1);
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
            false => Ok((Tree::Inner(parts), height)),
        }
    }
}

fn missing(path: &Path, switch: &Switch, child: &str) -> FileError {
    let problem = format!("no line describes {child}; add one, or leave it out");
    wrong_line(path, switch.line, problem)
}

pub(super) fn wrong_line(path: &Path, line: usize, problem: String) -> FileError {
    FileError::Text {
        path: path.to_owned(),
        line,
        column: 0,
        problem: crate::files::error::one_line(&problem),
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
                "SwitchName=t Switches=a,b\nSwitchName=a Switches=c,d\nSwitchName=b Switches=c\n\
                 SwitchName=c Nodes=n0\nSwitchName=d Nodes=n1\n",
                "t.conf:3: c is below both a and b; a tree was expected",
            ),
        ] {
            assert_eq!(network(text).unwrap_err(), expected);
        }
    }

    fn site(text: &str, name: Option<&str>) -> Result<Site, String> {
        let found = super::site(Path::new("t.conf"), text, name);
        found.map_err(|error| error.to_string())
    }

    #[test]
    fn block_sizes_group_consecutive_blocks() {
        let text = "BlockName=b1 Nodes=n[1-4]\nBlockName=b2 Nodes=n[5-8]\n\
                    BlockName=b3 Nodes=n[9-12]\nBlockName=b4 Nodes=n[13-16]\nBlockSizes=4,8\n";
        assert_eq!(network(text).unwrap().arities(), Some(vec![2, 2, 4]));
        let flat = text.replace("BlockSizes=4,8", "BlockSizes=4");
        assert_eq!(network(&flat).unwrap().arities(), Some(vec![4, 4]));
        let wrong = text.replace("4,8", "4,9");
        assert_eq!(
            network(&wrong).unwrap_err(),
            "t.conf:5: block size 9 is no power of two times 4, growing; correct `BlockSizes=`"
        );
    }

    #[test]
    fn shown_aggregates_stand_above_each_other() {
        let text = "BlockName=b1 BlockIndex=0 Nodes=n[1-2] BlockSize=2\n\
                    BlockName=b2 BlockIndex=1 Nodes=n[3-4] BlockSize=2\n\
                    BlockName=b3 BlockIndex=2 Nodes=n[5-6] BlockSize=2\n\
                    BlockName=b4 BlockIndex=3 Nodes=n[7-8] BlockSize=2\n\
                    AggregatedBlock=b[1-2] BlockIndex=4 Nodes=n[1-4] BlockSize=4\n\
                    AggregatedBlock=b[3-4] BlockIndex=5 Nodes=n[5-8] BlockSize=4\n\
                    AggregatedBlock=b[1-4] BlockIndex=6 Nodes=n[1-8] BlockSize=8\n";
        assert_eq!(network(text).unwrap().arities(), Some(vec![2, 2, 2]));
    }

    #[test]
    fn keys_come_in_any_case_lines_go_on_and_one_switch_may_have_two() {
        let text = "switchname=s0 NODES=n[0-1]\nSWITCHNAME=s1 nodes=\\\n n[2-3]\n\
                    SwitchName=s2 Switches=s[0-1]\nSwitchName=s2 Nodes=n[4-5]\n";
        let text = text.replace("nodes=\\\n n", "nodes=\\\nn");
        let found = network(&text).unwrap();
        assert_eq!(found.hosts(), ["n0", "n1", "n2", "n3", "n4", "n5"]);
    }

    #[test]
    fn several_tops_over_the_same_switches_are_a_fat_tree() {
        let text = "SwitchName=s0 Nodes=n[0-1]\nSwitchName=s1 Nodes=n[2-3]\n\
                    SwitchName=t0 Switches=s[0-1]\nSwitchName=t1 Switches=s[0-1]\n";
        assert_eq!(network(text).unwrap().arities(), Some(vec![2, 2]));
        let found = site(text, None).unwrap();
        assert_eq!(found.network().describe(), "fat tree 2;2,2;1,2");
        assert_eq!(found.positions_of(&["n3"]).unwrap(), [3]);
    }

    #[test]
    fn switches_below_several_that_are_not_alike_are_a_graph() {
        let text = "SwitchName=a Nodes=n0\nSwitchName=b Nodes=n1\nSwitchName=c Nodes=n2\n\
                    SwitchName=t Switches=a,b\nSwitchName=u Switches=b,c\n";
        let found = site(text, None).unwrap();
        let at = found.positions_of(&["n0", "n1", "n2"]).unwrap();
        assert_eq!(found.network().distance(at[0], at[2]), 6);
        assert_eq!(found.network().distance(at[0], at[1]), 4);
    }

    #[test]
    fn rings_and_tori_are_lattices_with_their_hosts_in_order() {
        let ring = site("RingName=r0 Nodes=n[0-7] RingSize=8\n", None).unwrap();
        assert_eq!(ring.network().describe(), "torus 8");
        assert_eq!(ring.network().distance(0, 7), 1);
        let shown = "TorusName=pod1 Dims=4x4x2 Nodes=n[0-31]\n  PlacementDims=2x2x1(4) Anchors=8\n";
        let torus = site(shown, None).unwrap();
        assert_eq!(torus.network().describe(), "torus 4x4x2");
        assert_eq!(torus.positions_of(&["n5"]).unwrap(), [5]);
        let pods = "TorusName=p Dims=2x2x2 Nodes=a[0-7]\nTorusName=q Dims=2x2x2 Nodes=b[0-7]\n";
        let both = site(pods, None).unwrap();
        let at = both.positions_of(&["a0", "a7", "b0"]).unwrap();
        assert_eq!(both.network().distance(at[0], at[1]), 3);
        assert!(both.network().distance(at[0], at[2]) > 3);
        assert_eq!(site(pods, Some("q")).unwrap().hosts().len(), 8);
        assert_eq!(
            site(pods, Some("r")).unwrap_err(),
            "t.conf: network: has no r; there are p, q"
        );
        assert_eq!(
            site("TorusName=p Dims=2x2 Nodes=a[0-7]\n", None).unwrap_err(),
            "t.conf:1: p has 8 hosts for the cells of 2x2; correct its sizes or its hosts"
        );
    }

    #[test]
    fn a_line_that_was_cut_off_says_why() {
        let nodes: Vec<String> = (0..40).map(|n| n.to_string()).collect();
        let text = format!("SwitchName=s0 Nodes=n[{}", nodes.join(","));
        assert_eq!(
            network(&text).unwrap_err(),
            "t.conf:1: the line ends inside a bracket; print it again with SLURM_TOPO_LEN=100000"
        );
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
