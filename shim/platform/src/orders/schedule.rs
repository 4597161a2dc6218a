//! An order of sends with its times.

use crate::orders::costs::Costs;

/// One message from a cluster's leader to another's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Send {
    /// The sending cluster.
    pub from: usize,
    /// The receiving cluster.
    pub to: usize,
    /// When it starts, in seconds.
    pub start: f64,
    /// When it has arrived.
    pub arrival: f64,
}

/// When a cluster starts its inner phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Accounting {
    /// When its leader has sent all it has to send to others: the rule that the thesis states
    /// (digest O11, (a)).
    #[default]
    AfterSends,
    /// When its leader has the message: overlapped, (b).
    AtArrival,
}

/// Sends in time.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// The sends in the order in which they were chosen; those of one sender are
    /// in the order in which it does them.
    pub sends: Vec<Send>,
    /// When each cluster has the message.
    pub arrival: Vec<f64>,
    /// When each cluster has the message and no send left.
    pub ready: Vec<f64>,
}

impl Schedule {
    /// Only the root has the message.
    pub fn start(clusters: usize) -> Self {
        Schedule {
            sends: Vec::with_capacity(clusters),
            arrival: vec![0.0; clusters],
            ready: vec![0.0; clusters],
        }
    }

    /// `from`, which has the message, sends it to `to` as soon as it can.
    pub fn send(&mut self, costs: &Costs, from: usize, to: usize) {
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

    /// The times of given sends, `(from, to)` in order, from `root`.
    ///
    /// `None` if a sender does not have the message yet or a receiver gets it
    /// twice.
    pub fn of(costs: &Costs, root: usize, sends: &[(usize, usize)]) -> Option<Schedule> {
        let clusters = costs.clusters();
        let mut has = vec![false; clusters];
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

    /// When the last cluster has done its inner phase.
    pub fn makespan(&self, costs: &Costs, accounting: Accounting) -> f64 {
        let begins = match accounting {
            Accounting::AfterSends => &self.ready,
            Accounting::AtArrival => &self.arrival,
        };
        begins
            .iter()
            .enumerate()
            .map(|(cluster, begin)| begin + costs.inside(cluster))
            .fold(0.0, f64::max)
    }
}
