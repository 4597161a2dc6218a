//! The placements that each strategy proposes, in slots.

use super::constraints::SlotTree;
use super::multilevel::Engine;
use super::objective::{dist_comm, mean_of_directions};
use super::treematch::{self, Parameters};
use super::{Options, PlacementError, Strategy, baselines, place_top_down, top_down};
use treepie_topology::Topology;
use treepie_traffic::Matrix;

/// Exact grouping on request lists at most so many groups on a level: some
/// hundred megabytes.
const MOST_GROUPS: u64 = 4_000_000;

/// Swaps make nothing better of a placement that costs so many times as much.
const HOPELESS: f64 = 1.5;

/// A placement, one slot for each rank, and the strategy that proposes it.
pub(super) type Candidate = (Strategy, Vec<usize>);

/// Candidates of `strategy`, at least one. `identity` is the leaf of each rank now.
///
/// # Errors
/// A strategy that does not fit the tree; sums that are not finite.
pub(super) fn generate(
    strategy: Strategy,
    matrix: &Matrix,
    slot_tree: &SlotTree,
    identity: &[usize],
    options: &Options,
) -> Result<Vec<Candidate>, PlacementError> {
    let slots = slot_tree.topology();
    let ranks = matrix.order();
    let seed = options.seed;
    let identity = || (Strategy::Identity, slot_tree.slots_on(identity));
    let packed = || (Strategy::Packed, baselines::packed(slots, ranks));
    let proposed = |found: Vec<Vec<usize>>| found.into_iter().map(move |slots| (strategy, slots));
    Ok(match strategy {
        Strategy::Identity | Strategy::MinWeight | Strategy::TreeBased => vec![identity()],
        Strategy::Packed => vec![packed()],
        Strategy::RoundRobin => vec![(strategy, baselines::round_robin(slots, ranks))],
        Strategy::TreeMatch => proposed(treematch(matrix, slots, seed)?).collect(),
        Strategy::TreeMatchExact => proposed(exact(matrix, slots, seed)?).collect(),
        Strategy::TreeMatchFast => proposed(fast(matrix, slots, seed)?).collect(),
        Strategy::TreeMatchConstraints => {
            let found = vec![
                top_down::place_with_fictitious(matrix, slots, seed)?,
                place_top_down(matrix, slots, seed)?,
            ];
            proposed(found).collect()
        }
        Strategy::Multisection => vec![Search::new(matrix, slot_tree, options).multisection()?],
        Strategy::Grid => vec![Search::new(matrix, slot_tree, options).grid()?],
        Strategy::Swaps => {
            let (_, slots) = identity();
            vec![Search::new(matrix, slot_tree, options).improved((strategy, slots))?]
        }
        Strategy::Best => {
            let mut all = vec![identity(), packed()];
            if (1..=options.effort.grouped_ranks()).contains(&ranks) {
                let grouped = treematch(matrix, slots, seed)?.into_iter();
                all.extend(grouped.map(|slots| (Strategy::TreeMatch, slots)));
            }
            let found = Search::new(matrix, slot_tree, options).best(all)?;
            for_objective(matrix, slot_tree, options, found)?
        }
    })
}

/// Adds what is found by searching for an objective that is no DistComm, from
/// nothing and from each of the others.
fn for_objective(
    matrix: &Matrix,
    slot_tree: &SlotTree,
    options: &Options,
    mut all: Vec<Candidate>,
) -> Result<Vec<Candidate>, PlacementError> {
    let levels = slot_tree.levels_of_leaves();
    let distances = slot_tree.topology().level_distances();
    for sum in options.objective.as_sums(matrix, distances, levels)? {
        let slot_tree = slot_tree.with_level_distances(&sum.distances)?;
        let search = Search::new(&sum.matrix, &slot_tree, options);
        for (_, slots) in all.clone() {
            all.push(search.improved((Strategy::Swaps, slots))?);
        }
        all.push(search.multisection()?);
    }
    Ok(all)
}

/// Search by [`super::multilevel`] under constraints.
struct Search<'a> {
    matrix: &'a Matrix,
    slot_tree: &'a SlotTree,
    engine: Engine<'a>,
}

impl<'a> Search<'a> {
    fn new(matrix: &'a Matrix, slot_tree: &'a SlotTree, options: &Options<'a>) -> Self {
        let (effort, seed) = (options.effort, options.seed);
        Search {
            engine: Engine::new(matrix, slot_tree.topology(), effort, seed, options.threads)
                .with_progress(options.progress),
            matrix,
            slot_tree,
        }
    }

    fn multisection(&self) -> Result<Candidate, PlacementError> {
        let slots = match self.exhaustive() {
            Some(slots) => slots,
            None => self.engine.multisection(false),
        };
        self.improved((Strategy::Multisection, slots))
    }

    fn grid(&self) -> Result<Candidate, PlacementError> {
        match self.engine.grid() {
            Some((slots, _)) => self.improved((Strategy::Grid, slots)),
            None => self.multisection(),
        }
    }

    /// The cheapest of all placements of a few ranks that may go anywhere.
    fn exhaustive(&self) -> Option<Vec<usize>> {
        let free = self.slot_tree.is_free();
        free.then(|| self.engine.cheapest(f64::INFINITY))?
    }

    /// A candidate with its rules kept, improved by swaps that keep them.
    fn improved(&self, (strategy, slots): Candidate) -> Result<Candidate, PlacementError> {
        let slots = self.slot_tree.admit(slots)?;
        let may_swap = |one, other| self.slot_tree.may_swap(one, other);
        Ok((strategy, self.engine.refined(&slots, may_swap)))
    }

