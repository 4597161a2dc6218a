//! Constraints checked against a topology, and placements that satisfy them.

use crate::constraints::error::ConstraintError;
use crate::constraints::repair::repaired;
use crate::constraints::request::Constraints;
use crate::constraints::resolved::{Allowed, SharedLevel, joined, lowest_height, usable_slots};
use crate::constraints::slot_tree::SlotTree;
use crate::error::PlacementError;
use treepie_base::{List, Rank, Slot};
use treepie_topology::Topology;

impl SlotTree {
    /// Checks `constraints` for `ranks` ranks on `topology`.
    ///
    /// # Errors
    /// A rank or leaf does not exist, there are fewer slots than ranks, or constraints contradict
    /// each other.
    pub fn new(
        constraints: &Constraints,
        ranks: usize,
        topology: &Topology,
    ) -> Result<Self, PlacementError> {
        if constraints.is_empty() {
            return SlotTree::free(ranks, topology);
        }
        let capacities = usable_slots(constraints, topology)?;
        let allowed = Allowed::new(constraints, ranks, &capacities, topology)?;
        let groups = joined(&constraints.together, ranks)?;
        let shared = SharedLevel::new(constraints, topology)?;
        let total = capacities
            .iter()
            .fold(0_usize, |sum, &s| sum.saturating_add(s));
        if ranks > total {
            return Err(ConstraintError::TooFewSlots {
                ranks,
                slots: total,
            }
            .into());
        }
        // Cores take as few ranks as possible: the limit grows by one each time that the ranks do
        // not fit.
        let most = capacities.iter().copied().max().unwrap_or(1).max(1);
        let mut height = lowest_height(&capacities, ranks);
        loop {
            let capped = allowed.capped(&capacities, height);
            let slot_tree =
                SlotTree::with_slots(&capped, topology, &allowed, groups.clone(), shared.clone())?;
            match repaired(&slot_tree, &List::new()) {
                Err(_) if height < most => height += 1,
                Err(error) => return Err(error.into()),
                Ok(_) => return Ok(slot_tree),
            }
        }
    }

    /// The placement of a strategy with the fewest possible moves so that it satisfies all
    /// constraints; unchanged if it does.
    ///
    /// # Errors
    /// No slots were found for ranks that must be together.
    pub fn admit(
        &self,
        slot_of_rank: List<Rank, Slot>,
    ) -> Result<List<Rank, Slot>, PlacementError> {
        if self.keeps_rules(&slot_of_rank) {
            return Ok(slot_of_rank);
        }
        // An empty tree is always feasible: `SlotTree::new` checks it.
        Ok(repaired(self, &slot_of_rank).or_else(|_| repaired(self, &List::new()))?)
    }
}
