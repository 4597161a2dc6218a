//! The algorithms of collectives that are modelled.

use crate::affinity::names::named;
use crate::collective::operation::Operation;

/// How a collective is done. Not every algorithm does every operation, see
/// [`Operation::algorithms`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Algorithm {
    /// The root talks to each rank itself; for scans, each rank to the next.
    Linear,
    /// The root tells each rank to begin, and gets its block in two messages
    /// (Open MPI's gather).
    SynchronisedLinear,
    /// A binomial tree: the parent of a rank has its lowest set bit cleared.
    Binomial,
    /// A binomial tree in which the parent of a rank has its highest set bit
    /// cleared, so that the ranks below one do not follow each other.
    HighestBitBinomial,
    /// A tree of arity 4 in the manner of a binomial one: the parent of a rank
    /// has its lowest digit that is not 0, to the base 4, cleared.
    Quadrinomial,
    /// A binary tree whose levels are filled from the root on.
    Binary,
    /// A binary tree in which the ranks below one precede it, so that operands
    /// are combined in their order; what it gives goes on to the root.
    InOrderBinary,
    /// From the root on, each rank to the next.
    Chain,
    /// Exchanges at distances 1, 2, 4, ...; ranks above a power of two hand
    /// over to a neighbour first and are told the result last.
    RecursiveDoubling,
    /// Exchanges that halve the data, for reduce-scatter.
    RecursiveHalving,
    /// Round `k` signals the rank `2^k` further on, for barriers.
    Dissemination,
    /// Every rank talks to its right neighbour only.
    Ring,
    /// Shifts by 1, 2, 4, ... ranks, each moving up to half of the data.
    Bruck,
    /// Every rank talks to its two neighbours in turn, in pairs; the ring where
    /// the number of ranks is odd.
    NeighbourExchange,
    /// Every rank talks to every other.
    Pairwise,
    /// Exchanges that halve the data, nearest partner first, after which each
    /// block is sent to its owner (reduce-scatter).
    Butterfly,
    /// Broadcast as a binomial scatter and a ring allgather (van de Geijn).
    ScatterAllgather,
    /// Broadcast as a binomial scatter and a recursive doubling allgather, where ranks
    /// are a power of two.
    ScatterDoubling,
    /// Allreduce as recursive halving and recursive doubling (Rabenseifner).
    ReduceScatterAllgather,
    /// Reduce as recursive halving and a binomial gather (Rabenseifner).
    ReduceScatterGather,
    /// A reduce to rank 0 and a broadcast from there, each as usual.
    ReduceBroadcast,
    /// A reduce to rank 0 and a scatter from there, each as usual.
    ReduceScatterv,
    /// A gather to rank 0 and a broadcast from there, each as usual.
    GatherBroadcast,
}

impl Algorithm {
    pub(super) const NAMES: &'static [(&'static str, Algorithm)] = &[
        ("linear", Algorithm::Linear),
        ("synchronised-linear", Algorithm::SynchronisedLinear),
        ("binomial", Algorithm::Binomial),
        ("highest-bit-binomial", Algorithm::HighestBitBinomial),
        ("quadrinomial", Algorithm::Quadrinomial),
        ("binary", Algorithm::Binary),
        ("in-order-binary", Algorithm::InOrderBinary),
        ("chain", Algorithm::Chain),
        ("recursive-doubling", Algorithm::RecursiveDoubling),
        ("recursive-halving", Algorithm::RecursiveHalving),
        ("dissemination", Algorithm::Dissemination),
        ("ring", Algorithm::Ring),
        ("bruck", Algorithm::Bruck),
        ("neighbour-exchange", Algorithm::NeighbourExchange),
        ("pairwise", Algorithm::Pairwise),
        ("butterfly", Algorithm::Butterfly),
        ("scatter-allgather", Algorithm::ScatterAllgather),
        ("scatter-doubling", Algorithm::ScatterDoubling),
        (
            "reduce-scatter-allgather",
            Algorithm::ReduceScatterAllgather,
        ),
        ("reduce-scatter-gather", Algorithm::ReduceScatterGather),
        ("reduce-broadcast", Algorithm::ReduceBroadcast),
        ("reduce-scatterv", Algorithm::ReduceScatterv),
        ("gather-broadcast", Algorithm::GatherBroadcast),
    ];
}

named!(Algorithm, "collective algorithm");

impl Operation {
    /// The algorithms that are modelled for this operation.
    pub fn algorithms(self) -> &'static [Algorithm] {
        use Algorithm::*;
        match self {
            Operation::Barrier => &[Dissemination, RecursiveDoubling, Binomial, Linear],
            Operation::Bcast => &[
                Binomial,
                HighestBitBinomial,
                Quadrinomial,
                Binary,
                Chain,
                ScatterDoubling,
                ScatterAllgather,
                Linear,
            ],
            Operation::Gather => &[Binomial, Linear, SynchronisedLinear],
            Operation::Gatherv | Operation::Scatter | Operation::Scatterv => &[Binomial, Linear],
            Operation::Allgather | Operation::Allgatherv => &[
                RecursiveDoubling,
                Bruck,
                Ring,
                NeighbourExchange,
                GatherBroadcast,
            ],
            Operation::Alltoall => &[Bruck, Pairwise],
            Operation::Alltoallv | Operation::Alltoallw => &[Pairwise],
            Operation::Reduce => &[
                Binomial,
                Binary,
                InOrderBinary,
                Chain,
                ReduceScatterGather,
                Linear,
            ],
            Operation::Allreduce => &[
                RecursiveDoubling,
                ReduceScatterAllgather,
                Ring,
                ReduceBroadcast,
            ],
            Operation::ReduceScatter | Operation::ReduceScatterBlock => {
                &[RecursiveHalving, Pairwise, Ring, Butterfly, ReduceScatterv]
            }
            Operation::Scan | Operation::Exscan => &[RecursiveDoubling, Linear],
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::collective::read::traffic::algorithm::*;

    #[test]
    fn every_algorithm_is_read_back_from_its_name_and_does_something() {
        for &(name, algorithm) in Algorithm::NAMES {
            assert_eq!(name.parse(), Ok(algorithm));
            assert_eq!(algorithm.to_string(), name);
            assert!(
                Operation::all().any(|operation| operation.algorithms().contains(&algorithm)),
                "{name} serves no operation"
            );
        }
    }
}
