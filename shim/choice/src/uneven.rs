//! Choice for blocks of uneven sizes that all ranks know: their mean does not determine the time,
//! so every algorithm's plans are simulated with the actual sizes.
//!
//! All ranks make the same choice: they have the same sizes and the same platform, and it depends
//! on nothing else.

use crate::choice::Choice;
use crate::policy::MIN_GAIN_RATIO;
use treepie_base::Cluster;
use treepie_collective::network::MessageCost;
use treepie_collective::read::simulate::{Options, simulate};
use treepie_collective::{Algorithm, Amount, Network, Operation, Problem};

/// Maximum number of ranks: for more, simulating all algorithms takes longer than they gain.
pub const MOST_RANKS: usize = 64;

/// Maximum number of ranks for which schedules that take long to compute are considered.
const MOST_OPTIMAL: usize = 16;

/// Number of the first call whose sizes are exchanged. The exchange takes as long as a short call
/// between clusters, and the first choice about as long: both are a few hundredths of that many
/// calls.
const FIRST_EXCHANGE: u32 = 127;

/// Choice for uneven blocks.
#[derive(Debug, Clone, Copy)]
pub struct Uneven {
    /// Fastest algorithm.
    pub algorithm: &'static Algorithm,
    /// Its predicted seconds.
    pub seconds: f64,
    /// Predicted seconds of the collective if each rank knows only its own sizes.
    pub unknown: f64,
}

impl Uneven {
    /// Choice with messages of up to `segment` bytes.
    pub fn choice(&self, segment: u64) -> Choice {
        Choice {
            algorithm: Some(self.algorithm),
            segment,
            seconds: Some(self.seconds),
            unpredicted: Default::default(),
            considered: Vec::new(),
            native: None,
        }
    }
}

/// Fastest of all algorithms for a call whose sizes all ranks know, in messages of up to `segment`
/// units, compared with `plain`, the one without known sizes. `None` if no network is known, for
/// too many ranks, and for algorithms that never end.
pub fn fastest(problem: &Problem, segment: u64, plain: &'static Algorithm) -> Option<Uneven> {
    let network = problem.network?;
    if problem.ranks() > MOST_RANKS || !problem.sizes_are_known() {
        return None;
    }
    let seconds = |algorithm: &'static Algorithm| {
        let plans = algorithm.describe(problem).plans(segment);
        let outcome = simulate(network, &plans, problem.unit_bytes, Options::default());
        outcome.ok().map(|outcome| outcome.seconds)
    };
    let unknown = seconds(plain)?;
    let mut best = Uneven {
        algorithm: plain,
        seconds: unknown,
        unknown,
    };
    if crossing(problem, network) > MIN_GAIN_RATIO * unknown {
        return Some(best);
    }
    let is_quick =
        |algorithm: &Algorithm| problem.ranks() <= MOST_OPTIMAL || !algorithm.is_slow_to_schedule();
    let others = Algorithm::of(problem.operation).filter(|&algorithm| algorithm != plain);
    for algorithm in others.filter(|algorithm| algorithm.serves(problem) && is_quick(algorithm)) {
        if let Some(seconds) = seconds(algorithm)
            && seconds < best.seconds.min(MIN_GAIN_RATIO * unknown)
        {
            best = Uneven {
                algorithm,
                seconds,
                ..best
            };
        }
    }
    Some(best)
}

/// Units from one cluster to another in a call whose sizes all ranks know.
fn units_between(problem: &Problem, from: Cluster, to: Cluster) -> u64 {
    let clusters = problem.clusters;
    let root_cluster = clusters.of(problem.root);
    let blocks = |cluster: Cluster| -> u64 {
        let members = clusters.members(cluster).iter();
        members.map(|&rank| problem.block(rank)).sum()
    };
    match problem.operation {
        Operation::Scatterv if from == root_cluster => blocks(to),
        Operation::Gatherv if to == root_cluster => blocks(from),
        Operation::Scatterv | Operation::Gatherv => 0,
        _ => problem.between(from, to),
    }
}

