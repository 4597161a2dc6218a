//! Networks in XML: SimGrid's platforms and a part of GraphML.

use std::path::Path;

use roxmltree::{Document, Node, ParsingOptions};

use treepie_base::FileError;
use treepie_base::budget::draw;

use super::error::in_network;
use super::graph_builder::GraphBuilder;
use super::host_list::HOST;
use super::lines;
use super::tori::{Torus, of_tori};
use super::trees::of_tree;
use crate::build::Tree;
use crate::networks::fat_tree::FatTree;
use crate::networks::network::Network;
use crate::networks::site::{Host, Site};
use crate::tree::{ProcessingUnit, Topology};

/// True if a text seems to have either form.
pub(super) fn recognize(text: &str) -> bool {
    let is_xml = lines::first(text).is_some_and(|line| line.starts_with('<'));
    is_xml && (text.contains("<platform") || text.contains("<graphml"))
}

/// Reads either, by its first element.
pub(super) fn read(path: &Path, text: &str, name: Option<&str>) -> Result<Site, FileError> {
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    let document = Document::parse_with_options(text, options).map_err(|error| {
        let line = error.pos().row as usize;
        FileError::at(
            path,
            line,
            format!("is not valid XML: {error}; correct this line"),
        )
    })?;
    let root = document.root_element();
    let reader = Reader {
        path,
        document: &document,
    };
    match root.tag_name().name() {
        "platform" => reader.platform(root, name),
        "graphml" => reader.graphml(root),
        other => {
            let problem = format!("<{other}> is no network; expected <platform> or <graphml>");
            Err(reader.wrong(root, problem))
        }
    }
}

struct Reader<'a> {
    path: &'a Path,
    document: &'a Document<'a>,
}

