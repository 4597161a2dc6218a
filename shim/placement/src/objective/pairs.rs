//! Pairs of ranks that communicate across a level.

use treepie_base::{Leaf, Rank, Slice};
use treepie_topology::Topology;
use treepie_traffic::Matrix;

/// Pair of ranks that communicates across a level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crossing {
    /// The smaller rank.
    pub low: Rank,
    /// The larger rank.
    pub high: Rank,
    /// Traffic between them, both directions together.
    pub amount: f64,
}

/// All pairs that communicate across a level, and the heaviest of them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PairsAcross {
    /// Number of pairs.
    pub count: usize,
    /// Traffic of all of them, both directions together.
    pub amount: f64,
    /// The heaviest pairs, by falling amount, then by rank.
    pub heaviest: Vec<Crossing>,
}

/// The pairs of ranks whose path goes above depth `depth`: those on different nodes of that depth.
/// Lists at most `most` of them.
///
/// # Panics
/// Panics if `leaf_of_rank` is not a list of leaves of the ranks.
pub fn pairs_across(
    matrix: &Matrix,
    topology: &Topology,
    leaf_of_rank: &Slice<Rank, Leaf>,
    depth: usize,
    most: usize,
) -> PairsAcross {
    let mut crossing: Vec<Crossing> = Vec::new();
    for (from, to, value) in matrix.entries() {
        let back = matrix.get(to, from);
        // A pair that communicates in both directions is visited twice.
        let first_met = from < to || back == 0.0;
        let (from, to) = (Rank(from), Rank(to));
        if first_met && topology.common_level(leaf_of_rank[from], leaf_of_rank[to]) < depth {
            crossing.push(Crossing {
                low: from.min(to),
                high: from.max(to),
                amount: value + back,
            });
        }
    }
    let by_weight = |a: &Crossing, b: &Crossing| {
        let by_amount = b.amount.total_cmp(&a.amount);
        by_amount.then((a.low, a.high).cmp(&(b.low, b.high)))
    };
    let count = crossing.len();
    let amount = crossing.iter().map(|pair| pair.amount).sum();
    if most < count {
        crossing.select_nth_unstable_by(most, by_weight);
        crossing.truncate(most);
    }
    crossing.sort_unstable_by(by_weight);
    PairsAcross {
        count,
        amount,
        heaviest: crossing,
    }
}
