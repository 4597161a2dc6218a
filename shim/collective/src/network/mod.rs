//! What messages between the ranks of a communicator meet on a platform.
//!
//! ```text
//!   rank --> host's card --> uplink of its cluster --> connection --> downlink --> card --> rank
//!            \___ inside a cluster only the cards ___/
//! ```
//!
//! A platform says what one message meets: `L + g(m)`. What several messages at the
//! same time have in common follows from it: whatever leaves a host passes its card as
//! fast as its cluster's link is, whatever leaves a cluster its uplink, which is as
//! fast as the fastest link out of it (faster, where several pairs together were measured to be).

pub(crate) mod computing;
pub(crate) mod costs;
pub(crate) mod inside;
pub(crate) mod links;
pub(crate) mod memory;
mod part;

pub use computing::Computing;
pub use costs::{MessageCost, MessageCosts};
pub use links::{Distance, Network};