impl Reader<'_> {
    fn wrong(&self, node: Node, problem: String) -> FileError {
        let line = self.document.text_pos_at(node.range().start).row as usize;
        FileError::at(self.path, line, problem)
    }

    fn attribute<'n>(&self, node: Node<'n, '_>, name: &str) -> Result<&'n str, FileError> {
        node.attribute(name).ok_or_else(|| {
            let element = node.tag_name().name();
            self.wrong(node, format!("<{element}> has no `{name}`; add it"))
        })
    }

    /// Reads one cluster with a topology, or hosts and routers with routes between them.
    fn platform(&self, root: Node, name: Option<&str>) -> Result<Site, FileError> {
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

    /// Nodes and edges with the keys `host`, `length` and `capacity`.
    fn graphml(&self, root: Node) -> Result<Site, FileError> {
        for tag in ["hyperedge", "port"] {
            if let Some(node) = root.descendants().find(|n| n.has_tag_name(tag)) {
                return Err(self.wrong(node, format!("<{tag}> is not understood; leave it out")));
            }
        }
        let mut graphs = root.descendants().filter(|n| n.has_tag_name("graph"));
        let graph = graphs.next();
        let graph = graph.ok_or_else(|| self.wrong(root, "there is no <graph>; add it".into()))?;
        if let Some(second) = graphs.next() {
            let problem = "a second <graph> is not understood; keep one".to_owned();
            return Err(self.wrong(second, problem));
        }
        let key = |name: &str| {
            let mut keys = root.children().filter(|n| n.has_tag_name("key"));
            let key = keys.find(|key| key.attribute("attr.name") == Some(name));
            key.and_then(|key| key.attribute("id"))
                .unwrap_or(name)
                .to_owned()
        };
        let (host, length, capacity) = (key("host"), key("length"), key("capacity"));
        let data = |node: Node, key: &str| {
            let found = node
                .children()
                .find(|n| n.has_tag_name("data") && n.attribute("key") == Some(key));
            found.and_then(|data| data.text().map(|text| text.trim().to_owned()))
        };
        let mut builder = GraphBuilder::default();
        let mut hosts: Vec<(String, usize)> = Vec::new();
        let mut ids = Vec::new();
        for node in graph.children().filter(|n| n.has_tag_name("node")) {
            let id = self.attribute(node, "id")?;
            let vertex = builder.vertex(id);
            ids.push((id.to_owned(), vertex));
            let names = data(node, &host).unwrap_or_default();
            let names = names
                .split(',')
                .map(str::trim)
                .filter(|name| !name.is_empty());
            hosts.extend(names.map(|name| (name.to_owned(), vertex)));
        }
        for edge in graph.children().filter(|n| n.has_tag_name("edge")) {
            let end = |name: &str| {
                let id = self.attribute(edge, name)?;
                builder
                    .known(id)
                    .copied()
                    .ok_or_else(|| self.wrong(edge, format!("there is no node {id}; add it")))
            };
            let (one, other) = (end("source")?, end("target")?);
            let number = |text: Option<String>| match text {
                None => Ok(1.0),
                Some(text) => text
                    .parse::<f64>()
                    .map_err(|_| self.wrong(edge, format!("\"{text}\" is no number; correct it"))),
            };
            let length = number(data(edge, &length))?;
            if length.fract() != 0.0 || !(1.0..=1e6).contains(&length) {
                let problem = format!("length {length} is no whole number from 1; correct it");
                return Err(self.wrong(edge, problem));
            }
            builder.link(one, other, length as u32, number(data(edge, &capacity))?);
        }
        // Without names every node is a host.
        let all = hosts.is_empty();
        let hosts = if all { ids } else { hosts };
        let mut seen = std::collections::HashSet::new();
        let shared = hosts.iter().any(|(_, vertex)| !seen.insert(*vertex));
        for (host, vertex) in &hosts {
            builder.host(host, *vertex);
        }
        builder.site(self.path, if shared { 2 } else { 0 })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn site(text: &str) -> Result<Site, String> {
        read(Path::new("n.xml"), text, None).map_err(|error| error.to_string())
    }

    fn cluster(topology: &str, parameters: &str, radical: &str) -> String {
        format!(
            "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \
             \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n\
             <zone id=\"w\" routing=\"Full\">\n<cluster id=\"c\" prefix=\"n\" suffix=\"\" \
             radical=\"{radical}\" speed=\"1Gf\" bw=\"125MBps\" lat=\"50us\" \
             topology=\"{topology}\" topo_parameters=\"{parameters}\"/>\n</zone>\n</platform>\n"
        )
    }

    #[test]
    fn simgrid_clusters_of_all_topologies_are_read() {
        let torus = site(&cluster("TORUS", "4,2", "0-7")).unwrap();
        assert_eq!(torus.network().describe(), "torus 4x2");
        assert_eq!(torus.positions_of(&["n5"]).unwrap(), [5]);
        let fat = site(&cluster("FAT_TREE", "2;4,4;1,2;1,2", "0-15")).unwrap();
        assert_eq!(fat.network().distance(0, 15), 4);
        let fly = site(&cluster("DRAGONFLY", "3,4;2,1;4,1;2", "0-47")).unwrap();
        let at = fly
            .positions_of(&["n0", "n1", "n2", "n8", "n10", "n16", "n18"])
            .unwrap();
        let from_first: Vec<u32> = at
            .iter()
            .map(|&p| fly.network().distance(at[0], p))
            .collect();
        // Same router, other blade, other chassis, next group: blade 1 has the link to its blade 0.
        assert_eq!(from_first, [2, 2, 3, 3, 4, 4, 5]);
        assert_eq!(site(&cluster("FLAT", "", "0-3,9")).unwrap().nodes(), 5);
    }

    #[test]
    fn simgrid_clusters_have_as_many_hosts_as_their_text_is_worth() {
        let many = site(&cluster("FLAT", "", "0-9999")).unwrap();
        assert_eq!(many.nodes(), 10_000);
        let prefix = format!("prefix=\"{}\"", "x".repeat(30_000));
        let long = cluster("FLAT", "", "0-99999").replace("prefix=\"n\"", &prefix);
        for text in [cluster("FLAT", "", "0-1048575"), long] {
            let problem = site(&text).unwrap_err();
            assert!(problem.contains("hosts would take more than"), "{problem}");
        }
    }

    #[test]
    fn general_platforms_and_graphml_are_graphs() {
        let platform = "<platform version='4.1'><zone id='z' routing='Dijkstra'>\
            <host id='a' speed='1Gf'/><host id='b' speed='1Gf'/><router id='r'/>\
            <link id='l' bandwidth='1GBps' latency='1us'/><link id='m' bandwidth='8Gbps' latency='1us'/>\
            <route src='a' dst='r'><link_ctn id='l'/></route>\
            <route src='r' dst='b'><link_ctn id='m'/><link_ctn id='l'/></route></zone></platform>";
        let found = site(platform).unwrap();
        let at = found.positions_of(&["a", "b"]).unwrap();
        assert_eq!(found.network().distance(at[0], at[1]), 3);
        let graph = "<graphml><key id='d0' for='node' attr.name='host' attr.type='string'/>\
            <key id='d1' for='edge' attr.name='length' attr.type='int'/><graph edgedefault='undirected'>\
            <node id='1'><data key='d0'>a</data></node><node id='2'/><node id='3'><data key='d0'>b</data></node>\
            <edge source='1' target='2'><data key='d1'>4</data></edge><edge source='2' target='3'/>\
            </graph></graphml>";
        let found = site(graph).unwrap();
        let at = found.positions_of(&["a", "b"]).unwrap();
        assert_eq!(found.network().distance(at[0], at[1]), 5);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, expected) in [
            (
                cluster("TORUS", "4,2", "0-8"),
                "n.xml:5: c has 9 hosts for the cells of 4x2; correct its sizes or its hosts",
            ),
            (
                cluster("STAR", "", "0-8"),
                "n.xml:5: topology=\"STAR\" is not known; expected TORUS, FAT_TREE, DRAGONFLY or FLAT",
            ),
            (
                cluster("DRAGONFLY", "5,4;2,1;4,1;2", "0-8"),
                "n.xml:5: there are more groups than blades in a chassis to join them",
            ),
            (
                "<graphml><graph><node id='1'/>\n<edge source='1' target='2'/></graph></graphml>"
                    .into(),
                "n.xml:2: there is no node 2; add it",
            ),
            (
                "<graphml><graph><node id='a&#10;b'/></graph></graphml>".into(),
                "n.xml: network: name of a switch is a\\nb: expected no control characters in it",
            ),
            (
                "<graphml>\n<graph><hyperedge/></graph></graphml>".into(),
                "n.xml:2: <hyperedge> is not understood; leave it out",
            ),
            (
                "<note/>".into(),
                "n.xml:1: <note> is no network; expected <platform> or <graphml>",
            ),
        ] {
            assert_eq!(site(&text).unwrap_err(), expected);
        }
        assert!(
            site("<platform>\n<zone>")
                .unwrap_err()
                .contains(": is not valid XML: ")
        );
    }
}
