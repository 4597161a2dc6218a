//! Nodes of PBS with resources, some of which form placement sets: the output of `pbsnodes -av`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use treepie_base::FileError;

use super::lines;
use super::slurm::switches::Switches;
use crate::networks::site::Site;

/// True if a text has resources of nodes.
pub(super) fn recognize(text: &str) -> bool {
    lines::any_begins(text, "resources_available.")
}

/// Reads names of nodes, and indented lines `resources_available.switch = s1`.
pub(super) fn read(path: &Path, text: &str, keys: Option<&str>) -> Result<Site, FileError> {
    let mut nodes: Vec<(String, BTreeMap<String, String>)> = Vec::new();
    for line in text.lines() {
        if line.trim().is_empty() {
            continue;
        }
        if !line.starts_with(char::is_whitespace) {
            nodes.push((line.trim().to_owned(), BTreeMap::new()));
        } else if let (Some((key, value)), Some(node)) = (line.split_once('='), nodes.last_mut())
            && let Some(key) = key.trim().strip_prefix("resources_available.")
        {
            node.1.insert(key.to_owned(), value.trim().to_owned());
        }
    }
    placement_sets(path, nodes, keys)
}

/// The network of vnodes with resources; those in `keys` (separated by commas, the smallest sets
/// first) form sets.
pub(super) fn placement_sets(
    path: &Path,
    nodes: Vec<(String, BTreeMap<String, String>)>,
    keys: Option<&str>,
) -> Result<Site, FileError> {
    let wrong = |problem: String| FileError::field(path, "resources_available", problem);
    let Some(keys) = keys else {
        let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (key, value) in nodes.iter().flat_map(|(_, values)| values) {
            values.entry(key).or_default().insert(value);
        }
        let sets = values
            .iter()
            .filter(|(_, values)| values.len() > 1 && values.len() < nodes.len());
        let sets: Vec<&str> = sets.map(|(key, _)| *key).collect();
        return Err(wrong(format!(
            "name the resources that make placement sets behind a colon, the smallest sets first, \
             as in {}:switch,cabinet; there are {}",
            path.display(),
            if sets.is_empty() {
                "none".to_owned()
            } else {
                sets.join(", ")
            }
        )));
    };
    let hosts = nodes.into_iter().map(|(node, values)| {
        let layers = keys.split(',').map(|key| {
            let value = values.get(key.trim());
            let value = value.ok_or_else(|| wrong(format!("{node} has no {key}")))?;
            if value.contains(',') {
                let problem =
                    format!("{node} is in several sets of {key} ({value}), which is no tree");
                return Err(wrong(problem));
            }
            Ok(format!("{key}={value}"))
        });
        Ok((node.clone(), layers.collect::<Result<Vec<_>, FileError>>()?))
    });
    Switches::of_layers(
        path,
        "resources_available",
        hosts.collect::<Result<Vec<_>, FileError>>()?,
    )
}
