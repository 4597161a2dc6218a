//! Distances between nodes, fast enough for the inner loop of a search.

use crate::target::nodes::NetworkNodes;
use treepie_topology::networks::{DIMENSION_LIMIT, Lattice, Network};

/// Largest number of nodes for which all distances are stored.
const TABLE_NODES: usize = 1200;

/// Largest number of positions with nodes for which their distances are stored.
const TABLE_POSITIONS: usize = 1 << 13;

/// Distance between nodes by their numbers.
pub trait Distance: Sync {
    /// The distance; 0 for a node and itself.
    fn between(&self, a: u32, b: u32) -> f32;
}

/// Representations of distances. A search is compiled for each.
pub enum Distances<'a> {
    /// Few nodes: all pairs.
    Table(Table),
    /// A torus or mesh: from coordinates.
    Coordinates(Coordinates),
    /// Few positions with many nodes.
    Positions(Positions),
    /// Any other network.
    Network(&'a NetworkNodes),
}

impl<'a> Distances<'a> {
    pub fn new(nodes: &'a NetworkNodes) -> Self {
        let count = nodes.count();
        if count <= TABLE_NODES
            && let Some(table) = Table::new(count, |a, b| nodes.distance(a, b))
        {
            return Distances::Table(table);
        }
        if let Network::Lattice(lattice) = nodes.network()
            && let Some(coordinates) = Coordinates::new(lattice, nodes)
        {
            return Distances::Coordinates(coordinates);
        }
        match Positions::new(nodes) {
            Some(positions) => Distances::Positions(positions),
            None => Distances::Network(nodes),
        }
    }
}

/// Distances of all pairs in bytes.
pub struct Table {
    count: usize,
    distance: Vec<u8>,
}

impl Table {
    /// `None` if a distance is above 255.
    fn new(count: usize, distance: impl Fn(usize, usize) -> u32) -> Option<Self> {
        let mut table = vec![0; count * count];
        for a in 0..count {
            for b in 0..a {
                let distance = u8::try_from(distance(a, b)).ok()?;
                table[a * count + b] = distance;
                table[b * count + a] = distance;
            }
        }
        Some(Table {
            count,
            distance: table,
        })
    }
}

impl Distance for Table {
    #[inline]
    fn between(&self, a: u32, b: u32) -> f32 {
        f32::from(self.distance[a as usize * self.count + b as usize])
    }
}

/// Coordinates of nodes, one vector for each.
pub struct Coordinates {
    at: Vec<[i16; DIMENSION_LIMIT]>,
    sizes: [i16; DIMENSION_LIMIT],
    lengths: [i16; DIMENSION_LIMIT],
}

impl Coordinates {
    fn new(lattice: &Lattice, nodes: &NetworkNodes) -> Option<Self> {
        let mut sizes = [i16::MAX; DIMENSION_LIMIT];
        let mut lengths = [0; DIMENSION_LIMIT];
        let mut longest = 0_usize;
        for (dimension, &size) in lattice.sizes().iter().enumerate() {
            if lattice.wraps()[dimension] {
                sizes[dimension] = i16::try_from(size).ok()?;
            }
            lengths[dimension] = i16::try_from(lattice.lengths()[dimension]).ok()?;
            longest += size * lattice.lengths()[dimension] as usize;
        }
        // Sums are computed in 16 bits.
        if longest > i16::MAX as usize {
            return None;
        }
        let at = |node| {
            lattice
                .coordinates(nodes.position(node))
                .map(|coordinate| coordinate as i16)
        };
        Some(Coordinates {
            at: (0..nodes.count()).map(at).collect(),
            sizes,
            lengths,
        })
    }
}

impl Distance for Coordinates {
    #[inline]
    fn between(&self, a: u32, b: u32) -> f32 {
        let (a, b) = (&self.at[a as usize], &self.at[b as usize]);
        let mut sum = 0;
        for dimension in 0..DIMENSION_LIMIT {
            let apart = (a[dimension] - b[dimension]).abs();
            sum += apart.min(self.sizes[dimension] - apart) * self.lengths[dimension];
        }
        f32::from(sum)
    }
}

/// Distances between positions, and the position of each node.
pub struct Positions {
    position_of: Vec<u32>,
    table: Table,
}

impl Positions {
    fn new(nodes: &NetworkNodes) -> Option<Self> {
        let mut used: Vec<usize> = (0..nodes.count())
            .map(|node| nodes.position(node))
            .collect();
        used.sort_unstable();
        used.dedup();
        if used.len() > TABLE_POSITIONS {
            return None;
        }
        let number = |node| used.partition_point(|&position| position < nodes.position(node));
        let network = nodes.network();
        let mut table = Table::new(used.len(), |a, b| network.distance(used[a], used[b]))?;
        for (at, &position) in used.iter().enumerate() {
            let same = network.distance(position, position);
            table.distance[at * used.len() + at] = u8::try_from(same).ok()?;
        }
        Some(Positions {
            position_of: (0..nodes.count()).map(|node| number(node) as u32).collect(),
            table,
        })
    }
}

impl Distance for Positions {
    #[inline]
    fn between(&self, a: u32, b: u32) -> f32 {
        if a == b {
            return 0.0;
        }
        let position = |node: u32| self.position_of[node as usize];
        self.table.between(position(a), position(b))
    }
}

impl Distance for NetworkNodes {
    #[inline]
    fn between(&self, a: u32, b: u32) -> f32 {
        self.distance(a as usize, b as usize) as f32
    }
}
