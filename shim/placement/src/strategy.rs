//! Placement strategies.

use strum::{Display, IntoStaticStr, VariantArray};

use treepie_base::from_name;

/// Strategy that places ranks on leaves.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Display, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum Strategy {
    /// The cheapest of all candidates, improved by swaps: multisection, boxes of a grid, TreeMatch,
    /// packed and identity; identity if nothing is cheaper.
    #[default]
    Best,
    /// Parts of exact sizes from the root down, with little traffic between them, found by
    /// coarsening and annealing; then swaps. For up to eight ranks without constraints, the
    /// cheapest of all placements.
    Multisection,
    /// Boxes of the grid that the ranks form; then swaps. Multisection if they form none.
    Grid,
    /// Identity, improved by swaps as long as one makes it cheaper.
    Swaps,
    /// The cheapest of TreeMatch's variants; on a tree whose arities differ
    /// from node to node, the top-down partition.
    #[strum(serialize = "treematch")]
    TreeMatch,
    /// TreeMatch with all groups listed at every level (thesis 2.4.1).
    #[strum(serialize = "treematch-exact")]
    TreeMatchExact,
    /// TreeMatch with groups along the heaviest edges at every level (thesis 2.4.2).
    #[strum(serialize = "treematch-fast")]
    TreeMatchFast,
    /// The top-down partition with forbidden leaves, with fictitious ranks on the remaining ones
    /// (thesis 3.3.2).
    #[strum(serialize = "treematch-constraints")]
    TreeMatchConstraints,
    /// Loads first, then affinity, then few migrations (thesis 3.4.1).
    #[strum(serialize = "tmlb-min-weight")]
    MinWeight,
    /// Affinity first, then loads inside each node (thesis 3.4.2).
    #[strum(serialize = "tmlb-tree-based")]
    TreeBased,
    /// Rank `i` on leaf `i` in logical order.
    Packed,
    /// Rank `i` on the leaf with physical number `i`, machine after machine.
    RoundRobin,
    /// Every rank where it is at present.
    Identity,
}

impl Strategy {
    /// All strategies, in the order in which reports show them.
    pub const ALL: &'static [Strategy] = Self::VARIANTS;

    /// True if the strategy uses the loads of the ranks, and puts as many ranks on a leaf as these
    /// require.
    pub fn balances_loads(self) -> bool {
        matches!(self, Strategy::MinWeight | Strategy::TreeBased)
    }
}

from_name!(Strategy, "placement strategy");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strategy_is_read_back_from_its_name() {
        for &strategy in Strategy::ALL {
            assert_eq!(strategy.to_string().parse(), Ok(strategy));
        }
        assert!("scotch".parse::<Strategy>().is_err());
    }
}
