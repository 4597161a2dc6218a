//! Files of Treepie that hold a topology whose leaves are hosts.

use std::path::Path;

use treepie_base::FileError;

use super::lines;
use super::trees::of_tree;
use crate::file;
use crate::networks::site::Site;

/// True if a text is a file of Treepie of any kind except networks.
pub(super) fn recognize(text: &str) -> bool {
    lines::kind(text).is_some_and(|kind| kind != "network")
}

/// Reads a tree all of whose leaves are named hosts.
pub(super) fn read(path: &Path, text: &str, _name: Option<&str>) -> Result<Site, FileError> {
    let tree = file::from_text(path, text)?;
    if let Some(leaf) = tree.leaves().iter().position(|leaf| leaf.host.is_none()) {
        let problem = format!(
            "no host is named for leaf {leaf}; the leaves of a network are hosts, each written as \
             `- {{host: NAME, cores: {leaf}}}`"
        );
        return Err(FileError::field(path, "machines", problem));
    }
    of_tree(path, tree)
}
