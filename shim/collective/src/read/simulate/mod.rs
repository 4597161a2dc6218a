//! Plans in time: every message of every rank on a network, event by event.
//!
//! ```text
//!   a step may start -> its rank is free: it takes os(m), and the message goes
//!     -> card -> uplink -> connection -> L -> downlink -> card -> received, or(m) before it ends
//! ```
//!
//! Each link carries one message after the other, in the order in which they come to it, and
//! a message goes on while it is still coming in (cut-through), so that one message alone
//! takes `L + g(m)`. A rank does one thing at a time, and of what it may do the first in its list,
//! as who runs plans does. Messages that ask before they go (rendezvous) wait for their receiver;
//! such a send is over when its last byte has left.
//!
//! A message is received once, when it is there and its receive has begun, whichever comes later,
//! and before its rank begins anything else. `or(m)` is a part of `g(m)` (thesis 4.7) for a rank
//! that waits: it ends with the last byte. It begins when the rank is free and the receive has
//! begun, so that one which is late ends `or(m)` after that.
//!
//! Where links are alike, much happens at the same time. Of that, messages go on first, then they
//! are received, then steps end, then ranks begin steps, the lowest rank first. Messages that come
//! to a link at the same time pass it in the order of their senders, and those of one sender in
//! that of its steps; so are those received that are there at the same time.
//!
//! Messages of a total exchange inside a cluster take `gamma (L + g(m)) + delta` instead, where its
//! contention was measured (thesis 6.4).

mod engine;
mod events;
mod links;
mod occupancy;
#[cfg(test)]
mod tests;
mod timeline;

use crate::{Network, Plan};
use thiserror::Error;

pub(crate) use links::{Links, Way};
pub use occupancy::Occupancy;
pub use timeline::{Bar, Doing};

/// What occupies a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sending {
    /// What it computes: `os(m)`. The message then passes the links on its way, which others
    /// share.
    #[default]
    Overlapping,
    /// `g(m)` of the link to the receiver, one message at a time, and nothing is shared: the
    /// one-port model of the thesis (item 19), in which its formulas and its heuristics count.
    OnePort,
}

/// How a simulation is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// What occupies a sender.
    pub sending: Sending,
    /// Whether [`Outcome::bars`] are kept.
    pub timeline: bool,
}

/// What came out.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// Seconds until the last rank has ended.
    pub seconds: f64,
    /// When each rank has ended.
    pub ends: Vec<f64>,
    /// What each rank did when, if that was asked for; by start.
    pub bars: Vec<Bar>,
    /// Number of messages.
    pub messages: usize,
    /// Bytes between clusters.
    pub bytes_between: u64,
}

/// Why plans cannot be simulated.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SimulationError {
    /// There is not a plan for every rank of the network.
    #[error("{plans} plans for {ranks} ranks; give one plan for each rank")]
    Plans {
        /// Number of plans.
        plans: usize,
        /// Number of ranks.
        ranks: usize,
    },
    /// Some steps never start.
    #[error("rank {rank} never gets beyond step {step}: check the plans")]
    Deadlock {
        /// The first rank that does not end.
        rank: usize,
        /// Its first step that is not done.
        step: usize,
    },
}

/// Runs the plans of all ranks, whose units have `unit_bytes` bytes, on a network.
///
/// # Errors
/// Plans that are not those of all ranks, and plans that never end.
pub fn simulate(
    network: &Network,
    plans: &[Plan],
    unit_bytes: u64,
    options: Options,
) -> Result<Outcome, SimulationError> {
    if plans.len() != network.ranks() {
        return Err(SimulationError::Plans {
            plans: plans.len(),
            ranks: network.ranks(),
        });
    }
    engine::Engine::new(network, plans, unit_bytes, options).run()
}
