//! Order in which every rank of a total exchange sends to the others (thesis 7.3, items 74 to 78),
//! from the time `W(i, j)` of each message.
//!
//! ```text
//!   W --> steps, in each of which every rank sends at most one message and gets at most one
//! ```
//!
//! No rank waits for a step to end: each sends its own messages one after the other.

use treepie_base::assignment::cheapest_assignment;

/// Maximum number of ranks: for more, schedules take too long to compute, up to O(P^4).
pub const MOST_RANKS: usize = 128;

/// Method that finds the steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Matching {
    /// The matching whose shortest message is the longest possible (Goldman; item 78).
    MaxMin,
    /// The matching with the largest sum (Goldman, Bhat; items 74 and 77).
    MaxWeight,
    /// Each rank in turn takes its longest message to a free rank (Bhat; item 75).
    Greedy,
    /// The sender that is free first sends to the receiver that is free first (Bhat; item 76).
    OpenShop,
}

impl Matching {
    /// For every rank, the others in the order in which it sends to them.
    pub fn order(self, ranks: usize, weight: impl Fn(usize, usize) -> f64) -> Vec<Vec<usize>> {
        let mut left = RemainingMessages::new(ranks, weight);
        let mut order: Vec<Vec<usize>> = vec![Vec::with_capacity(ranks); ranks];
        if self == Matching::OpenShop {
            left.open_shop(&mut order);
            return order;
        }
        left.in_steps(self, |from, to| order[from].push(to));
        order
    }
}

/// Receiver of each rank in a step.
pub type Step = Vec<Option<usize>>;

/// Messages that are not sent yet.
pub struct RemainingMessages {
    ranks: usize,
    weight: Vec<f64>,
    open: Vec<bool>,
    count: usize,
}

impl RemainingMessages {
    /// All messages between ranks, with their weights.
    pub fn new(ranks: usize, weight: impl Fn(usize, usize) -> f64) -> Self {
        let pairs = (0..ranks * ranks).map(|pair| (pair / ranks, pair % ranks));
        RemainingMessages {
            ranks,
            weight: pairs.clone().map(|(from, to)| weight(from, to)).collect(),
            open: pairs.map(|(from, to)| from != to).collect(),
            count: ranks * ranks.saturating_sub(1),
        }
    }

    fn is_open(&self, from: usize, to: usize) -> bool {
        self.open[from * self.ranks + to]
    }

    /// Weight of a message.
    pub fn weight(&self, from: usize, to: usize) -> f64 {
        self.weight[from * self.ranks + to]
    }

    /// Sets the weight of a message.
    pub(crate) fn set_weight(&mut self, from: usize, to: usize, weight: f64) {
        self.weight[from * self.ranks + to] = weight;
    }

