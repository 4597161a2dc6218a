//! Bytes of a call, from arguments that MPI requires to be equal on all ranks.

use treepie_collective::Operation::*;
use treepie_mpi::native::Native;
use treepie_mpi::{Call, Side};
use treepie_profile::settings::Runner;

use crate::ground::Ground;

/// Returns the bytes of the message, or of a rank's block, of a call; `None` if not all ranks know
/// them.
pub fn bytes_of(native: &Native, call: &Call, ground: &Ground) -> Option<u64> {
    let ranks = ground.clusters.ranks();
    let is_root = usize::try_from(call.root) == Ok(ground.rank());
    match call.operation {
        Barrier => Some(0),
        Bcast => Some(block(native, &call.send)),
        Gather if !is_root => Some(block(native, &call.send)),
        Scatter if is_root => Some(block(native, &call.send)),
        Gather | Scatter | Allgather | Alltoall => Some(block(native, &call.receive)),
        Reduce | Allreduce | ReduceScatterBlock | Scan | Exscan => {
            Some(block(native, &call.receive))
        }
        Allgatherv | ReduceScatter => Some(mean(native, &call.receive, ranks)),
        NeighborAllgather | NeighborAlltoall => Some(block(native, &call.receive)),
        Gatherv | Scatterv | Alltoallv | Alltoallw => None,
        NeighborAllgatherv | NeighborAlltoallv | NeighborAlltoallw => None,
    }
}

/// Returns the runner of a call.
pub fn runner_of<'a>(
    native: &Native,
    call: &Call,
    ground: &Ground,
    runner: &'a Runner,
) -> &'a Runner {
    match runner {
        Runner::BySize(_) => runner.of(bytes_of(native, call, ground)),
        runner => runner,
    }
}

/// Returns the bytes of the block of a side.
fn block(native: &Native, side: &Side) -> u64 {
    bytes(native, side, u64::try_from(side.count).unwrap_or(0))
}

/// Returns the mean size of all ranks' blocks, in bytes.
fn mean(native: &Native, side: &Side, ranks: usize) -> u64 {
    if side.counts.is_absent() {
        return 0;
    }
    let count = |rank| {
        let count = side.counts.at(rank);
        u64::try_from(count).unwrap_or(0)
    };
    let all = (0..ranks).map(count).fold(0, u64::saturating_add);
    bytes(native, side, all) / ranks.max(1) as u64
}

fn bytes(native: &Native, side: &Side, count: u64) -> u64 {
    // An empty side may have no datatype.
    match count == 0 || native.is_null_datatype(side.datatype) {
        true => 0,
        false => count.saturating_mul(native.type_size(side.datatype)),
    }
}
