//! Conversion of hwloc's I/O objects to network interfaces and accelerators.
//!
//! ```text
//!   hwloc                                kept
//!   Package L#1
//!     HostBridge
//!       PCIBridge
//!         PCI 81:00.0 (InfiniBand)       fabric mlx5_0, next to the cores of this package
//!           Net "ib0"                      - the same card under another name
//!           OpenFabrics "mlx5_0"
//!         PCI 82:00.0 (VGA)              gpu card0
//!           GPU "card0"
//!     Block(Disk) "sda"                    - not used by messages
//! ```

use std::ops::Range;

use hwloc2::{ObjectType, TopologyObject};
use treepie_base::Leaf;
use treepie_topology::{Device, DeviceKind, LocalDevice, Machine};

use crate::library::{IoDepth, Loaded, attributes, name, type_of};
use crate::walk::{is, processing_units};

/// PCI vendors of the display controllers of service processors and of virtual machines (ASPEED,
/// Matrox, QEMU, virtio): no rank computes there.
const NO_ACCELERATORS: [&str; 4] = ["1a03", "102b", "1234", "1af4"];

/// PCI classes of displays and of processing accelerators.
const ACCELERATORS: [&str; 4] = ["0300", "0302", "0380", "1200"];

/// Prefixes of names that the system or OpenCL gives to any accelerator.
const GENERAL: [&str; 4] = ["card", "render", "controlD", "opencl"];

/// Names of interfaces of a fabric that hwloc classifies as networks.
const FABRICS: [&str; 5] = ["hsn", "cxi", "bxi", "hfi", "ib"];

/// The devices of `loaded` next to the leaves of `machine`, in hwloc's order. Cards without an
/// active port, and devices next to cores that may not be used, are left out.
pub(crate) fn of(loaded: &Loaded, machine: &Machine) -> Vec<LocalDevice> {
    let mut units: Vec<Unit> = loaded
        .devices(IoDepth::Pci)
        .into_iter()
        .map(Unit::new)
        .collect();
    for interface in loaded.devices(IoDepth::OperatingSystem) {
        let card = card(interface);
        match units
            .iter_mut()
            .find(|unit| std::ptr::eq(unit.object, card))
        {
            Some(unit) => unit.interfaces.push(interface),
            None => units.push(Unit {
                object: interface,
                interfaces: vec![interface],
            }),
        }
    }
    let local = units.iter().filter_map(|unit| {
        let leaves = leaves_beside(unit.object, machine)?;
        let device = unit.device()?;
        Some(LocalDevice { device, leaves })
    });
    local.collect()
}

/// A PCI device with its names in the system, or a device on no such bus.
struct Unit<'a> {
    object: &'a TopologyObject,
    interfaces: Vec<&'a TopologyObject>,
}

impl<'a> Unit<'a> {
    fn new(object: &'a TopologyObject) -> Self {
        Unit {
            object,
            interfaces: Vec::new(),
        }
    }

    /// The device by its type for ranks, under its first name of that type.
    fn device(&self) -> Option<Device> {
        let named: Vec<(String, String)> = self
            .interfaces
            .iter()
            .filter_map(|interface| Some((type_of(interface), name(interface)?)))
            .collect();
        let first = |is_it: &dyn Fn(&str, &str) -> bool| {
            let mut named = named.iter();
            let found = named.find(|(kind, name)| is_it(kind, name));
            found.map(|(_, name)| name.clone())
        };
        let device = |kind| move |name| Device { kind, name };
        if self.interfaces.iter().any(|interface| is_down(interface)) {
            return None;
        }
        let is_fabric = |name: &str| FABRICS.iter().any(|prefix| name.starts_with(prefix));
        first(&|kind, _| kind == "OpenFabrics")
            .or_else(|| first(&|kind, name| kind == "Net" && is_fabric(name)))
            .map(device(DeviceKind::Fabric))
            .or_else(|| first(&|kind, _| kind == "Net").map(device(DeviceKind::Ethernet)))
            .or_else(|| {
                let address = self.accelerator()?;
                // A name by its vendor takes precedence over those that every card has.
                let is_general = |name: &str| GENERAL.iter().any(|prefix| name.starts_with(prefix));
                let computes = |kind: &str| kind == "CoProc" || kind == "GPU";
                let named = first(&|kind, name| computes(kind) && !is_general(name));
                let named = named.or_else(|| first(&|kind, _| computes(kind)));
                Some(named.unwrap_or(address)).map(device(DeviceKind::Gpu))
            })
    }

    /// The bus address of an accelerator.
    fn accelerator(&self) -> Option<String> {
        if !is(self.object, ObjectType::PCIDevice) {
            return None;
        }
        let text = attributes(self.object);
        let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key));
        let class = value("class=")?;
        let maker = value("id=")?.split(':').next()?;
        let computes = ACCELERATORS.iter().any(|known| class.starts_with(known));
        let is_one = computes && !NO_ACCELERATORS.contains(&maker);
        value("busid=")
            .filter(|_| is_one)
            .map(|address| format!("pci-{address}"))
    }
}

/// The PCI device of an interface; the interface itself if there is none.
fn card(interface: &TopologyObject) -> &TopologyObject {
    let mut above = std::iter::successors(Some(interface), |object| object.parent());
    above
        .find(|object| is(object, ObjectType::PCIDevice))
        .unwrap_or(interface)
}

/// True if hwloc has the states of the ports, and none is active (4).
fn is_down(interface: &TopologyObject) -> bool {
    let text = attributes(interface);
    let mut states = text.lines().filter_map(|line| {
        let (key, state) = line.split_once('=')?;
        (key.starts_with("Port") && key.ends_with("State")).then_some(state)
    });
    let first = states.next();
    first.is_some_and(|first| first != "4" && states.all(|state| state != "4"))
}

/// The leaves below the part of the machine to which a device is connected.
fn leaves_beside(device: &TopologyObject, machine: &Machine) -> Option<Range<Leaf>> {
    let is_io = |object: &&TopologyObject| {
        let kinds = [
            ObjectType::Bridge,
            ObjectType::PCIDevice,
            ObjectType::OSDevice,
        ];
        kinds.into_iter().any(|kind| is(object, kind))
    };
    let mut above = std::iter::successors(Some(device), |object| object.parent());
    let part = above.find(|object| !is_io(object))?;
    let units = processing_units(part);
    let leaves = || units.iter().filter_map(|&unit| machine.leaf_of_pu(unit));
    Some(leaves().min()?..Leaf(leaves().max()?.0 + 1))
}
