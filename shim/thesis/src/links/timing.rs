//! The costs that models compute with: those of a link, or others in its place.

use treepie_platform::Link;

/// Costs of messages between alike processes. Models are functions of these, so
/// that a measured link and the rendezvous of the thesis's tables are two ways
/// to the same formula.
pub trait Timing {
    /// `L`, in seconds.
    fn latency(&self) -> f64;
    /// `g(m)` for `bytes`, in seconds.
    fn gap(&self, bytes: u64) -> f64;
    /// Extra time of an isolated message beyond `L + g(m)`, in seconds.
    fn handshake(&self, bytes: u64) -> f64;
    /// `L + g(m)` and the handshake: one message alone.
    fn delivery(&self, bytes: u64) -> f64 {
        self.latency() + self.gap(bytes) + self.handshake(bytes)
    }
}

impl Timing for Link {
    fn latency(&self) -> f64 {
        Link::latency(self)
    }

    fn gap(&self, bytes: u64) -> f64 {
        Link::gap(self, bytes)
    }

    fn handshake(&self, bytes: u64) -> f64 {
        Link::handshake(self, bytes)
    }
}
