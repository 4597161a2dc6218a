//! Grids cut into equal boxes, these into equal smaller boxes, and so on down the tree: the best
//! mapping of stencils if all sizes divide.

use std::collections::HashMap;

use crate::coarsen::graph::Graph;
use crate::initial::grid::Grid;
use crate::target::slots::Slots;

/// Maximum number of shapes tried at one depth.
const MOST_SHAPES: usize = 600;

/// Side lengths of a box.
type Shape = Vec<u32>;

/// Computes the cheapest nested tiling: the leaf of each vertex of the graph. `None` if the tree is
/// irregular, has more slots than the grid has cells, or does not divide the grid.
pub(crate) fn tiled(graph: &Graph, grid: &Grid, slots: &Slots) -> Option<Vec<usize>> {
    let arities = slots.arities()?;
    if slots.total() != grid.members.len() {
        return None;
    }
    let shapes = cheapest(graph, grid, slots, &arities)?;
    Some(laid_out(graph, grid, slots, &arities, &shapes))
}

/// A shape, the cost of the levels above it, and the shape from which it is cut.
struct Tiling {
    shape: Shape,
    cost: f64,
    from: usize,
}

/// The shapes of the boxes at each depth, from the root's children to the groups.
fn cheapest(graph: &Graph, grid: &Grid, slots: &Slots, arities: &[usize]) -> Option<Vec<Shape>> {
    let crossing = CrossingWeights::new(graph, grid);
    let mut depths = vec![vec![Tiling {
        shape: grid.extents.clone(),
        cost: 0.0,
        from: 0,
    }]];
    for (depth, &arity) in arities.iter().enumerate() {
        // An edge that is first cut here has the distance of this depth instead of that of the next
        // one.
        let saving = slots.distance(depth) - slots.distance(depth + 1);
        let mut options: Vec<Tiling> = Vec::new();
        let mut known: HashMap<Shape, usize> = HashMap::new();
        for (from, above) in depths[depth].iter().enumerate() {
            let mut cuts = Vec::new();
            divided(&above.shape, arity as u32, 0, &mut cuts);
            for shape in cuts {
                match known.get(&shape) {
                    Some(&at) if options[at].cost <= above.cost => {}
                    Some(&at) => (options[at].cost, options[at].from) = (above.cost, from),
                    None => {
                        known.insert(shape.clone(), options.len());
                        let cost = above.cost;
                        options.push(Tiling { shape, cost, from });
                    }
                }
            }
            if options.len() > MOST_SHAPES {
                return None;
            }
        }
        for option in &mut options {
            option.cost += saving * crossing.cost(&option.shape);
        }
        depths.push(options);
    }
    let last = depths.last()?;
    let mut at = (0..last.len()).min_by(|&a, &b| last[a].cost.total_cmp(&last[b].cost))?;
    let mut shapes = Vec::new();
    for options in depths[1..].iter().rev() {
        shapes.push(options[at].shape.clone());
        at = options[at].from;
    }
    shapes.reverse();
    Some(shapes)
}

/// All shapes of a box that is one of `parts` equal parts of `shape`.
fn divided(shape: &[u32], parts: u32, axis: usize, found: &mut Vec<Shape>) {
    if axis == shape.len() {
        if parts == 1 {
            found.push(shape.to_vec());
        }
        return;
    }
    for divisor in (1..=parts.min(shape[axis])).filter(|d| parts.is_multiple_of(*d)) {
        if shape[axis].is_multiple_of(divisor) {
            let mut smaller = shape.to_vec();
            smaller[axis] /= divisor;
            divided(&smaller, parts / divisor, axis + 1, found);
        }
    }
}

/// The weight of edges that cross between boxes of a shape.
struct CrossingWeights<'a> {
    /// Weight of the edges along each axis that cross between boxes, by their length.
    along: Vec<Vec<f64>>,
    /// Edges along several axes.
    oblique: Vec<(&'a [u32], &'a [u32], f64)>,
}

impl<'a> CrossingWeights<'a> {
    fn new(graph: &Graph, grid: &'a Grid) -> Self {
        let axes = grid.extents.len();
        // Weight between each two coordinates of an axis.
        let mut between: Vec<HashMap<(u32, u32), f64>> = vec![HashMap::new(); axes];
        let mut oblique = Vec::new();
        for vertex in 0..graph.order() {
            let here = grid.at(vertex);
            for (neighbour, weight) in graph.row(vertex).filter(|&(n, _)| n > vertex) {
                let there = grid.at(neighbour);
                let mut different = (0..axes).filter(|&axis| here[axis] != there[axis]);
                match (different.next(), different.next()) {
                    (Some(axis), None) => {
                        let pair = (here[axis].min(there[axis]), here[axis].max(there[axis]));
                        *between[axis].entry(pair).or_insert(0.0) += weight;
                    }
                    _ => oblique.push((here, there, weight)),
                }
            }
        }
        let along = grid.extents.iter().zip(&between).map(|(&extent, between)| {
            let crossing = |length: u32| {
                let mut pairs: Vec<_> = between.iter().collect();
                pairs.sort_unstable_by_key(|pair| *pair.0);
                let crossing = pairs.iter().filter(|((a, b), _)| a / length != b / length);
                crossing.map(|(_, weight)| **weight).sum()
            };
            (1..=extent)
                .map(|length| {
                    if extent % length == 0 {
                        crossing(length)
                    } else {
                        0.0
                    }
                })
                .collect()
        });
        CrossingWeights {
            along: along.collect(),
            oblique,
        }
    }

    fn cost(&self, shape: &[u32]) -> f64 {
        let along = self.along.iter().zip(shape);
        let along: f64 = along
            .map(|(by_length, &length)| by_length[length as usize - 1])
            .sum();
        let crosses = |a: &[u32], b: &[u32]| {
            let mut axes = shape.iter().zip(a.iter().zip(b));
            axes.any(|(&length, (&a, &b))| a / length != b / length)
        };
        let oblique = self.oblique.iter().filter(|edge| crosses(edge.0, edge.1));
        along + oblique.map(|edge| edge.2).sum::<f64>()
    }
}

/// The leaf of each vertex, with boxes of these shapes.
fn laid_out(
    graph: &Graph,
    grid: &Grid,
    slots: &Slots,
    arities: &[usize],
    shapes: &[Shape],
) -> Vec<usize> {
    let mut filled = vec![0_usize; arities.iter().product()];
    let mut leaf_of = vec![0; graph.order()];
    for &member in &grid.members {
        let mut at = grid.at(member as usize).to_vec();
        let mut above = &grid.extents;
        let mut group = 0;
        for (shape, &arity) in shapes.iter().zip(arities) {
            let mut child = 0;
            for axis in 0..shape.len() {
                child = child * (above[axis] / shape[axis]) as usize
                    + (at[axis] / shape[axis]) as usize;
                at[axis] %= shape[axis];
            }
            group = group * arity + child;
            above = shape;
        }
        let leaves = slots.leaves(slots.group_depth(), group);
        if let Some(leaf) = { leaves }.nth(filled[group]) {
            leaf_of[member as usize] = leaf;
        }
        filled[group] += 1;
    }
    leaf_of
}
