//! Where a topology is read from.

use std::path::{Path, PathBuf};

use treepie_core::topology::Machine;

use crate::error::HwlocError;
use crate::library::{Loaded, Unloaded};
use crate::walk::Levels;
use crate::xml::XmlText;
use crate::{synthetic, xml};

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
        let (loaded, host) = match self {
            Source::ThisMachine => (load_this_machine()?, this_host()),
            Source::Xml(path) => load_xml(path)?,
            Source::Synthetic(description) => (load_synthetic(description)?, None),
        };
        let unusable = |reason: String| HwlocError::Unusable {
            source_name: self.name(),
            reason,
        };
        let root = loaded
            .root()
            .ok_or_else(|| unusable("it has no machine".into()))?;
        let levels = Levels::below(root);
        Machine::from_levels(
            host,
            levels.names,
            &levels.children,
            levels.processing_units,
        )
        .map_err(|error| unusable(error.to_string()))
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

/// hwloc's x86 component only adds details that no tree of ours keeps, and it
/// moves the calling thread over all processing units to ask each of them.
fn load_this_machine() -> Result<Loaded, HwlocError> {
    Unloaded::new()?
        .without_component(c"x86")
        .load()
        .map_err(|_| HwlocError::ThisMachine {
            reason: std::io::Error::last_os_error().to_string(),
        })
}

fn load_xml(path: &Path) -> Result<(Loaded, Option<String>), HwlocError> {
    let XmlText { text, host } = xml::read(path)?;
    let loaded = Unloaded::new()?
        .load_xml(&text)
        .map_err(|_| HwlocError::RefusedXml {
            path: path.to_owned(),
        })?;
    Ok((loaded, host))
}

fn load_synthetic(description: &str) -> Result<Loaded, HwlocError> {
    let text = synthetic::check(description)?;
    Unloaded::new()?
        .load_synthetic(&text)
        .map_err(|_| synthetic::refusal(description, "hwloc does not understand it"))
}

/// The name of the machine that this process runs on.
fn this_host() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    let name = name.trim();
    (!name.is_empty() && !name.contains(char::is_whitespace)).then(|| name.to_owned())
}
