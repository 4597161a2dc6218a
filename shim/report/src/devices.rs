//! Network interfaces and accelerators of machines, and the cores next to each.

use serde::Serialize;
use treepie_base::{Leaf, Process, list};
use treepie_profile::{HostTopology, Profile};
use treepie_topology::{Device, DeviceKind, LocalDevice, Machine};

use super::table::Table;
use super::words::pluralize;

/// Maximum number of listed names; machines with virtual functions have hundreds.
const LISTED: usize = 6;

/// Hosts with the same devices.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HostDevices {
    /// Names of the hosts.
    pub hosts: Vec<String>,
    /// Their devices, grouped by type and adjacent cores.
    pub devices: Vec<DeviceGroup>,
}

/// Devices of one type that are next to the same cores.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DeviceGroup {
    /// `fabric`, `ethernet` or `gpu`.
    pub kind: String,
    /// Their names.
    pub names: Vec<String>,
    /// The cores next to them, as numbered by the operating system.
    pub cores: String,
    /// True if these are all cores of the machine.
    pub all_cores: bool,
    /// Processes of the job that are bound to these cores.
    pub processes: String,
}

impl HostDevices {
    /// The devices of the hosts of a profile; empty if none are known.
    pub fn of_profile(profile: &Profile) -> Vec<HostDevices> {
        let known = profile.topologies.iter();
        let described = known.filter_map(|known| HostDevices::of_hosts(known, profile));
        described.collect()
    }

    fn of_hosts(known: &HostTopology, profile: &Profile) -> Option<Self> {
        // The machine of a profile that was read is always valid; otherwise the report continues
        // without it.
        let machine = known.machine().ok()?;
        let here = profile
            .hosts
            .iter()
            .filter(|host| known.hosts.contains(&host.name));
        let bound: Vec<(Process, Vec<Leaf>)> = here
            .flat_map(|host| &host.processes)
            .filter_map(|&process| {
                let allowed = list::parse(profile.allowed_cores.get(process)?).ok()?;
                let leaves = allowed.iter().filter_map(|&unit| machine.leaf_of_pu(unit));
                Some((process, leaves.collect()))
            })
            .collect();
        let devices = groups(&machine, &bound);
        (!devices.is_empty()).then(|| HostDevices {
            hosts: known.hosts.clone(),
            devices,
        })
    }

    /// A line and a table.
    pub fn text(&self) -> String {
        format!(
            "network interfaces and GPUs of {}\n{}",
            self.title(),
            self.table().text()
        )
    }

    /// Short text of the hosts.
    pub fn title(&self) -> String {
        match &self.hosts[..] {
            [host] => host.clone(),
            [first, .., last] => {
                format!("{}, {first} to {last}", pluralize(self.hosts.len(), "host"))
            }
            [] => "this machine".to_owned(),
        }
    }

    /// One line for each group.
    pub fn table(&self) -> Table {
        let mut table = Table::new(["device", "kind", "next to cores", "processes bound there"]);
        for group in &self.devices {
            let more = group.names.len().saturating_sub(LISTED);
            let mut names = group.names[..group.names.len() - more].join(", ");
            if more > 0 {
                names += &format!(" and {more} more");
            }
            table.row([
                names,
                group.kind.clone(),
                if group.all_cores {
                    "all alike".to_owned()
                } else {
                    group.cores.clone()
                },
                if group.processes.is_empty() || group.all_cores {
                    "-".to_owned()
                } else {
                    group.processes.clone()
                },
            ]);
        }
        table
    }
}

/// The devices of a machine, with the processes bound to the cores next to them; each process has
/// the leaves that it may use.
fn groups(machine: &Machine, bound: &[(Process, Vec<Leaf>)]) -> Vec<DeviceGroup> {
    let mut together: Vec<(DeviceKind, std::ops::Range<Leaf>, Vec<String>)> = Vec::new();
    for LocalDevice { device, leaves } in machine.devices() {
        let Device { kind, name } = device;
        let same = together
            .iter_mut()
            .find(|(of, next_to, _)| of == kind && next_to == leaves);
        match same {
            Some((_, _, names)) => names.push(name.clone()),
            None => together.push((*kind, leaves.clone(), vec![name.clone()])),
        }
    }
    let group = |(kind, leaves, names): (DeviceKind, std::ops::Range<Leaf>, Vec<String>)| {
        let inside = |own: &Vec<Leaf>| !own.is_empty() && own.iter().all(|l| leaves.contains(l));
        let processes = bound.iter().filter(|(_, own)| inside(own));
        let processes: Vec<Process> = processes.map(|&(process, _)| process).collect();
        let units = &machine.processing_units()[leaves.clone()];
        let mut cores: Vec<usize> = units
            .iter()
            .filter_map(|units| units.first().copied())
            .collect();
        cores.sort_unstable();
        DeviceGroup {
            kind: kind.to_string(),
            names,
            cores: list::to_text(&cores),
            all_cores: units.len() == machine.topology().leaf_count(),
            processes: list::to_text(&processes),
        }
    };
    together.into_iter().map(group).collect()
}
