//! What MPICH and its relatives do: the algorithms that MPICH 4.0.2 takes with
//! the defaults of its control variables (`MPIR_CVAR_BCAST_SHORT_MSG_SIZE` and so
//! on), which most of its relatives keep.

use super::Algorithm;
use crate::affinity::collective::Operation;

const KIB: u64 = 1024;
/// `BCAST_MIN_PROCS`, `BCAST_SHORT_MSG_SIZE`, `BCAST_LONG_MSG_SIZE`.
const BCAST_MIN_PROCS: usize = 8;
const BCAST_SHORT: u64 = 12 * KIB;
const BCAST_LONG: u64 = 512 * KIB;
/// `ALLGATHER_SHORT_MSG_SIZE`, `ALLGATHER_LONG_MSG_SIZE`: of all blocks together.
const ALLGATHER_SHORT: u64 = 80 * KIB;
const ALLGATHER_LONG: u64 = 512 * KIB;
/// `ALLTOALL_SHORT_MSG_SIZE`, with which Bruck's is taken from 8 ranks on.
const ALLTOALL_SHORT: u64 = 256;
const ALLTOALL_BRUCK_MIN_PROCS: usize = 8;
/// `REDUCE_SHORT_MSG_SIZE`, `ALLREDUCE_SHORT_MSG_SIZE`.
const REDUCE_SHORT: u64 = 2 * KIB;
/// `REDUCE_SCATTER_COMMUTATIVE_LONG_MSG_SIZE`: of all blocks together.
const REDUCE_SCATTER_LONG: u64 = 512 * KIB;

pub(super) fn usual_algorithm(operation: Operation, size: usize, block: u64) -> Algorithm {
    let power_of_two = size.is_power_of_two();
    let all_blocks = block.saturating_mul(size as u64);
    match operation {
        Operation::Barrier => Algorithm::Dissemination,
        Operation::Bcast if block < BCAST_SHORT || size < BCAST_MIN_PROCS => Algorithm::Binomial,
        Operation::Bcast if block < BCAST_LONG && power_of_two => Algorithm::ScatterDoubling,
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
        Operation::Reduce if block <= REDUCE_SHORT => Algorithm::Binomial,
        Operation::Reduce => Algorithm::ReduceScatterGather,
        Operation::Allreduce if block <= REDUCE_SHORT => Algorithm::RecursiveDoubling,
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
