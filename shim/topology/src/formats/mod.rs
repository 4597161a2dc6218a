//! Networks as sites describe them.
//!
//! ```text
//! own            YAML of treepie's: family, parameters, hosts
//! slurm          topology.conf and `scontrol show topology`: switches, blocks, rings, tori
//! slurm_yaml     topology.yaml
//! slurm_nodes    `scontrol show node`
//! cray           names of the nodes of a Cray XC, which say where they are
//! ibnetdiscover  InfiniBand fabrics
//! xml            SimGrid's platforms, GraphML
//! scotch         Scotch's target files
//! json           Flux's R and JGF, pbsnodes, nodes of Slurm, topograph
//! coordinates    a host and its coordinates a line, or coordinates in names
//! host_list      names such as tux[0-3]
//! locations      no file: what systems tell the ranks of a job
//! ```
//!
//! The form is told from the text, never from the name of a file.

mod coordinates;
mod cray;
mod host_list;
mod ibnetdiscover;
mod json;
mod locations;
mod own;
mod parts;
mod scotch;
mod slurm;
mod slurm_nodes;
mod slurm_yaml;
mod xml;

use std::path::Path;

pub use coordinates::from_names;
pub use host_list::{expand, expand_flux};
pub use locations::{HostLocation, by_cnames, by_coordinates};
pub use slurm::{from_text, is_of_slurm, read};

use crate::file;
use crate::networks::{Network, NetworkError, Site, TreeNetwork};
use treepie_base::{FileError, text};

/// Forms that a network can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Own,
    Topology,
    Slurm,
    SlurmYaml,
    SlurmNodes,
    Ibnetdiscover,
    Xml,
    Scotch,
    Json,
    Pbs,
    Cray,
    Coordinates,
}

impl Form {
    /// The form of a text; `None` where it looks like no network.
    fn of(text: &str) -> Option<Form> {
        let mut lines = text.lines().map(str::trim);
        let mut lines = lines
            .by_ref()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        let first = lines.next()?;
        let word = |line: &str, start: &str| {
            line.get(..start.len())
                .is_some_and(|begin| begin.eq_ignore_ascii_case(start))
        };
        if slurm::is_record(first) {
            return Some(Form::Slurm);
        }
        if word(first, "NodeName=") {
            return Some(Form::SlurmNodes);
        }
        let has = |start: &str| text.lines().any(|line| word(line.trim_start(), start));
        let header = text.lines().find_map(|line| line.strip_prefix("treepie:"));
        match header.map(str::trim) {
            Some("network") => return Some(Form::Own),
            Some(_) => return Some(Form::Topology),
            None => {}
        }
        if first.starts_with('<') {
            let network = text.contains("<platform") || text.contains("<graphml");
            return network.then_some(Form::Xml);
        }
        if first.starts_with(['{', '[']) {
            let keys = [
                "\"slurm\"",
                "\"nodelist\"",
                "\"instances\"",
                "\"graph\"",
                "\"resources_available\"",
                "\"topology\"",
            ];
            return keys
                .iter()
                .any(|key| text.contains(key))
                .then_some(Form::Json);
        }
        if ibnetdiscover::is_line(first) {
            return Some(Form::Ibnetdiscover);
        }
        if scotch::is_target(text) {
            return Some(Form::Scotch);
        }
        if has("resources_available.") {
            return Some(Form::Pbs);
        }
        if cray::is_list(text) {
            return Some(Form::Cray);
        }
        if coordinates::is_list(text) {
            return Some(Form::Coordinates);
        }
        if first.starts_with("- topology:") || first == "---" && has("- topology:") {
            return Some(Form::SlurmYaml);
        }
        None
    }
}

/// Whether a file can be read and holds a network of any form but a topology file of treepie.
pub fn is_network(path: &Path) -> bool {
    let form = text::read(path).ok().and_then(|text| Form::of(&text));
    form.is_some_and(|form| form != Form::Topology)
}

/// The network that a text names: a description such as `torus:8x8x8`, or a file, with the name of
/// one of its networks behind a colon.
///
/// # Errors
/// A description that is none; as [`read_site`].
pub fn named(text: &str) -> Result<Site, FileError> {
    if Site::is_described(text) {
        let described = Site::from_description(text);
        return described.map_err(|error| FileError::field(Path::new(text), "network", error));
    }
    let (path, name) = split(text);
    read_site(path, name)
}

/// A file, and the name of one of its networks.
pub fn split(text: &str) -> (&Path, Option<&str>) {
    match text.rsplit_once(':') {
        Some((file, name)) if !Path::new(text).exists() && Path::new(file).is_file() => {
            (Path::new(file), Some(name))
        }
        _ => (Path::new(text), None),
    }
}

/// Reads a network with its hosts. `name` chooses among several networks of a file.
///
/// # Errors
/// A file that cannot be read, or holds no network, or none of that name.
pub fn read_site(path: &Path, name: Option<&str>) -> Result<Site, FileError> {
    site_from_text(path, &text::read(path)?, name)
}

/// The network in the text of a file; `path` is for messages.
///
/// # Errors
/// As [`read_site`].
pub fn site_from_text(path: &Path, text: &str, name: Option<&str>) -> Result<Site, FileError> {
    let Some(form) = Form::of(text) else {
        return Err(FileError::field(
            path,
            "network",
            "this is no network that is known: expected a file of treepie, Slurm's topology.conf, \
             topology.yaml or what scontrol shows, ibnetdiscover's output, SimGrid's XML, GraphML, \
             a target of Scotch, Flux's R or JGF, pbsnodes' output, or hosts with coordinates or \
             names of a Cray XC",
        ));
    };
    match form {
        Form::Own => own::read(path, text),
        Form::Topology => {
            let tree = file::from_text(path, text)?;
            let tree = slurm::with_hosts(path, tree)?;
            of_tree(path, tree)
        }
        Form::Slurm => slurm::site(path, text, name),
        Form::SlurmYaml => slurm_yaml::read(path, text, name),
        Form::SlurmNodes => slurm_nodes::read(path, text, name),
        Form::Ibnetdiscover => ibnetdiscover::read(path, text),
        Form::Xml => xml::read(path, text, name),
        Form::Scotch => scotch::read(path, text),
        Form::Json => json::read(path, text, name),
        Form::Pbs => json::pbsnodes(path, text, name),
        Form::Cray => cray::read(path, text),
        Form::Coordinates => coordinates::read(path, text),
    }
}

/// A tree whose leaves are hosts as a network.
fn of_tree(path: &Path, tree: crate::Topology) -> Result<Site, FileError> {
    let hosts = parts::hosts_of(&tree);
    let network = in_network(path, TreeNetwork::new(tree))?;
    in_network(path, Site::new(Network::Tree(network), hosts))
}

/// Errors of networks with the name of the file.
fn in_network<T>(path: &Path, result: Result<T, NetworkError>) -> Result<T, FileError> {
    result.map_err(|error| FileError::field(path, "network", error))
}
