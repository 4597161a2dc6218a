//! The names of the ways to place.

use crate::affinity::names::named;

/// A way to place ranks on leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Strategy {
    /// The cheapest of identity, packed and TreeMatch's variants; identity if
    /// nothing is cheaper.
    #[default]
    Best,
    /// The cheapest of TreeMatch's variants; on a tree whose arities differ
    /// from node to node, the top-down partition.
    TreeMatch,
    /// Rank `i` on leaf `i` in logical order.
    Packed,
    /// Rank `i` on the leaf with physical number `i`, machine after machine.
    RoundRobin,
    /// Every rank where it is now.
    Identity,
}

impl Strategy {
    /// All strategies, in the order in which reports show them.
    pub const ALL: [Strategy; 5] = [
        Strategy::Best,
        Strategy::TreeMatch,
        Strategy::Packed,
        Strategy::RoundRobin,
        Strategy::Identity,
    ];

    const NAMES: &'static [(&'static str, Strategy)] = &[
        ("best", Strategy::Best),
        ("treematch", Strategy::TreeMatch),
        ("packed", Strategy::Packed),
        ("round-robin", Strategy::RoundRobin),
        ("identity", Strategy::Identity),
    ];
}

named!(Strategy, "placement strategy");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strategy_is_read_back_from_its_name() {
        for strategy in Strategy::ALL {
            assert_eq!(strategy.to_string().parse(), Ok(strategy));
        }
        assert!("scotch".parse::<Strategy>().is_err());
    }
}
