//! A collective call, from the view of one rank: the input of a description.

use crate::clusters::Clusters;
use crate::network::links::Network;
use crate::operation::{Operation, Unit};
use crate::plan::range::Range;
use crate::steps::Flow;
use treepie_base::Cluster;

/// Amount of data in units.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Amount {
    /// Units of the message, or of the block of each rank (or pair of ranks).
    Each(u64),
    /// Units of the block of each rank. For `Gatherv` and `Scatterv` only the root knows more than
    /// its own.
    Blocks(Vec<u64>),
    /// Units that this rank exchanges with each rank.
    Exchanged {
        /// Units sent to each rank.
        sent: Vec<u64>,
        /// Units received from each rank.
        received: Vec<u64>,
    },
    /// Units of the block of each rank, if all ranks know all of them, also in `Gatherv` and
    /// `Scatterv`.
    KnownBlocks(Vec<u64>),
    /// Units from each rank to each, by sender, if all ranks know all of them.
    Table(Vec<u64>),
    /// Like [`Amount::Blocks`], but the leader of each cluster also knows those of its ranks.
    ToldBlocks(Vec<u64>),
    /// Like [`Amount::Exchanged`], in one row for this rank or, at the leader of a cluster, one for
    /// each of its ranks, from low to high.
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
    /// Collective.
    pub operation: Operation,
    /// Root; 0 if there is none.
    pub root: usize,
    /// Amount of data.
    pub amount: &'a Amount,
    /// Clusters of ranks, and the levels inside them.
    pub clusters: &'a Clusters,
    /// True if operands must be combined in the order of ranks, independently of clusters.
    pub ordered: bool,
    /// Cost of messages, if known: orders between clusters are computed from it. All ranks must
    /// have the same value.
    pub network: Option<&'a Network>,
    /// Bytes of a unit.
    pub unit_bytes: u64,
}

/// Bytes that fill the path between two clusters of an unknown network: 10 ms at 100 Mbit/s.
const USUAL_IN_FLIGHT: u64 = 125_000;

impl Problem<'_> {
    /// Units that fill the path between two clusters (its bandwidth-delay product).
    pub fn in_flight(&self) -> u64 {
        let bytes = self.network.map_or(USUAL_IN_FLIGHT, |network| {
            network.in_flight(self.operation, self.root_cluster())
        });
        bytes / self.unit_bytes.max(1)
    }

    /// Flow of the call's messages: values that `flow` lacks come from the network.
    pub fn flow(&self, flow: Flow) -> Flow {
        Flow {
            in_flight: flow.in_flight.or_else(|| Some(self.in_flight())),
            ..flow
        }
    }

    /// The call in a form that is equal for all ranks, of `bytes` bytes if they are known.
    pub fn call(&self, bytes: Option<u64>) -> Uniform {
        Uniform {
            operation: self.operation,
            bytes: bytes.unwrap_or(0),
            root: self.root,
        }
    }

    /// Cluster of the root or, without a root, the one in the centre of the network.
    pub(crate) fn root_cluster(&self) -> Cluster {
        match self.operation.has_root() {
            true => self.clusters.of(self.root),
            false => self.network.map_or(Cluster(0), Network::centre),
        }
    }

    /// True if the message, cut into a block for each rank, has empty ones: ranks that would send
    /// alike do not.
    pub fn has_empty_blocks(&self) -> bool {
        self.operation.unit() == Unit::Message && self.block(0) < self.ranks() as u64
    }

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.clusters.ranks()
    }

    /// Parameter of the algorithm: the user's, or `usual`.
    pub(crate) fn parameter(&self, usual: u32) -> u32 {
        self.clusters.parameter().unwrap_or(usual)
    }

    /// Rank `distance` after `rank`, modulo the number of ranks.
    pub fn after(&self, rank: usize, distance: usize) -> usize {
        (rank + distance) % self.ranks()
    }

    /// Rank `distance` (at most the number of ranks) before `rank`, modulo the number of ranks.
    pub fn before(&self, rank: usize, distance: usize) -> usize {
        (rank + self.ranks() - distance) % self.ranks()
    }

    /// Distance from the root to a rank, modulo the number of ranks.
    pub fn place(&self, rank: usize) -> usize {
        self.before(rank, self.root)
    }

    /// Leader of a cluster in this collective: the root for its own.
    pub fn leader(&self, cluster: Cluster) -> usize {
        match self.operation.has_root() {
            true => self.clusters.leader_towards(cluster, self.root),
            false => self.clusters.leader(cluster),
        }
    }

    /// Units of a rank's block, or of the message.
    pub fn block(&self, rank: usize) -> u64 {
        match self.amount {
            Amount::Each(units) => *units,
            Amount::Blocks(blocks) | Amount::KnownBlocks(blocks) | Amount::ToldBlocks(blocks) => {
                blocks[rank]
            }
            Amount::Exchanged { .. } | Amount::Table(_) | Amount::ToldRows { .. } => 0,
        }
    }

    /// Units of the block from one rank to another in an exchange whose sizes all ranks know; 0 in
    /// other calls.
    pub fn pair(&self, from: usize, to: usize) -> u64 {
        match self.amount {
            Amount::Each(units) => *units,
            Amount::Table(table) => table[from * self.ranks() + to],
            Amount::Blocks(_) | Amount::KnownBlocks(_) | Amount::ToldBlocks(_) => 0,
            Amount::Exchanged { .. } | Amount::ToldRows { .. } => 0,
        }
    }

    /// Units of all blocks from the ranks of one cluster to those of another, in an exchange whose
    /// sizes all ranks know.
    pub fn between(&self, from: Cluster, to: Cluster) -> u64 {
        let (senders, receivers) = (self.clusters.members(from), self.clusters.members(to));
        if let Amount::Each(units) = self.amount {
            return (senders.len() * receivers.len()) as u64 * units;
        }
        let row = |&one: &usize| receivers.iter().map(move |&other| self.pair(one, other));
        senders.iter().flat_map(row).sum()
    }

    /// True if all ranks know the sizes of all blocks.
    pub fn sizes_are_known(&self) -> bool {
        match self.amount {
            Amount::Each(_) | Amount::KnownBlocks(_) | Amount::Table(_) => true,
            Amount::Blocks(_) => self.operation.tells_all_sizes(),
            Amount::Exchanged { .. } | Amount::ToldBlocks(_) | Amount::ToldRows { .. } => false,
        }
    }

    /// True if the leader of each cluster knows the sizes of the blocks of its ranks.
    pub(crate) fn sizes_are_told(&self) -> bool {
        matches!(self.amount, Amount::ToldBlocks(_) | Amount::ToldRows { .. })
    }

    /// Start of a rank's block if blocks are consecutive. [`Problem::blocks`] is faster for many.
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

    /// Blocks of all ranks, consecutively.
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

    /// The message (this rank's block), cut into `count` blocks.
    pub fn cut(&self, rank: usize, count: usize) -> Blocks {
        let units = self.block(rank);
        Blocks::Cut { count, units }
    }
}

