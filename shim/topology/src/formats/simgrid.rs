//! SimGrid's platforms: a cluster with a topology, or hosts and routers with routes.

use roxmltree::Node;

use treepie_base::FileError;
use treepie_base::budget::draw;

use super::error::in_network;
use super::graph_builder::GraphBuilder;
use super::host_list::HOST;
use super::tori::{Torus, of_tori};
use super::trees::of_tree;
use super::xml::Reader;
use crate::build::Tree;
use crate::networks::fat_tree::FatTree;
use crate::networks::network::Network;
use crate::networks::site::{Host, Site};
use crate::tree::{ProcessingUnit, Topology};

impl Reader<'_> {
    /// Reads one cluster with a topology, or hosts and routers with routes between them.
    pub(super) fn platform(&self, root: Node, name: Option<&str>) -> Result<Site, FileError> {
        let clusters: Vec<Node> = root
            .descendants()
            .filter(|node| node.has_tag_name("cluster"))
            .filter(|node| name.is_none() || node.attribute("id") == name)
            .collect();
        match &clusters[..] {
            [] if name.is_some() => {
                let problem = format!("has no cluster {}", name.unwrap_or_default());
                Err(self.wrong(root, problem))
            }
            [] => self.routes(root),
            [cluster] => self.cluster(*cluster),
            [first, ..] => {
                let ids: Vec<&str> = clusters.iter().filter_map(|c| c.attribute("id")).collect();
                let problem = format!(
                    "there are {} clusters: {}; name one of them behind a colon",
                    clusters.len(),
                    ids.join(", ")
                );
                Err(self.wrong(*first, problem))
            }
        }
    }

    fn cluster(&self, cluster: Node) -> Result<Site, FileError> {
        let wrong = |problem: String| self.wrong(cluster, problem);
        let id = self.attribute(cluster, "id")?;
        let prefix = cluster.attribute("prefix").unwrap_or_default();
        let suffix = cluster.attribute("suffix").unwrap_or_default();
        let numbers = radical(self.attribute(cluster, "radical")?).map_err(wrong)?;
        draw("hosts", numbers.len(), prefix.len() + suffix.len())
            .map_err(|problem| wrong(format!("radical: {problem}")))?;
        let hosts: Vec<String> = numbers
            .into_iter()
            .map(|number| format!("{prefix}{number}{suffix}"))
            .collect();
        let parameters = cluster.attribute("topo_parameters").unwrap_or_default();
        let lists = parameters.split(';').map(|list| {
            let numbers = list
                .split(',')
                .map(|number| number.trim().parse::<usize>().ok());
            numbers.collect::<Option<Vec<usize>>>()
        });
        let lists: Option<Vec<Vec<usize>>> = match parameters {
            "" => Some(Vec::new()),
            _ => lists.collect(),
        };
        let unreadable = || wrong(format!("topo_parameters=\"{parameters}\" are no numbers"));
        let lists = lists.ok_or_else(unreadable)?;
        match cluster.attribute("topology").unwrap_or("FLAT") {
            "TORUS" => {
                let sizes = lists.first().ok_or_else(unreadable)?;
                let torus = Torus::in_order(id, sizes, hosts).map_err(wrong)?;
                of_tori(self.path, vec![torus], None)
            }
            "FAT_TREE" => {
                let [_, children, parents, cables] = &lists[..] else {
                    let expected = "expected levels;children;parents;cables".to_owned();
                    return Err(wrong(expected));
                };
                let tree = in_network(self.path, FatTree::new(children, parents, cables))?;
                let host = |(position, name)| Host { name, position };
                let hosts = hosts.into_iter().enumerate().map(host).collect();
                in_network(self.path, Site::new(Network::FatTree(tree), hosts))
            }
            "DRAGONFLY" => self.dragonfly(cluster, &lists, hosts),
            "FLAT" => {
                let leaf = |name| {
                    Tree::Leaf(ProcessingUnit {
                        host: Some(name),
                        ..ProcessingUnit::default()
                    })
                };
                let tree = Tree::Inner(hosts.into_iter().map(leaf).collect());
                let tree = Topology::from_tree(&tree, Some(&["node".to_owned()]));
                of_tree(self.path, tree.map_err(|error| wrong(error.to_string()))?)
            }
            other => Err(wrong(format!(
                "topology=\"{other}\" is not known; expected TORUS, FAT_TREE, DRAGONFLY or FLAT"
            ))),
        }
    }

    /// SimGrid's dragonfly: the link to group j is on blade j of the first chassis.
    fn dragonfly(
        &self,
        cluster: Node,
        lists: &[Vec<usize>],
        hosts: Vec<String>,
    ) -> Result<Site, FileError> {
        let wrong = |problem: &str| self.wrong(cluster, problem.to_owned());
        let [groups, chassis, blades, nodes] = lists else {
            return Err(wrong(
                "expected groups,links;chassis,links;routers,links;nodes",
            ));
        };
        let pair = |list: &[usize]| match list {
            [count, links] if *count > 0 && *links > 0 => Ok((*count, *links)),
            _ => Err(wrong("expected a number and its links, such as 3,4")),
        };
        let (groups, blue) = pair(groups)?;
        let (chassis, black) = pair(chassis)?;
        let (blades, green) = pair(blades)?;
        let nodes = nodes.first().copied().filter(|&nodes| nodes > 0);
        let nodes = nodes.ok_or_else(|| wrong("expected nodes of a router, at least 1"))?;
        if groups > blades {
            return Err(wrong(
                "there are more groups than blades in a chassis to join them",
            ));
        }
        let routers = groups
            .checked_mul(chassis)
            .and_then(|all| all.checked_mul(blades));
        let routers = routers.filter(|&all| all <= 8192 && all * nodes >= hosts.len());
        let routers = routers.ok_or_else(|| {
            wrong("expected at most 8192 routers, and room for all hosts of the radical")
        })?;
        let mut builder = GraphBuilder::default();
        let name = |group: usize, c: usize, blade: usize| {
            format!("group {group} chassis {c} router {blade}")
        };
        for router in 0..routers {
            let (blade, rest) = (router % blades, router / blades);
            builder.vertex(&name(rest / chassis, rest % chassis, blade));
        }
        let at = |group: usize, c: usize, blade: usize| (group * chassis + c) * blades + blade;
        for group in 0..groups {
            for c in 0..chassis {
                for blade in 0..blades {
                    let here = at(group, c, blade);
                    for other in blade + 1..blades {
                        builder.link(here, at(group, c, other), 1, green as f64);
                    }
                    for other in c + 1..chassis {
                        builder.link(here, at(group, other, blade), 1, black as f64);
                    }
                }
            }
            for other in group + 1..groups {
                builder.link(at(group, 0, other), at(other, 0, group), 1, blue as f64);
            }
        }
        for (number, host) in hosts.iter().enumerate() {
            builder.host(host, number / nodes);
        }
        builder.site(self.path, 2)
    }

    /// A general platform: every route has as many links as it names.
    fn routes(&self, root: Node) -> Result<Site, FileError> {
        let named = |tag: &'static str| root.descendants().filter(move |n| n.has_tag_name(tag));
        let mut builder = GraphBuilder::default();
        for host in named("host") {
            let id = self.attribute(host, "id")?;
            let vertex = builder.vertex(id);
            builder.host(id, vertex);
        }
        for router in named("router") {
            builder.vertex(self.attribute(router, "id")?);
        }
        let mut bandwidths = std::collections::HashMap::new();
        for link in named("link") {
            let rate = rate(self.attribute(link, "bandwidth")?)
                .ok_or_else(|| self.wrong(link, "expected a bandwidth such as 10Gbps".into()))?;
            bandwidths.insert(self.attribute(link, "id")?, rate);
        }
        for route in named("route") {
            let end = |name: &str| {
                let id = self.attribute(route, name)?;
                builder.known(id).copied().ok_or_else(|| {
                    let problem = format!("{id} is no host and no router; add it");
                    self.wrong(route, problem)
                })
            };
            let (one, other) = (end("src")?, end("dst")?);
            let (mut length, mut least) = (0, f64::INFINITY);
            for part in route.children().filter(|n| n.has_tag_name("link_ctn")) {
                let id = self.attribute(part, "id")?;
                let rate = bandwidths
                    .get(id)
                    .ok_or_else(|| self.wrong(part, format!("no <link> is called {id}; add it")))?;
                length += 1;
                least = least.min(*rate);
            }
            if length == 0 {
                return Err(self.wrong(route, "the route has no <link_ctn>; add some".into()));
            }
            builder.link(one, other, length, least);
        }
        builder.site(self.path, 0)
    }
}