    /// `others`, what the engine finds, and the cheapest of the others improved
    /// unless that is far from as good.
    fn best(&self, others: Vec<Candidate>) -> Result<Vec<Candidate>, PlacementError> {
        let mut all = others;
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
        let found = self.found()?;
        let costs = found.iter().map(|(_, slots)| self.cost(slots));
        let limit = HOPELESS * costs.fold(f64::INFINITY, f64::min);
        all.extend(found);
        if let Some((cost, (strategy, slots))) = least
            && cost <= limit
        {
            let strategy = match strategy {
                Strategy::Identity | Strategy::Packed => Strategy::Swaps,
                made => made,
            };
            all.push(self.improved((strategy, slots))?);
        }
        Ok(all)
    }

    fn cost(&self, slots: &[usize]) -> f64 {
        dist_comm(self.matrix, self.slot_tree.topology(), slots)
    }

    /// Placements from the matrix alone.
    fn found(&self) -> Result<Vec<Candidate>, PlacementError> {
        let mut all = Vec::new();
        let grid = self.engine.grid();
        let easy = grid.is_some();
        if let Some((slots, enough)) = grid {
            all.push(self.improved((Strategy::Grid, slots))?);
            if enough && self.slot_tree.is_free() {
                return Ok(all);
            }
        }
        let slots = self.engine.multisection(easy);
        all.push(self.improved((Strategy::Multisection, slots))?);
        Ok(all)
    }
}

/// TreeMatch with its switch from exact to fast grouping and with fast grouping
/// throughout, on the arities as they are and on their prime factors.
///
/// Where the allowed leaves form no balanced symmetric tree there is one
/// candidate, the top-down partition.
fn treematch(
    matrix: &Matrix,
    topology: &Topology,
    seed: u64,
) -> Result<Vec<Vec<usize>>, PlacementError> {
    let Some(shapes) = shapes(topology)? else {
        return Ok(vec![place_top_down(matrix, topology, seed)?]);
    };
    let affinity = mean_of_directions(matrix)?;
    let switching = Parameters {
        seed,
        ..Parameters::default()
    };
    let fast = Parameters {
        exact_below: 0,
        ..switching
    };
    let mut found = Vec::new();
    for arities in shapes {
        let grouped = treematch::group(&affinity, &arities, &switching)?;
        found.push(grouped.leaf_of_entity());
        if grouped.has_exact_choice() {
            found.push(treematch::group(&affinity, &arities, &fast)?.leaf_of_entity());
        }
    }
    Ok(on_allowed_leaves(found, topology))
}

/// Exact grouping throughout, on the arities as they are where the groups can
/// be listed, and on their prime factors.
fn exact(
    matrix: &Matrix,
    topology: &Topology,
    seed: u64,
) -> Result<Vec<Vec<usize>>, PlacementError> {
    let strategy = Strategy::TreeMatchExact;
    let shapes = shapes(topology)?.ok_or(PlacementError::UnevenTree { strategy })?;
    let affinity = mean_of_directions(matrix)?;
    let parameters = Parameters {
        exact_below: MOST_GROUPS + 1,
        seed,
        ..Parameters::default()
    };
    let mut found = Vec::new();
    let mut refused = None;
    for arities in shapes {
        let (groups, size) = treematch::most_groups(matrix.order(), &arities);
        if groups > MOST_GROUPS {
            refused = Some(PlacementError::TooManyGroups {
                groups,
                size,
                limit: MOST_GROUPS,
            });
        } else {
            found.push(treematch::group(&affinity, &arities, &parameters)?.leaf_of_entity());
        }
    }
    match refused {
        Some(error) if found.is_empty() => Err(error),
        _ => Ok(on_allowed_leaves(found, topology)),
    }
}

/// Fast grouping throughout, on the arities as they are and on their prime factors.
fn fast(
    matrix: &Matrix,
    topology: &Topology,
    seed: u64,
) -> Result<Vec<Vec<usize>>, PlacementError> {
    let strategy = Strategy::TreeMatchFast;
    let shapes = shapes(topology)?.ok_or(PlacementError::UnevenTree { strategy })?;
    let affinity = mean_of_directions(matrix)?;
    let parameters = Parameters {
        exact_below: 0,
        seed,
        ..Parameters::default()
    };
    let found = shapes.iter().map(|arities| {
        let grouped = treematch::group(&affinity, arities, &parameters)?;
        Ok(grouped.leaf_of_entity())
    });
    let found: Result<_, PlacementError> = found.collect();
    Ok(on_allowed_leaves(found?, topology))
}

/// The arities of the tree of allowed leaves, and their prime factors if these
/// are others; `None` where it is not balanced and symmetric.
fn shapes(topology: &Topology) -> Result<Option<Vec<Vec<usize>>>, PlacementError> {
    let Some(arities) = topology.pruned()?.arities() else {
        return Ok(None);
    };
    let mut shapes = vec![treematch::decomposed(&arities), arities];
    shapes.reverse();
    shapes.dedup();
    Ok(Some(shapes))
}

/// From leaves of the tree of allowed leaves to leaves of the whole tree.
fn on_allowed_leaves(found: Vec<Vec<usize>>, topology: &Topology) -> Vec<Vec<usize>> {
    let allowed = topology.allowed_leaves();
    let on_topology = |leaves: Vec<usize>| leaves.into_iter().map(|leaf| allowed[leaf]).collect();
    found.into_iter().map(on_topology).collect()
}
