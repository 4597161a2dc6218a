//! Networks in JSON: Flux's R and JGF, the output of `pbsnodes -F json` and `scontrol show node
//! --json`, topograph's graph.

use std::collections::BTreeMap;
use std::path::Path;

use treepie_base::FileError;
use treepie_base::yaml::{self, Value};

use super::host_list::expand_flux;
use super::slurm::switches::Switches;
use super::trees::of_tree;
use super::{lines, pbs, slurm_nodes, slurm_yaml};
use crate::build::Tree;
use crate::networks::site::Site;
use crate::tree::{ProcessingUnit, Topology};

/// Words of which each of these files contains one.
const WORDS: [&str; 6] = [
    "\"slurm\"",
    "\"nodelist\"",
    "\"instances\"",
    "\"graph\"",
    "\"resources_available\"",
    "\"topology\"",
];

/// True if a text seems to have one of these forms.
pub(super) fn recognize(text: &str) -> bool {
    let is_json = lines::first(text).is_some_and(|line| line.starts_with(['{', '[']));
    is_json && WORDS.iter().any(|word| text.contains(word))
}

/// Reads any of these forms; JSON is YAML.
pub(super) fn read(path: &Path, text: &str, name: Option<&str>) -> Result<Site, FileError> {
    let document = yaml::parse_any(path, text)?;
    let graph = document.get("graph");
    let graph = graph.or_else(|| document.get("scheduling").and_then(|s| s.get("graph")));
    if let Some(graph) = graph.filter(|graph| graph.get("nodes").is_some()) {
        return jgf(path, graph);
    }
    if let Some(list) = document.get("execution").and_then(|e| e.get("nodelist")) {
        return flux_r(path, list);
    }
    if let Some(Value::Sequence(instances)) = document.get("instances") {
        return topograph(path, instances);
    }
    if let Some(Value::Sequence(nodes)) = document.get("nodes") {
        return slurm_nodes::from_json(path, nodes, name);
    }
    if let Some(Value::Mapping(nodes)) = document.get("nodes") {
        let mut found = Vec::new();
        for (node, fields) in nodes {
            let resources = fields.get("resources_available");
            let mut values = BTreeMap::new();
            if let Some(Value::Mapping(resources)) = resources {
                for (key, value) in resources {
                    if let (Some(key), Some(value)) = (key.as_str(), value.as_str()) {
                        values.insert(key.to_owned(), value.to_owned());
                    }
                }
            }
            found.push((node.as_str().unwrap_or_default().to_owned(), values));
        }
        return pbs::placement_sets(path, found, name);
    }
    if matches!(&document, Value::Sequence(items) if items.iter().all(|i| i.get("topology").is_some()))
    {
        return slurm_yaml::read(path, text, name);
    }
    let of_slurm = document.get("meta").and_then(|meta| meta.get("slurm"));
    let problem = match of_slurm {
        // Slurm up to 26.05 has no parser that writes networks.
        Some(_) => {
            "is JSON of Slurm without nodes; give what `scontrol show topology`, without --json, \
             or `scontrol show node --json` prints"
        }
        None => {
            "is no JSON that is known; expected Flux's R or JGF, or what pbsnodes, \
             scontrol show node or topograph write"
        }
    };
    Err(FileError::field(path, "network", problem))
}

/// Hosts of one level.
fn flat(path: &Path, hosts: Vec<String>) -> Result<Site, FileError> {
    let leaf = |host| {
        Tree::Leaf(ProcessingUnit {
            host: Some(host),
            ..ProcessingUnit::default()
        })
    };
    let tree = Tree::Inner(hosts.into_iter().map(leaf).collect());
    let tree = Topology::from_tree(&tree, Some(&["node".to_owned()]));
    of_tree(
        path,
        tree.map_err(|error| FileError::field(path, "network", error))?,
    )
}

/// Flux's R has hosts and no network: all distances are equal.
fn flux_r(path: &Path, list: &Value) -> Result<Site, FileError> {
    let wrong = |problem: String| FileError::field(path, "nodelist", problem);
    let Value::Sequence(items) = list else {
        return Err(wrong("is no list of hosts".to_owned()));
    };
    let mut hosts = Vec::new();
    for item in items {
        let text = item
            .as_str()
            .ok_or_else(|| wrong("is no list of hosts".to_owned()))?;
        hosts.extend(expand_flux(text).map_err(wrong)?);
    }
    flat(path, hosts)
}

