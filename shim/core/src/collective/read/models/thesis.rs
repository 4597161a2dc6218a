//! Readings of the thesis that are not the default, under its name.

use crate::platform::{Link, Timing};

/// A link with the rendezvous of table 6.1: every message is preceded by an empty
/// request and an empty reply, `2 g(1) + 2 L`, whatever was measured.
#[derive(Debug, Clone, Copy)]
pub struct Rendezvous<'a>(pub &'a Link);

impl Timing for Rendezvous<'_> {
    fn latency(&self) -> f64 {
        self.0.latency()
    }

    fn gap(&self, bytes: u64) -> f64 {
        self.0.gap(bytes)
    }

    fn handshake(&self, _bytes: u64) -> f64 {
        2.0 * self.0.gap(1) + 2.0 * self.0.latency()
    }
}

/// A link without any handshake: the plain rows of table 6.1, and Kielmann's
/// `g(m)`, which has the rendezvous inside.
#[derive(Debug, Clone, Copy)]
pub struct Eager<'a>(pub &'a Link);

impl Timing for Eager<'_> {
    fn latency(&self) -> f64 {
        self.0.latency()
    }

    fn gap(&self, bytes: u64) -> f64 {
        self.0.isolated_gap(bytes)
    }

    fn handshake(&self, _bytes: u64) -> f64 {
        0.0
    }
}
