//! Networks given link by link, with lengths and capacities.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::error::{NetworkError, out_of_range, require_name};
use super::fabric::{Fabric, POSITION_LIMIT};

/// Maximum number of entries of the table of distances.
const TABLE_LIMIT: usize = 1 << 28;

/// Maximum length of a link and of a path.
const LENGTH_LIMIT: u32 = 60_000;

/// An undirected link between two vertices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// One vertex.
    pub one: usize,
    /// The other.
    pub other: usize,
    /// Its length; 1 by default.
    pub length: u32,
    /// Its capacity in one direction, in any unit common to all links.
    pub capacity: f64,
}

/// A graph. Its first vertices are the positions.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphNetwork {
    names: Vec<String>,
    positions: usize,
    access: u32,
    /// Start of every directed link; links of one vertex are adjacent.
    starts: Vec<usize>,
    from: Vec<u32>,
    to: Vec<u32>,
    lengths: Vec<u32>,
    capacities: Vec<f64>,
    /// Distance from every vertex to every position: `to_position[position * vertices + vertex]`.
    to_position: Vec<u16>,
}

impl GraphNetwork {
    /// Builds the graph of `edges` between named vertices. The first `positions` can have hosts: at
    /// the end of a separate link if `access` is 2; if it is 0, the position is the host. Parallel
    /// edges become one with the sum of their capacities and the least length.
    ///
    /// # Errors
    /// There is no position, an edge to a missing vertex, a length of 0, or a capacity that is not
    /// a positive number; positions are not connected; the table of distances is too large.
    pub fn new(
        names: Vec<String>,
        positions: usize,
        access: u32,
        edges: &[Edge],
    ) -> Result<Self, NetworkError> {
        let vertices = names.len();
        if positions == 0 || positions > vertices {
            return Err(NetworkError::Empty { what: "host" });
        }
        names
            .iter()
            .try_for_each(|name| require_name("switch", name))?;
        let fits = positions
            .checked_mul(vertices)
            .is_some_and(|n| n <= TABLE_LIMIT);
        if vertices > POSITION_LIMIT || !fits {
            return Err(NetworkError::TooLarge);
        }
        let mut links: Vec<(u32, u32, u32, f64)> = Vec::with_capacity(2 * edges.len());
        for edge in edges {
            for end in [edge.one, edge.other] {
                if end >= vertices {
                    let expected = format!("a number below {vertices}");
                    return Err(out_of_range("the end of a link", end, expected));
                }
            }
            let link = |from, to| format!("of the link between {} and {}", names[from], names[to]);
            if !(1..=LENGTH_LIMIT).contains(&edge.length) {
                let what = "length ".to_owned() + &link(edge.one, edge.other);
                return Err(out_of_range(
                    what,
                    edge.length,
                    format!("1 to {LENGTH_LIMIT}"),
                ));
            }
            if !(edge.capacity.is_finite() && edge.capacity > 0.0) {
                let what = "capacity ".to_owned() + &link(edge.one, edge.other);
                return Err(out_of_range(what, edge.capacity, "a positive number"));
            }
            if edge.one != edge.other {
                let (one, other) = (edge.one as u32, edge.other as u32);
                links.push((one, other, edge.length, edge.capacity));
                links.push((other, one, edge.length, edge.capacity));
            }
        }
        links.sort_by_key(|&(from, to, length, _)| (from, to, length));
        links.dedup_by(|next, first| {
            let same = (next.0, next.1) == (first.0, first.1);
            if same {
                first.3 += next.3;
            }
            same
        });
        let mut starts = vec![0; vertices + 1];
        for link in &links {
            starts[link.0 as usize + 1] += 1;
        }
        for vertex in 0..vertices {
            starts[vertex + 1] += starts[vertex];
        }
        let mut graph = GraphNetwork {
            from: links.iter().map(|link| link.0).collect(),
            to: links.iter().map(|link| link.1).collect(),
            lengths: links.iter().map(|link| link.2).collect(),
            capacities: links.iter().map(|link| link.3).collect(),
            to_position: Vec::new(),
            names,
            positions,
            access,
            starts,
        };
        graph.measure()?;
        Ok(graph)
    }

    /// Names of all vertices, positions first.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Computes the distances from all vertices to every position, by Dijkstra's algorithm.
    fn measure(&mut self) -> Result<(), NetworkError> {
        let vertices = self.names.len();
        let mut table = vec![u16::MAX; self.positions * vertices];
        let mut heap = BinaryHeap::new();
        for (position, row) in table.chunks_exact_mut(vertices).enumerate() {
            row[position] = 0;
            heap.push(Reverse((0_u32, position as u32)));
            while let Some(Reverse((distance, here))) = heap.pop() {
                if distance > u32::from(row[here as usize]) {
                    continue;
                }
                for link in self.starts[here as usize]..self.starts[here as usize + 1] {
                    let there = self.to[link] as usize;
                    let next = distance + self.lengths[link];
                    if next < u32::from(row[there]) {
                        row[there] = next as u16;
                        heap.push(Reverse((next, there as u32)));
                    }
                }
            }
            let unreached = row[..self.positions].iter().position(|&d| d == u16::MAX);
            if let Some(other) = unreached {
                return Err(NetworkError::Unconnected {
                    from: self.names[position].clone(),
                    to: self.names[other].clone(),
                });
            }
        }
        self.to_position = table;
        Ok(())
    }
}

impl Fabric for GraphNetwork {
    fn positions(&self) -> usize {
        self.positions
    }

    fn vertices(&self) -> usize {
        self.names.len()
    }

    fn distance(&self, a: usize, b: usize) -> u32 {
        u32::from(self.to_position[b * self.names.len() + a]) + self.access
    }

    fn access(&self) -> u32 {
        self.access
    }

    fn links(&self) -> usize {
        self.from.len()
    }

    fn ends(&self, link: usize) -> Option<(usize, usize)> {
        Some((self.from[link] as usize, self.to[link] as usize))
    }

    fn capacity(&self, link: usize) -> f64 {
        self.capacities[link]
    }

    fn length(&self, link: usize) -> u32 {
        self.lengths[link]
    }

    /// One tree for every destination, as in forwarding tables: of several next links on shortest
    /// paths, the number of the destination selects one.
    fn route(&self, a: usize, b: usize, each: &mut dyn FnMut(usize, f64)) {
        let vertices = self.names.len();
        let row = &self.to_position[b * vertices..(b + 1) * vertices];
        let mut here = a;
        while here != b {
            let links = self.starts[here]..self.starts[here + 1];
            let nearer = |&link: &usize| {
                let there = u32::from(row[self.to[link] as usize]);
                there + self.lengths[link] == u32::from(row[here])
            };
            let count = links.clone().filter(nearer).count();
            let Some(link) = links.clone().filter(nearer).nth(b % count.max(1)) else {
                return; // not connected, which `new` refuses
            };
            each(link, 1.0);
            here = self.to[link] as usize;
        }
    }

    fn vertex_name(&self, vertex: usize) -> String {
        self.names[vertex].clone()
    }

    fn cuts(&self) -> Vec<(String, Vec<u32>)> {
        let all = (0..self.vertices() as u32).collect();
        vec![("a switch".to_owned(), all)]
    }

    fn describe(&self) -> String {
        let (switches, links) = (self.vertices(), self.links() / 2);
        format!("graph of {switches} vertices and {links} links")
    }

    fn routing(&self) -> &'static str {
        "one shortest way for each destination"
    }
}
