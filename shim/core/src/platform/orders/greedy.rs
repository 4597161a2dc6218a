//! Always the best send next: what all orders have in common.
//!
//! The state of a waiting cluster is looked up anew only where it could matter: what a sender or a
//! look-ahead weighed before is a bound of what it weighs now.

use super::Costs;
use super::ranked::Ranked;

/// Weight of a transfer, from when its sender is free, the sender and the receiver. It may grow
/// when its sender has sent, and changes nowhere else.
pub trait Weight: Fn(f64, usize, usize) -> f64 {}

impl<F: Fn(f64, usize, usize) -> f64> Weight for F {}

/// Look-ahead of an order, beside the transfer: what its receiver could do next.
pub trait LookAhead {
    /// Not more than what it weighs, in seconds.
    fn at_least(&self, state: &State, waiting: &Waiting) -> f64;

    /// Its weight, and the receiver of that transfer.
    fn look(&self, state: &State, waiting: &Waiting) -> Ranked;
}

/// A cluster that waits for the message.
#[derive(Debug, Clone, Copy)]
pub struct Waiting {
    /// Which.
    pub cluster: usize,
    /// Its best sender, and what the transfer from there weighed when it was looked up: it does not weigh
    /// less now.
    pub sender: Ranked,
    /// Its own next receiver, and the weight when it was looked up.
    pub next: Ranked,
}

/// The sets A and B, and the sends so far.
pub struct State<'a> {
    costs: &'a Costs,
    root: usize,
    /// When each cluster that has the message can send it next; negative for those that wait.
    free: Vec<f64>,
    /// In any order.
    waiting: Vec<Waiting>,
    sends: Vec<(usize, usize)>,
}

impl<'a> State<'a> {
    /// Only the root has the message.
    pub fn new(costs: &'a Costs, root: usize) -> Self {
        let clusters = costs.clusters();
        let mut free = vec![-1.0; clusters];
        free[root] = 0.0;
        let waits = |cluster| Waiting {
            cluster,
            sender: Ranked::LAST,
            next: Ranked::NOTHING,
        };
        let others = (0..clusters).filter(|&cluster| cluster != root);
        State {
            costs,
            root,
            free,
            waiting: others.map(waits).collect(),
            sends: Vec::with_capacity(clusters),
        }
    }

    /// Whether there is such a cluster, and it waits.
    pub fn waits(&self, cluster: usize) -> bool {
        self.free.get(cluster).is_some_and(|&free| free < 0.0)
    }

    /// Those that wait, in any order.
    pub fn waiting(&self) -> &[Waiting] {
        &self.waiting
    }

    /// `from` sends to the cluster that waits at `place`.
    fn send(&mut self, from: usize, place: usize) {
        let to = self.waiting.swap_remove(place).cluster;
        self.free[to] = self.free[from] + self.costs.transfer(from, to);
        self.free[from] += self.costs.gap(from, to);
        self.sends.push((from, to));
    }

    /// Whoever got the message last could send it to all that wait.
    fn meet(&mut self, weight: &impl Weight) {
        let from = self.sends.last().map_or(self.root, |&(_, to)| to);
        let free = self.free[from];
        for waiting in &mut self.waiting {
            let sender = Ranked::new(weight(free, from, waiting.cluster), from);
            waiting.sender = waiting.sender.first(sender);
        }
    }

    /// Present weight of the transfer from the best known sender.
    fn weighs(&self, waiting: &Waiting, weight: &impl Weight) -> f64 {
        let from = waiting.sender.cluster();
        weight(self.free[from], from, waiting.cluster)
    }

    /// Finds the best sender, if the one known has sent since and weighs more.
    fn find_sender(&self, waiting: &mut Waiting, weight: &impl Weight) {
        if self.weighs(waiting, weight) == waiting.sender.seconds() {
            return;
        }
        waiting.sender = Ranked::LAST;
        let others = self.sends.iter().map(|&(_, to)| to);
        for from in std::iter::once(self.root).chain(others) {
            let seconds = weight(self.free[from], from, waiting.cluster);
            waiting.sender = waiting.sender.first(Ranked::new(seconds, from));
        }
    }

    /// Always the pair with the least `weight`, to which what is `ahead` of the receiver is added; of equal
    /// ones that of the lowest sender, then of the lowest receiver.
    pub fn least_first(
        mut self,
        weight: impl Weight,
        ahead: impl LookAhead,
    ) -> Vec<(usize, usize)> {
        while !self.waiting.is_empty() {
            self.meet(&weight);
            let (mut least, mut receiver, mut place) = (Ranked::LAST, usize::MAX, 0);
            for at in 0..self.waiting.len() {
                let mut waiting = self.waiting[at];
                let bound = waiting.sender.seconds() + ahead.at_least(&self, &waiting);
                if bound > least.seconds() {
                    continue;
                }
                self.find_sender(&mut waiting, &weight);
                waiting.next = ahead.look(&self, &waiting);
                self.waiting[at] = waiting;
                let whole = waiting.sender.seconds() + waiting.next.seconds();
                let pair = Ranked::new(whole, waiting.sender.cluster());
                if (pair, waiting.cluster) < (least, receiver) {
                    (least, receiver, place) = (pair, waiting.cluster, at);
                }
            }
            self.send(least.cluster(), place);
        }
        self.sends
    }

    /// Always the cluster that is done last if served best, the lowest of equal ones, by the sender of the least
    /// `weight`.
    pub fn slowest_first(mut self, weight: impl Weight) -> Vec<(usize, usize)> {
        while !self.waiting.is_empty() {
            self.meet(&weight);
            let (mut last, mut receiver, mut place) = (f64::NEG_INFINITY, usize::MAX, 0);
            for at in 0..self.waiting.len() {
                let mut waiting = self.waiting[at];
                let inside = self.costs.inside(waiting.cluster);
                // By its best sender it is not done later than by any.
                if self.weighs(&waiting, &weight) + inside < last {
                    continue;
                }
                self.find_sender(&mut waiting, &weight);
                self.waiting[at] = waiting;
                let done = waiting.sender.seconds() + inside;
                if done > last || (done == last && waiting.cluster < receiver) {
                    (last, receiver, place) = (done, waiting.cluster, at);
                }
            }
            self.send(self.waiting[place].sender.cluster(), place);
        }
        self.sends
    }

    /// Always the waiting cluster that sends fastest, by the sender of the least `weight`.
    pub fn fastest_node_first(mut self, weight: impl Weight) -> Vec<(usize, usize)> {
        let clusters = self.costs.clusters();
        // Not one node after the other, whose sums would each wait for themselves.
        let mut all = vec![0.0; clusters];
        for to in 0..clusters {
            for waiting in self.waiting.iter().filter(|node| node.cluster != to) {
                all[waiting.cluster] += self.costs.transfer(waiting.cluster, to);
            }
        }
        while !self.waiting.is_empty() {
            self.meet(&weight);
            let (mut fastest, mut place) = (Ranked::LAST, 0);
            for (at, waiting) in self.waiting.iter().enumerate() {
                let node = Ranked::new(all[waiting.cluster], waiting.cluster);
                fastest = fastest.first(node);
                place = if fastest == node { at } else { place };
            }
            let mut waiting = self.waiting[place];
            self.find_sender(&mut waiting, &weight);
            self.send(waiting.sender.cluster(), place);
        }
        self.sends
    }
}
