//! Costs of messages between the ranks of a communicator on a platform.
//!
//! ```text
//!   rank --> host's card --> uplink of its cluster --> connection --> downlink --> card --> rank
//!            \___ inside a cluster only the cards ___/
//! ```
//!
//! A platform gives the cost of one message: `L + g(m)`. The cost of several simultaneous messages
//! follows from it: all messages that leave a host pass its card, which is as fast as its cluster's
//! link; all that leave a cluster pass its uplink, which is as fast as the fastest link out of it
//! (faster, if several pairs together were measured to be).

pub(crate) mod computing;
pub(crate) mod costs;
pub(crate) mod inside;
pub(crate) mod links;
pub(crate) mod memory;
mod part;

pub use computing::Computing;
pub use costs::{MessageCost, MessageCosts};
pub use links::{Distance, Network};
