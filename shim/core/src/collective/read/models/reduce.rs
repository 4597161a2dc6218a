//! Reduce (thesis 5.4, item 30), with the time to compute beside the messages.

use strum::{Display, IntoStaticStr, VariantArray};

use super::rounds::{ceil_log2, floor_log2};
use super::{Computing, Group};
use crate::affinity::names::from_name;

/// A way to reduce inside a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Display, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Reduce {
    /// Everyone sends to the root, which computes.
    Flat,
    /// Partial results up a binomial tree.
    Binomial,
    /// Reduce-scatter by halves, then a binomial gather (Rabenseifner).
    Rabenseifner,
    /// Partial results along a chain, in segments.
    SegmentedChain,
}

impl Reduce {
    /// All strategies.
    pub const ALL: [Reduce; 4] = [
        Reduce::Flat,
        Reduce::Binomial,
        Reduce::Rabenseifner,
        Reduce::SegmentedChain,
    ];

    /// Whether the message is cut into segments.
    pub fn is_segmented(self) -> bool {
        self == Reduce::SegmentedChain
    }

    /// Seconds for operands of `bytes`, cut into segments of `segment` bytes
    /// where the strategy cuts.
    pub fn seconds(self, group: Group<'_>, computing: Computing, bytes: u64, segment: u64) -> f64 {
        if group.processes == 1 {
            return 0.0;
        }
        let step = |size: u64| group.timing.gap(size) + computing.seconds(size);
        match self {
            Reduce::Flat => group.latency(bytes) + group.others() * step(bytes),
            Reduce::Binomial => group.rounds() * group.latency(bytes) + group.gaps() * step(bytes),
            Reduce::Rabenseifner => {
                let halves = halving(group, bytes);
                let fold = folding(group, bytes, computing);
                let compute = computing.seconds(bytes - bytes / group.processes as u64);
                fold + 2.0 * halves + compute
            }
            Reduce::SegmentedChain => {
                let cut = segment.clamp(1, bytes.max(1));
                let count = super::segment::segments(bytes, cut) as f64;
                group.others() * (step(cut) + group.latency(cut)) + step(cut) * (count - 1.0)
            }
        }
    }
}

from_name!(Reduce, "reduce strategy", "pipeline" => Reduce::SegmentedChain);

/// Messages of a half, a quarter, ... of `bytes`: one way of recursive halving
/// or doubling among the largest power of two of processes.
pub(super) fn halving(group: Group<'_>, bytes: u64) -> f64 {
    (1..=floor_log2(group.processes))
        .map(|round| {
            let size = bytes >> round;
            group.timing.gap(size) + group.latency(size)
        })
        .sum()
}

/// What processes beyond a power of two cost: they hand their operand over
/// before the halving.
pub(super) fn folding(group: Group<'_>, bytes: u64, computing: Computing) -> f64 {
    match ceil_log2(group.processes) == floor_log2(group.processes) {
        true => 0.0,
        false => group.timing.delivery(bytes) + computing.seconds(bytes),
    }
}
