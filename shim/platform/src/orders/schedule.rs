//! An order of sends with its times.

use treepie_base::{Cluster, List};

use crate::orders::costs::Costs;

/// One message from a cluster's leader to another's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Send {
    /// The sending cluster.
    pub from: Cluster,
    /// The receiving cluster.
    pub to: Cluster,
    /// Start time in seconds.
    pub start: f64,
    /// Arrival time in seconds.
    pub arrival: f64,
}

/// Start of the inner phase of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Accounting {
    /// After all sends of its leader to others: the rule stated in the thesis (digest O11, (a)).
    #[default]
    AfterSends,
    /// At the arrival of the message at its leader: overlapped, (b).
    AtArrival,
}

/// Sends with their times.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// The sends in the order in which they were chosen; those of one sender are in the order of
    /// their execution.
    pub sends: Vec<Send>,
    /// Arrival time of the message at each cluster.
    pub arrival: List<Cluster, f64>,
    /// Time at which each cluster has the message and no remaining send.
    pub ready: List<Cluster, f64>,
}

impl Schedule {
    /// Starts with the message at the root only.
    pub fn start(clusters: usize) -> Self {
        Schedule {
            sends: Vec::with_capacity(clusters),
            arrival: vec![0.0; clusters].into(),
            ready: vec![0.0; clusters].into(),
        }
    }

    /// Adds a send from `from`, which has the message, to `to` at the earliest time.
    pub fn send(&mut self, costs: &Costs, from: Cluster, to: Cluster) {
        let start = self.ready[from];
        let arrival = start + costs.transfer(from, to);
        self.ready[from] = start + costs.gap(from, to);
        self.ready[to] = arrival;
        self.arrival[to] = arrival;
        self.sends.push(Send {
            from,
            to,
            start,
            arrival,
        });
    }

    /// Computes the times of given sends, `(from, to)` in order, from `root`.
    ///
    /// `None` if a sender does not have the message yet or a receiver gets it
    /// twice.
    pub fn of(costs: &Costs, root: Cluster, sends: &[(Cluster, Cluster)]) -> Option<Schedule> {
        let clusters = costs.clusters();
        let mut has: List<Cluster, bool> = vec![false; clusters].into();
        *has.get_mut(root)? = true;
        let mut schedule = Schedule::start(clusters);
        for &(from, to) in sends {
            if !*has.get(from)? || std::mem::replace(has.get_mut(to)?, true) {
                return None;
            }
            schedule.send(costs, from, to);
        }
        Some(schedule)
    }

    /// Time at which the last cluster completes its inner phase.
    pub fn makespan(&self, costs: &Costs, accounting: Accounting) -> f64 {
        let begins = match accounting {
            Accounting::AfterSends => &self.ready,
            Accounting::AtArrival => &self.arrival,
        };
        begins
            .iter_enumerated()
            .map(|(cluster, begin)| begin + costs.inside(cluster))
            .fold(0.0, f64::max)
    }
}
