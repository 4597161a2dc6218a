//! The heuristics: which send comes next. Ties go to the lowest sender, then the
//! lowest receiver.

use super::ahead::{Next, Nothing};
use super::greedy::State;
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

    /// The heuristic for so many clusters: the thesis's rule is one of two others.
    pub fn for_clusters(self, clusters: usize) -> Order {
        match self {
            Order::Mixed if clusters <= 20 => Order::EcefLa,
            Order::Mixed => Order::EcefLat,
            other => other,
        }
    }

    /// The schedule from cluster `root`. Takes O(C^3) for C clusters at worst, and mostly much less.
    ///
    /// # Panics
    /// If there is no cluster `root`.
    pub fn schedule(self, costs: &Costs, root: usize) -> Schedule {
        let mut schedule = Schedule::start(costs.clusters());
        for (from, to) in self.sends(costs, root) {
            schedule.send(costs, from, to);
        }
        schedule
    }

    /// The sends of that schedule alone, `(from, to)` in order.
    ///
    /// # Panics
    /// If there is no cluster `root`.
    pub fn sends(self, costs: &Costs, root: usize) -> Vec<(usize, usize)> {
        let clusters = costs.clusters();
        assert!(root < clusters, "the root is one of the clusters");
        if self == Order::Flat {
            let others = (0..clusters).filter(|&to| to != root);
            return others.map(|to| (root, to)).collect();
        }
        let state = State::new(costs, root);
        let done = |free: f64, from, to| free + costs.transfer(from, to);
        let alone = |_: f64, from, to| costs.transfer(from, to);
        let latency = |_: f64, from, to| 0.0 + costs.latency(from, to);
        let inside = |cluster| costs.inside(cluster);
        match self.for_clusters(clusters) {
            Order::Fnf => state.fastest_node_first(done),
            Order::Fef => state.least_first(latency, Nothing),
            Order::Flat | Order::Ecef => state.least_first(done, Nothing),
            Order::EcefLa => state.least_first(done, Next::least(costs, |_| 0.0)),
            Order::EcefLatMin => state.least_first(done, Next::least(costs, inside)),
            Order::EcefLat | Order::Mixed => state.least_first(done, Next::most(costs, inside)),
            Order::BottomUp => state.slowest_first(alone),
            Order::BottomUpReady => state.slowest_first(done),
        }
    }
}

named!(Order, "order of clusters");
