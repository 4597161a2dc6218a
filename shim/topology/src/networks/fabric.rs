//! Properties that all families of networks have in common.

/// A network has at most this many positions.
pub(crate) const POSITION_LIMIT: usize = 1 << 22;

/// Queries that every family of networks can answer. Links are directed and numbered from 0; some
/// numbers stand for no link. Vertices are the positions, then switches on which no host can hang.
pub(crate) trait Fabric {
    /// Number of positions.
    fn positions(&self) -> usize;
    /// Number of vertices, positions first.
    fn vertices(&self) -> usize {
        self.positions()
    }
    /// Links between a host at position `a` and another at `b`, their own links to the network
    /// included; the way between two hosts at one position if these are the same.
    fn distance(&self, a: usize, b: usize) -> u32;
    /// Length of the two links of hosts to the network, which no placement changes.
    fn access(&self) -> u32;
    /// Upper bound of the numbers of links.
    fn links(&self) -> usize;
    /// Vertices that a link leads from and to; `None` for a number that stands for no link.
    fn ends(&self, link: usize) -> Option<(usize, usize)>;
    /// Parallel cables of a link, or its capacity in any unit.
    fn capacity(&self, link: usize) -> f64;
    /// Length of a link.
    fn length(&self, _link: usize) -> u32 {
        1
    }
    /// Calls `each` for every link on the way from `a` to `b`, with the share of the traffic that
    /// goes over it.
    fn route(&self, a: usize, b: usize, each: &mut dyn FnMut(usize, f64));
    /// Name of a vertex for people.
    fn vertex_name(&self, vertex: usize) -> String;
    /// Sets of vertices between which links are few: for each a name and the part of every vertex.
    fn cuts(&self) -> Vec<(String, Vec<u32>)>;
    /// The network in a few words.
    fn describe(&self) -> String;
    /// The routing that [`Fabric::route`] follows, in a few words.
    fn routing(&self) -> &'static str;
}

/// Part of a vertex that is in none of the sets of a cut.
pub(crate) const OUTSIDE: u32 = u32::MAX;
