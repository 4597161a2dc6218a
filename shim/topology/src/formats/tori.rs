//! Hosts at coordinates: rings, tori with cells, and other networks that have coordinates.

use std::collections::HashMap;
use std::path::Path;

use treepie_base::FileError;

use super::error::in_network;
use crate::networks::error::NetworkError;
use crate::networks::lattice::Lattice;
use crate::networks::network::Network;
use crate::networks::site::{Host, Site};

/// A torus or mesh of a file, with its hosts and their cells.
pub(super) struct Torus {
    /// Its name.
    pub name: String,
    /// Sizes.
    pub sizes: Vec<usize>,
    /// True for dimensions that close.
    pub wraps: Vec<bool>,
    /// Hosts and their coordinates.
    pub hosts: Vec<(String, Vec<usize>)>,
}

impl Torus {
    /// Builds a torus whose cells take `hosts` in order, the first coordinate fastest.
    ///
    /// # Errors
    /// There are more hosts than cells.
    pub(super) fn in_order(
        name: &str,
        sizes: &[usize],
        hosts: Vec<String>,
    ) -> Result<Self, String> {
        let cells = sizes
            .iter()
            .try_fold(1_usize, |all, &size| all.checked_mul(size));
        if cells.is_none_or(|cells| hosts.len() > cells) {
            let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
            return Err(format!(
                "{name} has {} hosts for the cells of {}; correct its sizes or its hosts",
                hosts.len(),
                sizes.join("x")
            ));
        }
        let at = |cell: usize| -> Vec<usize> {
            let mut rest = cell;
            let digit = |&size: &usize| {
                let at = rest % size;
                rest /= size;
                at
            };
            sizes.iter().map(digit).collect()
        };
        let hosts = hosts.into_iter().enumerate();
        Ok(Torus {
            name: name.to_owned(),
            sizes: sizes.to_vec(),
            wraps: vec![true; sizes.len()],
            hosts: hosts.map(|(cell, host)| (host, at(cell))).collect(),
        })
    }

    /// The smallest lattice with all these coordinates: a part of a torus looks like a mesh, and
    /// only full dimensions are certain to close.
    pub(super) fn smallest(name: &str, hosts: Vec<(String, Vec<usize>)>) -> Self {
        let dimensions = hosts.first().map_or(0, |(_, at)| at.len());
        let largest = |dimension: usize| hosts.iter().map(|(_, at)| at[dimension]).max();
        let sizes: Vec<usize> = (0..dimensions)
            .map(|dimension| largest(dimension).unwrap_or(0).saturating_add(1))
            .collect();
        let full = sizes
            .iter()
            .try_fold(1_usize, |all, &size| all.checked_mul(size));
        Torus {
            name: name.to_owned(),
            wraps: vec![full == Some(hosts.len()); dimensions],
            sizes,
            hosts,
        }
    }
}

/// Builds the network of one torus; several equal tori are joined by an additional dimension, whose
/// steps are longer than any path inside. `name` selects one of them.
///
/// # Errors
/// There is no torus or none with that name, several tori differ, or [`Lattice::new`] fails.
pub(super) fn of_tori(
    path: &Path,
    tori: Vec<Torus>,
    name: Option<&str>,
) -> Result<Site, FileError> {
    let names: Vec<String> = tori.iter().map(|torus| torus.name.clone()).collect();
    let all = tori.len();
    let chosen: Vec<Torus> = tori
        .into_iter()
        .filter(|torus| name.is_none_or(|name| name == torus.name))
        .collect();
    let (Some(first), false) = (chosen.first(), all == 0) else {
        let name = name.unwrap_or_default();
        let problem = format!("has no {name}; there are {}", names.join(", "));
        return Err(FileError::field(path, "network", problem));
    };
    let alike = |torus: &Torus| torus.sizes == first.sizes && torus.wraps == first.wraps;
    if !chosen.iter().all(alike) {
        let problem = format!(
            "{} are of different sizes, and nothing is known of the way between them; name one of \
             them behind a colon, as in {}:{}",
            names.join(", "),
            path.display(),
            first.name
        );
        return Err(FileError::field(path, "network", problem));
    }
    let (mut sizes, mut wraps) = (first.sizes.clone(), first.wraps.clone());
    let mut lengths = vec![1; sizes.len()];
    if chosen.len() > 1 {
        let longest: usize = sizes.iter().sum();
        sizes.push(chosen.len());
        wraps.push(false);
        lengths.push(longest.min(1000) as u32);
    }
    let lattice = in_network(path, Lattice::new(&sizes, &wraps))?;
    let lattice = in_network(path, lattice.with_lengths(&lengths))?;
    let mut hosts = Vec::new();
    let mut taken: HashMap<usize, String> = HashMap::new();
    for (number, torus) in chosen.iter().enumerate() {
        for (name, at) in &torus.hosts {
            let mut at = at.clone();
            if chosen.len() > 1 {
                at.push(number);
            }
            let position = lattice.position(&at).ok_or_else(|| {
                let problem = format!(
                    "{name} is at {at:?}, outside the sizes {sizes:?}; correct one of the two"
                );
                FileError::field(path, "hosts", problem)
            })?;
            if let Some(other) = taken.insert(position, name.clone()) {
                let problem = format!("{other} and {name} are both at {at:?}; correct one of them");
                return Err(FileError::field(path, "hosts", problem));
            }
            hosts.push(Host {
                name: name.clone(),
                position,
            });
        }
    }
    in_network(path, Site::new(Network::Lattice(lattice), hosts))
}

/// Places hosts at coordinates of a network that has coordinates.
pub(super) fn placed(site: &Site, hosts: Vec<(String, Vec<usize>)>) -> Result<Site, NetworkError> {
    let network = site.network().clone();
    let at = |at: &[usize]| match &network {
        Network::Lattice(lattice) => lattice.position(at),
        Network::HyperX(hyperx) => hyperx.position(at),
        Network::Dragonfly(dragonfly) => match *at {
            [group, router] if group < dragonfly.groups() && router < dragonfly.routers() => {
                Some(group * dragonfly.routers() + router)
            }
            _ => None,
        },
        other => at
            .first()
            .copied()
            .filter(|&p| at.len() == 1 && p < other.positions()),
    };
    let hosts = hosts.into_iter().map(|(name, coordinates)| {
        let position = at(&coordinates).ok_or_else(|| NetworkError::OutOfRange {
            what: format!("the place of {name}"),
            found: format!("{coordinates:?}"),
            expected: format!("coordinates on the {}", network.describe()),
        })?;
        Ok(Host { name, position })
    });
    let hosts = hosts.collect::<Result<Vec<_>, NetworkError>>()?;
    Site::new(network, hosts)
}

/// Shifts coordinates so that they begin at 0 in each dimension.
pub(super) fn count_from_least(hosts: &mut [(String, Vec<usize>)]) {
    let dimensions = hosts.first().map_or(0, |(_, at)| at.len());
    for dimension in 0..dimensions {
        let least = hosts.iter().map(|(_, at)| at[dimension]).min().unwrap_or(0);
        hosts.iter_mut().for_each(|(_, at)| at[dimension] -= least);
    }
}
