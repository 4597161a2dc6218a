//! Output of `ibnetdiscover` for an InfiniBand fabric: switches and channel adapters with their
//! ports, each link at both of its ends.
//!
//! ```text
//! Switch  36 "S-0000aa01"   # "leaf1" enhanced port 0 lid 3 lmc 0
//! [1]  "H-0000bb01"[1](0000bb02)   # "node1 mlx5_0" lid 11 4xHDR
//! ```

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

use super::graph_builder::GraphBuilder;
use super::lines;
use crate::networks::site::Site;
use treepie_base::FileError;

/// True if a text begins with a line of these files.
pub(super) fn recognize(text: &str) -> bool {
    let starts = ["vendid=", "devid=", "sysimgguid=", "switchguid=", "caguid="];
    lines::first(text).is_some_and(|line| {
        starts.iter().any(|start| line.starts_with(start)) || Head::of(line).is_some()
    })
}

/// A switch or adapter.
struct Head<'a> {
    is_switch: bool,
    id: &'a str,
    description: &'a str,
}

impl<'a> Head<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let (word, rest) = line.split_once(char::is_whitespace)?;
        let is_switch = match word {
            "Switch" => true,
            "Ca" | "Rt" => false,
            _ => return None,
        };
        let mut quoted = quoted(rest);
        Some(Head {
            is_switch,
            id: quoted.next()?,
            description: quoted.next().unwrap_or_default(),
        })
    }
}

/// The parts of a line between quotation marks.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('"').skip(1).step_by(2)
}

/// Bandwidth in Gbit/s of a width and speed such as `4xHDR`.
fn capacity(word: &str) -> Option<f64> {
    let (width, speed) = word.split_once('x')?;
    let width: f64 = width.parse().ok()?;
    let lane = match speed {
        "SDR" => 2.5,
        "DDR" => 5.0,
        "QDR" | "FDR10" => 10.0,
        "FDR" => 14.0,
        "EDR" => 25.0,
        "HDR" => 50.0,
        "NDR" => 100.0,
        "XDR" => 200.0,
        _ => return None,
    };
    Some(width * lane)
}

/// The host of an adapter: the first word of its description, unless that is a name of hardware.
fn host(description: &str) -> Option<&str> {
    let name = description.split_whitespace().next()?;
    let hardware = name.starts_with("MT") && name[2..].starts_with(|c: char| c.is_ascii_digit());
    let other = description.contains("Aggregation Node") || name == "Mellanox";
    (!hardware && !other).then_some(name)
}

/// The id of a switch or adapter, and a port of it.
type End = (String, String);

#[derive(Default)]
struct Fabric {
    /// Names of switches by their ids.
    switches: BTreeMap<String, String>,
    /// Hosts of adapters by their ids.
    hosts: HashMap<String, String>,
    /// Links between ids, by both ends with their ports, with their bandwidths.
    links: BTreeMap<(End, End), f64>,
}

/// Reads a fabric; `path` is for messages.
pub(super) fn read(path: &Path, text: &str, _name: Option<&str>) -> Result<Site, FileError> {
    let mut fabric = Fabric::default();
    let mut here: Option<String> = None;
    let mut named: HashSet<String> = HashSet::new();
    for (number, line) in text.lines().enumerate() {
        let wrong = |problem: &str| FileError::at(path, number + 1, problem.to_owned());
        let line = line.trim_end();
        if let Some(head) = Head::of(line) {
            here = Some(head.id.to_owned());
            if head.is_switch {
                // Switches with equal descriptions are distinguished by their ids.
                let name = match head.description {
                    "" => head.id.to_owned(),
                    name if named.insert(name.to_owned()) => name.to_owned(),
                    name => format!("{name} ({})", head.id),
                };
                fabric.switches.insert(head.id.to_owned(), name);
            } else if let Some(host) = host(head.description) {
                fabric.hosts.insert(head.id.to_owned(), host.to_owned());
            }
        } else if let Some(rest) = line.strip_prefix('[') {
            let from = here.as_ref().ok_or_else(|| {
                wrong("a port stands before any `Switch` or `Ca`; the file lacks its beginning")
            })?;
            let port = rest.split(']').next().unwrap_or_default();
            let (Some(to), Some(behind)) = (quoted(rest).next(), rest.splitn(3, '"').nth(2)) else {
                return Err(wrong(
                    "expected a port such as [1] \"H-0000bb01\"[1] # ... 4xHDR",
                ));
            };
            let other = behind
                .trim_start_matches('[')
                .split(']')
                .next()
                .unwrap_or_default();
            let speed = line
                .split_whitespace()
                .rev()
                .find_map(capacity)
                .unwrap_or(1.0);
            let one = (from.clone(), port.to_owned());
            let other = (to.to_owned(), other.to_owned());
            let ends = if one <= other {
                (one, other)
            } else {
                (other, one)
            };
            fabric.links.insert(ends, speed);
        }
    }
    fabric.site(path)
}

