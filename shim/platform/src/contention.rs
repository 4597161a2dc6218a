//! Contention of a total exchange (thesis 6.4, items 44 to 47).
//!
//! A total exchange overloads the network, and no parameter of a single link predicts by how much.
//! The thesis measures it once: its *contention signature* is a factor `gamma` on the bound of a
//! free network and a cost `delta` for each partner once messages exceed a threshold.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::numbers;

/// Response of a network to a total exchange.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contention {
    /// Factor on the lower bound; 1 for a network without contention.
    pub gamma: f64,
    /// Seconds for each partner, for messages above `threshold`.
    #[serde(rename = "delta_us", with = "numbers::micros")]
    pub delta: f64,
    /// Bytes above which `delta` applies.
    pub threshold: u64,
    /// Number of ranks of the largest exchange to which the signature was fitted; 0 if it applies
    /// to any number. If missing in a file, the number of ranks of its cluster.
    #[serde(default, skip_serializing_if = "is_any")]
    pub ranks: usize,
}

fn is_any(ranks: &usize) -> bool {
    *ranks == 0
}

/// Largest relative difference between the number of ranks and the fitted one for which a signature
/// applies. Beyond it the median error was 35 to 51 %.
const TOLERANCE: f64 = 0.25;

/// A timed total exchange.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimedExchange {
    /// Number of ranks.
    pub ranks: usize,
    /// Bytes from each rank to each other rank.
    pub bytes: u64,
    /// Seconds of the bound of a free network: `(P - 1) g(m) + L` with one rank on each host.
    pub bound: f64,
    /// Measured seconds.
    pub seconds: f64,
}

/// Reason why timed exchanges do not determine contention.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum Unsaturated {
    /// Too few to distinguish two parameters and a threshold from noise.
    #[error("only {0} of its exchanges were timed; at least {FEWEST} are needed")]
    Few(usize),
    /// Links were partly idle.
    #[error(
        "the largest exchange took {part:.2} times what one message after the other takes, so that \
         it did not fill the links"
    )]
    Idle {
        /// Ratio of its time to its bound.
        part: f64,
    },
    /// No signature fits the times.
    #[error("its times differ from what any signature predicts by {percent:.0} % in the mean")]
    Scattered {
        /// Mean relative error of the best signature, in percent.
        percent: f64,
    },
}

/// Least number of exchanges: the thesis measures at least four sizes (item 47).
const FEWEST: usize = 4;

/// Ratio of time to bound below which an exchange leaves the links idle: the time of a network
/// without contention, with a margin for times of single messages that were measured too long.
const LEAST_LOAD: f64 = 0.5;

/// Largest mean error of a signature that is kept.
const MOST_ERROR: f64 = 0.5;

/// Largest ratio of the error of a signature with `delta` to that of one without for which `delta`
/// is kept.
const WORTH_DELTA: f64 = 0.9;

impl Contention {
    /// A network without contention.
    pub const NONE: Contention = Contention {
        gamma: 1.0,
        delta: 0.0,
        threshold: 0,
        ranks: 0,
    };

    /// Fast Ethernet of icluster-2, from 24 processes (table 6.4).
    pub const FAST_ETHERNET: Contention = Contention {
        gamma: 1.0195,
        delta: 8.23e-3,
        threshold: 2 << 10,
        ranks: 0,
    };

    /// Giga Ethernet of Grid eXplorer, from 40 processes (table 6.4).
    pub const GIGA_ETHERNET: Contention = Contention {
        gamma: 4.3628,
        delta: 4.93e-3,
        threshold: 8 << 10,
        ranks: 0,
    };

    /// Myrinet of icluster-2, from 24 processes (table 6.4).
    pub const MYRINET: Contention = Contention {
        gamma: 2.49754,
        delta: 0.0,
        threshold: 0,
        ranks: 0,
    };

    /// Seconds that a message of `bytes` costs in addition to `gamma`.
    pub fn delay(&self, bytes: u64) -> f64 {
        if bytes > self.threshold {
            self.delta
        } else {
            0.0
        }
    }

    /// True if the signature applies to exchanges among `ranks` ranks.
    pub fn holds_among(&self, ranks: usize) -> bool {
        let fitted = self.ranks as f64;
        self.ranks == 0 || (ranks as f64 - fitted).abs() <= TOLERANCE * fitted
    }

    /// Fits the signature to measured exchanges (item 47): least squares of `T = gamma LB + (P - 1)
    /// delta [m > M]`, where every measured size may be the threshold `M`.
    ///
    /// The thesis uses one number of processes and sizes above 100 KB alone, since absolute errors
    /// of small sizes vanish beside those of large ones. Here errors are relative, so that sizes on
    /// both sides of the threshold count, and so do several numbers of ranks.
    ///
    /// # Errors
    /// There are too few exchanges, they did not fill the links, or no signature fits.
    pub fn fit(measured: &[TimedExchange]) -> Result<Contention, Unsaturated> {
        let counts = |exchange: &&TimedExchange| exchange.seconds > 0.0 && exchange.bound > 0.0;
        let measured: Vec<TimedExchange> = measured.iter().filter(counts).copied().collect();
        let volume =
            |exchange: &&TimedExchange| exchange.bytes.saturating_mul(exchange.ranks as u64);
        let largest = measured.iter().max_by_key(volume);
        let Some(largest) = largest.filter(|_| measured.len() >= FEWEST) else {
            return Err(Unsaturated::Few(measured.len()));
        };
        let part = largest.seconds / largest.bound;
        if part < LEAST_LOAD {
            return Err(Unsaturated::Idle { part });
        }
        let (mut best, mut least) = with_gamma(&measured);
        let mut thresholds: Vec<u64> = measured.iter().map(|exchange| exchange.bytes).collect();
        thresholds.push(0);
        thresholds.sort_unstable();
        thresholds.dedup();
        least *= WORTH_DELTA;
        for threshold in thresholds {
            if let Some((found, error)) = with_delta(&measured, threshold)
                && error < least
            {
                (best, least) = (found, error);
            }
        }
        let error = error_of(&best, &measured);
        if error <= MOST_ERROR {
            let ranks = measured.iter().map(|exchange| exchange.ranks).max();
            best.ranks = ranks.unwrap_or(0);
            Ok(best)
        } else {
            Err(Unsaturated::Scattered {
                percent: 100.0 * error,
            })
        }
    }

