//! Networks in Treepie's own YAML, which can describe all networks: family, parameters and hosts.
//!
//! ```yaml
//! treepie: network
//! version: 1
//! network: {torus: [8, 8, 8]}                      # or mesh, dragonfly, fat-tree, hyperx, graph
//! hosts: {n0001: [0, 0, 0], n0002: [1, 0, 0]}      # or in order: "n[0001-0512]"
//! ```

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;

use treepie_base::yaml::{self, Value};
use treepie_base::{FileError, Kind, header};

use super::error::in_network;
use super::graph_builder::GraphBuilder;
use super::host_list::expand;
use super::lines;
use crate::networks::dragonfly::{Arrangement, Dragonfly, Local, Paths};
use crate::networks::error::NetworkError;
use crate::networks::fat_tree::FatTree;
use crate::networks::hyperx::HyperX;
use crate::networks::lattice::Lattice;
use crate::networks::network::Network;
use crate::networks::site::{Host, Site};

/// True if a text states that it is one.
pub(super) fn recognize(text: &str) -> bool {
    lines::kind(text) == Some("network")
}

/// Reads one; `path` is for messages.
pub(super) fn read(path: &Path, text: &str, _name: Option<&str>) -> Result<Site, FileError> {
    header::check(path, text, Some(Kind::Network))?;
    let document: TopologyDocument = yaml::parse(path, text)?;
    let family = match &document.network {
        Described::Text(text) => {
            let site = in_network(path, Site::from_description(text))?;
            let per_position = site.nodes() / site.network().positions().max(1);
            (site.network().clone(), per_position)
        }
        Described::Family(family) => match &family.graph {
            Some(links) => return graph(path, links, &document),
            None => in_network(path, family.network())?,
        },
    };
    let (network, per_position) = family;
    let Some(hosts) = &document.hosts else {
        return in_network(path, Site::unnamed(network, per_position));
    };
    let wrong = |problem: String| FileError::field(path, "hosts", problem);
    let hosts = placed(&network, per_position, hosts).map_err(wrong)?;
    in_network(path, Site::new(network, hosts))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TopologyDocument {
    #[serde(rename = "treepie")]
    _kind: String,
    #[serde(rename = "version")]
    _version: u64,
    #[serde(default, rename = "producer")]
    _producer: Option<String>,
    #[serde(default, rename = "date")]
    _date: Option<String>,
    network: Described,
    #[serde(default)]
    hosts: Option<Value>,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a family was expected, such as {torus: [8, 8, 8]} or torus:8x8x8"
)]
enum Described {
    Text(String),
    Family(Box<Family>),
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct Family {
    torus: Option<Vec<usize>>,
    mesh: Option<Vec<usize>>,
    hyperx: Option<Vec<usize>>,
    dragonfly: Option<DragonflyFields>,
    fat_tree: Option<FatTreeFields>,
    graph: Option<Vec<Vec<Value>>>,
    wrap: Option<Vec<bool>>,
    widths: Option<Vec<f64>>,
    lengths: Option<Vec<u32>>,
    nodes: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DragonflyFields {
    routers: usize,
    links: usize,
    groups: Option<usize>,
    columns: Option<usize>,
    arrangement: Option<String>,
    paths: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FatTreeFields {
    children: Vec<usize>,
    parents: Option<Vec<usize>>,
    cables: Option<Vec<usize>>,
}

impl Family {
    fn network(&self) -> Result<(Network, usize), NetworkError> {
        let nodes = self.nodes.unwrap_or(1);
        let wrong = |problem: &str| NetworkError::NoNetwork {
            text: "network".to_owned(),
            problem: problem.to_owned(),
        };
        let given = [
            self.torus.is_some(),
            self.mesh.is_some(),
            self.hyperx.is_some(),
            self.dragonfly.is_some(),
            self.fat_tree.is_some(),
        ];
        if given.into_iter().filter(|&given| given).count() != 1 {
            return Err(wrong(
                "name exactly one of torus, mesh, dragonfly, fat-tree, hyperx, graph",
            ));
        }
        if let Some(sizes) = self.torus.as_ref().or(self.mesh.as_ref()) {
            let closed = vec![self.torus.is_some(); sizes.len()];
            let wraps = self.wrap.as_ref().unwrap_or(&closed);
            let mut lattice = Lattice::new(sizes, wraps)?;
            if let Some(widths) = &self.widths {
                lattice = lattice.with_widths(widths)?;
            }
            if let Some(lengths) = &self.lengths {
                lattice = lattice.with_lengths(lengths)?;
            }
            return Ok((Network::Lattice(lattice), nodes));
        }
        if self.wrap.is_some() || self.lengths.is_some() {
            return Err(wrong("wrap and lengths belong to a torus or mesh"));
        }
        if let Some(sizes) = &self.hyperx {
            let mut hyperx = HyperX::new(sizes)?;
            if let Some(widths) = &self.widths {
                hyperx = hyperx.with_widths(widths)?;
            }
            return Ok((Network::HyperX(hyperx), nodes));
        }
        if self.widths.is_some() {
            return Err(wrong("widths belong to a torus, mesh or hyperx"));
        }
        if let Some(fields) = &self.dragonfly {
            return Ok((Network::Dragonfly(fields.network()?), nodes));
        }
        match &self.fat_tree {
            Some(fields) => {
                let ones = vec![1; fields.children.len()];
                let parents = fields.parents.as_ref().unwrap_or(&ones);
                let cables = fields.cables.as_ref().unwrap_or(&ones);
                let tree = FatTree::new(&fields.children, parents, cables)?;
                Ok((Network::FatTree(tree), nodes))
            }
            None => Err(wrong("name a family")),
        }
    }
}

impl DragonflyFields {
    fn network(&self) -> Result<Dragonfly, NetworkError> {
        let unknown = |what: &str, found: &str, expected: &str| NetworkError::OutOfRange {
            what: what.to_owned(),
            found: format!("\"{found}\""),
            expected: expected.to_owned(),
        };
        let arrangement = match self.arrangement.as_deref() {
            None | Some("absolute") => Arrangement::Absolute,
            Some("relative") => Arrangement::Relative,
            Some("circulant") => Arrangement::Circulant,
            Some(other) => {
                let expected = "absolute, relative or circulant";
                return Err(unknown("arrangement", other, expected));
            }
        };
        let paths = match self.paths.as_deref() {
            None | Some("minimal") => Paths::Minimal,
            Some("shortest") => Paths::Shortest,
            Some(other) => return Err(unknown("paths", other, "minimal or shortest")),
        };
        let local = match self.columns {
            None => Local::Complete,
            Some(columns) => Local::Rows { columns },
        };
        let most = self.routers.saturating_mul(self.links).saturating_add(1);
        let shape = (self.routers, self.links, self.groups.unwrap_or(most));
        Dragonfly::new(shape, local, arrangement, paths)
    }
}

/// The hosts of a network: a list in the order of its nodes, or names and positions.
fn placed(network: &Network, per_position: usize, hosts: &Value) -> Result<Vec<Host>, String> {
    match hosts {
        Value::String(list) => {
            let names = expand(list)?;
            let room = network.positions() * per_position;
            if names.len() > room {
                let names = names.len();
                return Err(format!(
                    "{names} hosts for {room} nodes; correct one of the two"
                ));
            }
            let hosts = names.into_iter().enumerate();
            let host = |(node, name)| Host {
                name,
                position: node / per_position.max(1),
            };
            Ok(hosts.map(host).collect())
        }
        Value::Mapping(fields) => {
            let mut count: HashMap<usize, usize> = HashMap::new();
            let mut hosts = Vec::new();
            for (name, place) in fields {
                let name = name_of(name)?;
                let position = position(network, place).map_err(|why| format!("{name}: {why}"))?;
                let here = count.entry(position).or_default();
                *here += 1;
                if matches!(network, Network::Lattice(_)) && *here > per_position {
                    return Err(format!(
                        "{name} is the host number {here} at {}; give each place its own \
                         coordinates, or say `nodes: {here}` in the network",
                        network.vertex_name(position)
                    ));
                }
                hosts.push(Host { name, position });
            }
            Ok(hosts)
        }
        other => Err(format!(
            "{} was found; expected names and coordinates, or a list such as n[001-512]",
            yaml::describe(other)
        )),
    }
}

fn name_of(name: &Value) -> Result<String, String> {
    match name {
        Value::String(name) => Ok(name.clone()),
        Value::Number(number) => Ok(number.to_string()),
        other => Err(format!("{} is no name of a host", yaml::describe(other))),
    }
}

fn whole(value: &Value) -> Result<usize, String> {
    let number = value
        .as_u64()
        .and_then(|number| usize::try_from(number).ok());
    number.ok_or_else(|| {
        format!(
            "{} is no coordinate; write whole numbers",
            yaml::describe(value)
        )
    })
}

fn position(network: &Network, place: &Value) -> Result<usize, String> {
    let outside = || {
        let text = match place {
            Value::Sequence(items) => items
                .iter()
                .map(yaml::describe)
                .collect::<Vec<_>>()
                .join(","),
            other => yaml::describe(other),
        };
        format!("{text} is outside the {}; correct it", network.describe())
    };
    match place {
        Value::Sequence(items) => {
            let at = items.iter().map(whole).collect::<Result<Vec<_>, _>>()?;
            let found = match (network, &at[..]) {
                (Network::Lattice(lattice), at) => lattice.position(at),
                (Network::HyperX(hyperx), at) => hyperx.position(at),
                (Network::Dragonfly(dragonfly), &[group, router]) => {
                    let inside = group < dragonfly.groups() && router < dragonfly.routers();
                    inside.then(|| group * dragonfly.routers() + router)
                }
                (_, &[number]) => Some(number),
                _ => None,
            };
            found.ok_or_else(outside)
        }
        other => Some(whole(other)?)
            .filter(|&p| p < network.positions())
            .ok_or_else(outside),
    }
}

/// A graph: links as `[one, other]`, optionally followed by a length and a capacity; hosts by the
/// names of their vertices.
fn graph(
    path: &Path,
    links: &[Vec<Value>],
    document: &TopologyDocument,
) -> Result<Site, FileError> {
    let wrong = |field: &str, problem: String| FileError::field(path, field, problem);
    let mut builder = GraphBuilder::default();
    for (number, link) in links.iter().enumerate() {
        let in_link = |problem: String| wrong("network", format!("link {}: {problem}", number + 1));
        let [one, other, rest @ ..] = &link[..] else {
            return Err(in_link(
                "expected [one, other, length, capacity]".to_owned(),
            ));
        };
        let one = builder.vertex(&name_of(one).map_err(in_link)?);
        let other = builder.vertex(&name_of(other).map_err(in_link)?);
        let length = match rest.first() {
            Some(length) => whole(length).map_err(in_link)?,
            None => 1,
        };
        let capacity = match rest.get(1) {
            Some(capacity) => capacity
                .as_f64()
                .ok_or_else(|| in_link(format!("{} is no capacity", yaml::describe(capacity))))?,
            None => 1.0,
        };
        builder.link(
            one,
            other,
            u32::try_from(length).unwrap_or(u32::MAX),
            capacity,
        );
    }
    let Some(Value::Mapping(hosts)) = &document.hosts else {
        let problem = "a graph needs hosts, each with the vertex that it hangs on";
        return Err(wrong("hosts", problem.to_owned()));
    };
    for (name, vertex) in hosts {
        let name = name_of(name).map_err(|problem| wrong("hosts", problem))?;
        let vertex = name_of(vertex).map_err(|problem| wrong("hosts", problem))?;
        let Some(&vertex) = builder.known(&vertex) else {
            let problem = format!("{name} is on {vertex}, which no link names; add its links");
            return Err(wrong("hosts", problem));
        };
        builder.host(&name, vertex);
    }
    builder.site(path, 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "treepie: network\nversion: 1\n";

    fn site(text: &str) -> Result<Site, String> {
        read(Path::new("net.yaml"), &(HEAD.to_owned() + text), None)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn all_families_are_read_with_their_hosts() {
        let torus = site(
            "network: {torus: [4, 4], wrap: [true, false], widths: [2, 1]}\n\
                          hosts: {a: [0, 0], b: [3, 3]}\n",
        )
        .unwrap();
        assert_eq!(torus.network().describe(), "torus 4x4, open in y");
        assert_eq!(torus.positions_of(&["b", "a"]).unwrap(), [15, 0]);
        let shared = site("network: {torus: [2, 2], nodes: 2}\nhosts: 'n[0-7]'\n").unwrap();
        assert_eq!(shared.positions_of(&["n1", "n2"]).unwrap(), [0, 1]);
        let fly = site(
            "network: {dragonfly: {routers: 4, links: 2, arrangement: circulant}}\n\
                        hosts: {a: [8, 3], b: 1}\n",
        )
        .unwrap();
        assert_eq!(fly.positions_of(&["a", "b"]).unwrap(), [35, 1]);
        let fat =
            site("network: {fat-tree: {children: [4, 4], parents: [1, 2]}}\nhosts: 'n[0-15]'\n");
        assert_eq!(fat.unwrap().network().distance(0, 4), 4);
        let hyperx = site("network: {hyperx: [3, 4], nodes: 2}\n").unwrap();
        assert_eq!((hyperx.nodes(), hyperx.position(3)), (24, 1));
        assert_eq!(site("network: 'mesh:3x3'\n").unwrap().nodes(), 9);
        let graph = site(
            "network: {graph: [[s1, s2], [s2, s3, 2, 10], [s1, s4]]}\n\
                          hosts: {a: s1, b: s3, c: s3}\n",
        )
        .unwrap();
        let at = graph.positions_of(&["a", "b", "c"]).unwrap();
        assert_eq!(graph.network().distance(at[0], at[1]), 5);
        assert_eq!(graph.network().distance(at[1], at[2]), 2);
    }

    #[test]
    fn wrong_networks_name_the_field() {
        for (text, expected) in [
            (
                "network: {torus: [4, 4]}\nhosts: {a: [0, 0], b: [0, 0]}\n",
                "net.yaml: hosts: b is the host number 2 at (0,0); give each place its own \
                 coordinates, or say `nodes: 2` in the network",
            ),
            (
                "network: {torus: [4, 4]}\nhosts: {a: [4, 0]}\n",
                "net.yaml: hosts: a: 4,0 is outside the torus 4x4; correct it",
            ),
            (
                "network: {torus: [4, 4]}\nhosts: 'n[0-16]'\n",
                "net.yaml: hosts: 17 hosts for 16 nodes; correct one of the two",
            ),
            (
                "network: {torus: [4, 4], mesh: [4]}\n",
                "net.yaml: network: \"network\" describes no network: name exactly one of torus, \
                 mesh, dragonfly, fat-tree, hyperx, graph",
            ),
            (
                "network: {graph: [[a, b]]}\nhosts: {h: c}\n",
                "net.yaml: hosts: h is on c, which no link names; add its links",
            ),
            (
                "network: {graph: [[a, b], [c, d]]}\nhosts: {h: a, i: c}\n",
                "net.yaml: network: no path leads from a to c: the network is not connected; \
                 add the missing links",
            ),
            (
                "network: {dragonfly: {routers: 4, links: 2, arrangement: odd}}\n",
                "net.yaml: network: arrangement is \"odd\": expected absolute, relative or circulant",
            ),
        ] {
            assert_eq!(site(text).unwrap_err(), expected);
        }
    }
}
