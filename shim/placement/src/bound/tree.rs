//! Lower bound of DistComm on trees, level by level.

use crate::bound::groups::Groups;
use crate::bound::isoperimetric::Lattice;
use crate::bound::symmetry::Symmetry;
use crate::bound::{flow, heaviest, semidefinite};
use crate::coarsen::graph::Graph;
use crate::objective::hop_bytes::traffic_by_level;
use treepie_base::{Leaf, Rank, Slice};
use treepie_topology::Topology;
use treepie_traffic::Matrix;

/// Relative precision of sums of this many numbers.
const ROUNDING: f64 = 1e-10;

/// Least fraction of the affinity outside a mesh or torus for which that remainder is examined.
const WORTH_IT: f64 = 0.01;

/// A lower bound of [`crate::objective::dist_comm`] of all placements with one rank on each usable
/// leaf. `placed` is a placement: if its cut is proven to be the minimum, the search for a better
/// bound ends.
///
/// The time grows with the cube of the number of ranks, up to a second for several hundred; above
/// that, only fast bounds are computed.
///
/// # Panics
/// Panics if `placed` lacks a rank of the matrix or names a leaf that the topology does not have.
pub(crate) fn lower_bound_on_tree(
    matrix: &Matrix,
    topology: &Topology,
    placed: &Slice<Rank, Leaf>,
) -> f64 {
    let graph = Graph::new(matrix, matrix.order());
    let distances = topology.level_distances();
    // Distance that each level adds, and the groups into which it divides the ranks.
    let levels: Vec<(f64, Groups)> = (1..=topology.depth())
        .map(|depth| {
            let further = distances[depth - 1] - distances.get(depth).copied().unwrap_or(0.0);
            (further, Groups::at(topology, depth, matrix.order()))
        })
        .collect();
    let hard = |(further, groups): &&(f64, Groups)| *further > 0.0 && groups.largest() > 1;
    let work = semidefinite::WORK / levels.iter().filter(hard).count().max(1);
    let pattern = Pattern::new(&graph, work);
    if !pattern.total.is_finite() {
        return 0.0;
    }
    let mut cut = 0.0;
    let mut sum = 0.0;
    let traffic = traffic_by_level(matrix, topology, placed);
    for ((further, groups), traffic) in levels.iter().zip(traffic) {
        // Traffic whose lowest common ancestor is above this depth passes between its nodes.
        cut += traffic / 2.0;
        if *further > 0.0 {
            sum += further * pattern.cut(groups, cut);
        }
    }
    sum
}

/// Affinities, and properties of them that are used at all levels.
struct Pattern<'a> {
    graph: &'a Graph,
    stencil: Option<Stencil>,
    total: f64,
    /// Number that all affinities are multiples of.
    unit: Option<f64>,
    /// Maximum work of the relaxation for a level.
    work: usize,
}

/// A mesh or torus and the edges beside it.
struct Stencil {
    lattice: Lattice,
    /// The pattern without the lattice.
    rest: Graph,
    /// The symmetry of the rest; `None` if there is almost nothing beside the lattice.
    symmetry: Option<Symmetry>,
}

impl Stencil {
    fn find(graph: &Graph) -> Option<Stencil> {
        let lattice = Lattice::find(graph)?;
        let rest = lattice.rest(graph);
        let is_beside = total(&rest) > WORTH_IT * total(graph);
        let symmetry = is_beside.then(|| lattice.symmetry(graph));
        Some(Stencil {
            lattice,
            rest,
            symmetry,
        })
    }
}

impl<'a> Pattern<'a> {
    fn new(graph: &'a Graph, work: usize) -> Self {
        Pattern {
            graph,
            stencil: Stencil::find(graph),
            total: total(graph),
            unit: common_divisor(graph),
            work,
        }
    }

    /// Least affinity between different groups. `known` is that of one placement.
    fn cut(&self, groups: &Groups, known: f64) -> f64 {
        let proven = |bound: f64| self.round(bound);
        let enough = |bound: f64| proven(bound) >= known * (1.0 - 1e-9);
        let mut best = heaviest::cut(self.graph, groups);
        if enough(best) {
            return proven(best);
        }
        // The sum of two cuts: of a mesh or torus, and of the edges beside it.
        let surface = self
            .stencil
            .as_ref()
            .map_or(0.0, |stencil| stencil.lattice.cut(groups));
        if let Some(stencil) = &self.stencil {
            best = best.max(surface + heaviest::cut(&stencil.rest, groups));
        }
        let few = self.graph.order() <= semidefinite::TRIANGLES;
        // The surface gives a better bound for a lattice alone.
        let alone = self
            .stencil
            .as_ref()
            .is_some_and(|stencil| stencil.symmetry.is_none());
        if !enough(best) && !few && !alone {
            best = best.max(flow::cut(self.graph, groups, best, known, enough));
        }
        if enough(best) {
            return proven(best);
        }
        match &self.stencil {
            Some(Stencil { rest, symmetry, .. }) if !few => {
                let beside = |cut| enough(surface + cut);
                let cut = symmetry.as_ref().map_or(0.0, |symmetry| {
                    semidefinite::cut(rest, symmetry, groups, self.work, beside)
                });
                best = best.max(surface + cut);
            }
            _ => {
                let none = Symmetry::none(self.graph.order());
                let cut = semidefinite::cut(self.graph, &none, groups, self.work, enough);
                best = best.max(cut);
            }
        }
        proven(best)
    }

    /// The least multiple of the common divisor that is not below a bound; every cut is such a
    /// multiple.
    fn round(&self, bound: f64) -> f64 {
        let bound = bound - ROUNDING * self.total;
        let least = match self.unit {
            Some(unit) => (bound / unit).ceil() * unit,
            None => bound,
        };
        least.max(0.0)
    }
}

/// Affinity of all pairs.
fn total(graph: &Graph) -> f64 {
    let rows = (0..graph.order()).map(|vertex| graph.weights(vertex).iter().sum::<f64>());
    rows.sum::<f64>() / 2.0
}

/// Largest number that divides all weights; these are means of two directions, and so multiples of
/// one half if the directions are integers.
fn common_divisor(graph: &Graph) -> Option<f64> {
    const MOST: f64 = (1_u64 << 50) as f64;
    let mut divisor = 0_u64;
    for vertex in 0..graph.order() {
        for &weight in graph.weights(vertex) {
            let doubled = 2.0 * weight;
            if doubled.fract() != 0.0 || doubled > MOST {
                return None;
            }
            let (mut a, mut b) = (divisor, doubled as u64);
            while b != 0 {
                (a, b) = (b, a % b);
            }
            divisor = a;
        }
    }
    (divisor > 0).then_some(divisor as f64 / 2.0)
}
