//! Detection of grids in the communication graph, for any numbering of ranks.
//!
//! A mesh, a torus, a hypercube and a table of ranks that communicate along rows and columns are
//! all Cartesian products of paths, cycles and complete graphs. In such a product a vertex is
//! determined by its neighbours that are nearer to a fixed origin: each of them lacks one step
//! along one axis, so that together they have all its coordinates.
//!
//! ```text
//!   (0,2)---(1,2)        (1,2) is at distance 3 from the origin, its neighbours
//!     |       |          at distance 2 are (0,2) and (1,1): the larger of their
//!   (0,1)---(1,1)        coordinates, axis by axis, is (1,2)
//! ```

use crate::coarsen::graph::Graph;

/// Coordinates of every rank that communicates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    /// Length of each axis; at least 2.
    pub extents: Vec<u32>,
    /// Coordinates of every vertex, one after the other; those of vertices that
    /// are not on the grid are 0.
    pub coordinates: Vec<u32>,
    /// The vertices on the grid, as many as it has cells.
    pub members: Vec<u32>,
    /// True if all edges form this grid; false if only the heavier ones do.
    pub whole: bool,
}

/// Maximum number of axes of a grid.
const MOST_AXES: usize = 16;

/// Ratio of weights from which edges are of different kinds.
const APART: f64 = 1.5;

/// Maximum number of kinds of neighbours that are tried.
const MOST_KINDS: usize = 6;

impl Grid {
    /// Finds the grid that all edges of a graph form, or only its heavier edges: a stencil with
    /// diagonals sends more across faces than across edges and corners.
    pub fn find(graph: &Graph) -> Option<Grid> {
        let talking = (0..graph.order()).filter(|&v| graph.degree(v) > 0);
        let members: Vec<u32> = talking.map(|v| v as u32).collect();
        if members.len() < 4 {
            return None;
        }
        thresholds(graph)
            .into_iter()
            .find_map(|threshold| from_heavy_edges(graph, &members, threshold))
            .map(|grid| Grid {
                whole: is_made_of_all(graph, &grid),
                ..grid
            })
    }

    /// Coordinates of a vertex.
    pub fn at(&self, vertex: usize) -> &[u32] {
        let axes = self.extents.len();
        &self.coordinates[vertex * axes..(vertex + 1) * axes]
    }
}

/// Least weight of each kind of edges, the heaviest kind last: all edges are tried first.
fn thresholds(graph: &Graph) -> Vec<f64> {
    let mut least: Vec<f64> = Vec::new();
    let mut weights: Vec<f64> = Vec::new();
    for vertex in 0..graph.order() {
        weights.extend_from_slice(graph.weights(vertex));
        // Few different weights are common; if there are many, not all are kept.
        if weights.len() > 1 << 16 {
            weights.sort_by(f64::total_cmp);
            weights.dedup();
        }
    }
    weights.sort_by(f64::total_cmp);
    weights.dedup();
    let mut previous = 0.0;
    for weight in weights {
        if weight > previous * APART {
            least.push(weight);
        }
        previous = weight;
    }
    let skipped = least.len().saturating_sub(MOST_KINDS);
    least.split_off(skipped)
}

/// True if every edge is parallel to one axis of the grid.
fn is_made_of_all(graph: &Graph, grid: &Grid) -> bool {
    let straight = |a: usize, b: usize| {
        let axes = grid.at(a).iter().zip(grid.at(b));
        axes.filter(|(a, b)| a != b).count() == 1
    };
    let mut vertices = grid.members.iter().map(|&member| member as usize);
    vertices.all(|vertex| graph.row(vertex).all(|(other, _)| straight(vertex, other)))
}

fn from_heavy_edges(graph: &Graph, members: &[u32], threshold: f64) -> Option<Grid> {
    let heavy = HeavyEdges { graph, threshold };
    let degree = |v: &u32| heavy.row(*v as usize).count();
    let origin = members.iter().copied().min_by_key(degree)? as usize;
    if degree(&(origin as u32)) == 0 {
        return None;
    }
    let arms = Arms::around(&heavy, origin)?;
    let steps = Steps::walk(&heavy, origin, &arms, members.len())?;
    steps.into_grid(&arms, members)
}

/// A graph without its lighter edges.
struct HeavyEdges<'a> {
    graph: &'a Graph,
    threshold: f64,
}

impl HeavyEdges<'_> {
    fn row(&self, vertex: usize) -> impl Iterator<Item = usize> + '_ {
        let heavy = |&(_, weight): &(usize, f64)| weight >= self.threshold;
        self.graph.row(vertex).filter(heavy).map(|(n, _)| n)
    }

    fn adjacent(&self, a: usize, b: usize) -> bool {
        self.graph.weight(a, b) >= self.threshold
    }
}

/// Directions from the origin. A path that begins there has one arm, a cycle two, one for each
/// direction; a complete graph has one arm, along which its other vertices are numbered from 1.
struct Arms {
    /// Neighbours of the origin, with their arm and their step on it.
    first: Vec<(usize, usize, u16)>,
    count: usize,
    /// The arm in the opposite direction of the same cycle.
    opposite: Vec<Option<usize>>,
}