/// The containment of a JGF: all vertices above nodes.
fn jgf(path: &Path, graph: &Value) -> Result<Site, FileError> {
    let wrong = |problem: String| FileError::field(path, "graph", problem);
    let text = |value: Option<&Value>| match value {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    let list = |name: &str| match graph.get(name) {
        Some(Value::Sequence(items)) => items.clone(),
        _ => Vec::new(),
    };
    let mut kinds: BTreeMap<String, (String, String)> = BTreeMap::new();
    for node in list("nodes") {
        let id = text(node.get("id")).ok_or_else(|| wrong("a node has no id".to_owned()))?;
        let metadata = node.get("metadata");
        let kind = text(metadata.and_then(|m| m.get("type"))).unwrap_or_default();
        let name = text(metadata.and_then(|m| m.get("name"))).unwrap_or_else(|| {
            let base = text(metadata.and_then(|m| m.get("basename")));
            let number = text(metadata.and_then(|m| m.get("id")));
            format!("{}{}", base.unwrap_or_default(), number.unwrap_or_default())
        });
        kinds.insert(id, (kind, name));
    }
    let mut switches: BTreeMap<String, (Vec<String>, Vec<String>)> = BTreeMap::new();
    for edge in list("edges") {
        let metadata = edge.get("metadata");
        let subsystem = text(metadata.and_then(|m| m.get("subsystem")));
        let old = metadata
            .and_then(|m| m.get("name"))
            .and_then(|n| n.get("containment"));
        if subsystem.is_none_or(|name| name != "containment") && old.is_none() {
            continue;
        }
        let (Some(source), Some(target)) = (text(edge.get("source")), text(edge.get("target")))
        else {
            return Err(wrong("an edge has no source or no target".to_owned()));
        };
        let (Some(above), Some(below)) = (kinds.get(&source), kinds.get(&target)) else {
            return Err(wrong(format!(
                "an edge leads from {source} to {target}, not both nodes"
            )));
        };
        match (above.0.as_str(), below.0.as_str()) {
            ("node", _) | (_, "core" | "gpu" | "socket" | "memory") => {}
            (_, "node") => switches.entry(source).or_default().1.push(below.1.clone()),
            _ => switches.entry(source).or_default().0.push(target),
        }
    }
    // A vertex without nodes below it has no effect.
    let known: Vec<String> = switches.keys().cloned().collect();
    for (children, _) in switches.values_mut() {
        children.retain(|child| known.contains(child));
    }
    if known.is_empty() {
        return Err(wrong("has no node below anything".to_owned()));
    }
    Switches::of_parts(path, "graph", switches)
}

/// topograph: layers above each instance, the nearest first.
fn topograph(path: &Path, instances: &[Value]) -> Result<Site, FileError> {
    let wrong = |problem: String| FileError::field(path, "instances", problem);
    let nodes = instances.iter().map(|instance| {
        let id = instance.get("id").and_then(Value::as_str);
        let id = id.ok_or_else(|| wrong("an instance has no id".to_owned()))?;
        let layers: Vec<String> = match instance.get("network_layers") {
            Some(Value::Sequence(layers)) => layers
                .iter()
                .filter_map(|layer| layer.as_str().map(str::to_owned))
                .collect(),
            _ => Vec::new(),
        };
        if layers.is_empty() {
            return Err(wrong(format!("{id} has no network_layers")));
        }
        Ok((id.to_owned(), layers))
    });
    Switches::of_layers(path, "instances", nodes.collect::<Result<Vec<_>, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(text: &str, name: Option<&str>) -> Result<Site, String> {
        read(Path::new("n.json"), text, name).map_err(|error| error.to_string())
    }

    #[test]
    fn flux_lists_hosts_by_the_width_of_the_first_number_and_jgf_is_a_tree() {
        let r = r#"{"version": 1, "execution": {"R_lite": [{"rank": "0-3", "children": {"core": "0-3"}}],
                   "nodelist": ["n[08-10,3]"], "starttime": 0}}"#;
        assert!(site(r, None).unwrap().positions_of(&["n08", "n03"]).is_ok());
        let jgf = r#"{"graph": {"nodes": [
            {"id": "0", "metadata": {"type": "cluster", "name": "c0"}},
            {"id": "1", "metadata": {"type": "rack", "name": "r0"}},
            {"id": "2", "metadata": {"type": "rack", "name": "r1"}},
            {"id": "3", "metadata": {"type": "node", "name": "a"}},
            {"id": "4", "metadata": {"type": "node", "name": "b"}},
            {"id": "5", "metadata": {"type": "node", "basename": "c", "id": 7}},
            {"id": "6", "metadata": {"type": "core", "name": "core0"}}],
          "edges": [
            {"source": "0", "target": "1", "metadata": {"subsystem": "containment"}},
            {"source": "0", "target": "2", "metadata": {"name": {"containment": "contains"}}},
            {"source": "1", "target": "3", "metadata": {"subsystem": "containment"}},
            {"source": "1", "target": "4", "metadata": {"subsystem": "containment"}},
            {"source": "2", "target": "5", "metadata": {"subsystem": "containment"}},
            {"source": "3", "target": "6", "metadata": {"subsystem": "containment"}}]}}"#;
        let found = site(jgf, None).unwrap();
        let at = found.positions_of(&["a", "b", "c7"]).unwrap();
        assert_eq!(found.network().distance(at[0], at[1]), 2);
        assert_eq!(found.network().distance(at[0], at[2]), 4);
    }

    #[test]
    fn nodes_of_slurm_are_where_their_topology_says() {
        let nodes = r#"{"nodes": [
            {"name": "a", "hostname": "a", "topology": "cube:pod:0:0:1,fabric:top:l1"},
            {"name": "b", "hostname": "b", "topology": "cube:pod:3:1:0,fabric:top:l2"}],
          "meta": {"slurm": {"version": {"major": "26"}}}, "errors": [], "warnings": []}"#;
        let found = site(nodes, None).unwrap();
        assert_eq!(found.network().describe(), "mesh 4x2x2");
        assert_eq!(found.positions_of(&["a", "b"]).unwrap(), [8, 7]);
        assert_eq!(
            site(nodes, Some("fabric"))
                .unwrap()
                .network()
                .distance(0, 1),
            4
        );
        let older = r#"{"nodes": [{"name": "a", "cpus": 4}], "errors": []}"#;
        assert_eq!(
            site(older, None).unwrap_err(),
            "n.json: nodes: a has no topology; nothing is known of its place"
        );
    }

    #[test]
    fn topologies_of_slurm_are_read_in_json_as_in_yaml() {
        let list = r#"[{"topology": "fabric", "tree": {"switches": [
              {"switch": "top", "children": "l[1-2]"}, {"switch": "l1", "nodes": "a"},
              {"switch": "l2", "nodes": "b"}]}},
            {"topology": "loop", "cluster_default": true, "ring": {"rings": [{"ring": "r", "nodes": "n[1-8]"}]}}]"#;
        assert_eq!(site(list, None).unwrap().network().describe(), "torus 8");
        let fabric = site(list, Some("fabric")).unwrap();
        assert_eq!(fabric.network().describe(), "tree: 2 x switch, 2 x node");
        let other = r#"{"meta": {"slurm": {"version": {"major": "25"}}}, "errors": []}"#;
        assert_eq!(
            site(other, None).unwrap_err(),
            "n.json: network: is JSON of Slurm without nodes; give what `scontrol show topology`, \
             without --json, or `scontrol show node --json` prints"
        );
    }

    #[test]
    fn topograph_and_placement_sets_are_trees() {
        let graph = r#"{"instances": [{"id": "i-1", "network_layers": ["leaf-a", "spine"]},
            {"id": "i-2", "network_layers": ["leaf-b", "spine"]}]}"#;
        assert_eq!(site(graph, None).unwrap().network().distance(0, 1), 4);
        let pbs = r#"{"nodes": {"a": {"resources_available": {"switch": "s1", "cabinet": "c1", "ncpus": 4}},
            "b": {"resources_available": {"switch": "s2", "cabinet": "c1"}},
            "c": {"resources_available": {"switch": "s3", "cabinet": "c2"}}}}"#;
        let found = site(pbs, Some("switch,cabinet")).unwrap();
        let at = found.positions_of(&["a", "b", "c"]).unwrap();
        let distance = |a, b| found.network().distance(a, b);
        assert_eq!((distance(at[0], at[1]), distance(at[0], at[2])), (4, 6));
        assert_eq!(
            site(pbs, None).unwrap_err(),
            "n.json: resources_available: name the resources that make placement sets behind a \
             colon, the smallest sets first, as in n.json:switch,cabinet; there are cabinet"
        );
        let text = "a\n     Mom = a\n     resources_available.switch = s1\n\n\
                    b\n     resources_available.switch = s1,s2\n";
        let error = pbs::read(Path::new("pbs"), text, Some("switch"))
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "pbs: resources_available: b is in several sets of switch (s1,s2), which is no tree"
        );
    }
}
