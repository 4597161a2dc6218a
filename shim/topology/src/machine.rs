//! One machine as read from the hardware: its tree, and the operating system's numbers of each
//! leaf.
//!
//! It has a text form, in which another library passes it to the preloaded library through a C
//! interface:
//!
//! ```text
//! machine 1                 the version of this text
//! host mygale               optional
//! level socket 2            one child count for each node above: the machine has 2 sockets,
//! level core 4 4            and each of these 4 cores
//! units 0,8 2,10 4,12 6,14 1,9 3,11 5,13 7,15     the hardware threads of each core
//! device fabric mlx5_0 4-7      optional: its type, its name, and the cores next to it
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

use thiserror::Error;

use crate::device::{Device, LocalDevice};
use crate::error::TopologyError;
use crate::tree::{ProcessingUnit, Topology};
use treepie_base::{Leaf, List, Slice};

/// First line of the text form.
const FIRST_LINE: &str = "machine 1";

/// Reason why a machine could not be built from its levels or its text.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum MachineError {
    /// The levels do not form a tree.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// A line of the text is wrong.
    #[error("line {line} of a machine's text is wrong: expected {expected}")]
    Line {
        /// The line, counted from 1.
        line: usize,
        /// Expected content.
        expected: &'static str,
    },
    /// A name is empty or contains white space.
    #[error("\"{name}\" cannot name a host or a level: expected one word")]
    NotAWord {
        /// The given name.
        name: String,
    },
    /// A list has another length than the number of items that it describes.
    #[error("{found} {what} for {expected} nodes of the level above or leaves: give one for each")]
    WrongCount {
        /// The listed items.
        what: &'static str,
        /// Actual length of the list.
        found: usize,
        /// Expected length.
        expected: usize,
    },
    /// A leaf without processing units.
    #[error("leaf {leaf} has no processing unit: expected at least one for each leaf")]
    NoUnit {
        /// The leaf without processing units.
        leaf: Leaf,
    },
    /// Two leaves have the same processing unit.
    #[error("processing unit {unit} belongs to leaf {first} and to leaf {second}: expected one")]
    UnitTwice {
        /// Number of the unit in the operating system.
        unit: usize,
        /// The first leaf that has it.
        first: Leaf,
        /// The second leaf that has it.
        second: Leaf,
    },
    /// A device is next to leaves that do not exist, or next to none.
    #[error(
        "device {device} is next to leaves {} to {}, and the machine has {leaves}: expected some of \
         them, which count from 0",
        next_to.start,
        next_to.end
    )]
    DeviceNowhere {
        /// Name of the device.
        device: String,
        /// Leaves next to it.
        next_to: Range<Leaf>,
        /// Number of leaves of the machine.
        leaves: usize,
    },
}

/// One machine: the tree of its cores, and the processing units (hardware threads) of each core, as
/// numbered by the operating system.
///
/// A leaf is a core; its [`ProcessingUnit::os_index`] is its first processing unit, the number used
/// by binding and CPU lists. Each processing unit has one leaf.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    host: Option<String>,
    topology: Topology,
    processing_units: List<Leaf, Vec<usize>>,
    leaf_of_pu: BTreeMap<usize, Leaf>,
    devices: Vec<LocalDevice>,
}

impl Machine {
    /// Builds a machine from the names of its levels below the root, the child counts of the nodes
    /// of each depth from left to right (`children[0]` has one entry: that of the machine), and the
    /// processing units of each leaf in logical order.
    ///
    /// # Errors
    /// The levels do not form a tree, lists do not fit each other, a leaf has no processing unit or
    /// one of another leaf, or the name of a host or level is not one word.
    pub fn from_levels(
        host: Option<String>,
        names: Vec<String>,
        children: &[Vec<usize>],
        processing_units: List<Leaf, Vec<usize>>,
    ) -> Result<Self, MachineError> {
        if let Some(name) = host.iter().chain(&names).find(|name| !is_word(name)) {
            return Err(MachineError::NotAWord { name: name.clone() });
        }
        require_fitting_counts(children, processing_units.len())?;
        let leaf_of_pu = leaf_of_each_unit(&processing_units)?;
        let leaves = processing_units.iter().map(|units| ProcessingUnit {
            os_index: units.first().copied(),
            host: host.clone(),
            ..ProcessingUnit::default()
        });
        let topology = Topology::from_child_counts(names, children, leaves.collect())?;
        Ok(Machine {
            host,
            topology,
            processing_units,
            leaf_of_pu,
            devices: Vec::new(),
        })
    }