    /// Seconds of an exchange by the signature (item 46).
    fn seconds(&self, exchange: &TimedExchange) -> f64 {
        let partners = exchange.ranks.saturating_sub(1) as f64;
        self.gamma * exchange.bound + partners * self.delay(exchange.bytes)
    }
}

/// Root mean square of the relative errors.
fn error_of(contention: &Contention, measured: &[TimedExchange]) -> f64 {
    let error = |exchange: &TimedExchange| contention.seconds(exchange) / exchange.seconds - 1.0;
    let squares: f64 = measured.iter().map(|one| error(one).powi(2)).sum();
    (squares / measured.len() as f64).sqrt()
}

/// The best signature without `delta`, and its error.
fn with_gamma(measured: &[TimedExchange]) -> (Contention, f64) {
    let loads = measured.iter().map(|one| one.bound / one.seconds);
    let (sum, squares) = loads.fold((0.0, 0.0), |(sum, squares), load| {
        (sum + load, squares + load * load)
    });
    let found = Contention {
        gamma: sum / squares,
        ..Contention::NONE
    };
    (found, error_of(&found, measured))
}

/// The best signature with this threshold, and its error; `None` if the sizes do not separate
/// `gamma` from `delta`, or one of them would be negative.
fn with_delta(measured: &[TimedExchange], threshold: u64) -> Option<(Contention, f64)> {
    // The normal equations of 1 = gamma a + delta b for each exchange.
    let (mut aa, mut ab, mut bb, mut a1, mut b1) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for one in measured {
        let partners = if one.bytes > threshold {
            one.ranks.saturating_sub(1) as f64
        } else {
            0.0
        };
        let (a, b) = (one.bound / one.seconds, partners / one.seconds);
        (aa, ab, bb) = (aa + a * a, ab + a * b, bb + b * b);
        (a1, b1) = (a1 + a, b1 + b);
    }
    let determinant = aa * bb - ab * ab;
    if determinant <= 1e-12 * aa * bb {
        return None;
    }
    let found = Contention {
        gamma: (a1 * bb - b1 * ab) / determinant,
        delta: (b1 * aa - a1 * ab) / determinant,
        threshold,
        ranks: 0,
    };
    (found.gamma > 0.0 && found.delta > 0.0).then(|| (found, error_of(&found, measured)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Exchanges on a network of 10 us and 9 ns per byte that take `factor(ranks, bytes)` times the
    /// bound.
    fn exchanges(factor: impl Fn(usize, u64) -> f64) -> Vec<TimedExchange> {
        let sizes = [1, 4, 16, 64, 256].map(|kib: u64| kib << 10);
        let of = |ranks: usize| {
            let bound = move |bytes: u64| (ranks - 1) as f64 * 9e-9 * bytes as f64 + 1e-5;
            sizes.map(|bytes| TimedExchange {
                ranks,
                bytes,
                bound: bound(bytes),
                seconds: factor(ranks, bytes) * bound(bytes),
            })
        };
        [8, 4].map(of).concat()
    }

    #[test]
    fn a_free_network_has_no_contention() {
        let found = Contention::fit(&exchanges(|_, _| 1.0)).unwrap();
        assert!(
            (found.gamma - 1.0).abs() < 1e-9 && found.delta == 0.0,
            "{found:?}"
        );
    }

    #[test]
    fn a_signature_holds_among_about_as_many_ranks_as_it_was_fitted_to() {
        let found = Contention::fit(&exchanges(|_, _| 2.0)).unwrap();
        assert_eq!(found.ranks, 8);
        let holds = [5, 6, 8, 10, 11].map(|ranks| found.holds_among(ranks));
        assert_eq!(holds, [false, true, true, true, false]);
        assert!(Contention::MYRINET.holds_among(1000));
    }

    #[test]
    fn what_does_not_fill_the_links_is_no_measure_of_contention_and_says_why() {
        let line = |error: Unsaturated| error.to_string();
        let few = Contention::fit(&exchanges(|_, _| 1.0)[..3]).unwrap_err();
        assert_eq!(
            line(few),
            "only 3 of its exchanges were timed; at least 4 are needed"
        );
        let idle = Contention::fit(&exchanges(|_, _| 0.3)).unwrap_err();
        assert!(line(idle).starts_with("the largest exchange took 0.30 times"));
        let wild = |ranks: usize, bytes: u64| match (bytes >> 10) * ranks as u64 % 3 {
            0 => 1.0,
            1 => 30.0,
            _ => 900.0,
        };
        let wild = Contention::fit(&exchanges(wild)).unwrap_err();
        assert!(line(wild).starts_with("its times differ"), "{wild}");
    }
}
