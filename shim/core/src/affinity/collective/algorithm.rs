//! The algorithms of collectives that are modelled, and which one a host MPI
//! usually takes.

use super::operation::Operation;
use crate::affinity::names::named;

/// How a collective is done. Not every algorithm does every operation, see
/// [`Operation::algorithms`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Algorithm {
    /// The root talks to each rank itself; for scans, each rank to the next.
    Linear,
    /// A binomial tree: the parent of a rank has its lowest set bit cleared.
    Binomial,
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
    /// Every rank talks to every other.
    Pairwise,
    /// Broadcast as a binomial scatter and a ring allgather (van de Geijn).
    ScatterAllgather,
    /// Broadcast as a binomial scatter and a recursive doubling allgather;
    /// [`Algorithm::ScatterAllgather`] where ranks are no power of two.
    ScatterDoubling,
    /// Allreduce as recursive halving and recursive doubling (Rabenseifner).
    ReduceScatterAllgather,
    /// Reduce as recursive halving and a binomial gather (Rabenseifner).
    ReduceScatterGather,
}

impl Algorithm {
    const NAMES: &'static [(&'static str, Algorithm)] = &[
        ("linear", Algorithm::Linear),
        ("binomial", Algorithm::Binomial),
        ("recursive-doubling", Algorithm::RecursiveDoubling),
        ("recursive-halving", Algorithm::RecursiveHalving),
        ("dissemination", Algorithm::Dissemination),
        ("ring", Algorithm::Ring),
        ("bruck", Algorithm::Bruck),
        ("pairwise", Algorithm::Pairwise),
        ("scatter-allgather", Algorithm::ScatterAllgather),
        ("scatter-doubling", Algorithm::ScatterDoubling),
        (
            "reduce-scatter-allgather",
            Algorithm::ReduceScatterAllgather,
        ),
        ("reduce-scatter-gather", Algorithm::ReduceScatterGather),
    ];
}

named!(Algorithm, "collective algorithm");

impl Operation {
    /// The algorithms that are modelled for this operation.
    pub fn algorithms(self) -> &'static [Algorithm] {
        use Algorithm::*;
        match self {
            Operation::Barrier => &[Dissemination, RecursiveDoubling, Linear],
            Operation::Bcast => &[Binomial, ScatterDoubling, ScatterAllgather, Linear],
            Operation::Gather | Operation::Gatherv | Operation::Scatter | Operation::Scatterv => {
                &[Binomial, Linear]
            }
            Operation::Allgather | Operation::Allgatherv => &[RecursiveDoubling, Bruck, Ring],
            Operation::Alltoall => &[Bruck, Pairwise],
            Operation::Alltoallv | Operation::Alltoallw => &[Pairwise],
            Operation::Reduce => &[Binomial, ReduceScatterGather, Linear],
            Operation::Allreduce => &[RecursiveDoubling, ReduceScatterAllgather, Ring],
            Operation::ReduceScatter | Operation::ReduceScatterBlock => {
                &[RecursiveHalving, Pairwise, Ring]
            }
            Operation::Scan | Operation::Exscan => &[RecursiveDoubling, Linear],
        }
    }
}

