//! Costs used by models: those of a link, or others instead.

use treepie_platform::Link;

/// Costs of messages between equal processes. Models are functions of these, so that a measured
/// link and the rendezvous of the thesis's tables use the same formula.
pub trait Timing {
    /// `L`, in seconds.
    fn latency(&self) -> f64;
    /// `g(m)` for `bytes`, in seconds.
    fn gap(&self, bytes: u64) -> f64;
    /// Extra time of an isolated message beyond `L + g(m)`, in seconds.
    fn handshake(&self, bytes: u64) -> f64;
    /// `L + g(m)` and the handshake: time of an isolated message.
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
