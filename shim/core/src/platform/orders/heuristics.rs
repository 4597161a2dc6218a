//! The heuristics: which send comes next. Ties go to the lowest sender, then the
//! lowest receiver.

use super::{Costs, Schedule};
use crate::affinity::names::named;

/// A rule that orders the sends between clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// The root sends to all, in their order (MagPIe, ECO; item 50).
    Flat,
    /// Fastest node first (Banikazemi; item 52): a cluster is judged by one
    /// number, the mean of its outgoing transfers.
    Fnf,
    /// Fastest edge first (Bhat; item 53): the least latency.
    Fef,
    /// Early completion edge first (Bhat; item 54).
    Ecef,
    /// ECEF with the receiver's best next send (Bhat; item 55).
    EcefLa,
    /// ECEF-LAt: the receiver's next send that is done soonest, with what the
    /// cluster there needs inside (item 57).
    EcefLatMin,
    /// ECEF-LAT: the receiver's next send that is done latest (item 58).
    EcefLat,
    /// The slowest cluster first, from its best sender (item 59), as printed:
    /// whether that sender is busy does not count.
    BottomUp,
    /// The same, and it counts (digest O9).
    BottomUpReady,
    /// The thesis's rule by the number of clusters (item 62): ECEF-LA up to 20,
    /// ECEF-LAT above.
    Mixed,
}

impl Order {
    const NAMES: &'static [(&'static str, Order)] = &[
        ("flat", Order::Flat),
        ("fnf", Order::Fnf),
        ("fef", Order::Fef),
        ("ecef", Order::Ecef),
        ("ecef-la", Order::EcefLa),
        ("ecef-lat-min", Order::EcefLatMin),
        ("ecef-lat", Order::EcefLat),
        ("bottom-up", Order::BottomUp),
        ("bottom-up-ready", Order::BottomUpReady),
        ("mixed", Order::Mixed),
    ];

    /// All of them.
    pub const ALL: [Order; 10] = [
        Order::Flat,
        Order::Fnf,
        Order::Fef,
        Order::Ecef,
        Order::EcefLa,
        Order::EcefLatMin,
        Order::EcefLat,
        Order::BottomUp,
        Order::BottomUpReady,
        Order::Mixed,
    ];

    /// The seven that the thesis compares, in the order of its figures.
    pub const COMPARED: [Order; 7] = [
        Order::Flat,
        Order::Fef,
        Order::Ecef,
        Order::EcefLa,
        Order::EcefLat,
        Order::EcefLatMin,
        Order::BottomUp,
    ];

    /// The schedule from cluster `root`. Takes O(C^3) for C clusters.
    ///
    /// # Panics
    /// If there is no cluster `root`.
    pub fn schedule(self, costs: &Costs, root: usize) -> Schedule {
        let clusters = costs.clusters();
        assert!(root < clusters, "the root is one of the clusters");
        let mut state = State {
            costs,
            schedule: Schedule::start(clusters),
            informed: vec![root],
            waiting: (0..clusters).filter(|&cluster| cluster != root).collect(),
        };
        while !state.waiting.is_empty() {
            let (from, to) = match self {
                Order::Flat => (root, state.waiting[0]),
                Order::Fnf => state.fastest_node(),
                Order::Fef => state.least(|from, to| costs.latency(from, to)),
                Order::Ecef => state.earliest(|_| 0.0),
                Order::EcefLa => state.earliest(|to| state.next_send(to, f64::min, |_| 0.0)),
                Order::EcefLatMin => {
                    state.earliest(|to| state.next_send(to, f64::min, |k| costs.inside(k)))
                }
                Order::EcefLat => {
                    state.earliest(|to| state.next_send(to, f64::max, |k| costs.inside(k)))
                }
                Order::BottomUp => state.slowest_cluster(|_| 0.0),
                Order::BottomUpReady => state.slowest_cluster(|from| state.schedule.ready[from]),
                Order::Mixed if clusters <= 20 => return Order::EcefLa.schedule(costs, root),
                Order::Mixed => return Order::EcefLat.schedule(costs, root),
            };
            state.send(from, to);
        }
        state.schedule
    }
}

named!(Order, "order of clusters");

/// The sets A and B, both from low to high, and the sends so far.
struct State<'a> {
    costs: &'a Costs,
    schedule: Schedule,
    informed: Vec<usize>,
    waiting: Vec<usize>,
}

impl State<'_> {
    fn send(&mut self, from: usize, to: usize) {
        self.schedule.send(self.costs, from, to);
        self.waiting.retain(|&cluster| cluster != to);
        let place = self.informed.partition_point(|&cluster| cluster < to);
        self.informed.insert(place, to);
    }

    /// The pair with the least weight.
    fn least(&self, weight: impl Fn(usize, usize) -> f64) -> (usize, usize) {
        let mut best = (self.informed[0], self.waiting[0]);
        let mut least = f64::INFINITY;
        for &from in &self.informed {
            for &to in &self.waiting {
                let weight = weight(from, to);
                if weight < least {
                    (best, least) = ((from, to), weight);
                }
            }
        }
        best
    }

    /// The pair whose transfer, with what `ahead` adds for its receiver, is done
    /// first.
    fn earliest(&self, ahead: impl Fn(usize) -> f64) -> (usize, usize) {
        let mut ahead_of = vec![0.0; self.costs.clusters()];
        for &to in &self.waiting {
            ahead_of[to] = ahead(to);
        }
        self.least(|from, to| {
            self.schedule.ready[from] + self.costs.transfer(from, to) + ahead_of[to]
        })
    }

    /// What `to` could do next: its transfers to the others that wait, with what
    /// `inside` says of each, `combine`d; 0 if it is the last.
    fn next_send(
        &self,
        to: usize,
        combine: fn(f64, f64) -> f64,
        inside: impl Fn(usize) -> f64,
    ) -> f64 {
        let others = self.waiting.iter().filter(|&&next| next != to);
        others
            .map(|&next| self.costs.transfer(to, next) + inside(next))
            .reduce(combine)
            .unwrap_or(0.0)
    }

    /// The cluster that is done last if served best, and who serves it.
    fn slowest_cluster(&self, ready: impl Fn(usize) -> f64) -> (usize, usize) {
        let mut chosen = (self.informed[0], self.waiting[0]);
        let mut latest = f64::NEG_INFINITY;
        for &to in &self.waiting {
            let mut sender = self.informed[0];
            let mut least = f64::INFINITY;
            for &from in &self.informed {
                let done = ready(from) + self.costs.transfer(from, to) + self.costs.inside(to);
                if done < least {
                    (sender, least) = (from, done);
                }
            }
            if least > latest {
                (chosen, latest) = ((sender, to), least);
            }
        }
        chosen
    }

    /// The waiting cluster that sends fastest, from whoever is done first.
    fn fastest_node(&self) -> (usize, usize) {
        let clusters = self.costs.clusters();
        let speed = |node: usize| {
            let others = (0..clusters).filter(|&other| other != node);
            others
                .map(|other| self.costs.transfer(node, other))
                .sum::<f64>()
        };
        let first = |nodes: &[usize], weight: &dyn Fn(usize) -> f64| {
            let mut best = nodes[0];
            for &node in &nodes[1..] {
                if weight(node) < weight(best) {
                    best = node;
                }
            }
            best
        };
        let to = first(&self.waiting, &speed);
        let done = |from: usize| self.schedule.ready[from] + self.costs.transfer(from, to);
        (first(&self.informed, &done), to)
    }
}