    /// Adds the devices of the machine.
    ///
    /// # Errors
    /// A device is next to no leaf or to one that the machine does not have, or a name is not one
    /// word.
    pub fn with_devices(mut self, devices: Vec<LocalDevice>) -> Result<Self, MachineError> {
        let leaves = self.topology.leaf_count();
        let mut beside: List<Leaf, Vec<Device>> = vec![Vec::new(); leaves].into();
        for local in &devices {
            let name = &local.device.name;
            if !is_word(name) {
                return Err(MachineError::NotAWord { name: name.clone() });
            }
            if local.leaves.is_empty() || local.leaves.end.0 > leaves {
                return Err(MachineError::DeviceNowhere {
                    device: name.clone(),
                    next_to: local.leaves.clone(),
                    leaves,
                });
            }
            for devices in &mut beside[local.leaves.clone()] {
                devices.push(local.device.clone());
            }
        }
        let known = self.topology.leaves().iter().zip(beside);
        let known = known.map(|(leaf, devices)| ProcessingUnit {
            devices: Arc::from(devices),
            ..leaf.clone()
        });
        let known = known.collect();
        self.topology = self.topology.with_leaves(known)?;
        self.devices = devices;
        Ok(self)
    }

    /// Its network interfaces and accelerators, if they were searched for.
    pub fn devices(&self) -> &[LocalDevice] {
        &self.devices
    }

    /// The name of the machine, if known.
    pub fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }

    /// The tree of its cores.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Hardware threads of each leaf, as numbered by the operating system, in logical order.
    pub fn processing_units(&self) -> &Slice<Leaf, Vec<usize>> {
        &self.processing_units
    }

    /// The leaf of processing unit `os_index`; `None` if this machine does not have the unit, or it
    /// may not be used.
    pub fn leaf_of_pu(&self, os_index: usize) -> Option<Leaf> {
        self.leaf_of_pu.get(&os_index).copied()
    }
}

fn is_word(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c.is_control())
}

/// Checks that each level has a count for each node above it.
fn require_fitting_counts(children: &[Vec<usize>], leaves: usize) -> Result<(), MachineError> {
    let mut nodes = 1_usize;
    for counts in children {
        require_count("child counts", counts.len(), nodes)?;
        nodes = counts
            .iter()
            .fold(0, |sum, &count| sum.saturating_add(count));
    }
    require_count("lists of processing units", leaves, nodes)
}

fn require_count(what: &'static str, found: usize, expected: usize) -> Result<(), MachineError> {
    if found == expected {
        return Ok(());
    }
    Err(MachineError::WrongCount {
        what,
        found,
        expected,
    })
}

fn leaf_of_each_unit(
    units: &Slice<Leaf, Vec<usize>>,
) -> Result<BTreeMap<usize, Leaf>, MachineError> {
    let mut leaf_of_pu = BTreeMap::new();
    for (leaf, units) in units.iter_enumerated() {
        if units.is_empty() {
            return Err(MachineError::NoUnit { leaf });
        }
        for &unit in units {
            if let Some(first) = leaf_of_pu.insert(unit, leaf) {
                return Err(MachineError::UnitTwice {
                    unit,
                    first,
                    second: leaf,
                });
            }
        }
    }
    Ok(leaf_of_pu)
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{FIRST_LINE}")?;
        if let Some(host) = &self.host {
            writeln!(f, "host {host}")?;
        }
        for (depth, level) in self.topology.levels().iter().enumerate() {
            let counts = joined(&self.topology.child_counts(depth), " ");
            writeln!(f, "level {} {counts}", level.name)?;
        }
        let units = self.processing_units.iter().map(|units| joined(units, ","));
        writeln!(f, "units {}", units.collect::<Vec<_>>().join(" "))?;
        for LocalDevice { device, leaves } in &self.devices {
            let (kind, name) = (device.kind, &device.name);
            writeln!(
                f,
                "device {kind} {name} {}-{}",
                leaves.start,
                leaves.end.0 - 1
            )?;
        }
        Ok(())
    }
}

fn joined(numbers: &[usize], separator: &str) -> String {
    let words: Vec<String> = numbers.iter().map(usize::to_string).collect();
    words.join(separator)
}

impl FromStr for Machine {
    type Err = MachineError;

    /// Reads the text form.
    fn from_str(text: &str) -> Result<Self, MachineError> {
        let mut lines = text.lines().enumerate();
        if lines.next().map(|(_, first)| first) != Some(FIRST_LINE) {
            return Err(MachineError::Line {
                line: 1,
                expected: "\"machine 1\", the version that this program reads",
            });
        }
        let mut host = None;
        let (mut names, mut children, mut units) = (Vec::new(), Vec::new(), List::new());
        let mut devices = Vec::new();
        for (at, content) in lines {
            let wrong = |expected| MachineError::Line {
                line: at + 1,
                expected,
            };
            let (key, rest) = content.split_once(' ').unwrap_or((content, ""));
            match key {
                "host" => host = Some(rest.to_owned()),
                "level" => {
                    let (name, counts) = rest.split_once(' ').unwrap_or((rest, ""));
                    names.push(name.to_owned());
                    let counts = numbers(counts, ' ');
                    children.push(counts.ok_or_else(|| wrong("level, a name, child counts"))?);
                }
                "units" => {
                    let lists = rest.split(' ').map(|list| numbers(list, ','));
                    let lists: Option<_> = lists.collect();
                    units = lists.ok_or_else(|| wrong("units, numbers for each leaf"))?;
                }
                "device" => {
                    let device = device(rest);
                    devices.push(device.ok_or_else(|| wrong("device, its kind, name and leaves"))?);
                }
                _ => return Err(wrong("host, level, units or device")),
            }
        }
        Machine::from_levels(host, names, &children, units)?.with_devices(devices)
    }
}

