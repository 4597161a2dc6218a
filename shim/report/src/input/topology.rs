//! Topologies in the notations of users.

use std::path::{Path, PathBuf};

use treepie_hwloc::{HwlocError, Machine, Source};
use treepie_profile::Profile;
use treepie_topology::{ProcessingUnit, Topology, TopologyError};

use crate::input::hwloc_file;
use crate::words::{plural, pluralize};
use treepie_launch::error::CommandError;

/// Help text of `--topology`.
pub const HELP: &str = "\
Machine to place on: arities from the root such as 4:2:2 (nodes, sockets, cores), a topology file, \
an hwloc XML file (.xml), an hwloc description such as 'hwloc:pack:2 core:4', or a network with \
the arities of its nodes such as torus:8x8x8/2:4; \
if it is not given, the hosts of the profile, taken to be like this machine";

/// Reads the topology that `text` describes or names.
///
/// # Errors
/// The description or file is wrong.
pub fn read(text: &str) -> Result<Topology, CommandError> {
    if let Some(description) = text.strip_prefix("hwloc:") {
        return machine(&Source::Synthetic(with_processing_units(description))).map(from_machine);
    }
    if looks_like_arities(text) {
        return Topology::from_arities(text)
            .map_err(|error| CommandError::usage(format!("--topology {text}: {error}")));
    }
    let path = Path::new(text);
    let is_xml = path.extension().is_some_and(|ending| ending == "xml");
    if is_xml {
        return hwloc_file::read(path).map(from_machine);
    }
    Ok(treepie_topology::file::read(path)?)
}

/// Adds the processing units that hwloc requires at the end; a description of cores means one each.
fn with_processing_units(description: &str) -> String {
    let lowest = description
        .split_whitespace()
        .next_back()
        .unwrap_or_default();
    if lowest.to_ascii_lowercase().starts_with("core:") {
        format!("{description} pu:1")
    } else {
        description.to_owned()
    }
}

/// True if `text` describes a topology, and does not name a file of Treepie.
pub fn is_described(text: &str) -> bool {
    text.starts_with("hwloc:") || looks_like_arities(text) || text.ends_with(".xml")
}

/// The machines on which a profile was taken, from its descriptions. Those without a description
/// are assumed to be like this one.
///
/// # Errors
/// A description is invalid, or this machine cannot be read.
pub fn from_profile(profile: &Profile) -> Result<Topology, CommandError> {
    let mut machines = Vec::with_capacity(profile.hosts.len());
    let mut this = None;
    for host in &profile.hosts {
        let described = profile.topologies.iter();
        let mut described = described.filter(|known| known.hosts.contains(&host.name));
        let machine = match (described.next(), &this) {
            (Some(known), _) => {
                let machine = known.machine();
                let machine = machine.map_err(|error| CommandError::failed(error.to_string()))?;
                machine.topology().clone()
            }
            (None, Some(this)) => Topology::clone(this),
            (None, None) => this.insert(from_this_machine()?).clone(),
        };
        machines.push((host.name.clone(), machine));
    }
    match machines.len() {
        0 => from_this_machine(),
        1 => {
            let (host, machine) = machines.swap_remove(0);
            Ok(on_host(machine, &host)?)
        }
        _ => Ok(Topology::cluster(machines)?),
    }
}

/// Sets `host` for the cores of a machine.
fn on_host(machine: Topology, host: &str) -> Result<Topology, TopologyError> {
    let leaves = machine.leaves().iter().map(|leaf| ProcessingUnit {
        host: Some(host.to_owned()),
        ..leaf.clone()
    });
    let leaves = leaves.collect();
    machine.with_leaves(leaves)
}

/// Reads the machine on which this command runs.
///
/// # Errors
/// hwloc cannot read it.
pub fn from_this_machine() -> Result<Topology, CommandError> {
    machine(&Source::ThisMachine).map(from_machine)
}

fn from_machine(machine: Machine) -> Topology {
    machine.topology().clone()
}

fn machine(source: &Source) -> Result<Machine, CommandError> {
    source
        .read_with_devices()
        .map_err(|error: HwlocError| CommandError::failed(error.to_string()))
}

/// True for `4:2:2`, and texts that probably mean such a shape; a file with that name can be given
/// as `./4:2:2`.
fn looks_like_arities(text: &str) -> bool {
    let digits = |c: char| c.is_ascii_digit() || matches!(c, ':' | ' ' | '-');
    !text.is_empty() && text.chars().all(digits)
}

/// Short text of a topology: `4 nodes x 2 sockets x 2 cores`.
pub fn describe(topology: &Topology) -> String {
    let Some(arities) = topology.arities() else {
        return uneven_in_words(topology);
    };
    let levels = arities.iter().zip(topology.levels());
    let parts = levels.map(|(&count, level)| pluralize(count, &level.name));
    parts.collect::<Vec<_>>().join(" x ")
}

/// `uneven: 3 nodes, 5 sockets, 20 cores`.
fn uneven_in_words(topology: &Topology) -> String {
    let levels = topology.levels().iter().enumerate();
    let parts = levels.map(|(depth, level)| {
        format!("{} {}", topology.node_count(depth + 1), plural(&level.name))
    });
    format!("uneven: {}", parts.collect::<Vec<_>>().join(", "))
}

/// The default name of a file made from `source`: `app.placement.yaml` from
/// `app.profile.yaml`, in the same directory.
pub fn beside(source: &Path, kind: &str) -> PathBuf {
    let name = source.file_name().unwrap_or_default().to_string_lossy();
    let endings = [
        ".profile.yaml",
        ".placement.yaml",
        ".topology.yaml",
        ".yaml",
        ".yml",
    ];
    let stem = endings.iter().find_map(|ending| name.strip_suffix(ending));
    let stem = stem.map(str::to_owned).unwrap_or_else(|| {
        source
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    });
    source.with_file_name(format!("{stem}.{kind}.yaml"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn arities_are_told_from_file_names() {
        for (text, expected) in [
            ("4:2:2", true),
            ("16", true),
            ("4:-2", true),
            ("cluster.yaml", false),
            ("./4:2:2", false),
            ("", false),
        ] {
            assert_eq!(looks_like_arities(text), expected, "{text}");
        }
    }

    #[test]
    fn a_topology_is_told_in_words() {
        let words = |arities: &str| describe(&Topology::from_arities(arities).unwrap());
        assert_eq!(words("4:2:2"), "4 nodes x 2 sockets x 2 cores");
        assert_eq!(words("1:8"), "1 socket x 8 cores");
        let parts = ["2", "3"].map(|cores| Topology::from_arities(cores).unwrap());
        let uneven = Topology::join("node", &parts).unwrap();
        assert_eq!(describe(&uneven), "uneven: 2 nodes, 5 cores");
    }

    #[test]
    fn a_file_made_from_another_lies_beside_it() {
        for (source, expected) in [
            ("d/app.profile.yaml", "d/app.placement.yaml"),
            ("app.mtx", "app.placement.yaml"),
            ("app.v2.yaml", "app.v2.placement.yaml"),
        ] {
            assert_eq!(beside(Path::new(source), "placement"), Path::new(expected));
        }
    }
}
