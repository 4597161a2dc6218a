//! A network of any family.

use super::dragonfly::Dragonfly;
use super::fabric::Fabric;
use super::fat_tree::FatTree;
use super::graph::GraphNetwork;
use super::hyperx::HyperX;
use super::lattice::Lattice;
use super::tree::TreeNetwork;

/// A network.
#[derive(Debug, Clone, PartialEq)]
pub enum Network {
    /// A tree of switches.
    Tree(TreeNetwork),
    /// A torus or a mesh.
    Lattice(Lattice),
    /// A dragonfly.
    Dragonfly(Dragonfly),
    /// A fat tree with several parents.
    FatTree(FatTree),
    /// A HyperX, or flattened butterfly.
    HyperX(HyperX),
    /// Any graph.
    Graph(GraphNetwork),
}

/// Calls a method of the family.
macro_rules! of_family {
    ($network:expr, $family:ident => $call:expr) => {
        match $network {
            Network::Tree($family) => $call,
            Network::Lattice($family) => $call,
            Network::Dragonfly($family) => $call,
            Network::FatTree($family) => $call,
            Network::HyperX($family) => $call,
            Network::Graph($family) => $call,
        }
    };
}

impl Network {
    /// Number of positions to which hosts can be connected.
    pub fn positions(&self) -> usize {
        of_family!(self, family => family.positions())
    }

    /// Number of vertices: positions first, then switches without hosts.
    pub fn vertices(&self) -> usize {
        of_family!(self, family => family.vertices())
    }

    /// Distance in links, or in lengths of links if these differ, between a host at `a` and another
    /// host at `b`; the hosts' own links are included. Two hosts may be at one position.
    ///
    /// # Panics
    /// Panics if there is no such position.
    pub fn distance(&self, a: usize, b: usize) -> u32 {
        of_family!(self, family => family.distance(a, b))
    }

    /// Part of every distance due to the hosts' own links to the network: 2, or 0 in a lattice
    /// whose nodes are the routers.
    pub fn access(&self) -> u32 {
        of_family!(self, family => family.access())
    }

    /// Upper bound of the numbers of directed links.
    pub fn links(&self) -> usize {
        of_family!(self, family => family.links())
    }

    /// Vertices at the start and end of a link; `None` for a number that does not denote a link.
    pub fn ends(&self, link: usize) -> Option<(usize, usize)> {
        of_family!(self, family => family.ends(link))
    }

    /// Capacity of a link in one direction: number of parallel cables, or any unit of a file.
    pub fn capacity(&self, link: usize) -> f64 {
        of_family!(self, family => family.capacity(link))
    }

    /// Length of a link; 1 by default.
    pub fn length(&self, link: usize) -> u32 {
        of_family!(self, family => family.length(link))
    }

    /// Calls `each` for every link on the path from `a` to `b` by the stated routing, with its
    /// share of the traffic.
    ///
    /// # Panics
    /// Panics if there is no such position.
    pub fn route(&self, a: usize, b: usize, each: &mut dyn FnMut(usize, f64)) {
        of_family!(self, family => family.route(a, b, each));
    }

    /// Name of a vertex: coordinates, or group and router.
    pub fn vertex_name(&self, vertex: usize) -> String {
        of_family!(self, family => family.vertex_name(vertex))
    }

    /// Name of a link: `(0,1,2) to (1,1,2)`.
    pub fn link_name(&self, link: usize) -> String {
        match self.ends(link) {
            Some((from, to)) => {
                format!("{} to {}", self.vertex_name(from), self.vertex_name(to))
            }
            None => format!("link {link}"),
        }
    }

    /// Short description of the network: `torus 8x8x8`.
    pub fn describe(&self) -> String {
        of_family!(self, family => family.describe())
    }

    /// Short description of the stated routing.
    pub fn routing(&self) -> &'static str {
        of_family!(self, family => family.routing())
    }

    /// True if real networks of this family select routes by load, so that their behaviour is
    /// between the stated routing and the lower bound.
    pub fn is_adaptive(&self) -> bool {
        matches!(
            self,
            Network::Dragonfly(_) | Network::HyperX(_) | Network::FatTree(_)
        )
    }

    /// Sets of vertices with few links between them, by name.
    pub(crate) fn cuts(&self) -> Vec<(String, Vec<u32>)> {
        of_family!(self, family => family.cuts())
    }

    /// All links: from, to, length and capacity.
    pub fn all_links(&self) -> impl Iterator<Item = (usize, usize, u32, f64)> + '_ {
        (0..self.links()).filter_map(|link| {
            let (from, to) = self.ends(link)?;
            Some((from, to, self.length(link), self.capacity(link)))
        })
    }
}
