//! Networks in GraphML, of which a part is understood.

use roxmltree::Node;

use treepie_base::FileError;

use super::graph_builder::GraphBuilder;
use super::xml::Reader;
use crate::networks::site::Site;

impl Reader<'_> {
    /// Nodes and edges with the keys `host`, `length` and `capacity`.
    pub(super) fn graphml(&self, root: Node) -> Result<Site, FileError> {
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