impl Fabric {
    fn site(self, path: &Path) -> Result<Site, FileError> {
        // The switches of every host.
        let mut near: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (one, other) in self.links.keys() {
            for (a, b) in [(&one.0, &other.0), (&other.0, &one.0)] {
                if let (Some(host), true) = (self.hosts.get(a), self.switches.contains_key(b)) {
                    near.entry(host).or_default().insert(b);
                }
            }
        }
        if near.is_empty() {
            let problem = "no adapter of a named host is on a switch; expected lines such as \
                           Ca 1 \"H-0000bb01\" # \"node1 mlx5_0\"";
            return Err(FileError::field(path, "fabric", problem));
        }
        // With several rails, hosts are vertices themselves.
        let rails = near.values().any(|switches| switches.len() > 1);
        let mut builder = GraphBuilder::default();
        for (host, switches) in &near {
            match (rails, switches.first()) {
                (false, Some(&switch)) => {
                    let vertex = builder.vertex(&self.switches[switch]);
                    builder.host(host, vertex);
                }
                _ => {
                    let vertex = builder.vertex(host);
                    builder.host(host, vertex);
                }
            }
        }
        for ((one, other), &speed) in &self.links {
            let name = |id: &String| match (self.switches.get(id), self.hosts.get(id)) {
                (Some(switch), _) => Some((switch.as_str(), false)),
                (None, host) => host.map(|host| (host.as_str(), true)),
            };
            let (Some(a), Some(b)) = (name(&one.0), name(&other.0)) else {
                continue;
            };
            if !(a.1 || b.1) || rails {
                let (a, b) = (builder.vertex(a.0), builder.vertex(b.0));
                builder.link(a, b, 1, speed);
            }
        }
        builder.site(path, if rails { 0 } else { 2 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FABRIC: &str = r#"
vendid=0x2c9
switchguid=0xaa01(aa01)
Switch	36 "S-aa01"		# "leaf1" enhanced port 0 lid 3 lmc 0
[1]	"H-bb01"[1](bb02) 		# "node1 mlx5_0" lid 11 4xHDR
[2]	"H-bb03"[1](bb04) 		# "node2 mlx5_0" lid 12 4xHDR
[33]	"S-aa03"[1]		# "spine1" lid 4 4xHDR
[34]	"S-aa03"[2]		# "spine1" lid 4 4xHDR

Switch	36 "S-aa02"		# "leaf2" enhanced port 0 lid 5 lmc 0
[1]	"H-bb05"[1](bb06) 		# "node3 mlx5_0" lid 13 4xHDR
[33]	"S-aa03"[3]		# "spine1" lid 4 4xHDR

Switch	36 "S-aa03"		# "spine1" enhanced port 0 lid 4 lmc 0
[1]	"S-aa01"[33]		# "leaf1" lid 3 4xHDR
[2]	"S-aa01"[34]		# "leaf1" lid 3 4xHDR
[3]	"S-aa02"[33]		# "leaf2" lid 5 4xHDR

Ca	1 "H-bb01"		# "node1 mlx5_0"
[1](bb02) 	"S-aa01"[1]		# lid 11 lmc 0 "leaf1" lid 3 4xHDR

Ca	1 "H-bb03"		# "node2 mlx5_0"
[1](bb04) 	"S-aa01"[2]		# lid 12 lmc 0 "leaf1" lid 3 4xHDR

Ca	1 "H-bb05"		# "node3 mlx5_0"
[1](bb06) 	"S-aa02"[1]		# lid 13 lmc 0 "leaf2" lid 5 4xHDR
"#;

    #[test]
    fn a_fabric_is_a_graph_whose_parallel_cables_add_up() {
        let site = read(Path::new("fabric"), FABRIC, None).unwrap();
        let at = site.positions_of(&["node1", "node2", "node3"]).unwrap();
        let network = site.network();
        assert_eq!(network.distance(at[0], at[1]), 2);
        assert_eq!(network.distance(at[0], at[2]), 4);
        let mut capacities: Vec<f64> = network.all_links().map(|link| link.3).collect();
        capacities.sort_by(f64::total_cmp);
        assert_eq!(capacities, [200.0, 200.0, 400.0, 400.0]);
    }

    #[test]
    fn hosts_with_two_rails_are_vertices_themselves() {
        let rails = FABRIC.replace(
            "Ca\t1 \"H-bb05\"",
            "Ca\t1 \"H-cc01\"\t\t# \"node1 mlx5_1\"\n[1](cc02) \"S-aa02\"[9]\t\t# lid 20 4xHDR\n\n\
             Ca\t1 \"H-bb05\"",
        );
        let site = read(Path::new("fabric"), &rails, None).unwrap();
        let at = site.positions_of(&["node1", "node3"]).unwrap();
        assert_eq!(site.network().distance(at[0], at[1]), 2);
    }

    #[test]
    fn what_is_no_fabric_is_refused() {
        let error = |text: &str| {
            read(Path::new("fabric"), text, None)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            error("[1] \"H-bb01\"[1] # \"a\" 4xHDR\n"),
            "fabric:1: a port stands before any `Switch` or `Ca`; the file lacks its beginning"
        );
        assert_eq!(
            error("Switch 36 \"S-a\" # \"leaf\"\n[1]\n"),
            "fabric:2: expected a port such as [1] \"H-0000bb01\"[1] # ... 4xHDR"
        );
        assert!(error("Switch 36 \"S-a\" # \"leaf\"\n").contains("no adapter of a named host"));
    }
}
