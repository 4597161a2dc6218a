//! Networks that are trees.

use std::path::Path;

use treepie_base::FileError;

use super::error::in_network;
use crate::networks::network::Network;
use crate::networks::site::{Host, Site};
use crate::networks::tree::TreeNetwork;
use crate::tree::Topology;

/// Converts a tree whose leaves are hosts to a network.
pub(super) fn of_tree(path: &Path, tree: Topology) -> Result<Site, FileError> {
    let hosts = hosts_of(&tree);
    let network = in_network(path, TreeNetwork::new(tree))?;
    in_network(path, Site::new(Network::Tree(network), hosts))
}

/// The hosts of a tree and their leaves.
pub(super) fn hosts_of(tree: &Topology) -> Vec<Host> {
    let leaves = tree.leaves().iter().enumerate();
    let named = leaves.filter_map(|(position, leaf)| {
        Some(Host {
            name: leaf.host.clone()?,
            position,
        })
    });
    named.collect()
}