/// A call whose arguments are equal on all ranks: the subject of predictions, simulations and
/// exports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Uniform {
    /// Collective.
    pub operation: Operation,
    /// Bytes of the message, or of one rank's block.
    pub bytes: u64,
    /// Root; 0 if there is none.
    pub root: usize,
}

impl Uniform {
    /// Call of a collective of which this one is composed, among `ranks` ranks, from rank 0.
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

/// Consecutive blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Blocks {
    /// `count` blocks of `units` units.
    Equal {
        /// Number of blocks.
        count: usize,
        /// Units of each block.
        units: u64,
    },
    /// A message of `units` units, cut into `count` blocks of nearly equal size.
    Cut {
        /// Number of blocks.
        count: usize,
        /// Units of all blocks together.
        units: u64,
    },
    /// Blocks of any size: the start of each, and the end of the last.
    Listed(Vec<u64>),
}

impl Blocks {
    /// Blocks of these lengths, in units.
    pub fn listed(lengths: &[u64]) -> Self {
        let mut end = 0;
        let ends = lengths.iter().map(|length| {
            end += length;
            end
        });
        Blocks::Listed(std::iter::once(0).chain(ends).collect())
    }

    /// The blocks in cyclic order from block `first` on.
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

    /// Start of block `index`; the end of all for the index after the last.
    pub fn start(&self, index: usize) -> u64 {
        match self {
            Blocks::Equal { units, .. } => units * index as u64,
            Blocks::Cut { count, units } => {
                // Units * index / count, without overflow.
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

    /// Range of block `index` in `all`.
    pub fn of(&self, all: Range, index: usize) -> Range {
        self.span(all, index, index + 1)
    }

    /// Range of the blocks `first..end` in `all`.
    pub fn span(&self, all: Range, first: usize, end: usize) -> Range {
        let start = self.start(first);
        all.part(start, self.start(end) - start)
    }

    /// Units of all blocks.
    pub fn total(&self) -> u64 {
        self.start(self.count())
    }
}

/// Start and length of block `index` if `units` are cut into `count` blocks of nearly equal size.
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
