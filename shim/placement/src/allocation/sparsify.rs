//! Sparsification of a dense matrix: keeps the entries that decide a placement, for use if time is
//! short.
//!
//! ```text
//!   traffic common to all pairs   costs the same in every placement: subtracted
//!   a rank's heaviest partners    kept
//!   its other partners            left out
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use treepie_traffic::Matrix;

/// Mean number of neighbours above which a matrix is dense: the time of the searches grows with it.
const DENSE: usize = 32;
/// Number of partners that each rank of a dense matrix keeps, in addition to those that keep it.
const KEPT: usize = 8;

/// Returns the sparsified matrix; `None` if the matrix is already sparse. Either entry of a pair
/// holds the sum of both directions.
pub(super) fn sparsify(matrix: &Matrix) -> Option<Matrix> {
    let ranks = matrix.order();
    if matrix.non_zeros() <= ranks.saturating_mul(DENSE) {
        return None;
    }
    let received = Received::new(matrix);
    let background = background(matrix, &received);
    let mut kept = Vec::with_capacity(ranks * KEPT);
    for rank in 0..ranks {
        // The lightest kept entry is on top; of equal ones the last.
        let mut heaviest = BinaryHeap::with_capacity(KEPT + 1);
        for (partner, weight) in exchanged(matrix, &received, rank) {
            // Weights are not negative, and the bits of non-negative numbers order like the
            // numbers.
            let entry = (Reverse((weight - background).to_bits()), partner);
            let full = heaviest.len() == KEPT;
            if weight <= background || full && heaviest.peek().is_some_and(|top| entry >= *top) {
                continue;
            }
            if full {
                heaviest.pop();
            }
            heaviest.push(entry);
        }
        let entries = heaviest.into_iter().map(|(Reverse(weight), partner)| {
            let (first, second) = (rank.min(partner), rank.max(partner));
            (first, second, f64::from_bits(weight))
        });
        kept.extend(entries);
    }
    // A pair that both of its ranks keep occurs twice.
    kept.sort_unstable_by_key(|&(first, second, _)| (first, second));
    kept.dedup_by_key(|&mut (first, second, _)| (first, second));
    Matrix::from_entries(ranks, kept).ok()
}

/// A matrix by columns: the traffic that each rank receives, by sender.
struct Received {
    starts: Vec<usize>,
    entries: Vec<(u32, f64)>,
}

impl Received {
    fn new(matrix: &Matrix) -> Self {
        let mut starts = vec![0; matrix.order() + 1];
        for (_, to, _) in matrix.entries() {
            starts[to + 1] += 1;
        }
        for rank in 0..matrix.order() {
            starts[rank + 1] += starts[rank];
        }
        let mut next = starts.clone();
        let mut entries = vec![(0, 0.0); matrix.non_zeros()];
        for (from, to, value) in matrix.entries() {
            entries[next[to]] = (from as u32, value);
            next[to] += 1;
        }
        Received { starts, entries }
    }

    fn by(&self, rank: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let row = &self.entries[self.starts[rank]..self.starts[rank + 1]];
        row.iter().map(|&(from, value)| (from as usize, value))
    }
}

/// Partners of a rank in ascending order, with the sum of both directions.
fn exchanged<'a>(
    matrix: &'a Matrix,
    received: &'a Received,
    rank: usize,
) -> impl Iterator<Item = (usize, f64)> + 'a {
    let mut sent = matrix.row(rank).peekable();
    let mut received = received.by(rank).peekable();
    let both = std::iter::from_fn(move || match (sent.peek(), received.peek()) {
        (Some(&(to, there)), Some(&(from, back))) if to == from => {
            sent.next();
            received.next();
            Some((to, there + back))
        }
        (Some((to, _)), Some((from, _))) if to < from => sent.next(),
        (Some(_), None) => sent.next(),
        _ => received.next(),
    });
    both.filter(move |&(partner, _)| partner != rank)
}

/// Least traffic of any pair of ranks: 0 if one pair has none. If each rank has its own core, all
/// placements on these cores pay the same for it.
fn background(matrix: &Matrix, received: &Received) -> f64 {
    let ranks = matrix.order();
    let mut pairs = 0;
    let mut least = f64::INFINITY;
    for rank in 0..ranks {
        for (_, weight) in exchanged(matrix, received, rank) {
            pairs += 1;
            least = least.min(weight);
        }
    }
    if pairs == ranks * (ranks - 1) {
        least
    } else {
        0.0
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// A little traffic between all pairs, and more between neighbours.
    fn all_to_all(ranks: usize) -> Matrix {
        let pairs = (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to)));
        let entries = pairs.filter(|(from, to)| from != to).map(|(from, to)| {
            let next = (from + 1) % ranks == to;
            (from, to, if next { 50.0 } else { 2.0 })
        });
        Matrix::from_entries(ranks, entries).unwrap()
    }

    #[test]
    fn what_all_pairs_have_alike_is_taken_off() {
        let light = sparsify(&all_to_all(64)).unwrap();
        assert_eq!(light.non_zeros(), 64);
        assert_eq!(light.get(3, 4), 48.0);
        assert_eq!(light.get(0, 63), 48.0);
    }

    #[test]
    fn each_rank_keeps_its_heaviest_partners() {
        let ranks = 100;
        let pairs = (0..ranks).flat_map(|from| (from + 1..ranks).map(move |to| (from, to)));
        let entries = pairs.filter(|pair| *pair != (0, 1));
        // Far partners are light.
        let entries = entries.map(|(from, to)| (from, to, (200 - (to - from)) as f64));
        let light = sparsify(&Matrix::from_entries(ranks, entries).unwrap()).unwrap();
        let near = (1..=KEPT / 2).all(|step| light.get(50, 50 + step) == (200 - step) as f64);
        assert!(near);
        assert_eq!(light.get(40, 60), 0.0);
        assert!(light.non_zeros() <= ranks * KEPT);
    }

    #[test]
    fn a_sparse_matrix_is_left_as_it_is() {
        let ring = (0..64).map(|rank| (rank, (rank + 1) % 64, 1.0));
        assert_eq!(sparsify(&Matrix::from_entries(64, ring).unwrap()), None);
    }
}
