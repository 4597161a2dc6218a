//! A collective call, as one rank knows it: what a description is written for.

use crate::clusters::Clusters;
use crate::network::links::Network;
use crate::operation::Operation;
use crate::plan::range::Range;
use crate::steps::Flow;

/// How much data there is, in units.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Amount {
    /// The message, or the block of each rank (or pair of ranks).
    Each(u64),
    /// The block of each rank. For `Gatherv` and `Scatterv` only the root knows
    /// more than its own.
    Blocks(Vec<u64>),
    /// What this rank sends to each and receives from each.
    Exchanged {
        /// Units sent to each rank.
        sent: Vec<u64>,
        /// Units received from each rank.
        received: Vec<u64>,
    },
    /// The block of each rank, where all ranks know all of them, also in `Gatherv` and `Scatterv`.
    KnownBlocks(Vec<u64>),
    /// Units from each rank to each, sender by sender, where all ranks know all of them.
    Table(Vec<u64>),
    /// As [`Amount::Blocks`], where the leader of each cluster knows those of its ranks too.
    ToldBlocks(Vec<u64>),
    /// As [`Amount::Exchanged`], a row for this rank, or, at the leader of a cluster, one for each
    /// of its ranks, from low to high.
    ToldRows {
        /// Units that the rank of a row sends to each rank.
        sent: Vec<u64>,
        /// Units that the rank of a row receives from each rank.
        received: Vec<u64>,
    },
}

/// A collective call.
#[derive(Debug, Clone)]
pub struct Problem<'a> {
    /// Which collective.
    pub operation: Operation,
    /// The root, where there is one; 0 elsewhere.
    pub root: usize,
    /// How much.
    pub amount: &'a Amount,
    /// The clusters of ranks, and the levels inside them.
    pub clusters: &'a Clusters,
    /// Operands must be combined in the order of ranks, in a way that the
    /// clusters do not change.
    pub ordered: bool,
    /// The cost of messages, if it is known: orders between clusters are made from it. All ranks
    /// must have the same.
    pub network: Option<&'a Network>,
    /// Bytes of a unit.
    pub unit_bytes: u64,
}

/// Bytes that fill the path between two clusters where no network is known: 10 ms at 100 Mbit/s.
const USUAL_IN_FLIGHT: u64 = 125_000;

