//! Networks that are not trees, as named by users.

use std::sync::Arc;

use treepie_placement::NetworkNodes;
use treepie_topology::networks::{Network, Site};
use treepie_topology::{ProcessingUnit, Topology};

use crate::gain::machine_depth;
use treepie_launch::error::CommandError;

/// Reads a description such as `torus:8x8x8`, or a file, optionally followed by a colon and the
/// name of one of its networks.
///
/// # Errors
/// The description or file is wrong.
pub fn read(text: &str) -> Result<Site, CommandError> {
    if Site::is_described(text) {
        return Ok(Site::from_description(text)?);
    }
    Ok(treepie_topology::formats::named(text)?)
}

/// True if `text` describes a network, or names a file that holds one.
pub fn is_one(text: &str) -> bool {
    Site::is_described(text)
        || treepie_topology::formats::is_network(treepie_topology::formats::split(text).0)
}

/// The tree of a network, if it is one, as input of [`Topology::networked`].
pub fn tree(site: &Site) -> Option<&Topology> {
    match site.network() {
        Network::Tree(tree) => Some(tree.topology()),
        _ => None,
    }
}

/// Positions of the machines of a topology on a network; the topology does not change. Machines
/// have their own names, or those of the job's hosts; without either they are taken in order.
///
/// # Errors
/// A machine is not in the network, or the network is a tree, which is part of a topology.
pub fn beneath(
    site: &Site,
    topology: &Topology,
    for_job: &[&str],
    name: &str,
) -> Result<NetworkNodes, CommandError> {
    if tree(site).is_some() {
        return Err(CommandError::usage(format!(
            "{name}: is a tree of switches, which is part of a topology; give it to `treepie map \
             --network` and show the placement"
        )));
    }
    let depth = machine_depth(topology).unwrap_or(0);
    let count = topology.node_count(depth);
    let own = topology.hosts();
    let names = [own.as_slice(), for_job]
        .into_iter()
        .find(|names| names.len() == count);
    let positions = match names {
        Some(names) => site.positions_of(names)?,
        None => site.first(count)?,
    };
    let network = Arc::new(site.network().clone());
    Ok(NetworkNodes::new(network, topology, depth, &positions)?)
}

/// Builds the whole machine from a network: `torus:8x8x8/2:4` has two sockets of four cores in
/// every node; the default is one core. The hosts of a file keep their names.
///
/// # Errors
/// The description or file is wrong.
pub fn whole(text: &str) -> Result<(Topology, NetworkNodes), CommandError> {
    let described = Site::is_described(text);
    let (network, cores) = match text.split_once('/') {
        Some((network, cores)) if described => (network, cores),
        _ => (text, "1"),
    };
    let wrong =
        |error: &dyn std::fmt::Display| CommandError::usage(format!("--topology {text}: {error}"));
    let site = if described {
        Site::from_description(network).map_err(|error| wrong(&error))?
    } else {
        read(network)?
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

/// Names the leaves by the hosts, if there are any.
fn named(topology: Topology, site: &Site) -> Result<Topology, CommandError> {
    if site.hosts().is_empty() {
        return Ok(topology);
    }
    let leaves = topology
        .leaves()
        .iter_enumerated()
        .map(|(leaf, known)| ProcessingUnit {
            host: Some(site.hosts()[topology.ancestor(leaf, 1)].name.clone()),
            ..known.clone()
        });
    let leaves = leaves.collect();
    Ok(topology.with_leaves(leaves)?)
}
