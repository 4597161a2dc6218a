//! Measures of a matrix: symmetry, balance, similarity to another. The diagonal, messages of ranks
//! to themselves, never counts.

use crate::matrix::Matrix;

/// Share of the traffic that is matched in the other direction: the sum of `min(m(i,j), m(j,i))`
/// over all ordered pairs, divided by all traffic. 1 for a symmetric matrix and one without
/// traffic, 0 if none is matched.
pub fn symmetry(matrix: &Matrix) -> f64 {
    let answered = |(from, to, sent): (usize, usize, f64)| sent.min(matrix.get(to, from));
    let total: f64 = between(matrix).map(|(.., sent)| sent).sum();
    if total > 0.0 {
        between(matrix).map(answered).sum::<f64>() / total
    } else {
        1.0
    }
}

/// Ratio of the traffic of the busiest rank, sent and received, to the mean of all ranks, with that
/// rank (the first of equal ones): 1 if all ranks have the same traffic. `None` without traffic.
pub fn imbalance(matrix: &Matrix) -> Option<(usize, f64)> {
    let mut of_rank = vec![0.0; matrix.order()];
    for (from, to, sent) in between(matrix) {
        of_rank[from] += sent;
        of_rank[to] += sent;
    }
    let mean = of_rank.iter().sum::<f64>() / of_rank.len() as f64;
    let mut busiest = 0;
    for (rank, traffic) in of_rank.iter().enumerate() {
        if *traffic > of_rank[busiest] {
            busiest = rank;
        }
    }
    (mean > 0.0).then(|| (busiest, of_rank[busiest] / mean))
}

/// Similarity of the patterns of two matrices, from 0 (no pair communicates in both) to 1 (equal
/// except for a factor): the cosine of the angle between them, as vectors of the traffic of each
/// pair in both directions, on which a placement depends. `None` if one of them has no traffic, or
/// their orders differ.
pub fn likeness(one: &Matrix, other: &Matrix) -> Option<f64> {
    if one.order() != other.order() {
        return None;
    }
    let (one, other) = (one.symmetrised(), other.symmetrised());
    // Scaled first: squares of large counts would lose small ones.
    let largest = |matrix: &Matrix| matrix.entries().map(|entry| entry.2).fold(0.0, f64::max);
    let (first, second) = (largest(&one), largest(&other));
    if first == 0.0 || second == 0.0 {
        return None;
    }
    let length = |matrix: &Matrix, largest: f64| {
        let squares = matrix.entries().map(|entry| (entry.2 / largest).powi(2));
        squares.sum::<f64>().sqrt()
    };
    let product: f64 = one
        .entries()
        .map(|(row, column, value)| value / first * (other.get(row, column) / second))
        .sum();
    let cosine = product / (length(&one, first) * length(&other, second));
    Some(cosine.clamp(0.0, 1.0))
}

/// Entries of pairs of different ranks.
fn between(matrix: &Matrix) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
    matrix.entries().filter(|(from, to, _)| from != to)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::strategies::matrices;
    use proptest::prelude::*;

    fn rows(rows: &[[f64; 3]]) -> Matrix {
        Matrix::from_rows(rows).unwrap()
    }

    #[test]
    fn symmetry_is_the_part_that_is_answered() {
        let half = rows(&[[9.0, 4.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]]);
        assert_eq!(symmetry(&half), 4.0 / 6.0);
        assert_eq!(symmetry(&half.symmetrised()), 1.0);
        assert_eq!(symmetry(&Matrix::zero(3)), 1.0);
    }

    #[test]
    fn the_busiest_rank_is_compared_with_the_mean() {
        let star = rows(&[[0.0, 3.0, 3.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]);
        assert_eq!(imbalance(&star), Some((0, 1.5)));
        assert_eq!(imbalance(&Matrix::zero(3)), None);
        let own = rows(&[[7.0, 0.0, 0.0], [0.0; 3], [0.0; 3]]);
        assert_eq!(imbalance(&own), None);
    }

    #[test]
    fn patterns_without_a_common_pair_are_not_alike() {
        let one = rows(&[[0.0, 3.0, 0.0], [0.0; 3], [0.0; 3]]);
        let back = rows(&[[0.0; 3], [6.0, 0.0, 0.0], [0.0; 3]]);
        let other = rows(&[[0.0, 0.0, 1.0], [0.0; 3], [0.0; 3]]);
        assert_eq!(likeness(&one, &other), Some(0.0));
        assert!(likeness(&one, &back).unwrap() > 1.0 - 1e-9);
        assert_eq!(likeness(&one, &Matrix::zero(3)), None);
        assert_eq!(likeness(&one, &Matrix::zero(4)), None);
    }

    proptest! {
        #[test]
        fn measures_stay_in_their_bounds(one in matrices(8), other in matrices(8)) {
            prop_assert!((0.0..=1.0).contains(&symmetry(&one)));
            if let Some((rank, factor)) = imbalance(&one) {
                prop_assert!(rank < one.order() && factor >= 1.0 - 1e-9);
            }
            if let Some(alike) = likeness(&one, &other) {
                prop_assert!((0.0..=1.0).contains(&alike));
                prop_assert_eq!(likeness(&other, &one).map(|back| (back - alike).abs() < 1e-9), Some(true));
            }
            if let Some(same) = likeness(&one, &one) {
                prop_assert!(same > 1.0 - 1e-9);
            }
        }
    }
}
