//! Allreduce (thesis 5.6, item 32).

use strum::{Display, IntoStaticStr, VariantArray};

use super::broadcast::Broadcast;
use super::reduce::{Reduce, folding, halving};
use super::{Computing, Group};
use crate::affinity::names::from_name;

/// A way to reduce so that all have the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Display, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Allreduce {
    /// Binomial reduce, binomial broadcast.
    ReduceBroadcast,
    /// In round k everyone exchanges all with rank xor 2^k.
    RecursiveDoubling,
    /// Reduce-scatter by halves, allgather by doubling (Rabenseifner).
    Rabenseifner,
    /// Reduce-scatter and allgather round a ring.
    Ring,
}

impl Allreduce {
    /// All strategies.
    pub const ALL: [Allreduce; 4] = [
        Allreduce::ReduceBroadcast,
        Allreduce::RecursiveDoubling,
        Allreduce::Rabenseifner,
        Allreduce::Ring,
    ];

    /// Seconds for operands of `bytes`.
    pub fn seconds(self, group: Group<'_>, computing: Computing, bytes: u64) -> f64 {
        if group.processes == 1 {
            return 0.0;
        }
        // Processes beyond a power of two hand over first and get the result last.
        let fold = folding(group, bytes, computing);
        let unfold = match fold > 0.0 {
            true => group.timing.delivery(bytes),
            false => 0.0,
        };
        match self {
            Allreduce::ReduceBroadcast => {
                Reduce::Binomial.seconds(group, computing, bytes, bytes)
                    + Broadcast::Binomial.seconds(group, bytes, bytes)
            }
            Allreduce::RecursiveDoubling => {
                let rounds = f64::from(super::rounds::floor_log2(group.processes));
                fold + rounds * (group.timing.delivery(bytes) + computing.seconds(bytes)) + unfold
            }
            Allreduce::Rabenseifner => {
                let compute = computing.seconds(bytes - bytes / group.processes as u64);
                fold + 2.0 * halving(group, bytes) + compute + unfold
            }
            Allreduce::Ring => {
                let block = bytes.div_ceil(group.processes as u64);
                let step = group.timing.gap(block) + group.latency(block);
                group.others() * (2.0 * step + computing.seconds(block))
            }
        }
    }
}

from_name!(Allreduce, "allreduce strategy");
