//! Containment of failures: groups of ranks that roll back together, and sets of ranks that protect
//! each other's checkpoints.
//!
//! In hierarchical rollback recovery (HydEE, Guermouche et al., IPDPS 2012; SPBC, Ropars et al., SC
//! 2013) the ranks of a group checkpoint together, and senders log the messages between groups: a
//! failure then rolls back one group. This module does not run such a protocol. It reports its cost
//! for the traffic of a profile, by the number of groups.
//!
//! ```text
//! domains     parts that fail as a whole: a node, a rack, a cluster
//! partition   groups of whole domains with little traffic between them
//! cut         logged messages and rolled-back ranks of a division into groups
//! interval    time between checkpoints, and the time lost (Young 1974, Daly 2006)
//! logging     waves of all ranks compared with logging of all messages
//! trade_off   all of it by the number of groups; the Pareto front
//! redundancy  sets of ranks as formed by SCR, FTI and VELOC
//! ```

mod cut;
mod domains;
mod error;
mod interval;
mod logging;
mod partition;
pub mod redundancy;
#[cfg(test)]
mod tests;
mod trade_off;

pub use cut::Cut;
pub use domains::Domains;
pub use error::ContainmentError;
pub use interval::Failures;
pub use logging::Logging;
pub use partition::grouped;
pub use trade_off::{Division, Outlook, Plan, Question, trade_offs};