/// Lower bound in seconds of a call whose sizes all ranks know: its bytes pass the links of
/// clusters, and some message crosses the longest path that it needs.
pub fn bound(problem: &Problem, network: &Network) -> f64 {
    let clusters = problem.clusters;
    let others = |from| clusters.others(from).map(move |to| (from, to));
    let pairs = clusters.all().flat_map(others);
    let used = pairs.filter(|&(from, to)| units_between(problem, from, to) > 0);
    let latencies = used.filter_map(|(from, to)| Some(network.between(from, to)?.latency()));
    let farthest = latencies.fold(0.0, f64::max);
    farthest.max(crossing(problem, network))
}

/// Lower bound of any algorithm in seconds: the bytes of all clusters must pass the links out of
/// them and into them.
fn crossing(problem: &Problem, network: &Network) -> f64 {
    let clusters = problem.clusters;
    let units = |from: Cluster, to: Cluster| units_between(problem, from, to);
    let others = |cluster: Cluster| clusters.others(cluster);
    let link = |cluster: Cluster| {
        let out: u64 = others(cluster).map(|other| units(cluster, other)).sum();
        let into: u64 = others(cluster).map(|other| units(other, cluster)).sum();
        let [out, into] = [out, into].map(|units| units.saturating_mul(problem.unit_bytes));
        f64::max(
            network.uplink(cluster, out),
            network.downlink(cluster, into),
        )
    };
    clusters.all().map(link).fold(0.0, f64::max)
}

/// Approximate seconds of an exchange of rows of `bytes` of each rank: members to leaders, between
/// these, and back.
pub fn exchange_seconds(network: &Network, bytes: u64) -> f64 {
    let clusters = network.all_clusters();
    let largest = |of: &dyn Fn(Cluster) -> f64| clusters.clone().map(of).fold(0.0, f64::max);
    let all = bytes.saturating_mul(network.ranks() as u64);
    let inside = largest(&|cluster| MessageCost::on(network.within(cluster), all).seconds());
    let between = largest(&|from| {
        let others = clusters.clone().filter(|&to| to != from);
        let costs = others.map(|to| MessageCost::on(network.between(from, to), all).seconds());
        costs.fold(0.0, f64::max)
    });
    2.0 * inside + between
}

/// Sizes that all ranks know from the rows of all; `None` if two ranks disagree on a block. A row
/// has the units that a rank sends to each and receives from each or, with a root, the known blocks
/// of each rank.
pub fn from_rows(operation: Operation, root: usize, ranks: usize, rows: &[u64]) -> Option<Amount> {
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

/// Row of a rank for [`from_rows`]; `None` for amounts that all ranks know.
pub fn row(amount: &Amount) -> Option<Vec<u64>> {
    match amount {
        Amount::Blocks(blocks) => Some(blocks.clone()),
        Amount::Exchanged { sent, received } => Some([sent.as_slice(), received].concat()),
        Amount::Each(_) | Amount::KnownBlocks(_) | Amount::Table(_) => None,
        Amount::ToldBlocks(_) | Amount::ToldRows { .. } => None,
    }
}

/// Seconds that a rank measured for exchanges of sizes: 0 if it has not measured yet.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Measured {
    /// Shortest of all exchanges: in others, ranks waited for a late one.
    pub exchange: f64,
    /// Latest choice; almost 0 for sizes that were cached.
    pub choice: f64,
}

/// Number of words of [`Measured`] in a message: nanoseconds.
pub const MEASURED_WORDS: usize = 2;

impl Measured {
    /// Words of a message.
    pub fn to_words(self) -> [u64; MEASURED_WORDS] {
        [self.exchange, self.choice].map(|seconds| (1e9 * seconds) as u64)
    }

    /// Records an exchange that took `seconds`.
    pub fn add_exchange(&mut self, seconds: f64) {
        let seconds = seconds.max(1e-9);
        self.exchange = match self.exchange > 0.0 {
            true => self.exchange.min(seconds),
            false => seconds,
        };
    }

    /// Seconds of an exchange and a choice, as all ranks compute them from the words of all: the
    /// exchange of the rank that waited least, and the slowest choice. `None` if a rank has not
    /// measured an exchange yet.
    pub fn agreed(words: impl Iterator<Item = [u64; MEASURED_WORDS]>) -> Option<f64> {
        let (mut least, mut slowest) = (u64::MAX, 0);
        for [exchange, choice] in words {
            least = least.min(exchange);
            slowest = slowest.max(choice);
        }
        (least > 0).then_some(1e-9 * (least as f64 + slowest as f64))
    }
}

