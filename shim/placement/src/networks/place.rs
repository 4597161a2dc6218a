//! One way in for all strategies on a network.

use super::anneal::annealed;
use super::bound::lower_bound;
use super::curves::along_hilbert;
use super::distances::Distances;
use super::exhaustive::cheapest;
use super::field::Field;
use super::fold::NodeBox;
use super::halves::Halves;
use super::inside::arranged;
use super::near::Near;
use super::relieve::{Limits, relieved};
use super::schedule::Schedule;
use super::{NetworkNodes, hop_bytes, link_traffic};
use crate::constraints::{Constraints, SlotTree};
use crate::multilevel::{Engine, Grid};
use crate::objective::Objective;
use crate::place::{clearly_cheaper, identity, require_finite_sums};
use crate::random::Random;
use crate::{Effort, Options, Outcome, Placement, PlacementError, Strategy, baselines, place};
use treepie_topology::Topology;
use treepie_topology::networks::{Loads, Network};
use treepie_traffic::Matrix;

/// Places the ranks of `matrix` on the allowed leaves of `topology`, whose nodes are on a network.
/// Costs are those of the network: hop-bytes for [`Objective::Sum`], the load of the most loaded
/// link for [`Objective::Congestion`], and the geometric mean of both for [`Objective::Mixture`],
/// where [`Strategy::Best`] takes only what is worse than the identity in neither.
/// Ranks of one node are then put on its cores as on a tree of its own.
///
/// # Errors
/// As [`place`]; an objective or a strategy that is defined on trees only.
pub fn place_on_network(
    strategy: Strategy,
    matrix: &Matrix,
    topology: &Topology,
    nodes: &NetworkNodes,
    options: &Options,
) -> Result<Outcome, PlacementError> {
    require_network_terms(strategy, options.objective)?;
    let ranks = matrix.order();
    let nothing = Constraints::default();
    let constraints = options.constraints.unwrap_or(&nothing);
    let slot_tree = SlotTree::new(constraints, ranks, topology)?;
    require_finite_sums(matrix)?;
    let before = identity(&slot_tree, topology, options)?;
    let value = |leaves: &[usize]| key(options.objective, matrix, topology, nodes, leaves);
    let search = Search {
        field: Field::new(matrix, nodes, &slot_tree),
        distances: Distances::new(nodes),
        matrix,
        slot_tree: &slot_tree,
        options,
    };
    let candidates = match ranks {
        0 => vec![(Strategy::Identity, Vec::new())],
        _ => search.candidates(strategy, &before)?,
    };
    let mut chosen: Option<(Strategy, Vec<usize>)> = None;
    let mut least = Vec::new();
    let guarded = strategy == Strategy::Best && options.objective == Objective::Mixture;
    // The first candidate is the identity.
    let mut most: Option<Vec<f64>> = None;
    for (strategy, slots) in candidates {
        let cost = value(&slot_tree.leaves_of(&slots));
        let most = most.get_or_insert_with(|| cost.clone());
        let mut parts = cost.iter().zip(most);
        if guarded && parts.any(|(cost, most)| *cost > *most * (1.0 + 1e-9)) {
            continue;
        }
        if chosen.is_none() || clearly_cheaper(&cost, &least) {
            least = cost;
            chosen = Some((strategy, slots));
        }
    }
    let (made_by, slots) = chosen.expect("every strategy has at least one candidate");
    let slots = match made_by {
        Strategy::Identity | Strategy::Packed | Strategy::RoundRobin => slots,
        _ => arranged(&search.field, matrix, slots, options.effort, options.seed)?,
    };
    let leaf_of_rank = slot_tree.leaves_of(&slots);
    Ok(Outcome {
        strategy: made_by,
        cost: value(&leaf_of_rank)[0],
        identity_cost: value(&before)[0],
        placement: Placement { leaf_of_rank },
    })
}

fn require_network_terms(strategy: Strategy, objective: Objective) -> Result<(), PlacementError> {
    let trees_only = match objective {
        Objective::Sum | Objective::Congestion | Objective::Mixture => None,
        other => Some(format!("the objective {other}")),
    };
    let trees_only = trees_only.or_else(|| {
        let balances = strategy.balances_loads();
        balances.then(|| format!("the strategy {strategy}"))
    });
    match trees_only {
        Some(what) => Err(PlacementError::TreesOnly { what }),
        None => Ok(()),
    }
}

/// Costs by which placements are compared: the first number that differs decides.
fn key(
    objective: Objective,
    matrix: &Matrix,
    topology: &Topology,
    nodes: &NetworkNodes,
    leaf_of_rank: &[usize],
) -> Vec<f64> {
    let sum = hop_bytes(matrix, topology, nodes, leaf_of_rank);
    let most = || {
        let traffic = link_traffic(matrix, topology, nodes, leaf_of_rank);
        Loads::new(nodes.network(), traffic).most_load
    };
    match objective {
        Objective::Congestion => vec![most(), sum],
        Objective::Mixture => {
            let most = most();
            vec![(sum * most).sqrt(), sum, most]
        }
        _ => vec![sum],
    }
}

