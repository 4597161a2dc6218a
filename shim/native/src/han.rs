//! Open MPI's HAN, the default of Open MPI 5 if all hosts have the same number of ranks, and
//! several: one rank of each host takes part between hosts, in segments that do not overlap there.
//!
//! ```text
//!   bcast      first segment: tuned between hosts | each further one: linear, after the last left
//!   reduce     each segment: halving and a gather, or a binomial tree for a few bytes
//!   allreduce  reduce and bcast, of the segments one after the other
//!   others     inside hosts, then tuned between hosts, with the blocks of a host together
//! ```
//!
//! Source: `ompi/mca/coll/han` and `coll/libnbc`, which it uses between hosts. On four hosts 10 ms
//! and 100 Mbit/s apart, measurements agree with this model within 7 %: broadcasts of 8 B, 64 KiB
//! and 1 MiB in 20.7, 48.1 and 612 ms, reductions in 21.3, 50.8 and 787 ms.

use crate::knobs::Version;
use treepie_collective::{Operation, Uniform};

/// `coll_han_{bcast,reduce,allreduce}_segsize` of 5.0 and 6.0, in bytes.
pub(super) const SEGMENT: u64 = 64 << 10;

/// Segments of later versions, and the first of these.
pub(super) const LONG_SEGMENT: u64 = 512 << 10;
pub(super) const LONG_SEGMENTS: Version = Version(6, 1, 0);

/// Collective of one rank of each host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BetweenHosts {
    /// Operation and amount. The root is the first rank.
    pub call: Uniform,
    /// Algorithm; `None` for the one that `tuned` selects.
    pub algorithm: Option<&'static str>,
    /// True if the next collective may start when this one's messages have been sent, before they
    /// have arrived.
    pub goes_on_when_left: bool,
}

/// Phases of HAN between hosts for a collective of all ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Han {
    /// Collectives for the first segment, one after the other.
    pub first: Vec<BetweenHosts>,
    /// Collectives for each further segment, concurrently.
    pub each: Vec<BetweenHosts>,
    /// Number of further segments.
    pub further: u64,
}

/// Returns the phases of HAN's collective on hosts of `on_host` ranks each, in segments of up to
/// `longest` bytes; `None` if it leaves the call to other components.
pub(super) fn between_hosts(
    call: &Uniform,
    longest: u64,
    hosts: usize,
    on_host: usize,
) -> Option<Han> {
    use Operation::{Allgather, Allreduce, Barrier, Bcast, Gather, Reduce, Scatter};
    let segment = call.bytes.min(longest);
    let one = |operation, bytes, algorithm| BetweenHosts {
        call: Uniform {
            operation,
            bytes,
            ..*call
        },
        algorithm,
        goes_on_when_left: false,
    };
    let broadcast = one(Bcast, segment, Some("linear"));
    let further_broadcast = BetweenHosts {
        goes_on_when_left: true,
        ..broadcast
    };
    let by = match segment < 4 * hosts as u64 {
        true => "binomial",
        false => "reduce-scatter-gather",
    };
    let reduce = one(Reduce, segment, Some(by));
    let (first, each) = match call.operation {
        Bcast => (vec![one(Bcast, segment, None)], vec![further_broadcast]),
        Reduce => (vec![reduce], vec![reduce]),
        Allreduce => (vec![reduce, broadcast], vec![reduce, further_broadcast]),
        Barrier => (vec![one(Barrier, 0, None)], Vec::new()),
        Gather | Scatter | Allgather => {
            let blocks = call.bytes.saturating_mul(on_host as u64);
            (vec![one(call.operation, blocks, None)], Vec::new())
        }
        _ => return None,
    };
    Some(Han {
        first,
        each,
        further: call.bytes.div_ceil(longest).max(1) - 1,
    })
}
