//! Where a topology is read from.

use std::ffi::CStr;
use std::path::{Path, PathBuf};

use treepie_topology::Machine;

use crate::error::HwlocError;
use crate::library::{Loaded, Unloaded};
use crate::walk::Levels;
use crate::xml::XmlText;
use crate::{devices, synthetic, xml};

/// Where a topology is read from.
///
/// Levels get Treepie's names: `socket`, `die`, `numa` (a group of cores around
/// memory), `group`, `l5` to `l1`, `core`; `pu` where hwloc finds no cores. A
/// level where each vertex is the only child of its parent is left out, and the
/// upper one keeps its name: a socket with one third-level cache is a `socket`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The machine that this process runs on. As in every program that uses
    /// hwloc, its variables `HWLOC_XMLFILE` and `HWLOC_SYNTHETIC` replace it.
    ThisMachine,
    /// A file as `lstopo machine.xml` writes it, of hwloc 1 or 2.
    Xml(PathBuf),
    /// A synthetic description, such as `"pack:2 core:4 pu:2"`; hwloc's manual
    /// has the whole language.
    Synthetic(String),
}

impl Source {
    /// Reads the topology. Nothing is written to standard error, and this
    /// thread runs where it ran before.
    ///
    /// # Errors
    /// A file that is missing or is not hwloc XML, a description that hwloc
    /// does not understand, a machine that it cannot read: see [`HwlocError`].
    pub fn read(&self) -> Result<Machine, HwlocError> {
        let (loaded, host) = self.load(false)?;
        let root = loaded
            .root()
            .ok_or_else(|| self.unusable("it has no machine"))?;
        let levels = Levels::below(root);
        Machine::from_levels(
            host,
            levels.names,
            &levels.children,
            levels.processing_units.into(),
        )
        .map_err(|error| self.unusable(error))
    }

    /// The same with its network interfaces and accelerators, which takes about as long again: the
    /// tree is that of [`Source::read`], whatever groups of cores hwloc makes for a bus. Drivers
    /// are not asked, only the system's description of its buses.
    ///
    /// # Errors
    /// As [`Source::read`].
    pub fn read_with_devices(&self) -> Result<Machine, HwlocError> {
        let machine = self.read()?;
        let (loaded, _) = self.load(true)?;
        let devices = devices::of(&loaded, &machine);
        machine
            .with_devices(devices)
            .map_err(|error| self.unusable(error))
    }

    /// What hwloc reads, and the name of the machine.
    fn load(&self, with_devices: bool) -> Result<(Loaded, Option<String>), HwlocError> {
        let unloaded = match with_devices {
            true => Unloaded::new()?.with_devices(),
            false => Unloaded::new()?,
        };
        match self {
            Source::ThisMachine => Ok((load_this_machine(unloaded)?, this_host())),
            Source::Xml(path) => load_xml(unloaded, path),
            Source::Synthetic(description) => Ok((load_synthetic(unloaded, description)?, None)),
        }
    }

    fn unusable(&self, reason: impl std::fmt::Display) -> HwlocError {
        HwlocError::Unusable {
            source_name: self.name(),
            reason: reason.to_string(),
        }
    }

    /// What messages call this source.
    fn name(&self) -> String {
        match self {
            Source::ThisMachine => "this machine".to_owned(),
            Source::Xml(path) => path.display().to_string(),
            Source::Synthetic(description) => format!("synthetic topology {description:?}"),
        }
    }
}

/// Components of hwloc that are left out. `x86` only adds details that no tree of ours keeps, and
/// moves the calling thread over all processing units to ask each of them. The others ask drivers
/// and displays for their devices, which takes long and leaves contexts behind; `pci` reads names
/// of devices, and the buses are known without it.
const LEFT_OUT: [&CStr; 8] = [
    c"x86",
    c"pci",
    c"opencl",
    c"gl",
    c"cuda",
    c"nvml",
    c"rsmi",
    c"levelzero",
];

fn load_this_machine(unloaded: Unloaded) -> Result<Loaded, HwlocError> {
    LEFT_OUT
        .iter()
        .fold(unloaded, |unloaded, name| unloaded.without_component(name))
        .load()
        .map_err(|_| HwlocError::ThisMachine {
            reason: std::io::Error::last_os_error().to_string(),
        })
}

fn load_xml(unloaded: Unloaded, path: &Path) -> Result<(Loaded, Option<String>), HwlocError> {
    let XmlText { text, host } = xml::read(path)?;
    let loaded = unloaded
        .load_xml(&text)
        .map_err(|_| HwlocError::RefusedXml {
            path: path.to_owned(),
        })?;
    Ok((loaded, host))
}

fn load_synthetic(unloaded: Unloaded, description: &str) -> Result<Loaded, HwlocError> {
    let text = synthetic::check(description)?;
    unloaded
        .load_synthetic(&text)
        .map_err(|_| synthetic::refusal(description, "hwloc does not understand it"))
}

/// The name of the machine that this process runs on.
fn this_host() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    let name = name.trim();
    (!name.is_empty() && !name.contains(char::is_whitespace)).then(|| name.to_owned())
}
