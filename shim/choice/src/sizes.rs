//! Segments into which an algorithm cuts its messages: sizes are tried from large to small, as long
//! as smaller ones gain more than their overhead.

use crate::prices::Prices;
use treepie_collective::Operation;
use treepie_collective::network::MessageCosts;
use treepie_collective::operation::Unit;
use treepie_collective::read::estimate::CostInput;

/// Sizes of segments in bytes to try, below the whole message and up to the eager limit.
const SEGMENTS: [u64; 5] = [4 << 10, 8 << 10, 16 << 10, 32 << 10, 48 << 10];

/// Smallest segment in bytes to try between near hosts, where the overhead of messages matters as
/// much as the links, and is less certain: with 16 ranks on two cores, `grid-chain` took 8 ms for a
/// reduction of 64 KiB in segments of 4 KiB, and 1.6 ms in segments of 16 KiB.
const LEAST_BETWEEN_NEAR: u64 = 16 << 10;

/// Assumed eager limit in bytes if neither the network nor the MPI has one.
pub(super) const USUAL_EAGER_LIMIT: u64 = 48 << 10;

/// Sizes in bytes to try with an eager limit of `eager` bytes, between near hosts or others.
pub(super) fn segments(eager: u64, are_near: bool) -> Vec<u64> {
    let least = match are_near {
        true => LEAST_BETWEEN_NEAR,
        false => 0,
    };
    let fit = |size: &u64| (least..=eager).contains(size);
    let mut sizes: Vec<u64> = SEGMENTS.into_iter().filter(fit).collect();
    // The limit itself, if it is well above the last one and below the next.
    let is_apart = sizes.last().is_none_or(|&last| 4 * eager > 5 * last);
    if is_apart && eager < SEGMENTS[SEGMENTS.len() - 1] {
        sizes.push(eager);
    }
    sizes
}

/// Ratio that smaller messages must reach: the overhead of each is less certain than the links.
const WORTH_CUTTING: f64 = 0.98;

/// Overhead in seconds of each segment of a reduction whose result all ranks receive, beside its
/// messages: every rank of a host is woken several times to add up and forward, which matters if
/// ranks share processors. Measured with 16 ranks on two cores: 40 to 90 microseconds.
const WORK_OF_A_SEGMENT: f64 = 40e-6;

/// Overhead in seconds of each segment of blocks that all ranks receive from all, and forward:
/// measured on the same machine, 250 microseconds.
const WORK_OF_A_SEGMENT_OF_ALL: f64 = 250e-6;

/// Ratio that smaller messages must reach if their overhead is known, or if ranks only forward
/// them.
const WORTH_CUTTING_KNOWN: f64 = 0.99;

/// Maximum number of segments of a message: MPIs search lists of all active messages, and the costs
/// of single messages do not include that.
pub(super) const MOST_SEGMENTS: u64 = 512;

impl Prices {
    /// Segments, from small to large, into which this number of bytes may be cut: at most
    /// [`MOST_SEGMENTS`] of them, if possible.
    fn segments_of(&self, bytes: u64) -> &[MessageCosts] {
        let is_small = |costs: &MessageCosts| costs.bytes.saturating_mul(MOST_SEGMENTS) < bytes;
        let small = self.segments.partition_point(is_small);
        &self.segments[small.min(self.segments.len().saturating_sub(1))..]
    }

    /// Best size of segments of an algorithm, and its time with it; larger ones if the difference
    /// is negligible.
    pub(super) fn best_size(
        &self,
        whole: &CostInput,
        estimate: impl Fn(&CostInput) -> f64,
    ) -> (u64, f64) {
        let (work_of_a_segment, worth) = match whole.operation {
            Operation::Allgather | Operation::Allgatherv => {
                (WORK_OF_A_SEGMENT_OF_ALL, WORTH_CUTTING_KNOWN)
            }
            Operation::Bcast => (0.0, WORTH_CUTTING_KNOWN),
            operation if operation.reduces() && !operation.has_root() => {
                (WORK_OF_A_SEGMENT, WORTH_CUTTING)
            }
            _ => (0.0, WORTH_CUTTING),
        };
        let mut best = (whole.segment.bytes.max(1), estimate(whole));
        let mut worse = 0;
        // In memory, direct blocks need no segments: they are short already.
        let is_cut = !self.network.is_in_memory() || whole.operation.unit() == Unit::Message;
        let smaller = match is_cut {
            true => self.segments_of(whole.bytes).iter().rev(),
            false => [].iter().rev(),
        };
        for segment in smaller.filter(|segment| segment.bytes < whole.bytes) {
            let work = work_of_a_segment * (whole.bytes / segment.bytes.max(1)) as f64;
            let cut = CostInput {
                segment,
                largest: segment.bytes,
                ..*whole
            };
            let seconds = estimate(&cut) + work;
            if seconds < worth * best.1 {
                best = (segment.bytes, seconds);
                worse = 0;
            } else {
                // Times fall and rise again with the number of segments.
                worse += 1;
                if worse == 2 {
                    break;
                }
            }
        }
        best
    }
}
