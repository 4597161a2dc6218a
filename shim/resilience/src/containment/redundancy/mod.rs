//! Sets of ranks that protect each other's checkpoints, as formed by SCR, FTI and VELOC.
//!
//! The members of a set should be in different failure domains: the opposite of groups that roll
//! back together. None of the three libraries accepts sets from its user; each derives them from
//! the order of ranks or hosts. So the sets of an order can be predicted, and the order can be
//! chosen.
//!
//! ```text
//! sets        tolerance of a set, and the effect of a failure of a domain on sets
//! rules       the rules of the three libraries
//! deal        order of hosts that spreads each domain over the sets
//! files       their configuration
//! ```

mod deal;
mod files;
mod rules;
mod sets;
#[cfg(test)]
mod tests;

pub use deal::{dealt, moved_to};
pub use files::{NamedHost, fti_config, scr_config, veloc_config};
pub use rules::{FTI_SET_SIZE, VELOC_SET_SIZE, fti, hosts_in_order, scr, veloc};
pub use sets::{Breakage, Scheme, Sets};
