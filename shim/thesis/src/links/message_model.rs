//! Models of messages whose cost is linear in their size, for comparison with pLogP: Hockney's and
//! LogGP (thesis 4.1, items 13 and 18). They are less precise than a measured link; this module
//! computes by how much.
//!
//! ```text
//!   Hockney   t = alpha + beta m                      the sender is busy all the time
//!   LogGP     t = L + 2 o + (m - 1) G                 it is busy for o + (m - 1) G, or g
//!   pLogP     t = L + g(m), and a handshake           any g: measured, not linear
//! ```

use strum::{Display, IntoStaticStr, VariantArray};

use crate::links::timing::Timing;
use treepie_base::from_name;
use treepie_base::statistics::{least_squares, median};
use treepie_platform::Link;

/// A model of single messages.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Display, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "lowercase")]
pub enum MessageModel {
    /// Measured gap, size by size (Kielmann).
    #[default]
    PLogP,
    /// A start-up time and a rate.
    Hockney,
    /// Latency, overhead, gap and gap for each byte (Alexandrov).
    LogGp,
}

from_name!(MessageModel, "model of messages");

/// A link in one of the models.
#[derive(Debug, Clone, PartialEq)]
pub enum Modelled {
    /// The measured link.
    PLogP(Link),
    /// `alpha` and `beta`, in seconds and seconds per byte.
    Hockney {
        /// Time of an empty message.
        alpha: f64,
        /// Time of each byte.
        beta: f64,
    },
    /// In seconds; `per_byte` in seconds per byte.
    LogGp {
        /// `L`.
        latency: f64,
        /// `o`, at either end.
        overhead: f64,
        /// `g`, between two short messages.
        gap: f64,
        /// `G`.
        per_byte: f64,
    },
}

impl Modelled {
    /// Fits a measured link to a model by least squares over its sizes.
    pub fn new(model: MessageModel, link: &Link) -> Modelled {
        let line = |of: &dyn Fn(u64) -> f64| {
            let samples = link.samples().iter();
            let points: Vec<(f64, f64)> = samples
                .map(|sample| (sample.bytes as f64, of(sample.bytes)))
                .collect();
            // A single size has no line: its cost is a start-up time.
            least_squares(&points).map_or((0.0, points[0].1), |(slope, at_0)| {
                (slope.max(0.0), at_0.max(0.0))
            })
        };
        match model {
            MessageModel::PLogP => Modelled::PLogP(link.clone()),
            MessageModel::Hockney => {
                let (beta, alpha) = line(&|bytes| link.delivery(bytes));
                Modelled::Hockney { alpha, beta }
            }
            MessageModel::LogGp => {
                let least = link.samples()[0].bytes;
                Modelled::LogGp {
                    latency: link.latency(),
                    overhead: link.send(least).min(link.gap(least)),
                    gap: link.gap(least),
                    per_byte: line(&|bytes| link.gap(bytes)).0,
                }
            }
        }
    }

    /// Relative errors of single messages against the measured ones, over the sizes of the link:
    /// median and maximum.
    pub fn errors(&self, link: &Link) -> (f64, f64) {
        let samples = link.samples().iter();
        let errors: Vec<f64> = samples
            .map(|sample| self.delivery(sample.bytes) / link.delivery(sample.bytes) - 1.0)
            .map(f64::abs)
            .collect();
        let most = errors.iter().copied().fold(0.0, f64::max);
        (median(&errors).unwrap_or(0.0), most)
    }
}

impl Timing for Modelled {
    fn latency(&self) -> f64 {
        match self {
            Modelled::PLogP(link) => link.latency(),
            Modelled::Hockney { .. } => 0.0,
            Modelled::LogGp {
                latency, overhead, ..
            } => latency + overhead,
        }
    }

    fn gap(&self, bytes: u64) -> f64 {
        match *self {
            Modelled::PLogP(ref link) => link.gap(bytes),
            Modelled::Hockney { alpha, beta } => alpha + beta * bytes as f64,
            Modelled::LogGp {
                overhead,
                gap,
                per_byte,
                ..
            } => gap.max(overhead + bytes.saturating_sub(1) as f64 * per_byte),
        }
    }

    fn handshake(&self, bytes: u64) -> f64 {
        match self {
            Modelled::PLogP(link) => link.handshake(bytes),
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use treepie_platform::Sample;

    /// 1 ms, and 1 us with 10 ns per byte; a handshake of `asks` for messages from 64 KiB on.
    fn link(asks: f64) -> Link {
        let samples = [0, 1 << 10, 16 << 10, 64 << 10, 1 << 20].map(|bytes| Sample {
            bytes,
            gap: 1e-6 + 1e-8 * bytes as f64,
            send: 1e-6,
            handshake: if bytes >= 64 << 10 { asks } else { 0.0 },
            ..Sample::default()
        });
        Link::new(1e-3, samples.to_vec()).unwrap()
    }

    #[test]
    fn all_models_agree_on_single_messages_of_a_link_that_is_a_line() {
        let link = link(0.0);
        for &model in MessageModel::VARIANTS {
            let (_, most) = Modelled::new(model, &link).errors(&link);
            // LogGP has the overhead at both ends.
            assert!(most < 2e-3, "{model}: {most}");
        }
    }

    #[test]
    fn lines_miss_the_rendezvous_that_plogp_has() {
        let link = link(2e-3);
        let errors = |model| Modelled::new(model, &link).errors(&link).1;
        assert!(errors(MessageModel::PLogP) < 1e-12);
        // LogGP leaves the handshake out: 2 of 3.7 ms. Hockney spreads it over all sizes.
        assert!((errors(MessageModel::LogGp) - 2.0 / 3.656).abs() < 0.01);
        assert!(errors(MessageModel::Hockney) > 0.3);
    }

    #[test]
    fn models_are_read_back_from_their_names() {
        for &model in MessageModel::VARIANTS {
            assert_eq!(model.to_string().parse(), Ok(model));
        }
        assert_eq!(MessageModel::LogGp.to_string(), "loggp");
    }
}