impl Problem<'_> {
    /// Units that fill the path between two clusters (its bandwidth-delay product).
    pub fn in_flight(&self) -> u64 {
        let bytes = self.network.map_or(USUAL_IN_FLIGHT, |network| {
            network.in_flight(self.operation, self.root_cluster())
        });
        bytes / self.unit_bytes.max(1)
    }

    /// How messages of the call flow: what is not said of `flow` is what the network says.
    pub fn flow(&self, flow: Flow) -> Flow {
        Flow {
            in_flight: flow.in_flight.or_else(|| Some(self.in_flight())),
            ..flow
        }
    }

    /// The call as one that all ranks make alike, of `bytes` bytes where they are known.
    pub fn call(&self, bytes: Option<u64>) -> Uniform {
        Uniform {
            operation: self.operation,
            bytes: bytes.unwrap_or(0),
            root: self.root,
        }
    }

    /// The cluster of the root, or, where there is no root, the one in the middle of the network.
    pub(crate) fn root_cluster(&self) -> usize {
        match self.operation.has_root() {
            true => self.clusters.of(self.root),
            false => self.network.map_or(0, Network::centre),
        }
    }

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.clusters.ranks()
    }

    /// The parameter of the algorithm: the one that was asked for, or this.
    pub(crate) fn parameter(&self, usual: u32) -> u32 {
        self.clusters.parameter().unwrap_or(usual)
    }

    /// The rank `distance` further than `rank`, round the communicator.
    pub fn after(&self, rank: usize, distance: usize) -> usize {
        (rank + distance) % self.ranks()
    }

    /// The rank `distance` (at most the number of ranks) before `rank`, round the communicator.
    pub fn before(&self, rank: usize, distance: usize) -> usize {
        (rank + self.ranks() - distance) % self.ranks()
    }

    /// How far a rank is from the root, round the communicator.
    pub fn place(&self, rank: usize) -> usize {
        self.before(rank, self.root)
    }

    /// The leader of a cluster in this collective: the root for its own.
    pub fn leader(&self, cluster: usize) -> usize {
        match self.operation.has_root() {
            true => self.clusters.leader_towards(cluster, self.root),
            false => self.clusters.leader(cluster),
        }
    }

    /// Units of a rank's block; of the message, where there is one.
    pub fn block(&self, rank: usize) -> u64 {
        match self.amount {
            Amount::Each(units) => *units,
            Amount::Blocks(blocks) | Amount::KnownBlocks(blocks) | Amount::ToldBlocks(blocks) => {
                blocks[rank]
            }
            Amount::Exchanged { .. } | Amount::Table(_) | Amount::ToldRows { .. } => 0,
        }
    }

    /// Units of the block that one rank has for another in an exchange whose sizes all ranks know;
    /// 0 in others.
    pub fn pair(&self, from: usize, to: usize) -> u64 {
        match self.amount {
            Amount::Each(units) => *units,
            Amount::Table(table) => table[from * self.ranks() + to],
            Amount::Blocks(_) | Amount::KnownBlocks(_) | Amount::ToldBlocks(_) => 0,
            Amount::Exchanged { .. } | Amount::ToldRows { .. } => 0,
        }
    }

    /// Units of all blocks that the ranks of one cluster have for those of another, in an exchange
    /// whose sizes all ranks know.
    pub fn between(&self, from: usize, to: usize) -> u64 {
        let (senders, receivers) = (self.clusters.members(from), self.clusters.members(to));
        if let Amount::Each(units) = self.amount {
            return (senders.len() * receivers.len()) as u64 * units;
        }
        let row = |&one: &usize| receivers.iter().map(move |&other| self.pair(one, other));
        senders.iter().flat_map(row).sum()
    }

    /// Whether all ranks know the sizes of all blocks.
    pub fn sizes_are_known(&self) -> bool {
        match self.amount {
            Amount::Each(_) | Amount::KnownBlocks(_) | Amount::Table(_) => true,
            Amount::Blocks(_) => self.operation.tells_all_sizes(),
            Amount::Exchanged { .. } | Amount::ToldBlocks(_) | Amount::ToldRows { .. } => false,
        }
    }

    /// Whether the leader of each cluster knows the sizes of the blocks of its ranks.
    pub(crate) fn sizes_are_told(&self) -> bool {
        matches!(self.amount, Amount::ToldBlocks(_) | Amount::ToldRows { .. })
    }

    /// Where a rank's block starts when blocks stand one behind the other. [`Problem::blocks`] is
    /// quicker for many.
    pub fn start(&self, rank: usize) -> u64 {
        match self.amount {
            Amount::Each(units) => rank as u64 * units,
            Amount::Blocks(blocks) | Amount::KnownBlocks(blocks) | Amount::ToldBlocks(blocks) => {
                blocks[..rank].iter().sum()
            }
            Amount::Exchanged { .. } | Amount::Table(_) | Amount::ToldRows { .. } => 0,
        }
    }

    /// Units of all blocks together.
    pub fn total(&self) -> u64 {
        self.start(self.ranks())
    }

    /// The blocks of all ranks, one behind the other.
    pub fn blocks(&self) -> Blocks {
        let count = self.ranks();
        match self.amount {
            Amount::Each(units) => Blocks::Equal {
                count,
                units: *units,
            },
            Amount::Blocks(lengths)
            | Amount::KnownBlocks(lengths)
            | Amount::ToldBlocks(lengths) => Blocks::listed(lengths),
            Amount::Exchanged { .. } | Amount::Table(_) | Amount::ToldRows { .. } => {
                Blocks::Equal { count, units: 0 }
            }
        }
    }

    /// The message (this rank's block) cut into one block for each of `count`.
    pub fn cut(&self, rank: usize, count: usize) -> Blocks {
        let units = self.block(rank);
        Blocks::Cut { count, units }
    }
}

