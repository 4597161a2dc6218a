//! Least cut of a level, by flows between ranks.
//!
//! Each rank sends one unit to each of the `k` ranks that are nearest to it. At most `s - 1` of
//! them fit into its group of size `s`, so `k - s + 1` units leave it. If no edge carries more than
//! `c` times its affinity, the groups therefore cut at least `1 / c` of the units that leave them
//! (Leighton and Rao, Journal of the ACM 46, 1999; near ranks alone, by spreading metrics: Even,
//! Naor, Rao and Schieber, SIAM Journal on Computing 28, 1999).
//!
//! ```text
//!   lengths of edges --> shortest paths --> loads of edges --> longer if they carry more
//!        ^                                                                  |
//!        +------------------------------------------------------------------+
//! ```
//!
//! The mean of the flows of all rounds is also a flow. It is close to the best one after a few
//! rounds if all ranks have similar positions in the pattern, as in hypercubes, toruses and
//! transposes. The edge lengths give an upper limit of what any such flow proves, so that other
//! patterns are abandoned early.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::RangeInclusive;

use crate::bound::groups::Groups;
use crate::coarsen::graph::Graph;

/// Maximum number of edges visited, over all ranks and rounds.
const WORK: usize = 40_000_000;

/// Limits of the number of rounds; with fewer than the least, the mean of the flows is too far from
/// the best.
const ROUNDS: RangeInclusive<usize> = 3..=12;

/// Least fraction of the wanted bound that the first round must prove; otherwise flows give weak
/// bounds for the pattern.
const PROMISING: f64 = 0.5;

/// Difference below which lengths are equal.
const SAME: f64 = 1e-9;

/// Limits of the factor by which a length changes in a round.
const CHANGE: (f64, f64) = (0.6, 3.0);

/// Least cut of the groups. Stops early if the cut is `enough`, and if flows prove no more than
/// `proven` or are far from `wanted`.
pub(super) fn cut(
    graph: &Graph,
    groups: &Groups,
    proven: f64,
    wanted: f64,
    enough: impl Fn(f64) -> bool,
) -> f64 {
    let work = graph.order() * graph.entries();
    let rounds = (WORK / work.max(1)).min(*ROUNDS.end());
    let mut best = 0.0_f64;
    if groups.largest() == 0 || rounds < *ROUNDS.start() {
        return best;
    }
    let mut network = RankGraph::new(graph);
    let mut mean = vec![0.0; network.lengths.len()];
    for round in 0..rounds {
        let flow = network.flow(groups.largest());
        let alone = flow.bound(graph);
        if !alone.is_finite() || alone <= 0.0 {
            break;
        }
        for (mean, load) in mean.iter_mut().zip(&flow.loads) {
            *mean += (load / flow.leaving - *mean) / (round + 1) as f64;
        }
        best = best.max(alone).max(1.0 / congestion(graph, &mean));
        let hopeless = best < PROMISING * wanted || network.limit(&flow) <= proven;
        if enough(best) || hopeless {
            break;
        }
        network.lengthen(&mean);
    }
    best
}

/// A graph whose edges have lengths. Entries are those of the graph: each edge has two.
struct RankGraph<'a> {
    graph: &'a Graph,
    lengths: Vec<f64>,
    /// Index of the opposite entry of each edge.
    mirror: Vec<usize>,
}

/// Loads of all entries, both directions together, and the least that leaves the groups.
struct Flow {
    loads: Vec<f64>,
    leaving: f64,
    /// Shortest total path length of a rank for each unit that leaves its group, minimum over
    /// ranks.
    least: f64,
}

impl Flow {
    fn bound(&self, graph: &Graph) -> f64 {
        self.leaving / congestion(graph, &self.loads)
    }
}

/// The largest load of an edge relative to its affinity; infinite if a load is not a number.
fn congestion(graph: &Graph, loads: &[f64]) -> f64 {
    let weights = (0..graph.order()).flat_map(|vertex| graph.weights(vertex));
    let shares = loads
        .iter()
        .zip(weights)
        .map(|(load, weight)| load / weight);
    shares.fold(0.0, |most, share| match share.is_nan() {
        true => f64::INFINITY,
        false => f64::max(most, share),
    })
}

impl<'a> RankGraph<'a> {
    /// Initial lengths: the more affinity an edge has, the shorter it is.
    fn new(graph: &'a Graph) -> Self {
        let mut mirror = Vec::with_capacity(graph.entries());
        let mut lengths = Vec::with_capacity(graph.entries());
        let mut next: Vec<usize> = (0..graph.order()).map(|v| graph.range(v).start).collect();
        for vertex in 0..graph.order() {
            for (other, weight) in graph.row(vertex) {
                // Rows ascend, so that the neighbours of a row visit it in the order of its
                // entries.
                mirror.push(next[other]);
                next[other] += 1;
                lengths.push(1.0 / weight);
            }
        }
        RankGraph {
            graph,
            lengths,
            mirror,
        }
    }

    /// The flow along shortest paths, divided evenly among those that are equally short. Each rank
    /// sends to as many of the nearest ranks as minimize the path length for each unit that leaves
    /// a group of `size`.
    fn flow(&self, size: usize) -> Flow {
        let mut flow = Flow {
            loads: vec![0.0; self.lengths.len()],
            leaving: 0.0,
            least: f64::INFINITY,
        };
        let mut tree = Paths::new(self.graph.order());
        for source in 0..self.graph.order() {
            tree.grow(self, source);
            if let Some((receivers, length)) = tree.receivers(size) {
                tree.load(self, receivers, &mut flow.loads);
                flow.leaving += (receivers + 1 - size) as f64;
                flow.least = flow.least.min(length);
            }
        }
        for (entry, &mirror) in self.mirror.iter().enumerate() {
            if entry < mirror {
                let both = flow.loads[entry] + flow.loads[mirror];
                flow.loads[entry] = both;
                flow.loads[mirror] = both;
            }
        }
        flow
    }

