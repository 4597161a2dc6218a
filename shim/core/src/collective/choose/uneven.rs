//! The choice for blocks of uneven sizes that all ranks know: no mean says what they take, so every
//! strategy's plans are simulated with the sizes that they have.
//!
//! All ranks come to the same choice: they have the same sizes and the same platform, and nothing
//! else is looked at.

use crate::collective::network::MessageCost;
use crate::collective::read::simulate::{Options, simulate};
use crate::collective::{Algorithm, Amount, Network, Operation, Plan, Problem};

/// With more ranks than this, simulating all strategies takes longer than they gain.
pub const MOST_RANKS: usize = 32;

/// The number of the first call whose sizes are told. Telling them takes as long as a short call
/// between clusters, and the first choice two or three: of so many calls, both are about one in a
/// hundred.
const FIRST_TOLD: u32 = 255;

/// Seconds that a choice for new sizes takes, for each pair of ranks: measured, 42 to 56 ms for 16
/// ranks with few optimisations.
const CHOOSING: f64 = 100e-6;

/// What was chosen.
#[derive(Debug, Clone, Copy)]
pub struct Uneven {
    /// The quickest strategy.
    pub strategy: &'static Algorithm,
    /// Its predicted seconds.
    pub seconds: f64,
    /// Predicted seconds of what is done where each rank knows its own sizes alone.
    pub unknown: f64,
}

/// A strategy must be this much quicker than what needs no sizes.
const WORTH: f64 = 0.97;

/// The quickest of all strategies for a call whose sizes all ranks know, in messages of up to
/// `segment` units. `None` where no network is known, for too many ranks, and for strategies that
/// never end.
pub fn quickest(problem: &Problem, segment: u64) -> Option<Uneven> {
    let network = problem.network?;
    if problem.ranks() > MOST_RANKS || !problem.sizes_are_known() {
        return None;
    }
    let seconds = |strategy: &'static Algorithm| {
        let plans = (0..problem.ranks()).map(|rank| strategy.plan(problem, rank, segment));
        let plans: Vec<Plan> = plans.collect();
        let outcome = simulate(network, &plans, problem.unit_bytes, Options::default());
        outcome.ok().map(|outcome| outcome.seconds)
    };
    let plain = Algorithm::find(problem.operation, "flat")?;
    let unknown = seconds(plain)?;
    let mut best = Uneven {
        strategy: plain,
        seconds: unknown,
        unknown,
    };
    let others = Algorithm::of(problem.operation).filter(|strategy| strategy.name != plain.name);
    for strategy in others.filter(|strategy| strategy.serves(problem)) {
        if let Some(seconds) = seconds(strategy)
            && seconds < best.seconds.min(WORTH * unknown)
        {
            best = Uneven {
                strategy,
                seconds,
                ..best
            };
        }
    }
    Some(best)
}

/// Seconds that it takes to tell all ranks a row of `bytes` of each: members to leaders, between
/// these, and back.
pub fn telling(network: &Network, bytes: u64) -> f64 {
    let count = network.clusters();
    let largest = |of: &dyn Fn(usize) -> f64| (0..count).map(of).fold(0.0, f64::max);
    let all = bytes.saturating_mul(network.ranks() as u64);
    let inside = largest(&|cluster| MessageCost::on(network.within(cluster), all).seconds());
    let between = largest(&|from| {
        let others = (0..count).filter(|&to| to != from);
        let costs = others.map(|to| MessageCost::on(network.between(from, to), all).seconds());
        costs.fold(0.0, f64::max)
    });
    2.0 * inside + between
}

/// Seconds that a choice for new sizes takes, about.
pub fn choosing(ranks: usize) -> f64 {
    CHOOSING * (ranks * ranks) as f64
}

/// The sizes that all ranks know when each has told its row; `None` where two ranks do not agree on
/// a block. A row is what a rank sends to each and receives from each, or, with a root, the block
/// of each rank as far as it knows them.
pub fn told(operation: Operation, root: usize, ranks: usize, rows: &[u64]) -> Option<Amount> {
    match operation {
        Operation::Gatherv | Operation::Scatterv => {
            let known = rows.chunks(ranks).nth(root)?;
            let own = (0..ranks).map(|rank| rows[rank * ranks + rank]);
            own.eq(known.iter().copied())
                .then(|| Amount::KnownBlocks(known.to_vec()))
        }
        _ => {
            let sent = |from: usize, to: usize| rows[2 * from * ranks + to];
            let received = |from: usize, to: usize| rows[(2 * to + 1) * ranks + from];
            let mut pairs = (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to)));
            let table: Vec<u64> = pairs.clone().map(|(from, to)| sent(from, to)).collect();
            pairs
                .all(|(from, to)| sent(from, to) == received(from, to))
                .then_some(Amount::Table(table))
        }
    }
}