/// Expands numbers such as `0-7,9`.
fn radical(text: &str) -> Result<Vec<usize>, String> {
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let ends = (first.trim().parse::<usize>(), last.trim().parse::<usize>());
        let (Ok(first), Ok(last)) = ends else {
            return Err(format!(
                "radical=\"{text}\" lists no numbers; write it as 0-7,9"
            ));
        };
        if last < first {
            return Err(format!("radical=\"{text}\" runs backwards"));
        }
        draw("hosts", (last - first).saturating_add(1), HOST)
            .map_err(|problem| format!("radical=\"{text}\": {problem}"))?;
        numbers.extend(first..=last);
    }
    Ok(numbers)
}

/// Bytes per second of `125MBps`, `10Gbps` or a bare number.
fn rate(text: &str) -> Option<f64> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != 'e' && c != 'E');
    let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
    let number: f64 = number.parse().ok()?;
    let (prefix, bits) = match unit {
        "" => ("", false),
        unit if unit.ends_with("Bps") => (&unit[..unit.len() - 3], false),
        unit if unit.ends_with("bps") => (&unit[..unit.len() - 3], true),
        _ => return None,
    };
    let scale = match prefix {
        "" => 1.0,
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "Ki" => 1024.0,
        "Mi" => 1_048_576.0,
        "Gi" => 1_073_741_824.0,
        _ => return None,
    };
    Some(number * scale / if bits { 8.0 } else { 1.0 })
}