impl Arms {
    fn around(heavy: &HeavyEdges, origin: usize) -> Option<Arms> {
        let neighbours: Vec<usize> = heavy.row(origin).collect();
        let mut first: Vec<(usize, usize, u16)> = Vec::new();
        let mut sizes: Vec<u16> = Vec::new();
        for &neighbour in &neighbours {
            let friend = first
                .iter()
                .find(|known| heavy.adjacent(known.0, neighbour));
            let arm = friend.map_or(sizes.len(), |known| known.1);
            if arm == sizes.len() {
                sizes.push(0);
            }
            if sizes.len() > MOST_AXES {
                return None;
            }
            sizes[arm] = sizes[arm].checked_add(1)?;
            first.push((neighbour, arm, sizes[arm]));
        }
        let mut opposite = vec![None; sizes.len()];
        let single = |arm: usize| sizes[arm] == 1;
        for &(a, arm_a, _) in &first {
            for &(b, arm_b, _) in &first {
                let paired = opposite[arm_a].is_some() || opposite[arm_b].is_some();
                if arm_a < arm_b && single(arm_a) && single(arm_b) && !paired {
                    let meet = heavy.row(a).any(|n| n != origin && heavy.adjacent(n, b));
                    if !meet {
                        opposite[arm_a] = Some(arm_b);
                        opposite[arm_b] = Some(arm_a);
                    }
                }
            }
        }
        Some(Arms {
            first,
            count: sizes.len(),
            opposite,
        })
    }
}

/// Number of steps along each arm from the origin to each vertex.
struct Steps {
    steps: Vec<u16>,
}

impl Steps {
    /// Visits the vertices by their distance from the origin. `None` if a vertex does not follow
    /// from its predecessors.
    fn walk(heavy: &HeavyEdges, origin: usize, arms: &Arms, expected: usize) -> Option<Steps> {
        let order = heavy.graph.order();
        let count = arms.count;
        let mut distance = vec![u32::MAX; order];
        let mut found = Steps {
            steps: vec![0; order * count],
        };
        distance[origin] = 0;
        let mut queue = vec![origin as u32];
        for &(neighbour, arm, step) in &arms.first {
            distance[neighbour] = 1;
            found.steps[neighbour * count + arm] = step;
            queue.push(neighbour as u32);
        }
        let mut at = 1;
        let mut nearer: Vec<usize> = Vec::new();
        while at < queue.len() {
            let vertex = queue[at] as usize;
            at += 1;
            for neighbour in heavy.row(vertex) {
                if distance[neighbour] == u32::MAX {
                    distance[neighbour] = distance[vertex] + 1;
                    queue.push(neighbour as u32);
                }
            }
            if distance[vertex] > 1 {
                let before = distance[vertex] - 1;
                nearer.clear();
                nearer.extend(heavy.row(vertex).filter(|&n| distance[n] == before));
                found.derive(vertex, &nearer, arms)?;
            }
        }
        (queue.len() == expected).then_some(found)
    }

    /// Computes the steps of a vertex from those of its neighbours nearer to the origin.
    fn derive(&mut self, vertex: usize, nearer: &[usize], arms: &Arms) -> Option<()> {
        let count = arms.count;
        let mut steps = vec![0_u16; count];
        for &before in nearer {
            let known = &self.steps[before * count..(before + 1) * count];
            for (step, &known) in steps.iter_mut().zip(known) {
                *step = (*step).max(known);
            }
        }
        let mut used = (0..count).filter(|&arm| steps[arm] > 0);
        let (first, second) = (used.next()?, used.next());
        let more = used.next().is_some();
        let meeting = second.is_some() && arms.opposite[first] == second && !more;
        if second.is_none() || (meeting && nearer.len() == 2 && self.on_lines(nearer, count)) {
            // One step further on a line; the two arms of a cycle meet at its far side.
            steps[first] += 1;
            if let Some(second) = second {
                steps[second] += 1;
            }
        }
        self.steps[vertex * count..(vertex + 1) * count].copy_from_slice(&steps);
        Some(())
    }

    /// True if each of the vertices is on a single arm.
    fn on_lines(&self, vertices: &[usize], count: usize) -> bool {
        vertices.iter().all(|&vertex| {
            let steps = &self.steps[vertex * count..(vertex + 1) * count];
            steps.iter().filter(|&&step| step > 0).count() == 1
        })
    }

    /// Returns the grid if each of its cells has exactly one vertex.
    fn into_grid(self, arms: &Arms, members: &[u32]) -> Option<Grid> {
        let count = arms.count;
        let of = |vertex: u32| &self.steps[vertex as usize * count..(vertex as usize + 1) * count];
        let furthest = |arm: usize| members.iter().map(|&v| of(v)[arm]).max().unwrap_or(0);
        // The first arm of each axis, its opposite arm, and the length of the axis.
        let mut axes: Vec<(usize, Option<usize>, u32)> = Vec::new();
        for arm in 0..count {
            let other = arms.opposite[arm];
            if other.is_some_and(|other| other < arm) {
                continue;
            }
            let mut extent = u32::from(furthest(arm)) + 1;
            if let Some(other) = other {
                let crosses = members.iter().any(|&v| of(v)[arm] > 0 && of(v)[other] > 0);
                extent += u32::from(furthest(other)) - u32::from(crosses);
            }
            axes.push((arm, other, extent));
        }
        let cells = axes.iter().map(|axis| axis.2 as usize).product::<usize>();
        if cells != members.len() {
            return None;
        }
        let mut coordinates = vec![0; self.steps.len() / count * axes.len()];
        let mut taken = vec![false; cells];
        for &member in members {
            let steps = of(member);
            let mut cell = 0;
            for (axis, &(arm, other, extent)) in axes.iter().enumerate() {
                let back = other.map_or(0, |other| u32::from(steps[other]));
                let forth = u32::from(steps[arm]);
                let at = if forth == 0 && back > 0 {
                    extent.checked_sub(back)?
                } else {
                    forth
                };
                coordinates[member as usize * axes.len() + axis] = at;
                cell = cell * extent as usize + at as usize;
            }
            if std::mem::replace(&mut taken[cell], true) {
                return None;
            }
        }
        Some(Grid {
            extents: axes.iter().map(|axis| axis.2).collect(),
            coordinates,
            members: members.to_vec(),
            whole: false,
        })
    }
}
