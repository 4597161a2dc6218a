//! Communication graph of the mapper: both directions together, in compressed rows.

use treepie_traffic::Matrix;

/// An undirected graph with weighted edges, each kept at both of its ends.
/// Neighbours ascend within a row; there are no loops.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    starts: Vec<usize>,
    neighbours: Vec<u32>,
    weights: Vec<f64>,
}

impl Graph {
    /// Builds the graph of a matrix. The weight of an edge is the mean of the two directions, as in
    /// [`crate::objective::dist_comm`], so that the cost of a placement is the sum over edges of
    /// weight times distance. The diagonal is left out. Vertices `order..vertices` have no edges:
    /// they represent empty slots.
    pub fn new(matrix: &Matrix, vertices: usize) -> Self {
        let order = matrix.order();
        let mut received = vec![0_usize; order + 1];
        for (_, to, _) in matrix.entries() {
            received[to + 1] += 1;
        }
        for rank in 0..order {
            received[rank + 1] += received[rank];
        }
        let mut next = received.clone();
        let mut senders = vec![(0_u32, 0.0); matrix.non_zeros()];
        for (from, to, value) in matrix.entries() {
            senders[next[to]] = (from as u32, value);
            next[to] += 1;
        }
        let mut graph = Graph::with_capacity(vertices, matrix.non_zeros());
        for rank in 0..order {
            let sent = matrix.row(rank).map(|(to, value)| (to as u32, value));
            let got = &senders[received[rank]..received[rank + 1]];
            graph.push_merged(rank as u32, sent, got);
        }
        graph.starts.resize(vertices + 1, graph.neighbours.len());
        graph
    }

    fn with_capacity(vertices: usize, entries: usize) -> Self {
        let mut starts = Vec::with_capacity(vertices + 1);
        starts.push(0);
        Graph {
            starts,
            neighbours: Vec::with_capacity(entries),
            weights: Vec::with_capacity(entries),
        }
    }

    /// Appends the row of `rank`, from two lists that ascend.
    fn push_merged(
        &mut self,
        rank: u32,
        sent: impl Iterator<Item = (u32, f64)>,
        received: &[(u32, f64)],
    ) {
        let mut received = received.iter().copied().peekable();
        for (partner, value) in sent {
            while let Some(other) = received.next_if(|other| other.0 < partner) {
                self.push(rank, other.0, other.1 / 2.0);
            }
            let back = received.next_if(|other| other.0 == partner);
            let back = back.map_or(0.0, |other| other.1);
            self.push(rank, partner, value / 2.0 + back / 2.0);
        }
        for (partner, value) in received {
            self.push(rank, partner, value / 2.0);
        }
        self.end_row();
    }

    fn push(&mut self, rank: u32, partner: u32, weight: f64) {
        if partner != rank && weight > 0.0 {
            self.neighbours.push(partner);
            self.weights.push(weight);
        }
    }

    fn end_row(&mut self) {
        self.starts.push(self.neighbours.len());
    }

    /// A graph from rows of neighbours and weights, which must mirror each other.
    pub fn from_rows(rows: impl Iterator<Item = Vec<(u32, f64)>>) -> Self {
        let mut graph = Graph::with_capacity(0, 0);
        for (vertex, row) in rows.enumerate() {
            for (neighbour, weight) in row {
                graph.push(vertex as u32, neighbour, weight);
            }
            graph.end_row();
        }
        graph
    }

    /// A graph without vertices.
    pub fn empty() -> Self {
        Graph::with_capacity(0, 0)
    }

    /// Number of vertices.
    pub fn order(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of edges, each counted at both ends.
    pub fn entries(&self) -> usize {
        self.neighbours.len()
    }

    /// Number of neighbours of a vertex.
    pub fn degree(&self, vertex: usize) -> usize {
        self.starts[vertex + 1] - self.starts[vertex]
    }

    /// Range of a vertex's row among all entries.
    pub fn range(&self, vertex: usize) -> std::ops::Range<usize> {
        self.starts[vertex]..self.starts[vertex + 1]
    }

    /// Neighbours of a vertex, ascending.
    pub fn neighbours(&self, vertex: usize) -> &[u32] {
        &self.neighbours[self.starts[vertex]..self.starts[vertex + 1]]
    }

    /// Weights of the edges to [`Graph::neighbours`].
    pub fn weights(&self, vertex: usize) -> &[f64] {
        &self.weights[self.starts[vertex]..self.starts[vertex + 1]]
    }

    /// Sum of the weights of a vertex's edges.
    pub(crate) fn strength(&self, vertex: usize) -> f64 {
        self.weights(vertex).iter().sum()
    }

    /// Mean weight of the edges; 0 without edges.
    pub(crate) fn mean_weight(&self) -> f64 {
        self.weights.iter().sum::<f64>() / self.entries().max(1) as f64
    }

    /// Neighbours of a vertex and the weights of the edges to them.
    pub fn row(&self, vertex: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let neighbours = self.neighbours(vertex).iter();
        neighbours
            .zip(self.weights(vertex))
            .map(|(&neighbour, &weight)| (neighbour as usize, weight))
    }

    /// Weight of the edge between two vertices; 0 if there is none.
    pub fn weight(&self, a: usize, b: usize) -> f64 {
        match self.neighbours(a).binary_search(&(b as u32)) {
            Ok(at) => self.weights(a)[at],
            Err(_) => 0.0,
        }
    }

    /// The graph of `members` among themselves, numbered in their order. `number` must have an
    /// entry for every vertex, all equal to [`Graph::OUTSIDE`]; they are restored.
    pub(crate) fn subgraph(&self, members: &[u32], number: &mut [u32]) -> Graph {
        for (new, &member) in members.iter().enumerate() {
            number[member as usize] = new as u32;
        }
        let ascending = members.is_sorted();
        let mut graph = Graph::with_capacity(members.len(), 0);
        let mut row: Vec<(u32, f64)> = Vec::new();
        for &member in members {
            row.clear();
            row.extend(self.row(member as usize).filter_map(|(neighbour, weight)| {
                let new = number[neighbour];
                (new != Graph::OUTSIDE).then_some((new, weight))
            }));
            if !ascending {
                row.sort_unstable_by_key(|entry| entry.0);
            }
            graph.neighbours.extend(row.iter().map(|entry| entry.0));
            graph.weights.extend(row.iter().map(|entry| entry.1));
            graph.end_row();
        }
        for &member in members {
            number[member as usize] = Graph::OUTSIDE;
        }
        graph
    }

    /// The number of a vertex that is not in a subgraph.
    pub const OUTSIDE: u32 = u32::MAX;
}
