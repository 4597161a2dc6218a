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

    /// The schedule from cluster `root`. Takes O(C^3) for C clusters at worst, and mostly much less.
    ///
    /// # Panics
    /// If there is no cluster `root`.
    pub fn schedule(self, costs: &Costs, root: usize) -> Schedule {
        let clusters = costs.clusters();
        assert!(root < clusters, "the root is one of the clusters");
        let order = match self {
            Order::Mixed if clusters <= 20 => Order::EcefLa,
            Order::Mixed => Order::EcefLat,
            other => other,
        };
        let mut state = State::new(costs, root, order);
        while !state.waiting.is_empty() {
            let (from, to) = match order {
                Order::Flat => (root, state.waiting[0]),
                Order::Fnf => state.fastest_node(),
                Order::Fef => state.least(|_, from, to| costs.latency(from, to), |_, _| 0.0),
                Order::Ecef => state.earliest(|_, _| 0.0),
                Order::EcefLa => state.earliest_with_next(less, |_| 0.0),
                Order::EcefLatMin => state.earliest_with_next(less, |k| costs.inside(k)),
                Order::EcefLat | Order::Mixed => {
                    state.earliest_with_next(more, |k| costs.inside(k))
                }
                Order::BottomUp => state.slowest_cluster(|_, from, to| costs.transfer(from, to)),
                Order::BottomUpReady => state.slowest_cluster(State::done),
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
    /// For every cluster that waits, its best sender and what that one's transfer weighs, where the
    /// order looks at that.
    best: Vec<(f64, usize)>,
    /// For every cluster that waits, its best or worst next receiver and what that weighs, where the
    /// order looks ahead; for FNF, all its transfers together.
    ahead: Vec<(f64, usize)>,
}

fn less(one: f64, other: f64) -> bool {
    one < other
}

fn more(one: f64, other: f64) -> bool {
    one > other
}

/// The lesser of two weights with their clusters; of equal ones, the lower cluster.
fn better(one: (f64, usize), other: (f64, usize)) -> (f64, usize) {
    match other.0 < one.0 || (other.0 == one.0 && other.1 < one.1) {
        true => other,
        false => one,
    }
}

/// In place of a cluster that there is not.
const NONE: usize = usize::MAX;

impl<'a> State<'a> {
    fn new(costs: &'a Costs, root: usize, order: Order) -> Self {
        let clusters = costs.clusters();
        let (looks_at_senders, looks_ahead) = match order {
            Order::Flat => (false, false),
            Order::Fnf => (false, true),
            Order::Fef | Order::Ecef | Order::BottomUp | Order::BottomUpReady => (true, false),
            Order::EcefLa | Order::EcefLatMin | Order::EcefLat | Order::Mixed => (true, true),
        };
        let mut informed = Vec::with_capacity(clusters);
        informed.push(root);
        let mut ahead = vec![(0.0, NONE); if looks_ahead { clusters } else { 0 }];
        if order == Order::Fnf {
            for (node, sum) in ahead.iter_mut().enumerate() {
                let others = (0..clusters).filter(|&other| other != node);
                sum.0 = others.map(|other| costs.transfer(node, other)).sum();
            }
        }
        State {
            costs,
            schedule: Schedule::start(clusters),
            informed,
            waiting: (0..clusters).filter(|&cluster| cluster != root).collect(),
            best: vec![(f64::INFINITY, NONE); if looks_at_senders { clusters } else { 0 }],
            ahead,
        }
    }

    /// When a transfer that starts as soon as its sender is free is done.
    fn done(&self, from: usize, to: usize) -> f64 {
        self.schedule.ready[from] + self.costs.transfer(from, to)
    }

    fn send(&mut self, from: usize, to: usize) {
        self.schedule.send(self.costs, from, to);
        self.waiting.retain(|&cluster| cluster != to);
        let place = self.informed.partition_point(|&cluster| cluster < to);
        self.informed.insert(place, to);
    }

    /// The best sender for a cluster that waits, and its `weight`. Weights of a sender may grow when it
    /// sends, and nowhere else: only the best one that has just sent is looked for anew.
    fn best_sender(
        &mut self,
        to: usize,
        weight: &impl Fn(&Self, usize, usize) -> f64,
    ) -> (f64, usize) {
        let last = self.schedule.sends.last().map(|send| (send.from, send.to));
        let known = self.best[to];
        self.best[to] = match last {
            Some((sender, joined)) if known.1 != sender && known.1 != NONE => {
                better(known, (weight(self, joined, to), joined))
            }
            _ => {
                let senders = self.informed.iter();
                senders
                    .map(|&from| (weight(self, from, to), from))
                    .fold((f64::INFINITY, NONE), better)
            }
        };
        self.best[to]
    }

    /// The pair with the least `weight`, to which `ahead` of the receiver is added.
    fn least(
        &mut self,
        weight: impl Fn(&Self, usize, usize) -> f64,
        ahead: impl Fn(&Self, usize) -> f64,
    ) -> (usize, usize) {
        let mut chosen = (f64::INFINITY, self.informed[0], self.waiting[0]);
        for place in 0..self.waiting.len() {
            let to = self.waiting[place];
            let (least, from) = self.best_sender(to, &weight);
            let whole = least + ahead(self, to);
            // Ties go to the lowest sender, then the lowest receiver.
            if whole < chosen.0 || (whole == chosen.0 && from < chosen.1) {
                chosen = (whole, from, to);
            }
        }
        (chosen.1, chosen.2)
    }

    /// The pair whose transfer, with what is `ahead` of its receiver, is done first.
    fn earliest(&mut self, ahead: impl Fn(&Self, usize) -> f64) -> (usize, usize) {
        self.least(Self::done, ahead)
    }

    /// The same with what each could do next ahead: its transfers to the others that wait, with
    /// what `inside` says of each, of which `is_better` picks one; 0 if it is the last.
    fn earliest_with_next(
        &mut self,
        is_better: fn(f64, f64) -> bool,
        inside: impl Fn(usize) -> f64,
    ) -> (usize, usize) {
        let joined = self.schedule.sends.last().map_or(NONE, |send| send.to);
        for place in 0..self.waiting.len() {
            let to = self.waiting[place];
            if self.ahead[to].1 != joined && joined != NONE {
                continue;
            }
            let mut next = (0.0, NONE);
            for &other in self.waiting.iter().filter(|&&other| other != to) {
                let weight = self.costs.transfer(to, other) + inside(other);
                if next.1 == NONE || is_better(weight, next.0) {
                    next = (weight, other);
                }
            }
            self.ahead[to] = next;
        }
        self.earliest(|state, to| state.ahead[to].0)
    }

    /// The cluster that is done last if served best, by the sender of the least `weight`.
    fn slowest_cluster(&mut self, weight: impl Fn(&Self, usize, usize) -> f64) -> (usize, usize) {
        let mut chosen = (f64::NEG_INFINITY, self.informed[0], self.waiting[0]);
        for place in 0..self.waiting.len() {
            let to = self.waiting[place];
            let (least, from) = self.best_sender(to, &weight);
            let done = least + self.costs.inside(to);
            if done > chosen.0 {
                chosen = (done, from, to);
            }
        }
        (chosen.1, chosen.2)
    }

    /// The waiting cluster that sends fastest, from whoever is done first.
    fn fastest_node(&self) -> (usize, usize) {
        let first = |nodes: &[usize], weight: &dyn Fn(usize) -> f64| {
            let mut best = nodes[0];
            for &node in &nodes[1..] {
                if weight(node) < weight(best) {
                    best = node;
                }
            }
            best
        };
        let to = first(&self.waiting, &|node| self.ahead[node].0);
        (first(&self.informed, &|from| self.done(from, to)), to)
    }
}
