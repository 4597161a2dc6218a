//! Allgather (thesis 5.7, item 33). The size is that of ONE process's block.

use strum::{Display, IntoStaticStr, VariantArray};

use super::Group;
use super::broadcast::Broadcast;
use super::rounds::{doubling_blocks, floor_log2};
use super::scatter::Scatter;
use crate::affinity::names::from_name;

/// A way to gather so that all have everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Display, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Allgather {
    /// Binomial gather, then a broadcast of everything.
    GatherBroadcast,
    /// Blocks go round a ring.
    Ring,
    /// In round k everyone exchanges 2^k blocks with rank xor 2^k.
    RecursiveDoubling,
    /// In round k everyone sends 2^k blocks to rank - 2^k.
    Bruck,
}

impl Allgather {
    /// All strategies.
    pub const ALL: [Allgather; 4] = [
        Allgather::GatherBroadcast,
        Allgather::Ring,
        Allgather::RecursiveDoubling,
        Allgather::Bruck,
    ];

    /// Seconds, with a block of `bytes` from each process.
    pub fn seconds(self, group: Group<'_>, bytes: u64) -> f64 {
        if group.processes == 1 {
            return 0.0;
        }
        let delivery = |blocks: u64| group.timing.delivery(blocks.saturating_mul(bytes));
        match self {
            Allgather::GatherBroadcast => {
                let all = bytes.saturating_mul(group.processes as u64);
                Scatter::Binomial.seconds(group, bytes)
                    + Broadcast::Binomial.seconds(group, all, all)
            }
            Allgather::Ring => group.others() * delivery(1),
            Allgather::RecursiveDoubling => {
                let rounds = floor_log2(group.processes);
                let doubling: f64 = (0..rounds).map(|round| delivery(1 << round)).sum();
                match group.processes.is_power_of_two() {
                    true => doubling,
                    // Those beyond the power of two hand their block over first
                    // and get everything last.
                    false => delivery(1) + doubling + delivery(group.processes as u64),
                }
            }
            Allgather::Bruck => doubling_blocks(group.processes).map(delivery).sum(),
        }
    }
}

from_name!(Allgather, "allgather strategy");