    /// Upper limit of what any flow proves, from the lengths with which `flow` was found: the total
    /// length of all edges, divided by the least length that each unit that leaves a group uses.
    fn limit(&self, flow: &Flow) -> f64 {
        let weights = (0..self.graph.order()).flat_map(|vertex| self.graph.weights(vertex));
        let whole = weights
            .zip(&self.lengths)
            .map(|(weight, length)| weight * length);
        whole.sum::<f64>() / 2.0 / flow.least
    }

    /// Lengthens edges that carry more relative to their affinity than others, and shortens the
    /// others.
    fn lengthen(&mut self, loads: &[f64]) {
        let weights = (0..self.graph.order()).flat_map(|vertex| self.graph.weights(vertex));
        let weights: Vec<f64> = weights.copied().collect();
        let by_length = |of: &[f64]| {
            of.iter()
                .zip(&self.lengths)
                .map(|(a, b)| a * b)
                .sum::<f64>()
        };
        let usual = by_length(loads) / by_length(&weights);
        for ((length, load), weight) in self.lengths.iter_mut().zip(loads).zip(&weights) {
            *length *= (load / weight / usual).clamp(CHANGE.0, CHANGE.1);
        }
    }
}

/// Shortest paths from one rank.
struct Paths {
    distances: Vec<f64>,
    /// Reached ranks, the nearest first, beginning with the rank itself.
    reached: Vec<usize>,
    /// Index of each rank in that order.
    places: Vec<usize>,
    /// Number of equally short paths to each rank.
    counts: Vec<f64>,
    /// Units that go to, or through, each rank.
    units: Vec<f64>,
    /// Ranks that are seen but not yet reached, the nearest first.
    open: BinaryHeap<Reverse<u128>>,
}

impl Paths {
    fn new(ranks: usize) -> Self {
        Paths {
            distances: vec![f64::INFINITY; ranks],
            reached: Vec::with_capacity(ranks),
            places: vec![usize::MAX; ranks],
            counts: vec![0.0; ranks],
            units: vec![0.0; ranks],
            open: BinaryHeap::new(),
        }
    }

    /// Finds the paths from `source` (Dijkstra).
    fn grow(&mut self, network: &RankGraph, source: usize) {
        self.distances.fill(f64::INFINITY);
        self.places.fill(usize::MAX);
        self.reached.clear();
        self.distances[source] = 0.0;
        self.open.push(Reverse(source as u128));
        while let Some(Reverse(next)) = self.open.pop() {
            let rank = next as u64 as usize;
            if self.places[rank] != usize::MAX {
                continue;
            }
            self.places[rank] = self.reached.len();
            self.reached.push(rank);
            let neighbours = network.graph.neighbours(rank);
            for (&other, entry) in neighbours.iter().zip(network.graph.range(rank)) {
                let distance = self.distances[rank] + network.lengths[entry];
                if distance < self.distances[other as usize] * (1.0 - SAME) {
                    self.distances[other as usize] = distance;
                    // The bits of distances order like the distances, and comparing one number
                    // takes half the time of a pair.
                    let next = u128::from(distance.to_bits()) << 64 | u128::from(other);
                    self.open.push(Reverse(next));
                }
            }
        }
    }

    /// The number of nearest receivers for which paths are shortest for each unit that leaves a
    /// group, and that length; `None` if all ranks fit into one group.
    fn receivers(&self, size: usize) -> Option<(usize, f64)> {
        let mut sum = 0.0;
        let mut best: Option<(usize, f64)> = None;
        for (receivers, &rank) in self.reached.iter().enumerate() {
            sum += self.distances[rank];
            if receivers >= size {
                let length = sum / (receivers + 1 - size) as f64;
                if best.is_none_or(|(_, least)| length < least * (1.0 - SAME)) {
                    best = Some((receivers, length));
                }
            }
        }
        best
    }

    /// Sends a unit to each of the nearest `receivers`, and adds it to the loads of the entries on
    /// its paths.
    fn load(&mut self, network: &RankGraph, receivers: usize, loads: &mut [f64]) {
        self.units.fill(0.0);
        self.counts.fill(0.0);
        let (reached, counts, units) = (&self.reached, &mut self.counts, &mut self.units);
        let (distances, places) = (&self.distances, &self.places);
        // The entries of a rank through which paths reach it.
        let before = |rank: usize| {
            let neighbours = network.graph.neighbours(rank).iter();
            let entries = neighbours.zip(network.graph.range(rank));
            entries.filter_map(move |(&other, entry)| {
                let other = other as usize;
                let longer = distances[other] + network.lengths[entry] - distances[rank];
                let is_before = places[other] < places[rank] && longer <= SAME * distances[rank];
                is_before.then_some((other, entry))
            })
        };
        counts[reached[0]] = 1.0;
        for &rank in &reached[1..=receivers] {
            counts[rank] = before(rank).map(|(other, _)| counts[other]).sum();
            units[rank] = 1.0;
        }
        for &rank in reached[1..=receivers].iter().rev() {
            for (other, entry) in before(rank) {
                let share = units[rank] * counts[other] / counts[rank];
                units[other] += share;
                loads[entry] += share;
            }
        }
    }
}
