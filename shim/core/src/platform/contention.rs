//! Contention of a total exchange (thesis 6.4, items 44 to 47).
//!
//! A total exchange overloads the network, and no parameter of a single link predicts by how much.
//! The thesis measures it once: its *contention signature* is a factor `gamma` on the bound of a
//! free network and a cost `delta` for each partner once messages exceed a threshold.

use super::statistics::least_squares;

/// Response of a network to a total exchange.
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
    /// `measured` lists `(bound, seconds)`, both in seconds. `None` for fewer than two sizes.
    pub fn fit(processes: usize, measured: &[(f64, f64)], threshold: u64) -> Option<Contention> {
        let (gamma, intercept) = least_squares(measured)?;
        Some(Contention {
            gamma,
            delta: intercept / processes.saturating_sub(1).max(1) as f64,
            threshold,
        })
    }
}
