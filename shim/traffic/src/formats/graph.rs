//! Conversion between matrices and undirected graphs, shared by the formats of graph partitioners.
//!
//! The weight of an edge is the traffic of a pair in both directions. A reader assigns half of it
//! to each direction, so that a matrix that is written and read back equals its symmetrised form.

use treepie_base::FileError;

use super::lines::Line;
use crate::matrix::Matrix;

/// The arcs of a graph as listed in a file: each edge from both its ends.
pub(super) struct Arcs<'a> {
    order: usize,
    /// From, to, weight, and its line.
    arcs: Vec<(usize, usize, u64, Line<'a>)>,
}

impl<'a> Arcs<'a> {
    pub(super) fn new(order: usize) -> Self {
        let arcs = Vec::new();
        Arcs { order, arcs }
    }

    pub(super) fn len(&self) -> usize {
        self.arcs.len()
    }

    /// Adds an arc listed on `line`. Its ends must differ, and its weight must be positive.
    pub(super) fn add(
        &mut self,
        line: &Line<'a>,
        from: usize,
        to: usize,
        weight: u64,
    ) -> Result<(), FileError> {
        if from == to {
            return Err(line.error(
                "edges to other vertices",
                "an edge of a vertex to itself",
                "remove it: what a rank sends itself does not matter for placement",
            ));
        }
        if weight == 0 {
            return Err(line.error(
                "a positive weight",
                "`0`",
                "remove the edge, at both its ends",
            ));
        }
        let place = Line {
            text: String::new(),
            ..line.clone()
        };
        self.arcs.push((from, to, weight, place));
        Ok(())
    }

    /// Returns the matrix after checking that each edge is listed once from both ends with the same
    /// weight. `base` is the number of the first vertex in the file.
    pub(super) fn into_matrix(mut self, base: usize) -> Result<Matrix, FileError> {
        self.arcs.sort_by_key(|&(from, to, ..)| (from, to));
        for (index, (from, to, weight, line)) in self.arcs.iter().enumerate() {
            let edge = format!("edge from {} to {}", from + base, to + base);
            let next = self.arcs.get(index + 1);
            if next.is_some_and(|next| (next.0, next.1) == (*from, *to)) {
                let remedy = "add up the weights, and list the edge once from each end";
                return Err(line.error("each neighbour once", format!("the {edge} twice"), remedy));
            }
            let back = self
                .arcs
                .binary_search_by_key(&(*to, *from), |&(from, to, ..)| (from, to))
                .map(|at| self.arcs[at].2);
            if back != Ok(*weight) {
                return Err(line.error(
                    "each edge from both ends, with the same weight",
                    format!("the {edge} without its like"),
                    "list the edge at its other end too",
                ));
            }
        }
        let halves = self
            .arcs
            .iter()
            .map(|&(from, to, weight, _)| (from, to, weight as f64 / 2.0));
        Ok(Matrix::from_entries(self.order, halves)
            .expect("vertices are in range, and half a whole number is finite and not negative"))
    }
}

/// The neighbours of a vertex with the weights of the edges in the form that partitioners require:
/// whole numbers, at least 1.
pub(super) fn neighbours(
    symmetrised: &Matrix,
    vertex: usize,
) -> impl Iterator<Item = (usize, u64)> + '_ {
    symmetrised
        .row(vertex)
        .map(|(neighbour, value)| (neighbour, (value.round() as u64).max(1)))
}
