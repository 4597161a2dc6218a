//! Decisions of MPICH and its relatives: the rules that are compiled into MPICH 4.0.2 (its
//! `generic.json`), for ranks that share no node. Its relatives began with the same rules.

use treepie_collective::Operation::{self, *};

const K: u64 = 1024;

/// Bytes of an element; a message that is cut must have one for each participating rank. MPICH
/// counts elements, which a profile does not contain: most have this size.
const ELEMENT: u64 = 8;

/// Inputs of rules: bytes of the message or block, of all blocks, and number of ranks.
struct Call {
    block: u64,
    all_blocks: u64,
    ranks: usize,
}

impl Call {
    fn is_power_of_two(&self) -> bool {
        self.ranks.is_power_of_two()
    }

    fn can_be_cut(&self) -> bool {
        self.block / ELEMENT >= 1 << self.ranks.ilog2()
    }
}

/// Operations that a rule is for, its condition, and the algorithm that it names.
type Rule = (&'static [Operation], fn(&Call) -> bool, &'static str);

/// Rules, of which the first that applies decides. Bruck's alltoall is used from 9 ranks on: the
/// rule has 8, and the reader of rules interprets that as "more than 8".
#[rustfmt::skip]
const RULES: &[Rule] = &[
    (&[Barrier], |_| true, "dissemination"),
    (&[Bcast], |c| c.block <= 12 * K || c.ranks < 8, "binomial"),
    (&[Bcast], |c| c.block <= 512 * K && c.is_power_of_two(), "scatter-doubling"),
    (&[Bcast], |_| true, "scatter-allgather"),
    (&[Gather, Scatter], |_| true, "binomial"),
    (&[Gatherv, Scatterv], |_| true, "linear"),
    (&[Allgather, Allgatherv], |c| c.all_blocks < 512 * K && c.is_power_of_two(), "recursive-doubling"),
    (&[Allgather, Allgatherv], |c| c.all_blocks < 80 * K, "bruck"),
    (&[Allgather, Allgatherv], |_| true, "ring"),
    (&[Alltoall], |c| c.block <= 256 && c.ranks >= 9, "bruck"),
    (&[Alltoall, Alltoallv, Alltoallw], |_| true, "pairwise"),
    (&[Reduce], |c| c.block <= 2 * K || !c.can_be_cut(), "binomial"),
    (&[Reduce], |_| true, "reduce-scatter-gather"),
    (&[Allreduce], |c| c.block <= 8 || !c.can_be_cut(), "recursive-doubling"),
    (&[Allreduce], |_| true, "reduce-scatter-allgather"),
    (&[ReduceScatter, ReduceScatterBlock], |c| c.all_blocks < 512 * K, "recursive-halving"),
    (&[ReduceScatter, ReduceScatterBlock], |_| true, "pairwise"),
    (&[Scan, Exscan], |_| true, "recursive-doubling"),
    (&[NeighborAllgather, NeighborAllgatherv], |_| true, "flat"),
    (&[NeighborAlltoall, NeighborAlltoallv, NeighborAlltoallw], |_| true, "flat"),
];

/// Different rules for non-blocking and persistent collectives: they take precedence over
/// [`RULES`].
#[rustfmt::skip]
const STARTED_RULES: &[Rule] = &[
    (&[Alltoall], |c| c.block <= 2 * K && c.ranks >= 9, "bruck"),
    (&[Allreduce], |c| c.block <= 2 * K, "recursive-doubling"),
];

pub(super) fn usual(operation: Operation, ranks: usize, block: u64) -> &'static str {
    first(RULES.iter(), operation, ranks, block)
}

/// Returns the algorithm for the non-blocking and persistent forms.
pub(super) fn started(operation: Operation, ranks: usize, block: u64) -> &'static str {
    first(STARTED_RULES.iter().chain(RULES), operation, ranks, block)
}

fn first(
    mut rules: impl Iterator<Item = &'static Rule>,
    operation: Operation,
    ranks: usize,
    block: u64,
) -> &'static str {
    let call = Call {
        block,
        all_blocks: block.saturating_mul(ranks as u64),
        ranks,
    };
    let found = rules.find(|(of, holds, _)| of.contains(&operation) && holds(&call));
    found.map_or("linear", |&(.., name)| name)
}