/// A call that all ranks make alike: what predictions, simulations and exports are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Uniform {
    /// The collective.
    pub operation: Operation,
    /// Bytes of the message, or of one rank's block.
    pub bytes: u64,
    /// The root, 0 where there is none.
    pub root: usize,
}

impl Uniform {
    /// The call of a collective that this one is composed of, among so many ranks, from rank 0.
    pub fn part(&self, operation: Operation, ranks: usize) -> Uniform {
        Uniform {
            operation,
            bytes: match operation.unit() == self.operation.unit() {
                true => self.bytes,
                false => self.bytes.saturating_mul(ranks as u64),
            },
            root: 0,
        }
    }
}

/// Blocks that stand one behind the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Blocks {
    /// `count` blocks of `units` units.
    Equal {
        /// How many.
        count: usize,
        /// Units of each.
        units: u64,
    },
    /// A message of `units` units cut into `count` blocks as equal as can be.
    Cut {
        /// How many.
        count: usize,
        /// Units of all together.
        units: u64,
    },
    /// Blocks of any size: where each starts, and where the last ends.
    Listed(Vec<u64>),
}

impl Blocks {
    /// Blocks of these lengths.
    pub fn listed(lengths: &[u64]) -> Self {
        let mut end = 0;
        let ends = lengths.iter().map(|length| {
            end += length;
            end
        });
        Blocks::Listed(std::iter::once(0).chain(ends).collect())
    }

    /// The blocks in the order from block `first` on, round.
    pub fn rotated(&self, first: usize) -> Blocks {
        if let Blocks::Equal { .. } = self {
            return self.clone();
        }
        let count = self.count();
        let lengths = (0..count).map(|place| self.length((first + place) % count));
        Blocks::listed(&lengths.collect::<Vec<u64>>())
    }

    /// Number of blocks.
    pub fn count(&self) -> usize {
        match self {
            Blocks::Equal { count, .. } | Blocks::Cut { count, .. } => *count,
            Blocks::Listed(starts) => starts.len() - 1,
        }
    }

    /// Where block `index` starts; the end of all for the index behind the last.
    pub fn start(&self, index: usize) -> u64 {
        match self {
            Blocks::Equal { units, .. } => units * index as u64,
            Blocks::Cut { count, units } => {
                // As units * index / count, without a product that is too large.
                let (count, index) = (*count as u64, index as u64);
                units / count * index + units % count * index / count
            }
            Blocks::Listed(starts) => starts[index],
        }
    }

    /// Units of block `index`.
    pub fn length(&self, index: usize) -> u64 {
        self.start(index + 1) - self.start(index)
    }

    /// Where block `index` is in `all`.
    pub fn of(&self, all: Range, index: usize) -> Range {
        self.span(all, index, index + 1)
    }

    /// Where the blocks `first..end` are in `all`.
    pub fn span(&self, all: Range, first: usize, end: usize) -> Range {
        let start = self.start(first);
        all.part(start, self.start(end) - start)
    }

    /// Units of all blocks.
    pub fn total(&self) -> u64 {
        self.start(self.count())
    }
}

/// `units` cut into `count` blocks as equal as can be: start and length of block `index`.
pub fn share(units: u64, count: usize, index: usize) -> (u64, u64) {
    let blocks = Blocks::Cut { count, units };
    (blocks.start(index), blocks.length(index))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn blocks_of_a_message_are_nearly_equal_and_add_up_to_it(count in 1usize..40, units: u64) {
            let blocks = Blocks::Cut { count, units };
            prop_assert_eq!(blocks.total(), units);
            for index in 0..count {
                let length = blocks.length(index);
                prop_assert!(length == units / count as u64 || length == units / count as u64 + 1);
            }
        }

        #[test]
        fn listed_blocks_have_their_lengths(lengths in prop::collection::vec(0u64..1000, 1..20)) {
            let blocks = Blocks::listed(&lengths);
            prop_assert_eq!(blocks.count(), lengths.len());
            let all = Range::input(0, blocks.total());
            for (index, &length) in lengths.iter().enumerate() {
                prop_assert_eq!(blocks.of(all, index).length, length);
            }
            prop_assert_eq!(all.length, lengths.iter().sum::<u64>());
        }
    }
}
