//! Properties of machines in a topology file: hosts, physical numbers of cores, and devices next to
//! them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::device::Device;
use crate::tree::{ProcessingUnit, Topology};
use treepie_base::{Leaf, Slice, UnknownName, list};

/// The field in which an error occurred, and its message.
pub(super) type Wrong = (&'static str, String);

/// Adjacent cores of one machine.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Machine {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) host: Option<String>,
    /// Logical numbers in the whole tree.
    #[serde(with = "list")]
    pub(super) cores: Vec<Leaf>,
    /// Number of each core in the operating system, if known.
    #[serde(with = "list", default, skip_serializing_if = "Vec::is_empty")]
    pub(super) physical: Vec<usize>,
    /// Network interfaces and accelerators next to some of the cores.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    devices: Vec<DeviceText>,
}

/// `{kind: fabric, name: mlx5_0, cores: 0-7}`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DeviceText {
    kind: String,
    name: String,
    /// Logical numbers in the whole tree, like those of the machine.
    #[serde(with = "list")]
    cores: Vec<Leaf>,
}

impl Machine {
    pub(super) fn check_lengths(&self) -> Result<(), Wrong> {
        let (cores, physical) = (self.cores.len(), self.physical.len());
        if physical == 0 || physical == cores {
            return Ok(());
        }
        let problem = format!("{physical} physical numbers for {cores} cores; write one for each");
        Err(("machines", problem))
    }

    /// Adds the devices to the cores of the machine next to them; these are some of `leaves`.
    pub(super) fn put_devices(
        &self,
        leaves: &mut Slice<Leaf, ProcessingUnit>,
    ) -> Result<(), Wrong> {
        let own: BTreeSet<Leaf> = self.cores.iter().copied().collect();
        let mut beside: BTreeMap<Leaf, Vec<Device>> = BTreeMap::new();
        for text in &self.devices {
            let kind = text.kind.parse();
            let kind = kind.map_err(|error: UnknownName| ("machines", error.to_string()))?;
            for &core in &text.cores {
                if !own.contains(&core) {
                    let problem = format!(
                        "device {} is next to core {core}, which is not in this machine; correct \
                         one of the two lists",
                        text.name
                    );
                    return Err(("machines", problem));
                }
                beside.entry(core).or_default().push(Device {
                    kind,
                    name: text.name.clone(),
                });
            }
        }
        for (core, devices) in beside {
            leaves[core].devices = Arc::from(devices);
        }
        Ok(())
    }

    /// Appends a core with the devices next to it.
    fn push(&mut self, core: Leaf, leaf: &ProcessingUnit) {
        self.cores.push(core);
        self.physical.extend(leaf.os_index);
        for device in leaf.devices.iter() {
            let kind = device.kind.to_string();
            let same = |text: &&mut DeviceText| text.name == device.name && text.kind == kind;
            match self.devices.iter_mut().find(same) {
                Some(text) => text.cores.push(core),
                None => self.devices.push(DeviceText {
                    kind,
                    name: device.name.clone(),
                    cores: vec![core],
                }),
            }
        }
    }
}

/// Runs of adjacent leaves of one host, without those that have no properties.
pub(super) fn machines_of(topology: &Topology) -> Vec<Machine> {
    let known = |leaf: &ProcessingUnit| {
        leaf.host.is_some() || leaf.os_index.is_some() || !leaf.devices.is_empty()
    };
    let alike = |one: &ProcessingUnit, other: &ProcessingUnit| {
        one.host == other.host && one.os_index.is_some() == other.os_index.is_some()
    };
    let mut machines: Vec<Machine> = Vec::new();
    let mut previous: Option<&ProcessingUnit> = None;
    for (core, leaf) in topology.leaves().iter_enumerated() {
        let joins = previous.is_some_and(|previous| alike(previous, leaf));
        previous = Some(leaf);
        if !known(leaf) {
            continue;
        }
        match machines.last_mut() {
            Some(machine) if joins => machine.push(core, leaf),
            _ => {
                let mut machine = Machine {
                    host: leaf.host.clone(),
                    cores: Vec::new(),
                    physical: Vec::new(),
                    devices: Vec::new(),
                };
                machine.push(core, leaf);
                machines.push(machine);
            }
        }
    }
    machines
}
