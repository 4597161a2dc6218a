//! Entry point of all strategies: checks the input, tries the candidates, keeps the cheapest.

use crate::balance::balanced::place_balanced;
use crate::error::PlacementError;
use crate::hardware::Hardware;
use crate::objective::choice::Objective;
use crate::options::{Options, Outcome};
use crate::search::network::NetworkSearch;
use crate::search::problem::Problem;
use crate::search::tree::place_on_tree;
use crate::strategy::Strategy;
use treepie_traffic::Matrix;

/// Places the ranks of `matrix` on the allowed leaves of a tree (`&Topology`), or of [`Hardware`]
/// whose nodes are on a network.
///
/// On a network, costs are those of the network: hop-bytes for [`Objective::Sum`], the maximum link
/// load for [`Objective::Congestion`], and the geometric mean of both for [`Objective::Mixture`],
/// for which [`Strategy::Best`] only takes a placement that is worse than the identity in neither.
/// The ranks of a node are then placed on its cores as on a separate tree.
///
/// # Errors
/// There are more ranks than slots; constraints contradict each other; `current` is not a placement
/// on these leaves; the sum of affinities is not finite; the strategy needs another tree, or loads
/// that are missing; on a network, the objective or strategy is only defined on trees.
pub fn place<'a>(
    strategy: Strategy,
    matrix: &Matrix,
    hardware: impl Into<Hardware<'a>>,
    options: &Options,
) -> Result<Outcome, PlacementError> {
    let hardware = hardware.into();
    let Some(nodes) = hardware.network else {
        return match strategy.balances_loads() {
            true => place_balanced(strategy, matrix, hardware.topology, options),
            false => place_on_tree(strategy, matrix, hardware.topology, options),
        };
    };
    require_network_terms(strategy, options.objective)?;
    let problem = Problem::new(strategy, matrix, hardware, options)?;
    problem.solve(&NetworkSearch::new(&problem, nodes))
}

fn require_network_terms(strategy: Strategy, objective: Objective) -> Result<(), PlacementError> {
    let what = match objective {
        Objective::Sum | Objective::Congestion | Objective::Mixture => {
            if !strategy.balances_loads() {
                return Ok(());
            }
            format!("the strategy {strategy}")
        }
        other => format!("the objective {other}"),
    };
    Err(PlacementError::TreesOnly { what })
}
