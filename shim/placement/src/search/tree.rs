//! Search on trees: multilevel mapping and TreeMatch, refined by swaps.

use crate::constraints::slot_tree::SlotTree;
use crate::error::PlacementError;
use crate::objective::choice::Objective;
use crate::objective::hop_bytes::dist_comm;
use crate::options::{Options, Outcome};
use crate::refine::congestion::{CongestionRefiner, Limits};
use crate::refine::refiner::Refiner;
use crate::search::multilevel::{MultilevelMapper, Structure};
use crate::search::problem::{Candidate, Problem, Search, after_swaps};
use crate::strategy::Strategy;
use crate::target::tree_links::TreeLinks;
use crate::treematch::candidates::{exact, fast, switching};
use crate::treematch::top_down::{place_top_down, place_with_fictitious};
use treepie_base::{Leaf, List, Rank, Slice, Slot};
use treepie_topology::Topology;
use treepie_traffic::Matrix;

/// Ratio of costs from which swaps cannot make a placement the cheapest.
const HOPELESS: f64 = 1.5;

/// Places the ranks of `matrix` on the allowed leaves of a tree.
///
/// # Errors
/// See [`crate::place()`].
pub(crate) fn place_on_tree(
    strategy: Strategy,
    matrix: &Matrix,
    topology: &Topology,
    options: &Options,
) -> Result<Outcome, PlacementError> {
    let problem = Problem::new(strategy, matrix, topology.into(), options)?;
    problem.solve(&TreeSearch { problem: &problem })
}

/// Search on the tree of slots.
struct TreeSearch<'a> {
    problem: &'a Problem<'a>,
}

impl Search for TreeSearch<'_> {
    fn candidates(&self) -> Result<Vec<Candidate>, PlacementError> {
        let Problem {
            strategy, matrix, ..
        } = *self.problem;
        let (tree, seed) = (self.problem.slot_tree.topology(), self.problem.options.seed);
        let proposals = |all: Vec<List<Rank, Leaf>>| {
            let all = all.into_iter();
            let all = all.map(|leaves| (strategy, SlotTree::from_own_leaves(leaves)));
            Ok(all.collect())
        };
        let mapping =
            || MultilevelSearch::new(matrix, &self.problem.slot_tree, self.problem.options);
        match strategy {
            Strategy::TreeMatch => proposals(switching(matrix, tree, seed)?),
            Strategy::TreeMatchExact => proposals(exact(matrix, tree, seed)?),
            Strategy::TreeMatchFast => proposals(fast(matrix, tree, seed)?),
            Strategy::TreeMatchConstraints => proposals(vec![
                place_with_fictitious(matrix, tree, seed)?,
                place_top_down(matrix, tree, seed)?,
            ]),
            Strategy::Multisection => Ok(vec![mapping().multisection()?]),
            Strategy::Grid => Ok(vec![mapping().grid()?]),
            Strategy::Swaps => {
                let (_, slots) = self.problem.stay();
                Ok(vec![mapping().refined((strategy, slots))?])
            }
            _ => self.best(),
        }
    }

    fn finish(&self, chosen: Candidate) -> Result<Candidate, PlacementError> {
        Ok(chosen)
    }
}

impl TreeSearch<'_> {
    /// Candidates of [`Strategy::Best`].
    fn best(&self) -> Result<Vec<Candidate>, PlacementError> {
        let problem = self.problem;
        let options = problem.options;
        let mut all = vec![problem.stay(), problem.packed()];
        if problem.matrix.order() <= options.effort.grouped_ranks() {
            let tree = problem.slot_tree.topology();
            let grouped = switching(problem.matrix, tree, options.seed)?.into_iter();
            let slots = grouped.map(SlotTree::from_own_leaves);
            all.extend(slots.map(|slots| (Strategy::TreeMatch, slots)));
        }
        let mapping = MultilevelSearch::new(problem.matrix, &problem.slot_tree, options);
        all = mapping.best(all)?;
        self.search_for_objective(&mut all)?;
        if matches!(
            options.objective,
            Objective::Congestion | Objective::Mixture
        ) {
            let (made_by, slots) = problem.cheapest(all.clone())?;
            let mut refiner = CongestionRefiner {
                matrix: problem.matrix,
                slot_tree: &problem.slot_tree,
                links: TreeLinks::new(&problem.slot_tree),
                limits: Limits {
                    rounds: options.effort.congestion_rounds(),
                    hop_bytes: f64::INFINITY,
                    work: usize::MAX,
                },
            };
            all.push((after_swaps(made_by), refiner.refine(slots)));
        }
        Ok(all)
    }

    /// Adds placements found by a search for an objective other than DistComm, from scratch and
    /// from each of the others.
    fn search_for_objective(&self, all: &mut Vec<Candidate>) -> Result<(), PlacementError> {
        let (matrix, options) = (self.problem.matrix, self.problem.options);
        let slot_tree = &self.problem.slot_tree;
        let levels = slot_tree.levels_of_leaves();
        let distances = slot_tree.topology().level_distances();
        for sum in options.objective.as_sums(matrix, distances, levels)? {
            let slot_tree = slot_tree.with_level_distances(&sum.distances)?;
            let mapping = MultilevelSearch::new(&sum.matrix, &slot_tree, options);
            for (_, slots) in all.clone() {
                all.push(mapping.refined((Strategy::Swaps, slots))?);
            }
            all.push(mapping.multisection()?);
        }
        Ok(())
    }
}

