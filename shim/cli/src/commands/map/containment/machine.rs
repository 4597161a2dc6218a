//! Failure domains: hosts, levels above or inside them, or domains of a file.

use std::collections::BTreeMap;
use std::path::Path;

use treepie_base::{Leaf, List, Rank, Slice};
use treepie_launch::error::CommandError;
use treepie_report::gain::machine_depth;
use treepie_resilience::containment::Domains;
use treepie_topology::Topology;

use crate::commands::map::containment::options::ContainmentOptions;

/// Levels inside machines.
const INSIDE: [&str; 8] = ["package", "socket", "numa", "die", "l3", "l2", "core", "pu"];

/// One kind of failure domain.
#[derive(Debug, Clone)]
pub struct DomainKind {
    /// Its name: a level of the topology, or `domain`.
    pub name: String,
    /// The domain of each leaf.
    pub of_leaf: List<Leaf, usize>,
    /// The names of the domains.
    pub names: Vec<String>,
}

impl DomainKind {
    /// The domain of each rank.
    pub fn domains(&self, leaf_of_rank: &Slice<Rank, Leaf>) -> Domains {
        let of_rank: Vec<usize> = leaf_of_rank
            .iter()
            .map(|&leaf| self.of_leaf[leaf])
            .collect();
        Domains::from_labels(&of_rank)
    }
}

/// The failure domains of a topology.
#[derive(Debug)]
pub struct Machine {
    /// Domains that fail.
    pub failing: DomainKind,
    /// The hosts.
    pub hosts: DomainKind,
    /// Levels above hosts, from the root down; the domains of a file are the last.
    pub above: Vec<DomainKind>,
}

impl Machine {
    /// Builds the domains selected by the options.
    ///
    /// # Errors
    /// The topology does not have the level, or the file does not fit its hosts.
    pub fn new(options: &ContainmentOptions, topology: &Topology) -> Result<Self, CommandError> {
        let depth = host_depth(topology);
        let hosts = hosts(topology, depth);
        let mut above: Vec<DomainKind> = (1..depth).map(|depth| level(topology, depth)).collect();
        let named = |name: &str| {
            topology
                .levels()
                .iter()
                .position(|level| level.name == name)
        };
        let failing = match options.domain.as_deref() {
            None | Some("host") => hosts.clone(),
            Some(name) => match named(name) {
                Some(at) if at + 1 == depth => hosts.clone(),
                Some(at) => level(topology, at + 1),
                None if Path::new(name).is_file() => {
                    let kind = from_file(Path::new(name), &hosts)?;
                    above.push(kind.clone());
                    kind
                }
                None => return Err(unknown(name, topology)),
            },
        };
        Ok(Machine {
            failing,
            hosts,
            above,
        })
    }

    /// True if a host has several of the domains that fail, so that its failure takes them all.
    pub fn fails_inside_hosts(&self) -> bool {
        let hosts = self.hosts.of_leaf.raw.windows(2);
        let mut neighbours = hosts.zip(self.failing.of_leaf.raw.windows(2));
        neighbours.any(|(hosts, failing)| hosts[0] == hosts[1] && failing[0] != failing[1])
    }
}

/// The depth of hosts; 0 if the topology is a single host.
fn host_depth(topology: &Topology) -> usize {
    machine_depth(topology).unwrap_or_else(|| {
        let first = topology.levels().first();
        usize::from(first.is_some_and(|level| !INSIDE.contains(&&*level.name)))
    })
}

fn level(topology: &Topology, depth: usize) -> DomainKind {
    let name = topology.levels()[depth - 1].name.clone();
    let leaves = topology.leaves().keys();
    DomainKind {
        of_leaf: leaves.map(|leaf| topology.ancestor(leaf, depth)).collect(),
        names: (0..topology.node_count(depth))
            .map(|node| format!("{name}{node}"))
            .collect(),
        name,
    }
}

/// The hosts by their own names, if they have any.
fn hosts(topology: &Topology, depth: usize) -> DomainKind {
    let name_of = |node: usize| {
        let first = topology.leaf_range(depth, node).start;
        let own = topology.leaf(Leaf(first)).host.clone();
        own.unwrap_or_else(|| format!("node{node}"))
    };
    let leaves = topology.leaves().keys();
    DomainKind {
        name: "node".to_owned(),
        of_leaf: leaves.map(|leaf| topology.ancestor(leaf, depth)).collect(),
        names: (0..topology.node_count(depth)).map(name_of).collect(),
    }
}

/// Reads the domains of hosts from a file with lines of a host and its domain.
fn from_file(path: &Path, hosts: &DomainKind) -> Result<DomainKind, CommandError> {
    let mut domain_of = BTreeMap::new();
    for (number, line) in treepie_base::text::read(path)?.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            [] => {}
            [host, domain] => {
                domain_of.insert(host.to_owned(), domain.to_owned());
            }
            _ => {
                return Err(CommandError::failed(format!(
                    "{}:{}: expected a host and its failure domain, such as `n01 rack1`",
                    path.display(),
                    number + 1
                )));
            }
        }
    }
    let domain_of_host = hosts.names.iter().map(|host| {
        domain_of.get(host).ok_or_else(|| {
            CommandError::failed(format!(
                "{}: has no domain of host {host}: add a line for it",
                path.display()
            ))
        })
    });
    let domain_of_host = domain_of_host.collect::<Result<Vec<&String>, _>>()?;
    let mut names: Vec<String> = domain_of_host.iter().map(|&name| name.clone()).collect();
    names.sort_unstable();
    names.dedup();
    let of_host = domain_of_host.iter();
    let of_host = of_host.map(|&name| names.partition_point(|other| other < name));
    let of_host: Vec<usize> = of_host.collect();
    let of_leaf = hosts.of_leaf.iter().map(|&host| of_host[host]).collect();
    Ok(DomainKind {
        name: "domain".to_owned(),
        of_leaf,
        names,
    })
}

fn unknown(name: &str, topology: &Topology) -> CommandError {
    let levels: Vec<&str> = topology.levels().iter().map(|level| &*level.name).collect();
    CommandError::usage(format!(
        "--domain {name}: is no file and no level of the topology; its levels are {}",
        levels.join(", ")
    ))
}
