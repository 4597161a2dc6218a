//! Errors of reading a topology.

use std::path::PathBuf;

use thiserror::Error;

/// Reason why a topology could not be read. Each message names the file or the description, the
/// expected content, and a remedy.
#[derive(Debug, Error)]
pub enum HwlocError {
    /// The file could not be opened or read.
    #[error("{}: cannot read this hwloc XML file ({source}): write one with `lstopo machine.xml` on the machine it describes", path.display())]
    Unreadable {
        /// The requested file.
        path: PathBuf,
        /// Message of the operating system.
        source: std::io::Error,
    },
    /// The file is not hwloc XML.
    #[error("{}: not an hwloc XML file ({reason}): expected an XML document with a <topology> element, as `lstopo machine.xml` writes it", path.display())]
    NotXml {
        /// The requested file.
        path: PathBuf,
        /// Description of the actual content.
        reason: String,
    },
    /// The file looks like hwloc XML, but hwloc refuses it.
    #[error("{}: hwloc refuses this XML file: expected a whole document written by hwloc 1 or 2; write it again with `lstopo machine.xml` (with hwloc 3, `lstopo --export-xml-flags v2 machine.xml`)", path.display())]
    RefusedXml {
        /// The requested file.
        path: PathBuf,
    },
    /// The synthetic description is invalid.
    #[error(
        "synthetic topology {description:?}: {reason}: expected types with numbers of children from the machine down to the processing units, such as \"pack:2 core:4 pu:2\""
    )]
    BadSynthetic {
        /// The given description.
        description: String,
        /// Error in the description.
        reason: String,
    },
    /// hwloc could not read the machine on which this process runs.
    #[error(
        "this machine's topology cannot be read by hwloc ({reason}): run `lstopo` to see what it finds, or give a topology file instead"
    )]
    ThisMachine {
        /// Message of hwloc or the operating system.
        reason: String,
    },
    /// The library found at run time has another major version.
    #[error(
        "libhwloc has interface version {version:#x}: expected 2.x (libhwloc.so.15); load that library instead"
    )]
    WrongLibrary {
        /// Result of `hwloc_get_api_version`.
        version: u32,
    },
    /// hwloc reads the topology, but it is not a tree of cores.
    #[error(
        "{source_name}: no tree of cores can be made of this topology ({reason}): run `lstopo` to see what hwloc finds, or give another topology"
    )]
    Unusable {
        /// Source of the topology.
        source_name: String,
        /// Error in the topology.
        reason: String,
    },
}
