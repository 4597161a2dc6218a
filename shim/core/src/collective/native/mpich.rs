//! What MPICH and its relatives do: the algorithms that MPICH 4.0.2 takes by the
//! rules that are compiled into it (its `generic.json`), and sends, for ranks that
//! share no node. Its relatives began with the same rules.

use super::Algorithm;
use crate::collective::Operation;

const KIB: u64 = 1024;
/// Broadcasts: from so many ranks on, and bytes up to which a message is short, or
/// not long.
const BCAST_MIN_PROCS: usize = 8;
const BCAST_SHORT: u64 = 12 * KIB;
const BCAST_LONG: u64 = 512 * KIB;
/// Allgathers: bytes of all blocks together from which they are not short, or long.
const ALLGATHER_SHORT: u64 = 80 * KIB;
const ALLGATHER_LONG: u64 = 512 * KIB;
/// Alltoalls: bytes of a block up to which Bruck's is taken, from 9 ranks on (its rule
/// says 8, and its reader of rules takes that for "more than 8").
const ALLTOALL_SHORT: u64 = 256;
const ALLTOALL_BRUCK_MIN_PROCS: usize = 9;
/// Reductions: bytes up to which a message is short; and bytes of an element, of
/// which a message that is cut must have one for each rank that takes part. MPICH
/// counts elements, of which a profile knows nothing: most are that long.
const REDUCE_SHORT: u64 = 2 * KIB;
const ALLREDUCE_SHORT: u64 = 8;
const ELEMENT: u64 = 8;
/// Reduce-scatters: bytes of all blocks together from which they are long.
const REDUCE_SCATTER_LONG: u64 = 512 * KIB;

pub(super) fn usual_algorithm(operation: Operation, size: usize, block: u64) -> Algorithm {
    let power_of_two = size.is_power_of_two();
    let all_blocks = block.saturating_mul(size as u64);
    let can_be_cut = block / ELEMENT >= 1 << size.ilog2();
    match operation {
        Operation::Barrier => Algorithm::Dissemination,
        Operation::Bcast if block <= BCAST_SHORT || size < BCAST_MIN_PROCS => Algorithm::Binomial,
        Operation::Bcast if block <= BCAST_LONG && power_of_two => Algorithm::ScatterDoubling,
        Operation::Bcast => Algorithm::ScatterAllgather,
        Operation::Gather | Operation::Scatter => Algorithm::Binomial,
        Operation::Gatherv | Operation::Scatterv => Algorithm::Linear,
        Operation::Allgather | Operation::Allgatherv => {
            if all_blocks < ALLGATHER_LONG && power_of_two {
                Algorithm::RecursiveDoubling
            } else if all_blocks < ALLGATHER_SHORT {
                Algorithm::Bruck
            } else {
                Algorithm::Ring
            }
        }
        Operation::Alltoall if block <= ALLTOALL_SHORT && size >= ALLTOALL_BRUCK_MIN_PROCS => {
            Algorithm::Bruck
        }
        Operation::Alltoall | Operation::Alltoallv | Operation::Alltoallw => Algorithm::Pairwise,
        Operation::Reduce if block <= REDUCE_SHORT || !can_be_cut => Algorithm::Binomial,
        Operation::Reduce => Algorithm::ReduceScatterGather,
        Operation::Allreduce if block <= ALLREDUCE_SHORT || !can_be_cut => {
            Algorithm::RecursiveDoubling
        }
        Operation::Allreduce => Algorithm::ReduceScatterAllgather,
        Operation::ReduceScatter | Operation::ReduceScatterBlock => {
            if all_blocks < REDUCE_SCATTER_LONG {
                Algorithm::RecursiveHalving
            } else {
                Algorithm::Pairwise
            }
        }
        Operation::Scan | Operation::Exscan => Algorithm::RecursiveDoubling,
    }
}