/// Schedule of the exchanges of sizes: a function of values that all ranks share, the number of
/// their calls and the results of earlier exchanges.
///
/// ```text
///   calls     0 1 ... 126 [127] 128 ... [255] ...    while nothing is gained: ever more rarely
///             ... [255] [256] [257] ...              while more is gained than it costs
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchanges {
    calls: u32,
    next: u32,
}

impl Default for Exchanges {
    fn default() -> Self {
        Exchanges {
            calls: 0,
            next: FIRST_EXCHANGE,
        }
    }
}

impl Exchanges {
    /// Counts a call; returns true if its sizes are to be exchanged.
    pub fn is_due(&mut self) -> bool {
        let is_due = self.calls == self.next;
        self.calls = self.calls.saturating_add(1);
        is_due
    }

    /// Records the seconds that the last call gains by its exchange, and those of exchange and
    /// choice, as all ranks agree. If these are not measured yet, the next call measures them.
    pub fn learn(&mut self, gained: f64, cost: Option<f64>) {
        self.next = match gained > cost.unwrap_or(0.0) {
            true => self.calls,
            false => self.calls.saturating_mul(2).saturating_sub(1),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use treepie_collective::{Clusters, grids};

    #[test]
    fn sizes_are_exchanged_ever_more_rarely_until_that_gains_more_than_it_costs() {
        let mut exchanges = Exchanges::default();
        let mut due = |gained: f64, cost: Option<f64>, calls: usize| -> Vec<usize> {
            let mut when = Vec::new();
            for call in 0..calls {
                if exchanges.is_due() {
                    when.push(call);
                    exchanges.learn(gained, cost);
                }
            }
            when
        };
        assert_eq!(due(1e-3, Some(2e-3), 300), [127, 255]);
        assert_eq!(due(3e-3, Some(2e-3), 214), [211, 212, 213]);
        assert_eq!(due(1e-3, Some(2e-3), 500), [0]);
        // A gain is compared once its cost is measured.
        let mut exchanges = Exchanges::default();
        (0..FIRST_EXCHANGE).for_each(|_| assert!(!exchanges.is_due()));
        assert!(exchanges.is_due());
        exchanges.learn(1e-3, None);
        assert!(exchanges.is_due());
        exchanges.learn(1e-3, Some(2e-3));
        assert!(!exchanges.is_due());
    }

    #[test]
    fn ranks_agree_on_the_exchange_without_waiting_and_on_the_slowest_choice() {
        let measured = |exchange, choice| Measured { exchange, choice }.to_words();
        let all = [measured(4e-3, 1e-3), measured(2e-3, 3e-3)];
        let agreed = Measured::agreed(all.into_iter()).unwrap();
        assert!((agreed - 5e-3).abs() < 1e-9, "{agreed}");
        let all = [measured(4e-3, 1e-3), Measured::default().to_words()];
        assert_eq!(Measured::agreed(all.into_iter()), None);
    }

    #[test]
    fn sizes_are_known_when_all_rows_agree_and_unknown_otherwise() {
        let rows = [[1, 2, 1, 7], [7, 4, 2, 4]].concat();
        let found = from_rows(Operation::Alltoallv, 0, 2, &rows);
        assert_eq!(found, Some(Amount::Table(vec![1, 2, 7, 4])));
        let rows = [[1, 2, 1, 7], [7, 4, 3, 4]].concat();
        assert_eq!(from_rows(Operation::Alltoallv, 0, 2, &rows), None);
        let found = from_rows(Operation::Gatherv, 1, 2, &[5, 0, 5, 6]);
        assert_eq!(found, Some(Amount::KnownBlocks(vec![5, 6])));
        assert_eq!(from_rows(Operation::Scatterv, 1, 2, &[4, 0, 5, 6]), None);
    }

    #[test]
    fn the_fastest_is_never_slower_than_what_needs_no_sizes() {
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
                let flat = Algorithm::find(operation, "flat").unwrap();
                let found = fastest(&problem, (48 << 10) / unit_bytes, flat).unwrap();
                assert!(found.seconds <= found.unknown, "{operation} {found:?}");
            }
        }
        let exchange = exchange_seconds(&network, 256);
        assert!(exchange > 10e-3 && exchange < 50e-3, "{exchange}");
    }
}
