//! What a plan is asked for, as one rank knows it.

use crate::collective::Operation;
use crate::collective::{Clusters, Network};

/// How much data there is, in units.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Amount {
    /// The message, or the block of each rank (or pair of ranks).
    Each(u64),
    /// The part of each rank. For `Gatherv` and `Scatterv` only the root knows
    /// more than its own.
    Parts(Vec<u64>),
    /// What this rank sends to each and receives from each.
    Exchanged {
        /// Units sent to each rank.
        sent: Vec<u64>,
        /// Units received from each rank.
        received: Vec<u64>,
    },
}

/// A collective to make a plan for.
#[derive(Debug, Clone)]
pub struct Problem<'a> {
    /// Which collective.
    pub operation: Operation,
    /// The root, where there is one; 0 elsewhere.
    pub root: usize,
    /// How much.
    pub amount: &'a Amount,
    /// The ranks and who is near whom.
    pub clusters: &'a Clusters,
    /// Operands must be combined in the order of ranks, in a way that the
    /// clusters do not change.
    pub ordered: bool,
    /// What messages meet, if that is known: what orders between clusters are made
    /// from. All ranks must have the same.
    pub network: Option<&'a Network>,
    /// Bytes of a unit.
    pub unit_bytes: u64,
}

/// Bytes on their way between clusters while a link is kept busy, where no network
/// says it: 10 ms at 100 Mbit/s.
const USUAL_IN_FLIGHT: u64 = 125_000;

impl Problem<'_> {
    /// Units on their way between clusters while the busiest link is kept busy.
    pub fn in_flight(&self) -> u64 {
        let bytes = self.network.map_or(USUAL_IN_FLIGHT, |network| {
            network.in_flight(self.operation, self.home())
        });
        bytes / self.unit_bytes.max(1)
    }

    /// The cluster that messages come from or go to: the root's, or, where there is no root, the
    /// one in the middle of the network.
    pub fn home(&self) -> usize {
        match self.operation.has_root() {
            true => self.clusters.of(self.root),
            false => self.network.map_or(0, Network::centre),
        }
    }

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.clusters.ranks()
    }

    /// The rank that speaks for a cluster in this collective: the root for its own.
    pub fn leader(&self, cluster: usize) -> usize {
        match self.operation.has_root() {
            true => self.clusters.coordinator(cluster, self.root),
            false => self.clusters.speaker(cluster),
        }
    }

    /// Units of a rank's block or part; of the message, where there is one.
    pub fn part(&self, rank: usize) -> u64 {
        match self.amount {
            Amount::Each(units) => *units,
            Amount::Parts(parts) => parts[rank],
            Amount::Exchanged { .. } => 0,
        }
    }

    /// Where a rank's part starts when parts stand one behind the other.
    pub fn start(&self, rank: usize) -> u64 {
        match self.amount {
            Amount::Each(units) => rank as u64 * units,
            Amount::Parts(parts) => parts[..rank].iter().sum(),
            Amount::Exchanged { .. } => 0,
        }
    }

    /// Units of all parts together.
    pub fn total(&self) -> u64 {
        self.start(self.ranks())
    }
}

/// `units` divided among `ways` as evenly as they can be: start and length of
/// share `index`.
pub fn share(units: u64, ways: usize, index: usize) -> (u64, u64) {
    let (ways, index) = (ways as u64, index as u64);
    let start = |index: u64| (u128::from(units) * u128::from(index) / u128::from(ways)) as u64;
    (start(index), start(index + 1) - start(index))
}