/// A placement, one slot for each rank, and what proposes it.
type Candidate = (Strategy, Vec<usize>);

struct Search<'a> {
    field: Field<'a>,
    distances: Distances<'a>,
    matrix: &'a Matrix,
    slot_tree: &'a SlotTree,
    options: &'a Options<'a>,
}

impl Search<'_> {
    fn candidates(
        &self,
        strategy: Strategy,
        before: &[usize],
    ) -> Result<Vec<Candidate>, PlacementError> {
        let slots = self.slot_tree.topology();
        let ranks = self.field.ranks;
        let now = self.slot_tree.admit(self.slot_tree.slots_on(before))?;
        let identity = (Strategy::Identity, now);
        let as_is = |found: Vec<usize>| Ok(vec![(strategy, self.slot_tree.admit(found)?)]);
        match strategy {
            Strategy::Identity | Strategy::MinWeight | Strategy::TreeBased => Ok(vec![identity]),
            Strategy::Packed => as_is(baselines::packed(slots, ranks)),
            Strategy::RoundRobin => as_is(baselines::round_robin(slots, ranks)),
            Strategy::TreeMatch
            | Strategy::TreeMatchExact
            | Strategy::TreeMatchFast
            | Strategy::TreeMatchConstraints => as_is(self.on_tree(strategy)?),
            Strategy::Swaps => {
                let near = Near::new(self.field.nodes);
                let found = self.improved(&near, &identity.1, self.cool(), 0)?;
                Ok(vec![identity, (strategy, found)])
            }
            Strategy::Grid | Strategy::Multisection | Strategy::Best => {
                let packed = self.slot_tree.admit(baselines::packed(slots, ranks))?;
                let mut all = vec![identity, (Strategy::Packed, packed)];
                self.search(strategy, &mut all)?;
                if strategy == Strategy::Best {
                    self.relieve(&mut all)?;
                } else {
                    all.drain(..2);
                }
                Ok(all)
            }
        }
    }

    /// A strategy for trees, on the tree of halves.
    fn on_tree(&self, strategy: Strategy) -> Result<Vec<usize>, PlacementError> {
        let halves = Halves::new(&self.field)?;
        let options = Options {
            current: None,
            constraints: None,
            objective: Objective::Sum,
            loads: None,
            ..*self.options
        };
        let placed = place(strategy, self.matrix, &halves.tree, &options)?;
        Ok(halves.slots(&placed.placement.leaf_of_rank))
    }

    /// Folding, multisection and curves, each improved by swaps.
    fn search(&self, strategy: Strategy, all: &mut Vec<Candidate>) -> Result<(), PlacementError> {
        let field = &self.field;
        if let Some(found) = cheapest(field) {
            all.push((Strategy::Multisection, found));
            return Ok(());
        }
        let grid = Grid::find(&field.graph);
        let only_grid = strategy == Strategy::Grid && grid.is_some();
        let mut structured: Vec<Candidate> = Vec::new();
        if let Some(grid) = grid.as_ref().filter(|_| strategy != Strategy::Multisection)
            && let Some(found) = NodeBox::new(field).and_then(|b| b.fold(field, grid))
        {
            let found = self.slot_tree.admit(found)?;
            let proved = self.is_proved(&found)?;
            structured.push((Strategy::Grid, found));
            if proved {
                all.append(&mut structured);
                return Ok(());
            }
        }
        let near = Near::new(field.nodes);
        let halves = Halves::new(field)?;
        let (effort, seed) = (self.options.effort, self.options.seed);
        // Annealing with true distances follows: the tree only gives it a start.
        let start = match effort {
            Effort::Strong => Effort::Normal,
            _ => Effort::Fast,
        };
        let engine = Engine::new(self.matrix, &halves.tree, start, seed, self.options.threads)
            .with_progress(self.options.progress);
        if let Some((leaves, _)) = grid.as_ref().and_then(|_| engine.grid()) {
            let found = self.slot_tree.admit(halves.slots(&leaves))?;
            structured.push((Strategy::Grid, found));
        }
        if let Some(found) = along_hilbert(field, grid.as_ref()) {
            structured.push((Strategy::Swaps, self.slot_tree.admit(found)?));
        }
        // What has a structure is kept by little heat.
        let natural = all
            .iter()
            .map(|(_, slots)| (Strategy::Swaps, slots.clone()));
        let known = structured.iter().cloned().chain(natural);
        let cheapest = known.min_by(|a, b| field.cost(&a.1).total_cmp(&field.cost(&b.1)));
        if let Some((made_by, slots)) = cheapest {
            let worth = grid.is_some() || self.is_far_better(&slots, all);
            if worth {
                let found = self.improved(&near, &slots, self.cool(), 1)?;
                structured.push((made_by, found));
            }
        }
        all.append(&mut structured);
        if only_grid {
            return Ok(());
        }
        let leaves = engine.multisection(grid.is_some());
        let found = self.slot_tree.admit(halves.slots(&leaves))?;
        let schedule = match grid {
            Some(_) => self.cool(),
            None => self.hot(),
        };
        all.push((
            Strategy::Multisection,
            self.improved(&near, &found, schedule, 2)?,
        ));
        Ok(())
    }

    /// Whether the natural order is so good that something must be in it.
    fn is_far_better(&self, slots: &[usize], all: &[Candidate]) -> bool {
        let total: f64 = (0..self.field.ranks)
            .map(|rank| self.field.graph.weights(rank).iter().sum::<f64>())
            .sum::<f64>()
            / 2.0;
        let worst = all.iter().map(|(_, slots)| self.field.cost(slots));
        let worst = worst.fold(total, f64::max);
        self.field.cost(slots) < 0.6 * worst.max(total * self.mean_distance())
    }

    /// Mean distance of random nodes.
    fn mean_distance(&self) -> f64 {
        let mut random = Random::new(7);
        let count = self.field.nodes.count();
        let mut pair = || (random.below(count), random.below(count));
        let samples = (0..256).map(|_| pair());
        let samples: Vec<_> = samples.collect();
        let all = samples
            .iter()
            .map(|&(a, b)| f64::from(self.field.nodes.distance(a, b)));
        all.sum::<f64>() / samples.len() as f64
    }

    fn is_proved(&self, slots: &[usize]) -> Result<bool, PlacementError> {
        let decides = match self.options.objective {
            Objective::Sum => true,
            // What needs no detour on a lattice has its links for itself.
            Objective::Mixture => matches!(self.field.nodes.network(), Network::Lattice(_)),
            _ => false,
        };
        if !self.slot_tree.is_free() || !decides {
            return Ok(false);
        }
        let cost = self.field.cost(slots);
        let bound = lower_bound(
            self.matrix,
            self.slot_tree.topology(),
            self.field.nodes,
            slots,
        )?;
        Ok(cost <= bound * (1.0 + 1e-9))
    }

    /// A placement after annealing with true distances.
    fn improved(
        &self,
        near: &Near,
        slots: &[usize],
        schedule: Schedule,
        stream: u64,
    ) -> Result<Vec<usize>, PlacementError> {
        let Some(start) = self.field.complete(slots) else {
            return Ok(slots.to_vec());
        };
        let seed = self.options.seed.wrapping_mul(0x9e37).wrapping_add(stream);
        let mut random = Random::new(seed);
        let found = annealed(
            &self.field,
            &self.distances,
            near,
            start,
            schedule,
            &mut random,
        );
        self.slot_tree.admit(self.field.of_ranks(&found))
    }

    fn hot(&self) -> Schedule {
        Schedule::hot(&self.field, self.options.effort)
    }

    fn cool(&self) -> Schedule {
        Schedule::cool(&self.field, self.options.effort)
    }

    /// For the other objectives: relieves the most loaded links of what was found.
    fn relieve(&self, all: &mut Vec<Candidate>) -> Result<(), PlacementError> {
        let objective = self.options.objective;
        if objective == Objective::Sum {
            return Ok(());
        }
        let near = Near::new(self.field.nodes);
        let mut starts = all.clone();
        starts.sort_by(|a, b| self.field.cost(&a.1).total_cmp(&self.field.cost(&b.1)));
        starts.truncate(match self.options.effort {
            Effort::Strong => 3,
            _ => 1,
        });
        if objective == Objective::Congestion {
            starts.push((Strategy::Swaps, self.slot_tree.admit(self.scattered())?));
        }
        let best = starts
            .first()
            .map_or(0.0, |start| self.field.cost(&start.1));
        for (made_by, slots) in starts {
            let Some(start) = self.field.complete(&slots) else {
                continue;
            };
            let limits = Limits {
                rounds: self.options.effort.relieving_rounds(),
                hop_bytes: match objective {
                    Objective::Mixture => 1.1 * best,
                    _ => f64::INFINITY,
                },
                work: match self.options.effort {
                    Effort::Strong => 1_000_000_000,
                    _ => 2_000_000,
                },
            };
            let seed = self.options.seed;
            let found = relieved(&self.field, self.matrix, &near, start, limits, seed);
            let made_by = match made_by {
                Strategy::Identity | Strategy::Packed => Strategy::Swaps,
                made_by => made_by,
            };
            all.push((made_by, self.slot_tree.admit(self.field.of_ranks(&found))?));
        }
        Ok(())
    }

    /// Ranks spread at random, which spreads what they send over all links.
    fn scattered(&self) -> Vec<usize> {
        let mut slots: Vec<usize> = self
            .field
            .slots()
            .iter()
            .map(|&slot| slot as usize)
            .collect();
        let mut random = Random::new(self.options.seed ^ 0x5ca7);
        for last in (1..slots.len()).rev() {
            slots.swap(last, random.below(last + 1));
        }
        slots.truncate(self.field.ranks);
        slots
    }
}
