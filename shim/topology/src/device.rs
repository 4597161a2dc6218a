//! Network interfaces and accelerators, which are nearer to some cores of a machine than to others.

use std::ops::Range;

use strum::{Display, IntoStaticStr, VariantArray};

use treepie_base::{Leaf, from_name};

/// Type of a device.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Display, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum DeviceKind {
    /// An interface of a high-performance network: InfiniBand, Omni-Path, Slingshot.
    Fabric,
    /// An interface of another network.
    Ethernet,
    /// A GPU or another accelerator.
    Gpu,
}

from_name!(DeviceKind, "kind of device");

impl DeviceKind {
    /// True if messages to other machines pass through devices of this type.
    pub fn is_network(self) -> bool {
        matches!(self, DeviceKind::Fabric | DeviceKind::Ethernet)
    }
}

/// A device by its name in the operating system, such as `mlx5_0`; other machines may have a device
/// of the same name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Device {
    /// Its type.
    pub kind: DeviceKind,
    /// Its name.
    pub name: String,
}

/// A device and the leaves of one machine that are next to it: those of the part of the machine to
/// which its bus is connected, or all if the firmware does not report it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalDevice {
    /// The device.
    pub device: Device,
    /// The leaves.
    pub leaves: Range<Leaf>,
}