/// Search by multilevel mapping under constraints.
struct MultilevelSearch<'a> {
    matrix: &'a Matrix,
    slot_tree: &'a SlotTree,
    mapper: MultilevelMapper<'a>,
}

impl<'a> MultilevelSearch<'a> {
    fn new(matrix: &'a Matrix, slot_tree: &'a SlotTree, options: &Options<'a>) -> Self {
        MultilevelSearch {
            mapper: MultilevelMapper::new(matrix, slot_tree.topology(), options),
            matrix,
            slot_tree,
        }
    }

    fn multisection(&self) -> Result<Candidate, PlacementError> {
        let slots = self.exhaustive();
        let slots = slots.unwrap_or_else(|| self.multisected(Structure::Unknown));
        self.refined((Strategy::Multisection, slots))
    }

    fn grid(&self) -> Result<Candidate, PlacementError> {
        match self.mapper.grid() {
            Some(grid) => {
                self.refined((Strategy::Grid, SlotTree::from_own_leaves(grid.leaf_of_rank)))
            }
            None => self.multisection(),
        }
    }

    /// The cheapest of all placements of a few ranks without constraints.
    fn exhaustive(&self) -> Option<List<Rank, Slot>> {
        let free = self.slot_tree.is_free();
        let leaves = free.then(|| self.mapper.cheapest())?;
        leaves.map(SlotTree::from_own_leaves)
    }

    fn multisected(&self, structure: Structure) -> List<Rank, Slot> {
        SlotTree::from_own_leaves(self.mapper.multisection(structure))
    }

    /// A candidate after repair and refinement by swaps that satisfy the constraints.
    fn refined(&self, (strategy, slots): Candidate) -> Result<Candidate, PlacementError> {
        let slots = self.slot_tree.admit(slots)?;
        Ok((strategy, self.mapper.refiner(self.slot_tree).refine(slots)))
    }

    /// Returns `all`, the placements found from the matrix, and the refined cheapest of `all`
    /// unless it costs far more than these.
    fn best(&self, mut all: Vec<Candidate>) -> Result<Vec<Candidate>, PlacementError> {
        if let Some(slots) = self.exhaustive() {
            all.push((Strategy::Multisection, slots));
            return Ok(all);
        }
        let mut least: Option<(f64, Candidate)> = None;
        for candidate in &mut all {
            candidate.1 = self.slot_tree.admit(std::mem::take(&mut candidate.1))?;
            let cost = self.cost(&candidate.1);
            if least.as_ref().is_none_or(|least| cost < least.0) {
                least = Some((cost, candidate.clone()));
            }
        }
        let mapped = self.mapped()?;
        let costs = mapped.iter().map(|(_, slots)| self.cost(slots));
        let limit = HOPELESS * costs.fold(f64::INFINITY, f64::min);
        all.extend(mapped);
        if let Some((cost, (made_by, slots))) = least
            && cost <= limit
        {
            all.push(self.refined((after_swaps(made_by), slots))?);
        }
        Ok(all)
    }

    fn cost(&self, slots: &Slice<Rank, Slot>) -> f64 {
        let leaves = SlotTree::own_leaves(slots);
        dist_comm(self.matrix, self.slot_tree.topology(), &leaves)
    }

    /// Placements from the matrix alone.
    fn mapped(&self) -> Result<Vec<Candidate>, PlacementError> {
        let mut all = Vec::new();
        let mut structure = Structure::Unknown;
        if let Some(grid) = self.mapper.grid() {
            structure = Structure::Grid;
            let slots = SlotTree::from_own_leaves(grid.leaf_of_rank);
            all.push(self.refined((Strategy::Grid, slots))?);
            if grid.suffices && self.slot_tree.is_free() {
                return Ok(all);
            }
        }
        let slots = self.multisected(structure);
        all.push(self.refined((Strategy::Multisection, slots))?);
        Ok(all)
    }
}
