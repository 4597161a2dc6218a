//! A network and the hosts on it.

use std::collections::HashMap;

use super::error::{NetworkError, out_of_range, require_name};
use super::fabric::POSITION_LIMIT;
use super::network::Network;

/// A host and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// Its position.
    pub position: usize,
}

/// A network with its hosts, from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Site {
    network: Network,
    hosts: Vec<Host>,
    /// Number of nodes at a position if hosts have no names.
    per_position: usize,
    /// Positions of nodes without names, if these are not all.
    listed: Vec<usize>,
}

impl Site {
    /// Creates a network with named hosts.
    ///
    /// # Errors
    /// There is no host, a host occurs twice, or a position does not exist.
    pub fn new(network: Network, hosts: Vec<Host>) -> Result<Self, NetworkError> {
        if hosts.is_empty() {
            return Err(NetworkError::Empty { what: "host" });
        }
        let mut seen = HashMap::new();
        for host in &hosts {
            require_name("host", &host.name)?;
            if seen.insert(host.name.as_str(), host.position).is_some() {
                let host = host.name.clone();
                return Err(NetworkError::HostTwice { host });
            }
            if host.position >= network.positions() {
                return Err(out_of_range(
                    format!("position of {}", host.name),
                    host.position,
                    format!("below {}", network.positions()),
                ));
            }
        }
        Ok(Site {
            network,
            hosts,
            per_position: 1,
            listed: Vec::new(),
        })
    }

    /// Creates a network whose hosts have no names: `per_position` nodes at every position.
    ///
    /// # Errors
    /// There is no node at a position, or there are too many nodes.
    pub fn unnamed(network: Network, per_position: usize) -> Result<Self, NetworkError> {
        let nodes = network.positions().checked_mul(per_position);
        if per_position == 0 || nodes.is_none_or(|nodes| nodes > POSITION_LIMIT) {
            let expected = "at least 1, and not too many for the network";
            return Err(out_of_range("nodes at a position", per_position, expected));
        }
        Ok(Site {
            network,
            hosts: Vec::new(),
            per_position,
            listed: Vec::new(),
        })
    }

    /// Creates a network with unnamed nodes at these positions only.
    ///
    /// # Errors
    /// There is no position, or one does not exist.
    pub fn listed(network: Network, positions: Vec<usize>) -> Result<Self, NetworkError> {
        if positions.is_empty() {
            return Err(NetworkError::Empty { what: "node" });
        }
        if let Some(position) = positions.iter().find(|&&p| p >= network.positions()) {
            let expected = format!("below {}", network.positions());
            return Err(out_of_range("a position", position, expected));
        }
        Ok(Site {
            network,
            hosts: Vec::new(),
            per_position: 1,
            listed: positions,
        })
    }

    /// The network.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The named hosts; empty if the description has no names.
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        match self.hosts.len() {
            0 if !self.listed.is_empty() => self.listed.len(),
            0 => self.network.positions() * self.per_position,
            named => named,
        }
    }

    /// Position of a node, in the order of the description.
    pub fn position(&self, node: usize) -> usize {
        match self.hosts.get(node) {
            Some(host) => host.position,
            None if !self.listed.is_empty() => self.listed[node],
            None => node / self.per_position,
        }
    }

    /// Positions of the hosts of a job by their names, or in order if the description has no names.
    ///
    /// # Errors
    /// A host is not in the network, or there are more hosts than nodes.
    pub fn positions_of(&self, names: &[&str]) -> Result<Vec<usize>, NetworkError> {
        if self.hosts.is_empty() {
            return self.first(names.len());
        }
        let known: HashMap<&str, usize> = self
            .hosts
            .iter()
            .map(|host| (host.name.as_str(), host.position))
            .collect();
        // Launchers and files differ in whether names have domains.
        let mut short: HashMap<&str, usize> = HashMap::new();
        for host in &self.hosts {
            let name = host.name.split('.').next().unwrap_or(&host.name);
            short.insert(name, host.position);
        }
        let find = |name: &str| {
            let bare = name.split('.').next().unwrap_or(name);
            known.get(name).or_else(|| short.get(bare)).copied()
        };
        let positions = names.iter().map(|name| {
            find(name).ok_or_else(|| NetworkError::NotInNetwork {
                host: (*name).to_owned(),
                known: self.some_hosts(),
            })
        });
        positions.collect()
    }

    /// Positions of the first `count` nodes.
    ///
    /// # Errors
    /// There are more than the network has.
    pub fn first(&self, count: usize) -> Result<Vec<usize>, NetworkError> {
        if count > self.nodes() {
            return Err(NetworkError::TooFewNodes {
                machines: count,
                nodes: self.nodes(),
            });
        }
        Ok((0..count).map(|node| self.position(node)).collect())
    }

    fn some_hosts(&self) -> String {
        const MOST: usize = 8;
        let names: Vec<&str> = self.hosts.iter().map(|host| host.name.as_str()).collect();
        let more = if names.len() > MOST { ", ..." } else { "" };
        names[..names.len().min(MOST)].join(", ") + more
    }
}
