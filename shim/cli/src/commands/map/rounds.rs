//! Alternating computation of placements and plans.

use treepie_base::{Leaf, Rank, Slice};
use treepie_launch::error::CommandError;
use treepie_placement::{Options, Outcome as Placed, Placement, Strategy};
use treepie_traffic::Matrix;

use crate::commands::map::arguments::Arguments;
use crate::commands::map::job::Job;
use crate::commands::map::replaced::Replaced;
use crate::commands::map::search;

/// Maximum number of rounds of plans and placements: more did not find better ones on any of the
/// sample jobs.
pub(crate) const ROUNDS: u32 = 3;

impl Job {
    /// Places for the plans that the replay will run. A placement is rated with its own plans; the
    /// present location of the ranks is a candidate.
    pub(super) fn place_for_plans(
        &self,
        replaced: &Replaced,
        arguments: &Arguments,
        options: &Options,
    ) -> Result<Placed, CommandError> {
        let how = &arguments.how;
        let at = |leaves: &Slice<Rank, Leaf>| -> Result<Matrix, CommandError> {
            replaced
                .input(&self.input, &self.topology, leaves)?
                .matrix(&arguments.choice)
        };
        let cost = |matrix: &Matrix, leaves: &Slice<Rank, Leaf>| {
            self.value(self.objective, matrix, leaves)
        };
        let before = self.before(how, &self.input.matrix(&arguments.choice)?)?;
        let mut matrix = at(&before)?;
        let identity_cost = cost(&matrix, &before);
        let mut best = Placed {
            strategy: Strategy::Identity,
            placement: Placement {
                leaf_of_rank: before.clone(),
            },
            cost: identity_cost,
            identity_cost,
        };
        let mut last = before;
        for _ in 0..ROUNDS {
            let budget = how.time_limit.map(|limit| limit / ROUNDS);
            let found = search::within(budget, options, |options| {
                self.placed(how, &matrix, options)
            })?;
            let leaves = &found.placement.leaf_of_rank;
            if *leaves == last {
                break;
            }
            last.clone_from(leaves);
            matrix = at(leaves)?;
            let with_its_plans = cost(&matrix, leaves);
            if with_its_plans < best.cost {
                best = Placed {
                    cost: with_its_plans,
                    identity_cost,
                    ..found
                };
            }
        }
        Ok(best)
    }
}
