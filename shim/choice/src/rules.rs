//! Rules for the algorithm that is usually best if no platform is known, from measurements of
//! two-level schedules on grids of clusters with links of some milliseconds between them.

use crate::sizes::MOST_SEGMENTS;
use treepie_collective::Algorithm;
use treepie_collective::Operation::{self, *};

const KIB: u64 = 1024;

/// Algorithm between clusters for `bytes` (of the message, or of a rank's block, if all ranks know
/// it), and the largest message that it sends, of up to `eager` bytes; `None` if none is better
/// than the MPI's own.
pub fn between_clusters(
    operation: Operation,
    bytes: Option<u64>,
    keeps_order: bool,
    eager: u64,
) -> Option<(&'static Algorithm, u64)> {
    let bytes = bytes.unwrap_or(0);
    let name = match operation {
        Bcast if bytes < 2048 * KIB => "grid-exchange",
        Bcast => "grid-chain",
        Reduce if keeps_order => "binomial",
        Reduce if bytes <= 16 * KIB => "grid-flat",
        Reduce if bytes <= 256 * KIB => "grid-direct",
        Reduce => "grid-lanes",
        Allreduce if keeps_order => "recursive-doubling",
        Allreduce if bytes <= 16 * KIB => "grid-exchange",
        Allreduce if bytes <= 256 * KIB => "grid-direct",
        Allreduce => "grid-lanes",
        Allgather if bytes > 4 * KIB => "grid-lanes",
        Barrier | Allgather | Allgatherv => "grid-exchange",
        Gather | Gatherv | Scatter | Scatterv => "flat",
        Alltoall | Alltoallv | Alltoallw => "flat",
        NeighborAllgather | NeighborAllgatherv => "grid-relay",
        NeighborAlltoall | NeighborAlltoallv | NeighborAlltoallw => "flat",
        ReduceScatter | ReduceScatterBlock if keeps_order => "pairwise",
        ReduceScatter | ReduceScatterBlock => "grid-exchange",
        Scan | Exscan if bytes <= KIB => "grid-gather",
        Scan | Exscan if bytes <= 256 * KIB && !keeps_order => "grid-exchange",
        Scan | Exscan => return None,
    };
    let algorithm = Algorithm::find(operation, name)?;
    Some((algorithm, segment(operation, bytes, eager)))
}

/// Largest message for `bytes`: small enough to be sent eagerly, of up to `eager` bytes, and, if
/// ranks forward data, to be forwarded soon, but in no more segments than necessary.
pub fn segment(operation: Operation, bytes: u64, eager: u64) -> u64 {
    let handed_on = match operation {
        Bcast if bytes > 256 * KIB => 16 * KIB,
        Reduce if bytes > 256 * KIB => 32 * KIB,
        Reduce if bytes > 16 * KIB => 16 * KIB,
        Scan | Exscan if bytes > 128 * KIB => 16 * KIB,
        Scan | Exscan if bytes > 16 * KIB => 8 * KIB,
        _ => eager,
    };
    handed_on.max(bytes.div_ceil(MOST_SEGMENTS)).min(eager)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_that_is_chosen_is_that_of_an_algorithm_and_its_messages_go_at_once() {
        for operation in Operation::every() {
            for bytes in [None, Some(0), Some(40 * KIB), Some(1 << 20), Some(1 << 30)] {
                for keeps_order in [false, true] {
                    for eager in [8 * KIB, 48 * KIB] {
                        let chosen = between_clusters(operation, bytes, keeps_order, eager);
                        let is_native = matches!(operation, Scan | Exscan)
                            && (bytes > Some(256 * KIB) || bytes > Some(KIB) && keeps_order);
                        assert_eq!(chosen.is_none(), is_native, "{operation}: {bytes:?}");
                        assert!(chosen.is_none_or(|(_, segment)| segment <= eager));
                    }
                }
            }
        }
    }
}
