//! PartialSort (thesis 2.4.2.2): edges in buckets by value, each bucket sorted
//! only when it is reached. Most never are.

use crate::random::Random;

/// An affinity between two different entities, `low < high`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// The smaller number.
    pub low: usize,
    /// The larger number.
    pub high: usize,
    /// Their affinity.
    pub value: f64,
}

/// Edges in buckets, the largest values in the first one.
#[derive(Debug, Clone)]
pub struct Buckets {
    /// Smallest value of every bucket except the last, never increasing.
    pivots: Vec<f64>,
    buckets: Vec<Vec<Edge>>,
    next: usize,
}

impl Buckets {
    /// Distributes `edges` over `count` buckets (at least 1). The limits are taken from a random
    /// sample of `sample` edges, sorted and split evenly: bucket `j` holds the edges below the
    /// smallest sampled value of bucket `j - 1` and not below its own; the last one holds the rest.
    /// Equal limits leave buckets empty.
    pub fn new(edges: Vec<Edge>, count: usize, sample: usize, seed: u64) -> Self {
        let count = count.max(1);
        let mut sampled = sample_values(&edges, sample, seed);
        sampled.sort_by(|a, b| b.total_cmp(a));
        let pivots: Vec<f64> = (1..count)
            .map(|j| match (j * sampled.len()) / count {
                0 => f64::INFINITY,
                end => sampled[end - 1],
            })
            .collect();
        let mut buckets = vec![Vec::new(); count];
        for edge in edges {
            buckets[pivots.partition_point(|&pivot| edge.value < pivot)].push(edge);
        }
        Buckets {
            pivots,
            buckets,
            next: 0,
        }
    }

    /// Values that separate buckets: one fewer than the number of buckets.
    pub fn pivots(&self) -> &[f64] {
        &self.pivots
    }

    /// Sorts the next bucket and returns its edges: by decreasing value, then by entity numbers.
    /// `None` after the last bucket.
    pub fn next_sorted(&mut self) -> Option<&[Edge]> {
        let bucket = self.buckets.get_mut(self.next)?;
        self.next += 1;
        bucket.sort_unstable_by(|a, b| {
            let by_value = b.value.total_cmp(&a.value);
            by_value.then((a.low, a.high).cmp(&(b.low, b.high)))
        });
        Some(bucket)
    }

    /// Number of buckets sorted so far.
    pub fn sorted(&self) -> usize {
        self.next
    }
}

/// Values of `count` edges drawn at random; all edges if there are no more.
fn sample_values(edges: &[Edge], count: usize, seed: u64) -> Vec<f64> {
    if edges.len() <= count {
        return edges.iter().map(|edge| edge.value).collect();
    }
    let mut random = Random::new(seed);
    (0..count)
        .map(|_| edges[random.below(edges.len())].value)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Buckets, Edge};

    /// Figure 2.10: order 8 and 2 buckets; 8 samples, 4 for each bucket, one pivot.
    #[test]
    fn a_pivot_is_the_smallest_sampled_value_of_its_bucket_and_belongs_to_it() {
        let edges = [3.0, 9.0, 1.0, 7.0, 5.0, 8.0, 2.0, 6.0].iter().enumerate();
        let edges = edges.map(|(low, &value)| Edge {
            low,
            high: low + 1,
            value,
        });
        let mut buckets = Buckets::new(edges.collect(), 2, 8, 0);
        assert_eq!(buckets.pivots(), [6.0]);
        let values = |bucket: &[Edge]| bucket.iter().map(|e| e.value).collect::<Vec<_>>();
        let first = buckets.next_sorted().map(values);
        assert_eq!(first, Some(vec![9.0, 8.0, 7.0, 6.0]));
        assert_eq!(buckets.sorted(), 1);
        let second = buckets.next_sorted().map(values);
        assert_eq!(second, Some(vec![5.0, 3.0, 2.0, 1.0]));
        assert_eq!(buckets.next_sorted(), None);
    }
}
