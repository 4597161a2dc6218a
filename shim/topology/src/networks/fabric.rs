//! Properties common to all families of networks.

/// Maximum number of positions of a network.
pub(crate) const POSITION_LIMIT: usize = 1 << 22;

/// Operations of every family of networks. Links are directed and numbered from 0; some numbers do
/// not denote a link. Vertices are the positions, then switches that no host can be connected to.
pub(crate) trait Fabric {
    /// Number of positions.
    fn positions(&self) -> usize;
    /// Number of vertices, positions first.
    fn vertices(&self) -> usize {
        self.positions()
    }
    /// Number of links between a host at position `a` and another at `b`, including their own links
    /// to the network; if both positions are the same, that between two hosts at one position.
    fn distance(&self, a: usize, b: usize) -> u32;
    /// Length of the two links of hosts to the network, which no placement changes.
    fn access(&self) -> u32;
    /// Upper bound of the numbers of links.
    fn links(&self) -> usize;
    /// Vertices at the start and end of a link; `None` for a number that does not denote a link.
    fn ends(&self, link: usize) -> Option<(usize, usize)>;
    /// Number of parallel cables of a link, or its capacity in any unit.
    fn capacity(&self, link: usize) -> f64;
    /// Length of a link.
    fn length(&self, _link: usize) -> u32 {
        1
    }
    /// Calls `each` for every link on the path from `a` to `b`, with its share of the traffic.
    fn route(&self, a: usize, b: usize, each: &mut dyn FnMut(usize, f64));
    /// Readable name of a vertex.
    fn vertex_name(&self, vertex: usize) -> String;
    /// Sets of vertices with few links between them: for each a name and the part of every vertex.
    fn cuts(&self) -> Vec<(String, Vec<u32>)>;
    /// The network in a few words.
    fn describe(&self) -> String;
    /// The routing that [`Fabric::route`] follows, in a few words.
    fn routing(&self) -> &'static str;
}

/// Part of a vertex that is in none of the sets of a cut.
pub(crate) const OUTSIDE: u32 = u32::MAX;
