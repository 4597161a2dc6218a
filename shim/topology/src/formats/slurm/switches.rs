//! Switches that list what is below them: a tree of hosts, a fat tree, or a graph.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use treepie_base::FileError;

use crate::build::Tree;
use crate::formats::error::in_network;
use crate::formats::graph_builder::GraphBuilder;
use crate::formats::trees::{hosts_of, of_tree};
use crate::networks::fat_tree::FatTree;
use crate::networks::network::Network;
use crate::networks::site::{Host, Site};
use crate::tree::{ProcessingUnit, Topology};

/// Maximum number of levels of a network.
const MOST_LEVELS: usize = 32;

/// One switch or block.
#[derive(Clone)]
pub(crate) struct Switch {
    pub name: String,
    /// 0 if a file has no lines.
    pub line: usize,
    pub nodes: Vec<String>,
    pub switches: Vec<String>,
}

/// All switches of a file.
#[derive(Default)]
pub(crate) struct Switches {
    all: Vec<Switch>,
    by_name: HashMap<String, usize>,
}

impl Switches {
    /// Adds a switch. Two lines may describe one switch, if one has its nodes and the other its
    /// switches.
    pub(crate) fn add(&mut self, switch: Switch) -> Result<(), String> {
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

    /// Builds the network of switches by name, each with the switches and the nodes below it.
    /// `field` is for messages.
    pub(crate) fn of_parts(
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

    /// Builds the network of hosts with the switches above each, the nearest first.
    pub(crate) fn of_layers(
        path: &Path,
        field: &str,
        hosts: Vec<(String, Vec<String>)>,
    ) -> Result<Site, FileError> {
        let mut below: BTreeMap<String, (Vec<String>, Vec<String>)> = BTreeMap::new();
        for (host, layers) in hosts {
            below.entry(layers[0].clone()).or_default().1.push(host);
            for pair in layers.windows(2) {
                let children = &mut below.entry(pair[1].clone()).or_default().0;
                if !children.contains(&pair[0]) {
                    children.push(pair[0].clone());
                }
            }
        }
        Switches::of_parts(path, field, below)
    }

    /// Adds a group of blocks above existing groups of some of them.
    pub(super) fn aggregate(
        &mut self,
        name: &str,
        blocks: &[String],
        line: usize,
    ) -> Result<(), String> {
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

    /// Groups consecutive blocks by `BlockSizes`: the n-th size is a multiple of the first.
    pub(crate) fn group_blocks(&mut self, sizes: &[usize]) -> Result<(), String> {
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

    /// Builds a tree, a fat tree, or a graph.
    pub(crate) fn site(&self, path: &Path) -> Result<Site, FileError> {
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

    /// True if a switch is below several switches with different children.
    fn is_graph(&self) -> bool {
        let mut above: HashMap<&String, &Vec<String>> = HashMap::new();
        self.all.iter().any(|switch| {
            switch.switches.iter().any(|child| {
                let other = above.insert(child, &switch.switches);
                other.is_some_and(|other| *other != switch.switches)
            })
        })
    }

    /// Builds a graph of all switches, with hosts on the lowest switch that lists them.
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

    /// Builds the tree of all switches, and counts the parents of each level from the hosts up.
    fn network(&self, path: &Path) -> Result<(Topology, Vec<usize>), FileError> {
        let below: HashSet<&String> = self.all.iter().flat_map(|s| &s.switches).collect();
        // Switches above the same ones become one with several links.
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
            return Err(FileError::at(path, line, problem));
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

    /// Records the number of switches above the same ones, by height.
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

    /// A switch with all nodes below it, and its height above the hosts.
    fn tree<'a>(
        &'a self,
        path: &Path,
        switch: &'a Switch,
        seen: &mut HashMap<&'a str, &'a str>,
        dropped: &HashSet<&str>,
        depth: usize,
    ) -> Result<(Tree, usize), FileError> {
        let wrong = |problem: String| FileError::at(path, switch.line, problem);
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
        // The upper switches list all nodes below them, which are already known.
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
                    parts.push(Tree::Leaf(ProcessingUnit {
                        host: Some(name.clone()),
                        ..ProcessingUnit::default()
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
    FileError::at(path, switch.line, problem)
}
