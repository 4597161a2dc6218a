//! All-to-all (thesis 6.4, items 44 to 47). The size is that of ONE message, from
//! each process to each other.

use strum::{Display, IntoStaticStr, VariantArray};

use super::Group;
use crate::affinity::names::from_name;
use crate::platform::Contention;

/// `(P - 1) g(m) + L`: what a total exchange takes at least when each process
/// sends one message at a time.
pub fn lower_bound(group: Group<'_>, bytes: u64) -> f64 {
    match group.processes {
        1 => 0.0,
        _ => group.others() * group.timing.gap(bytes) + group.timing.latency(),
    }
}

/// A way to exchange between all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Display, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Alltoall {
    /// Everyone sends to all at once; contention decides.
    Direct,
    /// In step k with rank xor k, or to rank + k and from rank - k.
    Pairwise,
    /// In round k half of all blocks to rank + 2^k: for small messages.
    Bruck,
}

impl Alltoall {
    /// All strategies.
    pub const ALL: [Alltoall; 3] = [Alltoall::Direct, Alltoall::Pairwise, Alltoall::Bruck];

    /// Seconds, with `bytes` from each process to each other.
    pub fn seconds(self, group: Group<'_>, contention: Contention, bytes: u64) -> f64 {
        if group.processes == 1 {
            return 0.0;
        }
        match self {
            Alltoall::Direct => {
                let over = match bytes > contention.threshold {
                    true => group.others() * contention.delta,
                    false => 0.0,
                };
                lower_bound(group, bytes) * contention.gamma + over + group.timing.handshake(bytes)
            }
            Alltoall::Pairwise => {
                group.others() * (group.timing.gap(bytes) * contention.gamma + group.latency(bytes))
            }
            Alltoall::Bruck => {
                let half = bytes.saturating_mul(group.processes as u64 / 2).max(bytes);
                group.rounds() * (group.timing.gap(half) * contention.gamma + group.latency(half))
            }
        }
    }
}

from_name!(Alltoall, "alltoall strategy");