/// `fabric mlx5_0 4-7`.
fn device(text: &str) -> Option<LocalDevice> {
    let mut words = text.split(' ');
    let (kind, name, leaves) = (words.next()?, words.next()?, words.next()?);
    let device = Device {
        kind: kind.parse().ok()?,
        name: name.to_owned(),
    };
    let (first, last) = leaves.split_once('-')?;
    let end = last.parse::<usize>().ok()?.checked_add(1)?;
    let leaves = Leaf(first.parse().ok()?)..Leaf(end);
    words
        .next()
        .is_none()
        .then_some(LocalDevice { device, leaves })
}

fn numbers(text: &str, separator: char) -> Option<Vec<usize>> {
    text.split(separator)
        .map(|word| word.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const UNEVEN: &str =
        "machine 1\nhost mygale\nlevel socket 2\nlevel core 2 1\nunits 0,4 2,6 1,5\n";

    #[test]
    fn a_machine_is_the_same_after_writing_and_reading_its_text() {
        let machine: Machine = UNEVEN.parse().unwrap();
        assert_eq!(machine.to_string(), UNEVEN);
        assert_eq!(machine.host(), Some("mygale"));
        assert_eq!(machine.topology().leaf_count(), 3);
        assert_eq!(machine.topology().common_level(Leaf(0), Leaf(1)), 1);
        assert_eq!(machine.topology().common_level(Leaf(1), Leaf(2)), 0);
        assert_eq!(machine.topology().leaf(Leaf(2)).os_index, Some(1));
    }

    #[test]
    fn each_hardware_thread_leads_to_its_core() {
        let machine: Machine = UNEVEN.parse().unwrap();
        let leaves = [0, 4, 2, 6, 1, 5].map(|unit| machine.leaf_of_pu(unit));
        assert_eq!(leaves, [0, 0, 1, 1, 2, 2].map(|leaf| Some(Leaf(leaf))));
        assert_eq!(machine.leaf_of_pu(3), None);
    }

    #[test]
    fn leaves_know_the_devices_next_to_them() {
        let text = format!("{UNEVEN}device fabric mlx5_0 0-1\ndevice gpu card0 2-2\n");
        let machine: Machine = text.parse().unwrap();
        assert_eq!(machine.to_string(), text);
        let names = |leaf: usize| -> Vec<&str> {
            let devices = machine.topology().leaf(Leaf(leaf)).devices.iter();
            devices.map(|device| &*device.name).collect()
        };
        assert_eq!(
            [names(0), names(1), names(2)],
            [["mlx5_0"], ["mlx5_0"], ["card0"]]
        );
        // A cluster of such machines keeps the devices.
        let machines = ["a", "b"].map(|host| (host.to_owned(), machine.topology().clone()));
        let cluster = Topology::cluster(machines.to_vec()).unwrap();
        assert_eq!(
            cluster.leaf(Leaf(5)).devices,
            machine.topology().leaf(Leaf(2)).devices
        );
    }

    #[test]
    fn wrong_texts_are_refused_with_their_line() {
        for (text, part) in [
            ("", "line 1"),
            ("machine 1\nunits 0\n", "empty"),
            ("machine 2\n", "line 1"),
            ("machine 1\nlevel core x\nunits 0\n", "line 2"),
            ("machine 1\nlevel core\nunits 0\n", "line 2"),
            ("machine 1\nlevel core 1\nunits 0,\n", "line 3"),
            ("machine 1\nlevel core 1\nrubbish\n", "line 3"),
            (
                "machine 1\nlevel core 2\nunits 0\n",
                "1 lists of processing units",
            ),
            (
                "machine 1\nlevel socket 2\nlevel core 1\nunits 0\n",
                "1 child counts for 2",
            ),
            (
                "machine 1\nlevel core 2\nunits 0 0\n",
                "unit 0 belongs to leaf 0 and to leaf 1",
            ),
            ("machine 1\nhost a b\nlevel core 1\nunits 0\n", "\"a b\""),
            (
                "machine 1\nlevel core 1\nunits 0\ndevice disk sda 0\n",
                "line 4",
            ),
            (
                "machine 1\nlevel core 1\nunits 0\ndevice gpu card0 0-1\n",
                "device card0 is next to leaves 0 to 2, and the machine has 1",
            ),
        ] {
            let message = text.parse::<Machine>().unwrap_err().to_string();
            assert!(message.contains(part), "{text:?} gave {message:?}");
        }
    }
}
