//! Simulation of plans: every message of every rank on a network, event by event.
//!
//! ```text
//!   a step may start -> its rank is free: it takes os(m), and the message is sent
//!     -> card -> uplink -> connection -> L -> downlink -> card -> received, or(m) before it ends
//! ```
//!
//! Each link carries one message after the other, in the order of arrival, and a message leaves
//! while it is still arriving (cut-through), so that one message alone takes `L + g(m)`. A rank
//! executes one step at a time: of those that it may execute, the first in its list, as the
//! executor of plans does. Messages with a rendezvous wait for their receiver; such a send is
//! complete when its last byte has left.
//!
//! A message is received once it has arrived and its receive has begun, whichever is later, and its
//! receive is the first step that its rank may execute. `or(m)` is a part of `g(m)` (thesis 4.7)
//! for a rank that waits: it ends with the last byte. It begins when the rank is free and the
//! receive has begun, so that a late receive ends `or(m)` after that.
//!
//! On links of equal speed, many events are simultaneous. Of these, messages advance first, then
//! steps end, then ranks begin steps or receive, the lowest rank first. Messages that arrive at a
//! link at the same time pass it in the order of their senders, and those of one sender in that of
//! its steps.
//!
//! Messages of a total exchange inside a cluster take `gamma (L + g(m)) + delta` instead, if its
//! contention was measured (thesis 6.4).

pub(crate) mod engine;
mod events;
pub(crate) mod links;
mod occupancy;
pub(crate) mod outcome;
#[cfg(test)]
mod tests;
mod timeline;

pub use engine::simulate;
pub use occupancy::Occupancy;
pub use outcome::{Options, Outcome, Sending, SimulationError};
pub use timeline::{Bar, Doing};
