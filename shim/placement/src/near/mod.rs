//! Placement of the ranks with the most traffic to other nodes next to the network interfaces of
//! their node.
//!
//! A linear term is added inside each node: the bytes that a rank sends to and receives from other
//! nodes, times the distance of its core from the nearest interface. Only ranks of one node are
//! swapped, so that the cost between nodes does not change.
//!
//! ```text
//!   node                swapped items               cost
//!     socket  socket*     parts of one shape          nothing: distances are those of the tree
//!      0  1    2  3       single ranks                some DistComm, within a budget
//!   * the interface
//! ```

mod interfaces;
mod seats;
#[cfg(test)]
mod tests;

pub use interfaces::Interfaces;
pub use seats::Seats;
