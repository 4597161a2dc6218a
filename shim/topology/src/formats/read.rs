//! Reads a network in any format. The format is recognized from the text, never from the name of a
//! file.

use std::path::Path;

use treepie_base::{FileError, budget, text};

use super::slurm::records;
use super::{
    coordinates, cray, ibnetdiscover, json, own, pbs, scotch, slurm_nodes, slurm_yaml,
    topology_file, xml,
};
use crate::networks::site::Site;

/// A format of networks.
struct Format {
    /// Its name, after the word "expected".
    name: &'static str,
    /// Returns true if a text has this format, unless it has one listed before.
    recognize: fn(&str) -> bool,
    /// Reads a network; a name selects one of several in a file, in formats that allow several.
    read: fn(&Path, &str, Option<&str>) -> Result<Site, FileError>,
}

/// All formats, in the order in which they are recognized.
static FORMATS: [Format; 12] = [
    Format {
        name: "Slurm's topology.conf, or the output of `scontrol show topology`",
        recognize: records::recognize,
        read: records::read,
    },
    Format {
        name: "the output of `scontrol show node`",
        recognize: slurm_nodes::recognize,
        read: slurm_nodes::read,
    },
    Format {
        name: "a network of treepie",
        recognize: own::recognize,
        read: own::read,
    },
    Format {
        name: "a topology of treepie",
        recognize: topology_file::recognize,
        read: topology_file::read,
    },
    Format {
        name: "SimGrid's XML or GraphML",
        recognize: xml::recognize,
        read: xml::read,
    },
    Format {
        name: "Flux's R or JGF, or JSON of pbsnodes, scontrol or topograph",
        recognize: json::recognize,
        read: json::read,
    },
    Format {
        name: "ibnetdiscover's output",
        recognize: ibnetdiscover::recognize,
        read: ibnetdiscover::read,
    },
    Format {
        name: "a target of Scotch",
        recognize: scotch::recognize,
        read: scotch::read,
    },
    Format {
        name: "the output of pbsnodes",
        recognize: pbs::recognize,
        read: pbs::read,
    },
    Format {
        name: "names of nodes of a Cray XC",
        recognize: cray::recognize,
        read: cray::read,
    },
    Format {
        name: "hosts with coordinates",
        recognize: coordinates::recognize,
        read: coordinates::read,
    },
    Format {
        name: "Slurm's topology.yaml",
        recognize: slurm_yaml::recognize,
        read: slurm_yaml::read,
    },
];

fn format_of(text: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| (format.recognize)(text))
}

/// True if a file can be read and holds a network in any format except a topology file of Treepie.
pub fn is_network(path: &Path) -> bool {
    let is_network = |text: String| format_of(&text).is_some() && !topology_file::recognize(&text);
    text::read(path).is_ok_and(is_network)
}

/// The network that a text names: a description such as `torus:8x8x8`, or a file, optionally
/// followed by a colon and the name of one of its networks.
///
/// # Errors
/// The description is invalid, or see [`read`].
pub fn named(text: &str) -> Result<Site, FileError> {
    if Site::is_described(text) {
        let described = Site::from_description(text);
        return described.map_err(|error| FileError::field(Path::new(text), "network", error));
    }
    let (path, name) = split(text);
    read(path, name)
}

/// Splits a text into a file and the name of one of its networks.
pub fn split(text: &str) -> (&Path, Option<&str>) {
    match text.rsplit_once(':') {
        Some((file, name)) if !Path::new(text).exists() && Path::new(file).is_file() => {
            (Path::new(file), Some(name))
        }
        _ => (Path::new(text), None),
    }
}

/// Reads a network with its hosts. `name` selects one of several networks in a file.
///
/// # Errors
/// The file cannot be read, or holds no network, or none with that name.
pub fn read(path: &Path, name: Option<&str>) -> Result<Site, FileError> {
    from_text(path, &text::read(path)?, name)
}

/// Parses a network from the text of a file; `path` is for messages.
///
/// # Errors
/// See [`read`].
pub fn from_text(path: &Path, text: &str, name: Option<&str>) -> Result<Site, FileError> {
    let format = format_of(text).ok_or_else(|| {
        let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        let problem = format!(
            "this is no network that is known: expected {}",
            names.join(", ")
        );
        FileError::field(path, "network", problem)
    })?;
    budget::within(text.len(), || (format.read)(path, text, name))
}
