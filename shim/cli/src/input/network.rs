//! Networks that are no trees, as users name them.

use std::path::Path;
use std::sync::Arc;

use treepie_core::files;
use treepie_core::placement::networks::NetworkNodes;
use treepie_core::topology::networks::{Network, Site};
use treepie_core::topology::{Leaf, Topology};

use crate::error::CommandError;

/// A description such as `torus:8x8x8`, or a file, with the name of one of its networks behind a
/// colon.
///
/// # Errors
/// Whatever is wrong with it.
pub fn read(text: &str) -> Result<Site, CommandError> {
    if Site::is_described(text) {
        return Ok(Site::from_description(text)?);
    }
    let (path, name) = split(text);
    Ok(files::network::read_site(path, name)?)
}

/// Whether `text` describes a network, or names a file that holds one.
pub fn is_one(text: &str) -> bool {
    Site::is_described(text) || files::network::is_network(split(text).0)
}

/// A file, and the name of one of its networks.
fn split(text: &str) -> (&Path, Option<&str>) {
    match text.rsplit_once(':') {
        Some((file, name)) if !Path::new(text).exists() && Path::new(file).is_file() => {
            (Path::new(file), Some(name))
        }
        _ => (Path::new(text), None),
    }
}

/// The tree of a network, if it is one: what [`Topology::networked`] takes.
pub fn tree(site: &Site) -> Option<&Topology> {
    match site.network() {
        Network::Tree(tree) => Some(tree.topology()),
        _ => None,
    }
}

/// A network that is the whole machine: `torus:8x8x8/2:4` has two sockets of four cores in every
/// node, and one core where nothing is said. The hosts of a file keep their names.
///
/// # Errors
/// Whatever is wrong with it.
pub fn whole(text: &str) -> Result<(Topology, NetworkNodes), CommandError> {
    let described = Site::is_described(text);
    let (network, cores) = match text.split_once('/') {
        Some((network, cores)) if described => (network, cores),
        _ => (text, "1"),
    };
    let wrong =
        |error: &dyn std::fmt::Display| CommandError::usage(format!("--topology {text}: {error}"));
    let site = match described {
        true => Site::from_description(network).map_err(|error| wrong(&error))?,
        false => read(network)?,
    };
    let machine = Topology::from_arities(cores).map_err(|error| wrong(&error))?;
    let mut arities = vec![site.nodes()];
    arities.extend(machine.arities().unwrap_or_default());
    let mut names = vec!["node".to_owned()];
    let below = ["core".to_owned(), "socket".to_owned(), "group".to_owned()];
    let below = (0..machine.depth()).map(|height| match below.get(height) {
        Some(name) => name.clone(),
        None => format!("level{height}"),
    });
    names.extend(below.collect::<Vec<_>>().into_iter().rev());
    let topology = Topology::from_arity_list(&arities, Some(&names)).map_err(|e| wrong(&e))?;
    let topology = named(topology, &site)?;
    let positions = site.first(site.nodes())?;
    let network = Arc::new(site.network().clone());
    let nodes = NetworkNodes::new(network, &topology, 1, &positions)?;
    Ok((topology, nodes))
}

/// The leaves with the names of the hosts, where there are some.
fn named(topology: Topology, site: &Site) -> Result<Topology, CommandError> {
    if site.hosts().is_empty() {
        return Ok(topology);
    }
    let leaves = topology
        .leaves()
        .iter()
        .enumerate()
        .map(|(leaf, known)| Leaf {
            host: Some(site.hosts()[topology.ancestor(leaf, 1)].name.clone()),
            ..known.clone()
        });
    let leaves = leaves.collect();
    Ok(topology.with_leaves(leaves)?)
}