/// The algorithm that a host MPI usually takes for `operation` among
/// `communicator_size` ranks: a simplified model of fixed decision rules.
///
/// `block_bytes` is what [`Volume::Uniform`](super::Volume::Uniform) says, for one call. The
/// thresholds are MPICH's defaults, which most of its relatives keep:
///
/// | operation | rule |
/// |---|---|
/// | barrier | dissemination |
/// | bcast | binomial below 12 KiB or 8 ranks; from there below 512 KiB on powers of two scatter and recursive doubling; else scatter and ring |
/// | gather, scatter | binomial |
/// | gatherv, scatterv | linear |
/// | allgather(v), by the gathered size | below 512 KiB on powers of two recursive doubling; else below 80 KiB Bruck; else ring |
/// | alltoall | Bruck up to 256 bytes from 8 ranks on; else pairwise |
/// | alltoallv, alltoallw | pairwise |
/// | reduce | binomial up to 2 KiB; else reduce-scatter and gather |
/// | allreduce | recursive doubling up to 2 KiB; else reduce-scatter and allgather |
/// | reduce-scatter(-block), by the scattered size | recursive halving below 512 KiB; else pairwise |
/// | scan, exscan | recursive doubling |
///
/// Open MPI's rules are tables of its own. Its 4.1.4 was watched on 6, 8 and 16
/// ranks with 64 bytes to 200 kB: it agrees on gather, alltoall, short and long
/// allreduce, short allgather and short reduce-scatter; it stays with
/// [`Algorithm::Binomial`] for long reduce, [`Algorithm::RecursiveHalving`] for
/// long reduce-scatter, and [`Algorithm::RecursiveDoubling`] or
/// [`Algorithm::Bruck`] for long allgather; its scans are [`Algorithm::Linear`],
/// as are some long scatters and broadcasts on few ranks; its other broadcasts and
/// short reductions use trees of other shapes. What happens inside a node through
/// shared memory is modelled for neither.
pub fn usual_algorithm(
    operation: Operation,
    communicator_size: usize,
    block_bytes: u64,
) -> Algorithm {
    const KIB: u64 = 1024;
    let power_of_two = communicator_size.is_power_of_two();
    let all_blocks = block_bytes.saturating_mul(communicator_size as u64);
    match operation {
        Operation::Barrier => Algorithm::Dissemination,
        Operation::Bcast if block_bytes < 12 * KIB || communicator_size < 8 => Algorithm::Binomial,
        Operation::Bcast if block_bytes < 512 * KIB && power_of_two => Algorithm::ScatterDoubling,
        Operation::Bcast => Algorithm::ScatterAllgather,
        Operation::Gather | Operation::Scatter => Algorithm::Binomial,
        Operation::Gatherv | Operation::Scatterv => Algorithm::Linear,
        Operation::Allgather | Operation::Allgatherv => {
            if all_blocks < 512 * KIB && power_of_two {
                Algorithm::RecursiveDoubling
            } else if all_blocks < 80 * KIB {
                Algorithm::Bruck
            } else {
                Algorithm::Ring
            }
        }
        Operation::Alltoall if block_bytes <= 256 && communicator_size >= 8 => Algorithm::Bruck,
        Operation::Alltoall | Operation::Alltoallv | Operation::Alltoallw => Algorithm::Pairwise,
        Operation::Reduce if block_bytes <= 2 * KIB => Algorithm::Binomial,
        Operation::Reduce => Algorithm::ReduceScatterGather,
        Operation::Allreduce if block_bytes <= 2 * KIB => Algorithm::RecursiveDoubling,
        Operation::Allreduce => Algorithm::ReduceScatterAllgather,
        Operation::ReduceScatter | Operation::ReduceScatterBlock => {
            if all_blocks < 512 * KIB {
                Algorithm::RecursiveHalving
            } else {
                Algorithm::Pairwise
            }
        }
        Operation::Scan | Operation::Exscan => Algorithm::RecursiveDoubling,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn the_usual_algorithm_is_always_one_that_is_modelled_for_the_operation() {
        for operation in Operation::all() {
            for size in [1, 2, 3, 7, 8, 9, 1000, 1 << 20] {
                for class in 0..64 {
                    let usual = usual_algorithm(operation, size, (1u64 << class) - 1);
                    assert!(operation.algorithms().contains(&usual));
                }
            }
        }
    }

    #[test]
    fn long_messages_take_other_algorithms_than_short_ones() {
        use Algorithm::*;
        let bcast = |bytes| usual_algorithm(Operation::Bcast, 16, bytes);
        assert_eq!(
            [12287, 12288, 524287, 524288].map(bcast),
            [Binomial, ScatterDoubling, ScatterDoubling, ScatterAllgather]
        );
        let allreduce = |bytes| usual_algorithm(Operation::Allreduce, 16, bytes);
        assert_eq!(
            [2048, 2049].map(allreduce),
            [RecursiveDoubling, ReduceScatterAllgather]
        );
        let allgather = |size| usual_algorithm(Operation::Allgather, size, 8 * 1024);
        assert_eq!(
            [9, 10, 32, 64].map(allgather),
            [Bruck, Ring, RecursiveDoubling, Ring]
        );
    }
}
