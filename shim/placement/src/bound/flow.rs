//! Least cut of a level, by flows between ranks.
//!
//! Each rank sends one unit to each of the `k` ranks that are nearest to it. At most `s - 1` of
//! them fit into its group of size `s`, so `k - s + 1` units leave it. Where no edge carries more
//! than `c` times its affinity, the groups therefore cut at least `1 / c` of the units that leave
//! them (Leighton and Rao, Journal of the ACM 46, 1999; near ranks alone, by spreading metrics:
//! Even, Naor, Rao and Schieber, SIAM Journal on Computing 28, 1999).
//!
//! ```text
//!   lengths of edges --> shortest paths --> loads of edges --> longer where more is carried
//!        ^                                                                  |
//!        +------------------------------------------------------------------+
//! ```
//!
//! The mean of the flows of all rounds is a flow, too. It is close to the best one after a few
//! rounds where ranks have about the same place in the pattern, as in hypercubes, toruses and
//! transposes. The lengths prove what no such flow is above, so that others are left soon.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::RangeInclusive;

use crate::bound::groups::Groups;
use crate::coarsen::graph::Graph;

/// Edges that are looked at, from all ranks and in all rounds, at most.
const WORK: usize = 40_000_000;

/// Rounds, at most; and with fewer the mean of the flows is too far from the best.
const ROUNDS: RangeInclusive<usize> = 3..=12;

/// A first round that proves less of what is wanted belongs to a pattern for which flows say
/// little.
const PROMISING: f64 = 0.5;

/// Lengths closer than this are the same.
const SAME: f64 = 1e-9;

/// Most that a length may change in a round.
const CHANGE: (f64, f64) = (0.6, 3.0);

/// Least cut of the groups. It stops early where that is `enough`, and where flows prove no
/// more than `proven` or come nowhere near `wanted`.
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
    /// The other entry of each edge.
    mirror: Vec<usize>,
}

/// Loads of all entries, both directions together, and what leaves the groups at least.
struct Flow {
    loads: Vec<f64>,
    leaving: f64,
    /// The least length of all paths of a rank, for each unit that leaves its group.
    least: f64,
}

impl Flow {
    fn bound(&self, graph: &Graph) -> f64 {
        self.leaving / congestion(graph, &self.loads)
    }
}

/// The most that an edge carries, in terms of its affinity; infinite where a load is no number.
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
    /// Edges are the shorter the more affinity they have.
    fn new(graph: &'a Graph) -> Self {
        let mut mirror = Vec::with_capacity(graph.entries());
        let mut lengths = Vec::with_capacity(graph.entries());
        let mut next: Vec<usize> = (0..graph.order()).map(|v| graph.range(v).start).collect();
        for vertex in 0..graph.order() {
            for (other, weight) in graph.row(vertex) {
                // Rows ascend, so that a row is met by its neighbours in the order of its entries.
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

    /// The flow along shortest paths, evenly over those that are equally short: for each rank to so
    /// many of the nearest that their paths are shortest for each unit that leaves a group of
    /// `size`.
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

    /// Limit of what any flow proves, by the lengths that `flow` was found with: all edges together
    /// are so long, and each unit that leaves a group takes at least so much of them.
    fn limit(&self, flow: &Flow) -> f64 {
        let weights = (0..self.graph.order()).flat_map(|vertex| self.graph.weights(vertex));
        let whole = weights
            .zip(&self.lengths)
            .map(|(weight, length)| weight * length);
        whole.sum::<f64>() / 2.0 / flow.least
    }

    /// Makes edges longer that carry more of their affinity than others, and others shorter.
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
    /// Ranks that are reached, the nearest first: the rank itself.
    reached: Vec<usize>,
    /// Index of each in that order.
    places: Vec<usize>,
    /// Number of equally short paths to each.
    counts: Vec<f64>,
    /// Units that go to, or through, each.
    units: Vec<f64>,
    /// Ranks that are seen, the nearest first.
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
                    // As numbers, distances are in the order of their bits. One number is compared
                    // in half the time of a pair.
                    let next = u128::from(distance.to_bits()) << 64 | u128::from(other);
                    self.open.push(Reverse(next));
                }
            }
        }
    }

    /// To how many of the nearest ranks the paths are shortest for each unit that leaves a group,
    /// and how short; `None` where all fit into one.
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

    /// Adds a unit to each of the nearest `receivers` to the loads of the entries on its paths.
    fn load(&mut self, network: &RankGraph, receivers: usize, loads: &mut [f64]) {
        self.units.fill(0.0);
        self.counts.fill(0.0);
        let (reached, counts, units) = (&self.reached, &mut self.counts, &mut self.units);
        let (distances, places) = (&self.distances, &self.places);
        // The entries of a rank by which paths come to it.
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
