//! TreeMatch (thesis 2.4.1, algorithm 1): ranks are grouped from the leaves of a balanced symmetric
//! tree upwards, and the groups are laid out from its root down.
//!
//! ```text
//! depth 3   ranks 0..8 in pairs      (0,1) (2,3) (4,5) (6,7)     arity 2
//!             aggregate: 4 groups become 4 entities
//! depth 2   padded to 6, in threes   (0,1,4) (2,3,5)             arity 3; 4 and 5 are artificial
//!             aggregate: 2 groups become 2 entities
//! depth 1   in pairs                 (0,1)                       arity 2: the root
//! ```
//!
//! A level is grouped *exactly* ([`exact`]: all possible groups, then a light independent set of
//! them) if there are few possible groups, and *fast* ([`fast`]: along the heaviest edges)
//! otherwise.

pub(crate) mod aggregate;
mod buckets;
pub(crate) mod candidates;
pub(crate) mod decompose;
pub mod exact;
pub mod fast;
pub(crate) mod hierarchy;
mod independent_set;
mod partial_groups;
pub(crate) mod partition;
mod possible_groups;
pub(crate) mod top_down;

pub use aggregate::{aggregated, extended};
pub use buckets::{Buckets, Edge};
pub use decompose::decomposed;
pub use hierarchy::{Hierarchy, Parameters, group};
pub use independent_set::{
    largest_neighbours_first, largest_ratio_first, smallest_first, smallest_maximum,
};
pub use partition::partition;
pub use possible_groups::{PossibleGroups, group_count};
pub use top_down::place_top_down;
