//! Search on networks that are not trees: foldings, curves and multilevel mapping on a tree of
//! halves, refined by annealing with true distances.

use crate::bound::lower::lower_bound;
use crate::coarsen::halves::Halves;
use crate::effort::Effort;
use crate::error::PlacementError;
use crate::initial::exhaustive::cheapest;
use crate::initial::fold::NodeBox;
use crate::initial::grid::Grid;
use crate::initial::hilbert::along_hilbert;
use crate::objective::choice::Objective;
use crate::options::Options;
use crate::random::Random;
use crate::refine::congestion::{CongestionRefiner, Limits};
use crate::refine::refiner::Refiner;
use crate::refine::schedule::Schedule;
use crate::refine::swap_annealing::AnnealingRefiner;
use crate::search::inside_nodes::arrange_inside_nodes;
use crate::search::multilevel::{MultilevelMapper, Structure};
use crate::search::problem::{Candidate, Problem, Search, after_swaps};
use crate::search::tree::place_on_tree;
use crate::strategy::Strategy;
use crate::target::distances::Distances;
use crate::target::near::NearNodes;
use crate::target::network::NetworkTarget;
use crate::target::network_links::NetworkLinks;
use crate::target::nodes::NetworkNodes;
use treepie_base::{List, Rank, Slice, Slot};
use treepie_topology::networks::Network;

/// Maximum number of arrangements of the ranks for which all are tried.
const MOST_ARRANGEMENTS: usize = 200_000;

/// Search on the nodes of a job on a network.
pub(crate) struct NetworkSearch<'a> {
    problem: &'a Problem<'a>,
    target: NetworkTarget<'a>,
    distances: Distances<'a>,
}

impl Search for NetworkSearch<'_> {
    fn candidates(&self) -> Result<Vec<Candidate>, PlacementError> {
        let strategy = self.problem.strategy;
        match strategy {
            Strategy::TreeMatch
            | Strategy::TreeMatchExact
            | Strategy::TreeMatchFast
            | Strategy::TreeMatchConstraints => Ok(vec![(strategy, self.on_tree(strategy)?)]),
            Strategy::Swaps => {
                let near = NearNodes::new(self.target.nodes);
                let (_, slots) = self.admitted(self.problem.stay())?;
                let swapped = self.annealed(&near, &slots, self.cool(), 0)?;
                Ok(vec![self.problem.stay(), (strategy, swapped)])
            }
            _ => {
                let stay = self.admitted(self.problem.stay())?;
                let mut all = vec![stay, self.admitted(self.problem.packed())?];
                self.map(strategy, &mut all)?;
                if strategy == Strategy::Best {
                    self.refine_congestion(&mut all)?;
                } else {
                    all.drain(..2);
                }
                Ok(all)
            }
        }
    }

    /// Arranges the ranks of every node on its cores.
    fn finish(&self, (made_by, slots): Candidate) -> Result<Candidate, PlacementError> {
        let slots = match made_by {
            Strategy::Identity | Strategy::Packed | Strategy::RoundRobin => slots,
            _ => {
                let Problem {
                    matrix, options, ..
                } = self.problem;
                arrange_inside_nodes(&self.target, matrix, options, slots)?
            }
        };
        Ok((made_by, slots))
    }
}

impl<'a> NetworkSearch<'a> {
    pub(crate) fn new(problem: &'a Problem<'a>, nodes: &'a NetworkNodes) -> Self {
        NetworkSearch {
            target: NetworkTarget::new(problem.matrix, nodes, &problem.slot_tree),
            distances: Distances::new(nodes),
            problem,
        }
    }

    fn admitted(&self, (made_by, slots): Candidate) -> Result<Candidate, PlacementError> {
        Ok((made_by, self.problem.slot_tree.admit(slots)?))
    }

    /// Runs a strategy for trees on the tree of halves.
    fn on_tree(&self, strategy: Strategy) -> Result<List<Rank, Slot>, PlacementError> {
        let halves = Halves::new(&self.target)?;
        let options = Options {
            current: None,
            constraints: None,
            objective: Objective::Sum,
            loads: None,
            ..*self.problem.options
        };
        let placed = place_on_tree(strategy, self.problem.matrix, &halves.tree, &options)?;
        Ok(halves.slots(&placed.placement.leaf_of_rank))
    }

