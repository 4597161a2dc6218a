//! The heuristics that choose the next send. Ties go to the lowest sender, then the lowest
//! receiver.

use strum::{Display, IntoStaticStr, VariantArray};
use treepie_base::statistics::mean;
use treepie_base::{Cluster, Slice, from_name};

use crate::orders::costs::Costs;
use crate::orders::schedule::Schedule;

/// Cluster after all others, before one is chosen.
const NONE: Cluster = Cluster(usize::MAX);

/// A rule that orders the sends between clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Display, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Order {
    /// The root sends to all, in their order (MagPIe, ECO; item 50).
    Flat,
    /// Fastest node first (Banikazemi; item 52): a cluster is rated by one number, the mean of its
    /// outgoing transfers.
    Fnf,
    /// Fastest edge first (Bhat; item 53): the least latency.
    Fef,
    /// Early completion edge first (Bhat; item 54).
    Ecef,
    /// ECEF with the receiver's best next send (Bhat; item 55).
    EcefLa,
    /// ECEF with the mean of the receiver's next sends (Bhat; item 56).
    EcefLaMean,
    /// ECEF with the mean of all sends that are possible once the receiver has the message
    /// (Bhat; item 56).
    EcefLaMeanOfAll,
    /// ECEF-LAt: the receiver's next send that completes first, including the inner phase of its
    /// destination (item 57).
    EcefLatMin,
    /// ECEF-LAT: the receiver's next send that completes last (item 58).
    EcefLat,
    /// The slowest cluster first, from its best sender (item 59), as printed: regardless of whether
    /// that sender is busy.
    BottomUp,
    /// Bottom up with the time until the sender is ready (digest O9).
    BottomUpReady,
    /// Bottom up with a look-ahead, which the thesis proposes and does not define (item 60): of
    /// slow clusters, those with a fast next send are preferred.
    BottomUpLa,
    /// The thesis's rule by the number of clusters (item 62): ECEF-LA up to 20,
    /// ECEF-LAT above.
    Mixed,
}

impl Order {
    /// All heuristics.
    pub const ALL: [Order; 13] = [
        Order::Flat,
        Order::Fnf,
        Order::Fef,
        Order::Ecef,
        Order::EcefLa,
        Order::EcefLaMean,
        Order::EcefLaMeanOfAll,
        Order::EcefLatMin,
        Order::EcefLat,
        Order::BottomUp,
        Order::BottomUpReady,
        Order::BottomUpLa,
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

    /// The heuristic for this number of clusters: the thesis's rule is one of two others.
    pub(crate) fn for_clusters(self, clusters: usize) -> Order {
        match self {
            Order::Mixed if clusters <= 20 => Order::EcefLa,
            Order::Mixed => Order::EcefLat,
            other => other,
        }
    }

    /// Computes the schedule from cluster `root`, in O(C^3) for C clusters.
    ///
    /// # Panics
    /// Panics if there is no cluster `root`.
    pub fn schedule(self, costs: &Costs, root: Cluster) -> Schedule {
        let clusters = costs.clusters();
        assert!(root.0 < clusters, "the root is one of the clusters");
        let mut schedule = Schedule::start(clusters);
        let mut informed = vec![root];
        let all = (0..clusters).map(Cluster);
        let mut waiting: Vec<Cluster> = all.filter(|&other| other != root).collect();
        while !waiting.is_empty() {
            let sets = (&informed[..], &waiting[..]);
            let (from, to) = match self.for_clusters(clusters) {
                Order::Flat => (root, waiting[0]),
                order => order.next(costs, &schedule.ready, sets),
            };
            schedule.send(costs, from, to);
            waiting.retain(|&other| other != to);
            informed.push(to);
        }
        schedule
    }

    /// The sends of that schedule alone, `(from, to)` in order.
    ///
    /// # Panics
    /// Panics if there is no cluster `root`.
    pub fn sends(self, costs: &Costs, root: Cluster) -> Vec<(Cluster, Cluster)> {
        let sends = self.schedule(costs, root).sends;
        sends.iter().map(|send| (send.from, send.to)).collect()
    }

    /// Chooses the next send, if the leaders of the first set have had the message since `ready`,
    /// and those of the second wait for it.
    fn next(
        self,
        costs: &Costs,
        ready: &Slice<Cluster, f64>,
        sets: (&[Cluster], &[Cluster]),
    ) -> (Cluster, Cluster) {
        let (informed, waiting) = sets;
        let mut best = ((f64::INFINITY, NONE, NONE), (NONE, NONE));
        for &to in waiting {
            let weights = informed.iter().map(|&from| {
                let weight = match self {
                    Order::Fef => costs.latency(from, to),
                    Order::BottomUp => costs.transfer(from, to),
                    _ => ready[from] + costs.transfer(from, to),
                };
                (weight, from)
            });
            let (weight, from) = weights.fold((f64::INFINITY, NONE), least);
            // Some choose the receiver first, others the pair.
            let ahead = self.look_ahead(costs, to, sets);
            let key = match self {
                Order::Fnf => (costs.all_transfers(to), to, from),
                Order::BottomUp | Order::BottomUpReady | Order::BottomUpLa => {
                    (ahead - weight - costs.inside(to), to, from)
                }
                _ => (weight + ahead, from, to),
            };
            if key < best.0 {
                best = (key, (from, to));
            }
        }
        best.1
    }

    /// Seconds of the next send of `to` after it has received the message: to another waiting
    /// cluster, or to any; 0 if there is none.
    fn look_ahead(
        self,
        costs: &Costs,
        to: Cluster,
        (informed, waiting): (&[Cluster], &[Cluster]),
    ) -> f64 {
        let others = waiting.iter().copied().filter(|&other| other != to);
        let sends = |from: Cluster| others.clone().map(move |other| costs.transfer(from, other));
        let done = others
            .clone()
            .map(|other| costs.transfer(to, other) + costs.inside(other));
        match self {
            Order::EcefLa | Order::BottomUpLa => sends(to).reduce(f64::min),
            Order::EcefLaMean => mean(sends(to)),
            Order::EcefLaMeanOfAll => {
                let senders = informed.iter().copied().chain([to]);
                mean(senders.flat_map(sends))
            }
            Order::EcefLatMin => done.reduce(f64::min),
            Order::EcefLat => done.reduce(f64::max),
            _ => None,
        }
        .unwrap_or(0.0)
    }
}

/// The pair with the shorter time; of equal times the lower cluster.
fn least(one: (f64, Cluster), other: (f64, Cluster)) -> (f64, Cluster) {
    if other < one { other } else { one }
}

from_name!(Order, "order of clusters");
