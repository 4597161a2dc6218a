//! Broadcast (thesis tables 6.1 and 6.2, items 39 and 40).
//!
//! With handshakes the formulas of table 6.1's rendezvous rows result: a handshake of `2 g(1) + 2
//! L` turns `L` into the printed `3 L + 2 g(1)`.

use crate::models::group::{Form, Group};
use crate::models::segment::{Segmented, best_segment, segments};

/// A strategy of broadcast inside a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broadcast {
    /// The root sends to all, one after the other.
    Flat,
    /// Each process forwards the message to the next.
    Chain,
    /// Each process forwards it to two others.
    Binary,
    /// All processes that have it send it, in each round.
    Binomial,
    /// Flat with segments.
    SegmentedFlat,
    /// Chain with segments: a pipeline.
    SegmentedChain,
    /// Binomial with segments.
    SegmentedBinomial,
    /// A binomial core of 2^1 processes, each with a pipeline.
    Octopus1,
    /// A binomial core of 2^2 processes, each with a pipeline.
    Octopus2,
    /// A binomial core of 2^3 processes, each with a pipeline.
    Octopus3,
    /// Binomial scatter, then a ring allgather (van de Geijn, Thakur).
    ScatterCollection,
}

impl Broadcast {
    /// All strategies, in the order of the thesis's tables.
    pub const ALL: [Broadcast; 11] = [
        Broadcast::Flat,
        Broadcast::Chain,
        Broadcast::Binary,
        Broadcast::Binomial,
        Broadcast::SegmentedFlat,
        Broadcast::SegmentedChain,
        Broadcast::SegmentedBinomial,
        Broadcast::Octopus1,
        Broadcast::Octopus2,
        Broadcast::Octopus3,
        Broadcast::ScatterCollection,
    ];

    /// True if the message is cut into segments.
    pub fn is_segmented(self) -> bool {
        use Broadcast::{
            Octopus1, Octopus2, Octopus3, SegmentedBinomial, SegmentedChain, SegmentedFlat,
        };
        matches!(
            self,
            SegmentedFlat | SegmentedChain | SegmentedBinomial | Octopus1 | Octopus2 | Octopus3
        )
    }

    /// Seconds for a message of `bytes`, cut into segments of `segment` bytes if the strategy uses
    /// segments.
    pub fn seconds(self, group: Group<'_>, bytes: u64, segment: u64) -> f64 {
        if group.processes == 1 {
            return 0.0;
        }
        let cut = segment.clamp(1, bytes.max(1));
        let count = segments(bytes, cut) as f64;
        let (others, rounds) = (group.others(), group.rounds());
        let whole_gap = group.timing.gap(bytes);
        let cut_gap = group.timing.gap(cut);
        match self {
            Broadcast::Flat => group.latency(bytes) + others * whole_gap,
            Broadcast::Chain => others * (whole_gap + group.latency(bytes)),
            Broadcast::Binary => rounds * (2.0 * whole_gap + group.latency(bytes)),
            Broadcast::Binomial => rounds * group.latency(bytes) + group.gaps() * whole_gap,
            Broadcast::SegmentedFlat => group.latency(cut) + others * cut_gap * count,
            Broadcast::SegmentedChain => {
                others * (cut_gap + group.latency(cut)) + cut_gap * (count - 1.0)
            }
            Broadcast::SegmentedBinomial => {
                rounds * group.latency(cut) + group.gaps() * cut_gap * count
            }
            Broadcast::Octopus1 => octopus(group, 1, cut, count),
            Broadcast::Octopus2 => octopus(group, 2, cut, count),
            Broadcast::Octopus3 => octopus(group, 3, cut, count),
            Broadcast::ScatterCollection => scatter_collection(group, bytes),
        }
    }

    /// Seconds with the best segment size, which is `bytes` if the strategy does not use segments.
    /// `granularity` is the size of a datatype.
    pub fn best(self, group: Group<'_>, bytes: u64, granularity: u64) -> Segmented {
        if !self.is_segmented() || group.processes == 1 {
            return Segmented {
                segment: bytes,
                seconds: self.seconds(group, bytes, bytes),
            };
        }
        best_segment(bytes, granularity, |segment| {
            self.seconds(group, bytes, segment)
        })
    }

    /// The fastest strategy (item 42) with its segment size.
    pub fn choose(group: Group<'_>, bytes: u64, granularity: u64) -> (Broadcast, Segmented) {
        let mut best = (
            Broadcast::Flat,
            Broadcast::Flat.best(group, bytes, granularity),
        );
        for strategy in Broadcast::ALL {
            let found = strategy.best(group, bytes, granularity);
            if found.seconds < best.1.seconds {
                best = (strategy, found);
            }
        }
        best
    }
}

/// `d` rounds inform a core of 2^d processes; each of the core feeds a chain.
///
/// Corrected (digest O1): every segment is sent again to each child of the core and to the chain,
/// so that segments follow each other every `(d + 1) g(s)`. With d = 0 it is the pipeline.
fn octopus(group: Group<'_>, degree: u32, segment: u64, count: f64) -> f64 {
    let gap = group.timing.gap(segment);
    let step = gap + group.latency(segment);
    let rounds = f64::from(degree);
    match group.form {
        Form::Corrected => {
            let core = 1_usize << degree;
            let longest_chain = group.processes.saturating_sub(core).div_ceil(core) as f64;
            (rounds + longest_chain) * step + (rounds + 1.0) * gap * (count - 1.0)
        }
        Form::Thesis => {
            let core = (1_usize << degree) + 1;
            let longest_chain = group.processes.saturating_sub(core).div_ceil(core) as f64;
            (rounds + longest_chain) * step + gap * (count - 1.0)
        }
    }
}

/// `(log P + P - 1) L + 2 ((P - 1) / P) g(m)` as printed; corrected, the sizes that are actually
/// sent: halves of the message down the tree, then P - 1 blocks around the ring.
fn scatter_collection(group: Group<'_>, bytes: u64) -> f64 {
    let processes = group.processes as f64;
    match group.form {
        Form::Thesis => {
            (libm::log2(processes) + group.others()) * group.timing.latency()
                + 2.0 * (group.others() / processes) * group.timing.gap(bytes)
        }
        Form::Corrected => {
            let block = bytes.div_ceil(group.processes as u64);
            let down: f64 = crate::models::table_6_3::binomial_sizes(group.processes)
                .map(|blocks| group.timing.gap(blocks * block) + group.latency(blocks * block))
                .sum();
            down + group.others() * (group.timing.gap(block) + group.latency(block))
        }
    }
}
