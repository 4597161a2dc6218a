//! Sources of topologies.

use std::ffi::CStr;
use std::path::{Path, PathBuf};

use treepie_topology::Machine;

use crate::error::HwlocError;
use crate::library::{Loaded, Unloaded};
use crate::walk::Levels;
use crate::xml::XmlText;
use crate::{devices, synthetic, xml};

/// Source of a topology.
///
/// Levels get Treepie's names: `socket`, `die`, `numa` (a group of cores around memory), `group`,
/// `l5` to `l1`, `core`; `pu` if hwloc finds no cores. A level in which each vertex is the only
/// child of its parent is left out, and the upper one keeps its name: a socket with one third-level
/// cache is a `socket`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The machine on which this process runs. As in every program that uses hwloc, its variables
    /// `HWLOC_XMLFILE` and `HWLOC_SYNTHETIC` replace it.
    ThisMachine,
    /// A file written by `lstopo machine.xml`, of hwloc 1 or 2.
    Xml(PathBuf),
    /// A synthetic description, such as `"pack:2 core:4 pu:2"`; hwloc's manual defines the
    /// language.
    Synthetic(String),
}

impl Source {
    /// Reads the topology. Nothing is written to standard error, and the calling thread is not
    /// moved.
    ///
    /// # Errors
    /// The file is missing or is not hwloc XML, the description is invalid, or hwloc cannot read
    /// the machine: see [`HwlocError`].
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

    /// Reads the topology with its network interfaces and accelerators, which takes about twice as
    /// long: the tree is that of [`Source::read`], even if hwloc makes groups of cores for a bus.
    /// Drivers are not called, only the system's description of its buses is read.
    ///
    /// # Errors
    /// See [`Source::read`].
    pub fn read_with_devices(&self) -> Result<Machine, HwlocError> {
        let machine = self.read()?;
        let (loaded, _) = self.load(true)?;
        let devices = devices::of(&loaded, &machine);
        machine
            .with_devices(devices)
            .map_err(|error| self.unusable(error))
    }

    /// Loads the topology, and returns the name of the machine.
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

    /// Name of this source in messages.
    fn name(&self) -> String {
        match self {
            Source::ThisMachine => "this machine".to_owned(),
            Source::Xml(path) => path.display().to_string(),
            Source::Synthetic(description) => format!("synthetic topology {description:?}"),
        }
    }
}

/// Components of hwloc that are left out. `x86` only adds details that Treepie's trees do not have,
/// and moves the calling thread over all processing units to query each of them. The others query
/// drivers and displays for their devices, which takes long and leaves contexts behind; `pci` reads
/// names of devices, and the buses are known without it.
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

/// The name of the machine on which this process runs.
fn this_host() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    let name = name.trim();
    (!name.is_empty() && !name.contains(char::is_whitespace)).then(|| name.to_owned())
}
