//! Order in which clusters are served (thesis 7.1, items 49 to 62): senders, receivers and times,
//! until every cluster's leader has the message.
//!
//! ```text
//!   A = {root}, B = the others
//!   while B is not empty:  choose i in A and j in B      <- the heuristic
//!                          i sends to j: busy for g(i,j), j has it after g + L
//!                          j moves from B to A
//!   inside its cluster a leader continues after its own sends
//! ```

mod costs;
mod heuristics;
mod schedule;
#[cfg(test)]
mod tests;

pub use costs::{Costs, CostsError};
pub use heuristics::Order;
pub use schedule::{Accounting, Schedule, Send};
