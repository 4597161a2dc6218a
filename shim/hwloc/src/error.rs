//! What can go wrong when a topology is read.

use std::path::PathBuf;

use thiserror::Error;

/// Reason why a topology could not be read. Each message names the file or the description, what
/// was expected, and what to do about it.
#[derive(Debug, Error)]
pub enum HwlocError {
    /// The file could not be opened or read.
    #[error("{}: cannot read this hwloc XML file ({source}): write one with `lstopo machine.xml` on the machine it describes", path.display())]
    Unreadable {
        /// The file that was requested.
        path: PathBuf,
        /// Message of the operating system.
        source: std::io::Error,
    },
    /// The file is something else than hwloc XML.
    #[error("{}: not an hwloc XML file ({reason}): expected an XML document with a <topology> element, as `lstopo machine.xml` writes it", path.display())]
    NotXml {
        /// The file that was requested.
        path: PathBuf,
        /// What was found instead.
        reason: String,
    },
    /// The file looks like hwloc XML, and hwloc does not accept it.
    #[error("{}: hwloc refuses this XML file: expected a whole document written by hwloc 1 or 2; write it again with `lstopo machine.xml` (with hwloc 3, `lstopo --export-xml-flags v2 machine.xml`)", path.display())]
    RefusedXml {
        /// The file that was requested.
        path: PathBuf,
    },
    /// The synthetic description is not one that hwloc understands.
    #[error(
        "synthetic topology {description:?}: {reason}: expected types with numbers of children from the machine down to the processing units, such as \"pack:2 core:4 pu:2\""
    )]
    BadSynthetic {
        /// The description as it was given.
        description: String,
        /// What is wrong with it.
        reason: String,
    },
    /// hwloc could not read the machine that this process runs on.
    #[error(
        "this machine's topology cannot be read by hwloc ({reason}): run `lstopo` to see what it finds, or give a topology file instead"
    )]
    ThisMachine {
        /// What hwloc or the operating system said.
        reason: String,
    },
    /// The library that was found at run time is of another major version.
    #[error(
        "libhwloc has interface version {version:#x}: expected 2.x (libhwloc.so.15); load that library instead"
    )]
    WrongLibrary {
        /// What `hwloc_get_api_version` returned.
        version: u32,
    },
    /// hwloc reads it, and it is no tree of cores.
    #[error(
        "{source_name}: no tree of cores can be made of this topology ({reason}): run `lstopo` to see what hwloc finds, or give another topology"
    )]
    Unusable {
        /// Where the topology was read from.
        source_name: String,
        /// What is wrong.
        reason: String,
    },
}
