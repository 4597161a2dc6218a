//! Load balancers as placement strategies (thesis 3.4): they normally have more ranks than leaves,
//! and each rank has a load.
//!
//! ```text
//! TMLB_MIN_WEIGHT   affinity orders the ranks, the order is cut into a part for each leaf
//!                   loads decide on the group of each rank, the parts on the order of choice
//!                   migrations decide on the leaf of each group (Hungarian method)
//! TMLB_TREEBASED    affinity decides on the new location of all ranks of a leaf together
//!                   loads are balanced inside each node, in the order of affinity
//! ```

pub(crate) mod balanced;
mod deal;
mod fake;
mod min_weight;
mod situation;
mod tree_based;

pub use balanced::in_blocks;
pub use deal::deal_by_load;
pub use fake::FakeTree;
pub use min_weight::{migration_costs, min_weight};
pub use situation::Situation;
pub use tree_based::tree_based;
