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
//! and when its receive is the first that its rank may do. `or(m)` is a part of `g(m)` (thesis 4.7)
//! for a rank that waits: it ends with the last byte. It begins when the rank is free and the
//! receive has begun, so that one which is late ends `or(m)` after that.
//!
//! On links that are alike, much happens at the same time. Of that, messages go on first, then
//! steps end, then ranks begin steps or receive, the lowest rank first. Messages that come to a
//! link at the same time pass it in the order of their senders, and those of one sender in that of
//! its steps.
//!
//! Messages of a total exchange inside a cluster take `gamma (L + g(m)) + delta` instead, where its
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
