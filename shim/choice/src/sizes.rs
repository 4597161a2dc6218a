//! The segments into which an algorithm cuts what it sends: sizes are tried from large to small, as
//! long as smaller ones gain more than their work costs.

use crate::prices::Prices;
use treepie_collective::Operation;
use treepie_collective::network::MessageCosts;
use treepie_collective::operation::Unit;
use treepie_collective::read::estimate::CostInput;

/// Sizes of segments that are tried, below the whole message, as far as they go at once.
const SEGMENTS: [u64; 5] = [4 << 10, 8 << 10, 16 << 10, 32 << 10, 48 << 10];

/// The smallest that is tried between near hosts, where what each message costs its ranks counts as
/// much as the links do, and is known less well: of 16 ranks on two cores, `grid-chain` took 8 ms
/// for a reduction of 64 KiB in 4 KiB each, and 1.6 ms in 16 KiB.
const LEAST_BETWEEN_NEAR: u64 = 16 << 10;

/// The largest message that is taken to go at once where neither the network nor the MPI says it.
pub(super) const USUAL_EAGER_LIMIT: u64 = 48 << 10;

/// The sizes that are tried where messages of up to `eager` bytes go at once, between near hosts or
/// others.
pub(super) fn segments(eager: u64, are_near: bool) -> Vec<u64> {
    let least = match are_near {
        true => LEAST_BETWEEN_NEAR,
        false => 0,
    };
    let fit = |size: &u64| (least..=eager).contains(size);
    let mut sizes: Vec<u64> = SEGMENTS.into_iter().filter(fit).collect();
    // The limit itself, where it is well above the last one and below the next.
    let is_apart = sizes.last().is_none_or(|&last| 4 * eager > 5 * last);
    if is_apart && eager < SEGMENTS[SEGMENTS.len() - 1] {
        sizes.push(eager);
    }
    sizes
}

/// Smaller messages must gain this much: each costs its ranks some work that is known less well
/// than links are.
const WORTH_CUTTING: f64 = 0.98;

/// The cost of each segment of a reduction whose result all get costs beside its messages, in
/// seconds: every rank of a host is woken several times to add up and pass on, which is seen where
/// ranks share processors. Measured with 16 ranks on two cores: 40 to 90 microseconds.
const WORK_OF_A_SEGMENT: f64 = 40e-6;

/// The same for each segment of the blocks that all get from all, and that ranks hand on: measured
/// there, 250 microseconds.
const WORK_OF_A_SEGMENT_OF_ALL: f64 = 250e-6;

/// What smaller messages must gain where their work is known, or where ranks only pass them on.
const WORTH_CUTTING_KNOWN: f64 = 0.99;

/// Into so many segments a message is cut at most: MPIs look through lists of all that are under
/// way, and the costs of single messages do not tell.
pub(super) const MOST_SEGMENTS: u64 = 512;

impl Prices {
    /// The segments, from small to large, into which so many bytes may be cut: not more than
    /// [`MOST_SEGMENTS`] of them, if they need not be.
    fn segments_of(&self, bytes: u64) -> &[MessageCosts] {
        let is_small = |costs: &MessageCosts| costs.bytes.saturating_mul(MOST_SEGMENTS) < bytes;
        let small = self.segments.partition_point(is_small);
        &self.segments[small.min(self.segments.len().saturating_sub(1))..]
    }

    /// The size of segments that suits an algorithm best, and its time then; larger ones where
    /// there is next to nothing between them.
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
        // In memory what goes to its receiver at once needs no segments: blocks are short already.
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