    /// Removes all messages for which `is_none` is true.
    pub fn close(&mut self, is_none: impl Fn(usize, usize) -> bool) {
        let ranks = self.ranks;
        for (from, to) in (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to))) {
            if self.is_open(from, to) && is_none(from, to) {
                self.take(from, to);
            }
        }
    }

    /// Takes all messages, step by step, and passes them to `sent` in this order. Not for
    /// [`Matching::OpenShop`], which has no steps.
    pub(crate) fn in_steps(&mut self, matching: Matching, mut sent: impl FnMut(usize, usize)) {
        // Order in which ranks choose in the next step of the greedy schedule.
        let mut turns: Vec<usize> = (0..self.ranks).collect();
        while self.count > 0 {
            let step = match matching {
                Matching::MaxMin => self.bottleneck(),
                Matching::Greedy => self.greedy(&mut turns),
                Matching::MaxWeight | Matching::OpenShop => self.heaviest(),
            };
            for (from, to) in step.into_iter().enumerate() {
                if let Some(to) = to {
                    self.take(from, to);
                    sent(from, to);
                }
            }
        }
    }

    /// Removes a sent message.
    pub fn take(&mut self, from: usize, to: usize) {
        self.open[from * self.ranks + to] = false;
        self.count -= 1;
    }

    /// Matching with the maximum number of messages and, among those, the largest sum.
    fn heaviest(&self) -> Step {
        // The number of messages comes first: each counts more than all weights together.
        let most = self.weight.iter().copied().fold(0.0, f64::max);
        let worth = (most + 1.0) * (self.ranks + 1) as f64;
        let cost = |from: usize, to: usize| match self.is_open(from, to) {
            true => -(worth + self.weight(from, to)),
            false => 0.0,
        };
        let matched = cheapest_assignment(self.ranks, cost)
            .into_iter()
            .enumerate();
        matched
            .map(|(from, to)| Some(to).filter(|&to| self.is_open(from, to)))
            .collect()
    }

    /// Matching with the maximum number of messages whose least weight is the greatest: weights are
    /// tried by bisection.
    pub fn bottleneck(&self) -> Step {
        let mut weights: Vec<f64> = (0..self.ranks * self.ranks)
            .filter(|&pair| self.open[pair])
            .map(|pair| self.weight[pair])
            .collect();
        weights.sort_by(f64::total_cmp);
        weights.dedup();
        if weights.is_empty() {
            return vec![None; self.ranks];
        }
        let most = size(&self.largest(f64::NEG_INFINITY));
        let (mut low, mut high) = (0, weights.len());
        while high - low > 1 {
            let middle = low.midpoint(high);
            match size(&self.largest(weights[middle])) == most {
                true => low = middle,
                false => high = middle,
            }
        }
        self.largest(weights[low])
    }

    /// Largest matching of messages that weigh at least `least`, by augmenting paths.
    fn largest(&self, least: f64) -> Step {
        let mut sender: Vec<Option<usize>> = vec![None; self.ranks];
        for from in 0..self.ranks {
            let mut seen = vec![false; self.ranks];
            self.augment(from, least, &mut seen, &mut sender);
        }
        let mut step = vec![None; self.ranks];
        for (to, from) in sender.into_iter().enumerate() {
            if let Some(from) = from {
                step[from] = Some(to);
            }
        }
        step
    }

    fn augment(
        &self,
        from: usize,
        least: f64,
        seen: &mut [bool],
        sender: &mut [Option<usize>],
    ) -> bool {
        // Nearest ranks first, so that ranks do not all try the same receiver.
        for distance in 1..self.ranks {
            let to = (from + distance) % self.ranks;
            if seen[to] || !self.is_open(from, to) || self.weight(from, to) < least {
                continue;
            }
            seen[to] = true;
            let other = sender[to];
            if other.is_none_or(|other| self.augment(other, least, seen, sender)) {
                sender[to] = Some(from);
                return true;
            }
        }
        false
    }

    /// Greedy step: each rank takes its longest message to a receiver that is still free. Ranks
    /// that had to idle choose first in the next step; if none had, the last one does.
    fn greedy(&self, turns: &mut [usize]) -> Step {
        let mut step: Step = vec![None; self.ranks];
        let mut taken = vec![false; self.ranks];
        for &from in turns.iter() {
            let free = (0..self.ranks).filter(|&to| self.is_open(from, to) && !taken[to]);
            let longest =
                free.reduce(
                    |best, to| match self.weight(from, to) > self.weight(from, best) {
                        true => to,
                        false => best,
                    },
                );
            if let Some(to) = longest {
                taken[to] = true;
                step[from] = Some(to);
            }
        }
        let idle = |&from: &usize| {
            step[from].is_none() && (0..self.ranks).any(|to| self.is_open(from, to))
        };
        match turns.iter().any(idle) {
            true => turns.sort_by_key(|from| !idle(from)),
            false => turns.rotate_right(1),
        }
        step
    }

    /// Open-shop schedule: each message starts when both its ends are free; the earliest sender is
    /// next, to its earliest receiver.
    fn open_shop(&mut self, order: &mut [Vec<usize>]) {
        let (mut sends, mut receives) = (vec![0.0; self.ranks], vec![0.0; self.ranks]);
        let earliest = |free: &[f64], among: &mut dyn Iterator<Item = usize>| {
            among.reduce(|best, other| match free[other] < free[best] {
                true => other,
                false => best,
            })
        };
        while self.count > 0 {
            let ranks = self.ranks;
            let unfinished = |&from: &usize| (0..ranks).any(|to| self.is_open(from, to));
            let Some(from) = earliest(&sends, &mut (0..ranks).filter(unfinished)) else {
                return;
            };
            let mut rest = (1..ranks)
                .map(|distance| (from + distance) % ranks)
                .filter(|&to| self.is_open(from, to));
            let Some(to) = earliest(&receives, &mut rest) else {
                return;
            };
            let begins = f64::max(sends[from], receives[to]);
            sends[from] = begins + self.weight(from, to);
            receives[to] = sends[from];
            self.take(from, to);
            order[from].push(to);
        }
    }
}