/// The row of a rank for [`told`]; `None` for amounts that all ranks know.
pub fn row(amount: &Amount) -> Option<Vec<u64>> {
    match amount {
        Amount::Blocks(blocks) => Some(blocks.clone()),
        Amount::Exchanged { sent, received } => Some([sent.as_slice(), received].concat()),
        Amount::Each(_) | Amount::KnownBlocks(_) | Amount::Table(_) => None,
    }
}

/// When ranks tell each other their sizes: a function of what all of them know, the number of their
/// calls and what came out of the times when they did.
///
/// ```text
///   calls     0 1 ... 254 [255] 256 ... [511] ...    while it gains nothing: ever more rarely
///             ... [511] [512] [513] ...              while it gains more than it costs
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Telling {
    calls: u32,
    next: u32,
}

impl Default for Telling {
    fn default() -> Self {
        Telling {
            calls: 0,
            next: FIRST_TOLD,
        }
    }
}

impl Telling {
    /// Counts a call; whether its sizes are told.
    pub fn is_due(&mut self) -> bool {
        let is_due = self.calls == self.next;
        self.calls = self.calls.saturating_add(1);
        is_due
    }

    /// Notes whether the last call gained more from knowing the sizes than telling them costs.
    pub fn learn(&mut self, is_worth: bool) {
        self.next = match is_worth {
            true => self.calls,
            false => self.calls.saturating_mul(2).saturating_sub(1),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::{Clusters, grids};

    #[test]
    fn sizes_are_told_ever_more_rarely_until_it_gains_something_and_then_always() {
        let mut telling = Telling::default();
        let mut due = |gains: fn(usize) -> bool, calls: usize| -> Vec<usize> {
            let mut when = Vec::new();
            for call in 0..calls {
                if telling.is_due() {
                    when.push(call);
                    telling.learn(gains(call));
                }
            }
            when
        };
        assert_eq!(due(|_| false, 600), [255, 511]);
        assert_eq!(due(|_| true, 426), [423, 424, 425]);
    }

    #[test]
    fn sizes_are_known_when_all_rows_agree_and_unknown_otherwise() {
        let rows = [[1, 2, 1, 7], [7, 4, 2, 4]].concat();
        let found = told(Operation::Alltoallv, 0, 2, &rows);
        assert_eq!(found, Some(Amount::Table(vec![1, 2, 7, 4])));
        let rows = [[1, 2, 1, 7], [7, 4, 3, 4]].concat();
        assert_eq!(told(Operation::Alltoallv, 0, 2, &rows), None);
        let found = told(Operation::Gatherv, 1, 2, &[5, 0, 5, 6]);
        assert_eq!(found, Some(Amount::KnownBlocks(vec![5, 6])));
        assert_eq!(told(Operation::Scatterv, 1, 2, &[4, 0, 5, 6]), None);
    }

    #[test]
    fn the_quickest_is_never_slower_than_what_needs_no_sizes() {
        let network = grids::unequal();
        let clusters = Clusters::of_network(&network);
        let ranks = network.ranks();
        for operation in [
            Operation::Alltoallv,
            Operation::Gatherv,
            Operation::Scatterv,
        ] {
            for unit_bytes in [1, 64, 4096] {
                let size = |from: usize, to: usize| ((from * 5 + to * 3) % 13) as u64;
                let pairs = (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to)));
                let amount = match operation {
                    Operation::Alltoallv => Amount::Table(pairs.map(|(a, b)| size(a, b)).collect()),
                    _ => Amount::KnownBlocks((0..ranks).map(|rank| size(rank, 0)).collect()),
                };
                let problem = Problem {
                    operation,
                    root: 0,
                    amount: &amount,
                    clusters: &clusters,
                    ordered: false,
                    network: Some(&network),
                    unit_bytes,
                };
                let found = quickest(&problem, (48 << 10) / unit_bytes).unwrap();
                assert!(found.seconds <= found.unknown, "{operation} {found:?}");
            }
        }
        assert!(telling(&network, 256) > 10e-3 && telling(&network, 256) < 50e-3);
    }
}
