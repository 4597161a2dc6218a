//! All-to-all (thesis 6.4, items 44 to 47). The size is that of ONE message, from
//! each process to each other.
//!
//! A total exchange overloads the network, and no parameter of a single link
//! knows by how much. The thesis measures it once: its *contention signature* is
//! a factor `gamma` on the bound of a free network and a cost `delta` for each
//! partner once messages exceed a threshold.

use super::super::statistics::least_squares;
use super::Group;
use crate::affinity::names::named;

/// How a network answers to a total exchange.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contention {
    /// Factor on the lower bound; 1 for a network that is never in the way.
    pub gamma: f64,
    /// Seconds for each partner, for messages above `threshold`.
    pub delta: f64,
    /// Bytes from which `delta` counts, itself not included.
    pub threshold: u64,
}

impl Contention {
    /// A network that is never in the way.
    pub const NONE: Contention = Contention {
        gamma: 1.0,
        delta: 0.0,
        threshold: 0,
    };

    /// Fast Ethernet of icluster-2, from 24 processes (table 6.4).
    pub const FAST_ETHERNET: Contention = Contention {
        gamma: 1.0195,
        delta: 8.23e-3,
        threshold: 2 << 10,
    };

    /// Giga Ethernet of Grid eXplorer, from 40 processes (table 6.4).
    pub const GIGA_ETHERNET: Contention = Contention {
        gamma: 4.3628,
        delta: 4.93e-3,
        threshold: 8 << 10,
    };

    /// Myrinet of icluster-2, from 24 processes (table 6.4).
    pub const MYRINET: Contention = Contention {
        gamma: 2.49754,
        delta: 0.0,
        threshold: 0,
    };

    /// The signature that explains measured exchanges best (item 47): ordinary
    /// least squares of the times over the bounds `(P - 1) g(m) + L`; the slope
    /// is `gamma`, the intercept `(P - 1) delta`. Sizes should exceed 100 KB.
    ///
    /// `measured` lists `(bytes, seconds)`. `None` for fewer than two sizes.
    pub fn fit(group: Group<'_>, measured: &[(u64, f64)], threshold: u64) -> Option<Contention> {
        let points: Vec<(f64, f64)> = measured
            .iter()
            .map(|&(bytes, seconds)| (lower_bound(group, bytes), seconds))
            .collect();
        let (gamma, intercept) = least_squares(&points)?;
        Some(Contention {
            gamma,
            delta: intercept / group.others().max(1.0),
            threshold,
        })
    }
}

/// `(P - 1) g(m) + L`: what a total exchange takes at least when each process
/// sends one message at a time.
pub fn lower_bound(group: Group<'_>, bytes: u64) -> f64 {
    match group.processes {
        1 => 0.0,
        _ => group.others() * group.timing.gap(bytes) + group.timing.latency(),
    }
}

/// A way to exchange between all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Alltoall {
    /// Everyone sends to all at once; contention decides.
    Direct,
    /// In step k with rank xor k, or to rank + k and from rank - k.
    Pairwise,
    /// In round k half of all blocks to rank + 2^k: for small messages.
    Bruck,
}

impl Alltoall {
    const NAMES: &'static [(&'static str, Alltoall)] = &[
        ("direct", Alltoall::Direct),
        ("pairwise", Alltoall::Pairwise),
        ("bruck", Alltoall::Bruck),
    ];

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

named!(Alltoall, "alltoall strategy");
