//! Barrier (thesis 5.3, item 29): messages of no bytes.

use strum::{Display, IntoStaticStr, VariantArray};

use super::Group;
use super::rounds::floor_log2;
use crate::affinity::names::from_name;

/// A way to synchronise a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Display, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Barrier {
    /// Binomial gather, binomial broadcast.
    Binomial,
    /// A message goes twice round the ring.
    DoubleRing,
    /// In round k everyone sends to rank + 2^k (Bruck).
    Dissemination,
    /// In round k everyone exchanges with rank xor 2^k.
    RecursiveDoubling,
    /// A tournament; the champion broadcasts.
    Tournament,
}

impl Barrier {
    /// All strategies.
    pub const ALL: [Barrier; 5] = [
        Barrier::Binomial,
        Barrier::DoubleRing,
        Barrier::Dissemination,
        Barrier::RecursiveDoubling,
        Barrier::Tournament,
    ];

    /// Seconds.
    pub fn seconds(self, group: Group<'_>) -> f64 {
        if group.processes == 1 {
            return 0.0;
        }
        let step = group.timing.delivery(0);
        match self {
            Barrier::Binomial | Barrier::Tournament => 2.0 * group.rounds() * step,
            Barrier::DoubleRing => 2.0 * group.processes as f64 * step,
            Barrier::Dissemination => group.rounds() * step,
            Barrier::RecursiveDoubling => match group.processes.is_power_of_two() {
                true => group.rounds() * step,
                false => f64::from(floor_log2(group.processes) + 2) * step,
            },
        }
    }
}

from_name!(Barrier, "barrier strategy");
