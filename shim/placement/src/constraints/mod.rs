//! Constraints of a placement: number of ranks on a core, unused cores, pinned ranks, ranks that
//! must share a node.
//!
//! [`Constraints`] is the user's request. It is checked once against a topology and becomes a
//! [`SlotTree`]: a tree in which every leaf is one *slot* for one rank, with a test of whether a
//! rank may use a slot. A strategy works on the slots like on any other tree; its result is
//! repaired if it violates a constraint ([`SlotTree::admit`]), and a search by swaps checks
//! [`SlotTree::may_swap`] before each swap.
//!
//! ```text
//! cores        0      1      2        slots 2, 1, 0: core 2 is not used
//! slots      0   1    2
//! ```

pub(crate) mod error;
mod feasible;
mod repair;
pub(crate) mod request;
pub(crate) mod resolved;
pub(crate) mod slot_tree;

pub use request::Constraints;
pub use slot_tree::{Occupant, SlotTree};
