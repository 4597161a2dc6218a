//! Constraints of a placement: how many ranks a core takes, cores that are not used, ranks that are
//! pinned, ranks that must share a node.
//!
//! [`Constraints`] is what a user requests. It is checked once against a topology and becomes a
//! [`SlotTree`]: a tree in which every leaf is one *slot* for one rank, and the answer to "may this
//! rank use that slot?". A strategy works on the slots as on any other tree; what it returns is
//! repaired where it breaks a rule ([`SlotTree::admit`]), and a search by swaps consults
//! [`SlotTree::may_swap`] before each of them.
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