fn size(step: &Step) -> usize {
    step.iter().flatten().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Matching; 4] = [
        Matching::MaxMin,
        Matching::MaxWeight,
        Matching::Greedy,
        Matching::OpenShop,
    ];

    /// End of the last message in seconds, if every message starts when both its ends are free.
    fn makespan(order: &[Vec<usize>], weight: impl Fn(usize, usize) -> f64) -> f64 {
        let ranks = order.len();
        let (mut next, mut sends) = (vec![0; ranks], vec![0.0_f64; ranks]);
        let mut receives = vec![0.0_f64; ranks];
        loop {
            let able = (0..ranks).filter(|&from| next[from] < order[from].len());
            let start = |from: usize| sends[from].max(receives[order[from][next[from]]]);
            let Some(from) = able.min_by(|&one, &other| start(one).total_cmp(&start(other))) else {
                return sends.into_iter().chain(receives).fold(0.0, f64::max);
            };
            let to = order[from][next[from]];
            sends[from] = start(from) + weight(from, to);
            receives[to] = sends[from];
            next[from] += 1;
        }
    }

    #[test]
    fn every_rank_sends_to_every_other_once() {
        for matching in ALL {
            for ranks in 1..=12 {
                let order = matching.order(ranks, |from, to| ((from * 7 + to * 3) % 5) as f64);
                for (from, others) in order.iter().enumerate() {
                    let mut sorted = others.clone();
                    sorted.sort_unstable();
                    let expected: Vec<usize> = (0..ranks).filter(|&to| to != from).collect();
                    assert_eq!(sorted, expected, "{matching:?} on {ranks}");
                }
            }
        }
    }

    #[test]
    fn alike_messages_are_sent_in_as_many_steps_as_there_are_others() {
        for matching in [Matching::MaxMin, Matching::MaxWeight] {
            for ranks in 2..=10 {
                let order = matching.order(ranks, |_, _| 1.0);
                let taken = makespan(&order, |_, _| 1.0);
                assert_eq!(taken, (ranks - 1) as f64, "{matching:?} on {ranks}");
            }
        }
    }

    #[test]
    fn on_two_clusters_no_schedule_takes_twice_the_busiest_ranks_time() {
        let weight = |from: usize, to: usize| if from % 2 == to % 2 { 1.0 } else { 10.0 };
        for ranks in [6, 9, 12] {
            let busiest = (0..ranks)
                .map(|from| {
                    let others = (0..ranks).filter(|&to| to != from);
                    others.map(|to| weight(from, to)).sum::<f64>()
                })
                .fold(0.0, f64::max);
            for matching in ALL {
                let taken = makespan(&matching.order(ranks, weight), weight);
                assert!(
                    taken >= busiest && taken < 2.0 * busiest,
                    "{matching:?} on {ranks}: {taken} for {busiest}"
                );
            }
        }
    }
}