    /// Adds folding, multisection and curves, each refined by annealing.
    fn map(&self, strategy: Strategy, all: &mut Vec<Candidate>) -> Result<(), PlacementError> {
        let target = &self.target;
        if let Some(slots) = self.exhaustive() {
            all.push((Strategy::Multisection, slots));
            return Ok(());
        }
        let grid = Grid::find(&target.graph);
        let grid = grid.as_ref();
        let mut structured: Vec<Candidate> = Vec::new();
        if strategy != Strategy::Multisection
            && let Some(folded) = self.folded(grid)?
        {
            let proved = self.is_proved(&folded.1);
            structured.push(folded);
            if proved {
                all.append(&mut structured);
                return Ok(());
            }
        }
        let near = NearNodes::new(target.nodes);
        let halves = Halves::new(target)?;
        let options = Options {
            // Annealing with true distances follows: the tree only provides its start.
            effort: match self.problem.options.effort {
                Effort::Strong => Effort::Normal,
                _ => Effort::Fast,
            },
            ..*self.problem.options
        };
        let mapper = MultilevelMapper::new(self.problem.matrix, &halves.tree, &options);
        if let Some(boxes) = grid.and_then(|_| mapper.grid()) {
            structured.push(self.admitted((Strategy::Grid, halves.slots(&boxes.leaf_of_rank)))?);
        }
        if let Some(slots) = along_hilbert(target, grid) {
            structured.push(self.admitted((Strategy::Swaps, slots))?);
        }
        self.refine_structured(grid.is_some(), &near, all, &mut structured)?;
        all.append(&mut structured);
        if strategy == Strategy::Grid && grid.is_some() {
            return Ok(());
        }
        let (structure, schedule) = match grid {
            Some(_) => (Structure::Grid, self.cool()),
            None => (Structure::Unknown, self.hot()),
        };
        let leaves = mapper.multisection(structure);
        let start = self.admitted((Strategy::Multisection, halves.slots(&leaves)))?;
        let slots = self.annealed(&near, &start.1, schedule, 2)?;
        all.push((Strategy::Multisection, slots));
        Ok(())
    }

    /// The cheapest placement of a few ranks without constraints.
    fn exhaustive(&self) -> Option<List<Rank, Slot>> {
        let target = &self.target;
        let slots = target.slots().len();
        (0..target.ranks).try_fold(1_usize, |count, taken| {
            let count = count.checked_mul(slots - taken)?;
            (count <= MOST_ARRANGEMENTS).then_some(count)
        })?;
        let free = self.problem.slot_tree.is_free();
        free.then(|| cheapest(&target.graph, target, target.ranks))?
            .map(Slot::list)
    }

    /// The grid of ranks folded onto the box of nodes.
    fn folded(&self, grid: Option<&Grid>) -> Result<Option<Candidate>, PlacementError> {
        let fold = |grid| NodeBox::new(&self.target)?.fold(&self.target, grid);
        let Some(slots) = grid.and_then(fold) else {
            return Ok(None);
        };
        Ok(Some(self.admitted((Strategy::Grid, slots))?))
    }

    /// Adds the cheapest structured placement, or the natural order if it seems to be structured,
    /// after annealing at a temperature so low that the structure stays.
    fn refine_structured(
        &self,
        has_grid: bool,
        near: &NearNodes,
        natural: &[Candidate],
        structured: &mut Vec<Candidate>,
    ) -> Result<(), PlacementError> {
        let natural_swaps = natural
            .iter()
            .map(|(_, slots)| (Strategy::Swaps, slots.clone()));
        let known = structured.iter().cloned().chain(natural_swaps);
        let cost = |candidate: &Candidate| self.target.cost(&candidate.1);
        let cheapest = known.min_by(|a, b| cost(a).total_cmp(&cost(b)));
        if let Some((made_by, slots)) = cheapest
            && (has_grid || self.is_far_better(&slots, natural))
        {
            let slots = self.annealed(near, &slots, self.cool(), 1)?;
            structured.push((made_by, slots));
        }
        Ok(())
    }

    /// True if the natural order is so much better that it is probably structured.
    fn is_far_better(&self, slots: &Slice<Rank, Slot>, all: &[Candidate]) -> bool {
        let ranks = 0..self.target.ranks;
        let total: f64 = ranks.map(|r| self.target.graph.strength(r)).sum::<f64>() / 2.0;
        let worst = all.iter().map(|(_, slots)| self.target.cost(slots));
        let worst = worst.fold(total, f64::max);
        self.target.cost(slots) < 0.6 * worst.max(total * self.mean_distance())
    }

