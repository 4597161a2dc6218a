//! Slurm's topology.yaml: a list of topologies of the same nodes, one of which is the default.

use std::path::Path;

use serde::Deserialize;

use treepie_base::FileError;
use treepie_base::yaml::{self, Value};

use super::host_list::expand;
use super::lines;
use super::slurm::switches::{Switch, Switches};
use super::tori::{Torus, of_tori};
use crate::networks::site::Site;

/// True if a text is a list of topologies.
pub(super) fn recognize(text: &str) -> bool {
    const ITEM: &str = "- topology:";
    lines::first(text).is_some_and(|line| {
        line.starts_with(ITEM) || line == "---" && lines::any_begins(text, ITEM)
    })
}

/// Reads the topology called `name`, or the default one.
pub(super) fn read(path: &Path, text: &str, name: Option<&str>) -> Result<Site, FileError> {
    yaml::parse_any(path, text)?;
    let all: Vec<Item> = yaml::parse(path, text)?;
    let names: Vec<&str> = all.iter().map(|item| item.topology.as_str()).collect();
    let (item, torus) = match name {
        None => {
            let default = all.iter().find(|item| item.cluster_default);
            (default.or(all.first()), None)
        }
        Some(name) => match all.iter().find(|item| item.topology == name) {
            Some(item) => (Some(item), None),
            None => (all.iter().find(|item| item.has_part(name)), Some(name)),
        },
    };
    let Some(item) = item else {
        let problem = match name {
            None => "lists no topology".to_owned(),
            Some(name) => format!("has no {name}; there are {}", names.join(", ")),
        };
        return Err(FileError::field(path, "topology", problem));
    };
    item.site(path, torus)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Item {
    topology: String,
    #[serde(default)]
    cluster_default: bool,
    tree: Option<TreeFields>,
    block: Option<BlockFields>,
    flat: Option<Value>,
    ring: Option<RingFields>,
    torus3d: Option<TorusFields>,
}

#[derive(Deserialize)]
struct TreeFields {
    switches: Vec<SwitchFields>,
}

#[derive(Deserialize)]
struct SwitchFields {
    switch: String,
    children: Option<String>,
    nodes: Option<String>,
}

#[derive(Deserialize)]
struct BlockFields {
    #[serde(default)]
    block_sizes: Vec<usize>,
    blocks: Vec<BlockField>,
}

#[derive(Deserialize)]
struct BlockField {
    block: String,
    nodes: String,
}

#[derive(Deserialize)]
struct RingFields {
    rings: Vec<RingField>,
}

#[derive(Deserialize)]
struct RingField {
    ring: String,
    nodes: String,
}

#[derive(Deserialize)]
struct TorusFields {
    toruses: Vec<TorusField>,
}

#[derive(Deserialize)]
struct TorusField {
    name: String,
    dims: Point,
    nodes: Option<String>,
    #[serde(default)]
    regions: Vec<Region>,
}

#[derive(Deserialize)]
struct Region {
    anchor: Point,
    dims: Point,
    nodes: String,
}

#[derive(Deserialize, Clone, Copy)]
struct Point {
    x: usize,
    y: usize,
    z: usize,
}

impl Item {
    fn has_part(&self, name: &str) -> bool {
        let in_ring = self
            .ring
            .iter()
            .flat_map(|r| &r.rings)
            .any(|r| r.ring == name);
        let tori = self.torus3d.iter().flat_map(|t| &t.toruses);
        in_ring || tori.into_iter().any(|torus| torus.name == name)
    }

    fn site(&self, path: &Path, part: Option<&str>) -> Result<Site, FileError> {
        let wrong = |problem: String| FileError::field(path, self.topology.clone(), problem);
        let kinds = [
            self.tree.is_some(),
            self.block.is_some(),
            self.flat.is_some(),
            self.ring.is_some(),
            self.torus3d.is_some(),
        ];
        if kinds.into_iter().filter(|&kind| kind).count() != 1 {
            let problem = "expected exactly one of tree, block, flat, ring, torus3d";
            return Err(wrong(problem.to_owned()));
        }
        if self.flat.is_some() {
            let problem = "is flat, and says nothing of the network; name another topology behind \
                           a colon, or leave the network out";
            return Err(wrong(problem.to_owned()));
        }
        let mut switches = Switches::default();
        if let Some(tree) = &self.tree {
            for fields in &tree.switches {
                // Slurm ignores children if there are nodes.
                let children = fields
                    .children
                    .as_deref()
                    .filter(|_| fields.nodes.is_none());
                let switch = Switch {
                    name: fields.switch.clone(),
                    line: 0,
                    nodes: expand(fields.nodes.as_deref().unwrap_or_default()).map_err(wrong)?,
                    switches: expand(children.unwrap_or_default()).map_err(wrong)?,
                };
                switches.add(switch).map_err(wrong)?;
            }
            return switches.site(path);
        }
        if let Some(block) = &self.block {
            for fields in &block.blocks {
                let switch = Switch {
                    name: fields.block.clone(),
                    line: 0,
                    nodes: expand(&fields.nodes).map_err(wrong)?,
                    switches: Vec::new(),
                };
                switches.add(switch).map_err(wrong)?;
            }
            if block.block_sizes.contains(&0) {
                return Err(wrong("block size 0; sizes are at least 1".to_owned()));
            }
            if !block.block_sizes.is_empty() {
                switches.group_blocks(&block.block_sizes).map_err(wrong)?;
            }
            return switches.site(path);
        }
        let rings = self.ring.iter().flat_map(|ring| &ring.rings);
        let rings = rings.map(|ring| {
            let hosts = expand(&ring.nodes)?;
            Torus::in_order(&ring.ring, &[hosts.len()], hosts)
        });
        let tori = self.torus3d.iter().flat_map(|torus| &torus.toruses);
        let tori = rings.chain(tori.map(TorusField::torus));
        of_tori(path, tori.collect::<Result<_, _>>().map_err(wrong)?, part)
    }
}

impl TorusField {
    fn torus(&self) -> Result<Torus, String> {
        let Point { x, y, z } = self.dims;
        let sizes = [x, y, z];
        let name = &self.name;
        if self.nodes.is_some() != self.regions.is_empty() {
            return Err(format!("{name} needs either nodes or regions, not both"));
        }
        if let Some(nodes) = &self.nodes {
            return Torus::in_order(name, &sizes, expand(nodes)?);
        }
        let mut hosts = Vec::new();
        for region in &self.regions {
            let Point { x, y, z } = region.dims;
            let inside = Torus::in_order(name, &[x, y, z], expand(&region.nodes)?)?;
            let anchor = [region.anchor.x, region.anchor.y, region.anchor.z];
            for (host, at) in inside.hosts {
                let at = at.iter().zip(anchor).map(|(at, anchor)| at + anchor);
                hosts.push((host, at.collect()));
            }
        }
        Ok(Torus {
            name: name.clone(),
            sizes: sizes.to_vec(),
            wraps: vec![true; 3],
            hosts,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &str = r#"
- topology: fabric
  cluster_default: true
  tree: {switches: [{switch: top, children: "leaf[1-2]"}, {switch: leaf1, nodes: "n[1-4]"}, {switch: leaf2, nodes: "n[5-8]"}]}
- topology: nvl
  block: {block_sizes: [4, 8], blocks: [{block: b1, nodes: "n[1-4]"}, {block: b2, nodes: "n[5-8]"}]}
- topology: loop
  ring: {rings: [{ring: r0, nodes: "n[1-8]"}]}
- topology: bare
  flat: true
- topology: cube
  torus3d:
    toruses:
      - name: pod
        dims: {x: 4, y: 2, z: 2}
        regions: [{anchor: {x: 2, y: 0, z: 0}, dims: {x: 2, y: 2, z: 2}, nodes: "n[1-8]"}]
        placements: [{dims: {x: 2, y: 2, z: 1}, anchor_spacing: {x: 2, y: 2, z: 1}}]
"#;

    fn site(name: Option<&str>) -> Result<Site, String> {
        read(Path::new("topology.yaml"), ALL, name).map_err(|error| error.to_string())
    }

    #[test]
    fn the_default_topology_is_read_unless_another_is_named() {
        let default = site(None).unwrap();
        assert_eq!(default.network().describe(), "tree: 2 x switch, 8 x node");
        assert_eq!(site(Some("loop")).unwrap().network().describe(), "torus 8");
        assert_eq!(site(Some("nvl")).unwrap().nodes(), 8);
        let cube = site(Some("cube")).unwrap();
        assert_eq!(cube.network().describe(), "torus 4x2x2");
        assert_eq!(cube.positions_of(&["n1", "n3"]).unwrap(), [2, 6]);
        assert_eq!(site(Some("pod")).unwrap(), cube);
    }

    #[test]
    fn what_describes_no_network_is_refused_with_the_name() {
        assert_eq!(
            site(Some("nothing")).unwrap_err(),
            "topology.yaml: topology: has no nothing; there are fabric, nvl, loop, bare, cube"
        );
        assert!(
            site(Some("bare"))
                .unwrap_err()
                .starts_with("topology.yaml: bare: is flat")
        );
    }
}
