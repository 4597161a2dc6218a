//! Remapping of a recorded placement's hosts to others on a network that is not a tree: hosts that
//! were near each other stay near.

use crate::allocation::error::AllocationError;
use crate::allocation::job::{Allocation, OnNetwork};
use crate::allocation::remap::Part;
use crate::allocation::similar::similarity;
use crate::best_of_strategies::place;
use crate::constraints::request::Constraints;
use crate::effort::Effort;
use crate::error::PlacementError;
use crate::hardware::Hardware;
use crate::objective::network::hop_bytes;
use crate::options::Options;
use crate::strategy::Strategy;
use crate::target::nodes::NetworkNodes;
use treepie_base::{Leaf, List, Rank};
use treepie_topology::Topology;
use treepie_topology::networks::{Network, Site};
use treepie_traffic::Matrix;

/// Number of nearest hosts of each host whose distances are kept.
const NEAR: usize = 16;

/// Largest number of hosts for the usual effort.
const USUAL_UP_TO: usize = 512;

impl Allocation {
    /// Assigns a host to each part so that parts that were near each other are near now. It starts
    /// from an initial assignment and returns that if the parts are the job's own hosts or no
    /// distances are known. Also returns the ratio of the new distances to the recorded ones.
    pub(super) fn by_distances(
        &self,
        topology: &Topology,
        parts: &[&Part],
        first: Vec<usize>,
    ) -> Result<(Vec<usize>, Option<f64>), AllocationError> {
        let Some(OnNetwork { site, nodes }) = &self.network else {
            return Ok((first, None));
        };
        let is_own =
            |(part, &host): (&&Part, &usize)| part.name.as_ref() == Some(&self.hosts[host].name);
        if parts.len() < 2 || parts.iter().zip(&first).all(is_own) {
            return Ok((first, None));
        }
        let Some(then) = recorded_positions(site, parts) else {
            return Ok((first, None));
        };
        let near = nearness(site.network(), &then).map_err(PlacementError::from)?;
        let hosts = Topology::from_arities(&first.len().to_string())?;
        let current: List<Rank, Leaf> = Leaf::list(first);
        let options = Options {
            current: Some(&current),
            effort: match current.len() <= USUAL_UP_TO {
                true => Effort::Normal,
                false => Effort::Fast,
            },
            ..Options::default()
        };
        let constraints = self.similar_hosts(topology, parts);
        let options = Options {
            constraints: constraints.as_ref(),
            ..options
        };
        let row: Vec<usize> = (0..nodes.count())
            .map(|node| nodes.position(node))
            .collect();
        let network = std::sync::Arc::new(site.network().clone());
        let now = NetworkNodes::new(network.clone(), &hosts, 1, &row)?;
        let now = Hardware {
            topology: &hosts,
            network: Some(&now),
        };
        let found = place(Strategy::Best, &near, now, &options)?;
        let before = NetworkNodes::new(network, &hosts, 1, &then)?;
        let as_it_was = Leaf::list(0..then.len());
        let cost = hop_bytes(&near, &hosts, &before, &as_it_was);
        let stretch = (cost > 0.0).then(|| found.cost / cost);
        let hosts = found.placement.leaf_of_rank.into_iter().map(usize::from);
        Ok((hosts.collect(), stretch))
    }

    /// Hosts that each part may have; `None` if all are alike.
    fn similar_hosts(&self, topology: &Topology, parts: &[&Part]) -> Option<Constraints> {
        let hosts: Vec<_> = (0..self.hosts.len())
            .map(|host| self.similarity(host))
            .collect();
        if hosts.windows(2).all(|pair| pair[0] == pair[1]) {
            return None;
        }
        let mut constraints = Constraints::default();
        for (number, part) in parts.iter().enumerate() {
            let wanted = similarity(topology, part);
            let similar = (0..hosts.len()).filter(|&host| hosts[host] == wanted);
            let similar = similar.map(Leaf);
            constraints.allowed.insert(Rank(number), similar.collect());
        }
        Some(constraints)
    }
}

/// Positions of the hosts of the placement; `None` if one of them is not in the network.
fn recorded_positions(site: &Site, parts: &[&Part]) -> Option<Vec<usize>> {
    if site.hosts().is_empty() {
        return site.first(parts.len()).ok();
    }
    let names: Option<Vec<&str>> = parts.iter().map(|part| part.name.as_deref()).collect();
    site.positions_of(&names?).ok()
}

/// Affinities that grow with the proximity of two positions, for the nearest positions of each.
fn nearness(
    network: &Network,
    positions: &[usize],
) -> Result<Matrix, treepie_traffic::MatrixError> {
    let mut entries = Vec::new();
    let mut others: Vec<(u32, usize)> = Vec::with_capacity(positions.len());
    for (one, &from) in positions.iter().enumerate() {
        others.clear();
        let all = positions
            .iter()
            .enumerate()
            .filter(|&(other, _)| other != one);
        others.extend(all.map(|(other, &to)| (network.distance(from, to), other)));
        if others.len() > NEAR {
            others.select_nth_unstable(NEAR);
            others.truncate(NEAR);
        }
        for &(distance, other) in &others {
            let weight = 1.0 / f64::from(distance.max(1)).powi(2);
            entries.extend([(one, other, weight), (other, one, weight)]);
        }
    }
    Matrix::from_entries(positions.len(), entries)
}