    /// Mean distance of random nodes.
    fn mean_distance(&self) -> f64 {
        const SAMPLES: usize = 256;
        let mut random = Random::new(7);
        let nodes = self.target.nodes;
        let sum: f64 = (0..SAMPLES)
            .map(|_| {
                let (a, b) = (random.below(nodes.count()), random.below(nodes.count()));
                f64::from(nodes.distance(a, b))
            })
            .sum();
        sum / SAMPLES as f64
    }

    fn is_proved(&self, slots: &Slice<Rank, Slot>) -> bool {
        let decides = match self.problem.options.objective {
            Objective::Sum => true,
            // Traffic that needs no detour on a lattice does not share its links.
            Objective::Mixture => matches!(self.target.nodes.network(), Network::Lattice(_)),
            _ => false,
        };
        if !self.problem.slot_tree.is_free() || !decides {
            return false;
        }
        let leaves = self.problem.slot_tree.leaves_of(slots);
        let bound = lower_bound(self.problem.matrix, self.problem.hardware, &leaves);
        self.target.cost(slots) <= bound * (1.0 + 1e-9)
    }

    /// A placement after annealing with true distances.
    fn annealed(
        &self,
        near: &NearNodes,
        slots: &Slice<Rank, Slot>,
        schedule: Schedule,
        stream: u64,
    ) -> Result<List<Rank, Slot>, PlacementError> {
        let seed = self.problem.options.seed.wrapping_mul(0x9e37);
        let mut refiner = AnnealingRefiner {
            target: &self.target,
            distances: &self.distances,
            near,
            schedule,
            random: Random::new(seed.wrapping_add(stream)),
        };
        let slots = refiner.refine(slots.to_owned());
        self.problem.slot_tree.admit(slots)
    }

    /// Schedule for a start without structure.
    fn hot(&self) -> Schedule {
        let sweeps = self
            .problem
            .options
            .effort
            .network_sweeps(&self.target.graph, self.target.ranks);
        Schedule {
            sweeps,
            hot: 4.0,
            cold: 0.5,
        }
    }

    /// Schedule for a start whose structure is to be kept.
    fn cool(&self) -> Schedule {
        Schedule {
            sweeps: self.hot().sweeps / 3.0,
            hot: 0.5,
            cold: 0.05,
        }
    }

    /// For objectives that count link loads, adds placements whose most loaded links are relieved.
    fn refine_congestion(&self, all: &mut Vec<Candidate>) -> Result<(), PlacementError> {
        let options = self.problem.options;
        if options.objective == Objective::Sum {
            return Ok(());
        }
        let near = NearNodes::new(self.target.nodes);
        let cost = |candidate: &Candidate| self.target.cost(&candidate.1);
        let mut starts = all.clone();
        starts.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
        starts.truncate(match options.effort {
            Effort::Strong => 3,
            _ => 1,
        });
        let best = starts.first().map_or(0.0, cost);
        if options.objective == Objective::Congestion {
            starts.push(self.admitted((Strategy::Swaps, self.scattered()))?);
        }
        let limits = Limits {
            rounds: options.effort.congestion_rounds(),
            hop_bytes: match options.objective {
                Objective::Mixture => 1.1 * best,
                _ => f64::INFINITY,
            },
            work: match options.effort {
                Effort::Strong => 1_000_000_000,
                _ => 2_000_000,
            },
        };
        for (made_by, slots) in starts {
            let mut refiner = CongestionRefiner {
                matrix: self.problem.matrix,
                slot_tree: &self.problem.slot_tree,
                links: NetworkLinks {
                    target: &self.target,
                    near: &near,
                    random: Random::new(options.seed),
                },
                limits,
            };
            let slots = refiner.refine(slots);
            all.push(self.admitted((after_swaps(made_by), slots))?);
        }
        Ok(())
    }

    /// Ranks spread at random, which spreads their traffic over all links.
    fn scattered(&self) -> List<Rank, Slot> {
        let mut slots = self.target.slots().to_vec();
        let mut random = Random::new(self.problem.options.seed ^ 0x5ca7);
        for last in (1..slots.len()).rev() {
            slots.swap(last, random.below(last + 1));
        }
        self.target.of_ranks(&slots)
    }
}
