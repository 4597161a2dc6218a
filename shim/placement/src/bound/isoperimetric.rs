//! Least cut of a level of a mesh or torus, from the least surface of a group of a given number of
//! cells.
//!
//! A group of `s` cells that lies on `p` lines of an axis cuts each of them that it does not fill.
//! By Loomis and Whitney (Bulletin of the AMS 55, 1949, theorem 2) the lines on which it lies
//! satisfy `p1 p2 >= s` in two dimensions and `p1 p2 p3 >= s^2` in three. The least of the sum over
//! the axes is reached by rectangles and boxes.
//!
//! In a mesh of three axes, layers give a better bound (`layers`): those of a group are rectangles
//! at best, and the largest counts across them.

use crate::bound::groups::Groups;
use crate::bound::layers;
use crate::bound::layers::Path;
use crate::bound::symmetry::Symmetry;
use crate::coarsen::graph::Graph;
use crate::initial::grid::Grid;

/// Maximum number of partial sums examined for one level.
const MOST_STEPS: usize = 50_000_000;

/// A mesh or torus contained in a graph, with the same weight on all edges of an axis.
#[derive(Debug)]
pub(super) struct Lattice {
    grid: Grid,
    axes: Vec<Axis>,
    cells: usize,
}

/// One axis: all lines along it are paths, or all are cycles.
#[derive(Debug, Clone, Copy)]
struct Axis {
    length: usize,
    cycle: bool,
    /// The least weight of an edge.
    weight: f64,
}

impl Lattice {
    /// Finds the mesh or torus of one to three axes in a graph.
    pub(super) fn find(graph: &Graph) -> Option<Lattice> {
        let grid = Grid::find(graph)?;
        if grid.extents.len() > 3 {
            return None;
        }
        let axes = (0..grid.extents.len()).map(|axis| Axis::of(graph, &grid, axis));
        let lattice = Lattice {
            axes: axes.collect(),
            cells: grid.members.len(),
            grid,
        };
        let some = lattice.axes.iter().any(|axis| axis.weight > 0.0);
        some.then_some(lattice)
    }

    /// Reflections of the lattice that leave the graph unchanged.
    pub(super) fn symmetry(&self, graph: &Graph) -> Symmetry {
        Symmetry::of_grid(graph, &self.grid)
    }

    /// The graph without the lattice.
    pub(super) fn rest(&self, graph: &Graph) -> Graph {
        let rows = (0..graph.order()).map(|vertex| {
            let left = graph.row(vertex).map(|(other, weight)| {
                let along = self.axes.iter().enumerate().find_map(|(axis, line)| {
                    let step = Step::between(&self.grid, axis, vertex, other)?;
                    (!step.wraps || line.cycle).then_some(line.weight)
                });
                (other as u32, weight - along.unwrap_or(0.0))
            });
            left.collect()
        });
        Graph::from_rows(rows)
    }

    /// Least cut of groups: the better of two estimates.
    pub(super) fn cut(&self, groups: &Groups) -> f64 {
        let least = self.by_layers(groups.largest().min(self.cells));
        let by_layers = least.map(|least| {
            // No group has more cells than exist.
            self.over(groups, |size| {
                least.get(size - 1).copied().unwrap_or(f64::INFINITY)
            })
        });
        self.by_lines(groups).max(by_layers.unwrap_or(0.0))
    }

    /// Least cut of groups, if `least(size)` is that of one group of `size` cells.
    fn over(&self, groups: &Groups, least: impl Fn(usize) -> f64) -> f64 {
        if self.cells == groups.ranks() {
            return groups.sum(least);
        }
        // Ranks outside the lattice take slots, too.
        let most = groups.largest().min(self.cells);
        let shares = (1..=most).map(|size| least(size) / size as f64);
        self.cells as f64 * shares.reduce(f64::min).unwrap_or(0.0)
    }

    /// Least cost of groups of up to `most` cells in a mesh of three axes.
    fn by_layers(&self, most: usize) -> Option<Vec<f64>> {
        let path = |axis: &Axis| {
            (!axis.cycle).then_some(Path {
                length: axis.length,
                weight: axis.weight,
            })
        };
        let paths: Vec<Path> = self.axes.iter().map(path).collect::<Option<_>>()?;
        layers::least(paths.try_into().ok()?, most)
    }

    /// Least cut of groups by the lines of all axes alone.
    fn by_lines(&self, groups: &Groups) -> f64 {
        let most = groups.largest().min(self.cells);
        let lines = |axis: &Axis| (self.cells / axis.length).min(most);
        let pairs: usize = match self.axes.len() {
            3 => self.axes[..2].iter().map(lines).product(),
            _ => most,
        };
        let alike = self.cells == groups.ranks() && groups.equal_and_full();
        let sizes = if alike { 1 } else { most };
        if pairs.saturating_mul(sizes * TILTS.len()) > MOST_STEPS {
            return 0.0;
        }
        let cut = |tilt: f64| self.over(groups, |size| self.surface(size, tilt));
        TILTS.map(cut).into_iter().fold(0.0, f64::max)
    }

    /// Half of the least cut of a group of `size` cells.
    fn surface(&self, size: usize, tilt: f64) -> f64 {
        let cost = |axis: usize, lines: usize| self.axes[axis].surface(size, lines, tilt);
        let range = |axis: usize| {
            let length = self.axes[axis].length;
            size.div_ceil(length)..=size.min(self.cells / length)
        };
        let least = |sums: &mut dyn Iterator<Item = f64>| sums.fold(f64::INFINITY, f64::min);
        match self.axes.len() {
            1 => cost(0, size.div_ceil(self.axes[0].length)),
            2 => least(&mut range(0).map(|p| {
                let other = size.div_ceil(p).max(*range(1).start());
                cost(0, p) + cost(1, other)
            })),
            _ => least(&mut range(0).map(|p| {
                cost(0, p)
                    + least(&mut range(1).map(|q| {
                        let other = (size * size).div_ceil(p * q).max(*range(2).start());
                        cost(1, q) + cost(2, other)
                    }))
            })),
        }
    }
}

/// Amounts by which the ends of a path count less than its middle. The total cost of the groups
/// does not change if cells get prices whose sum is 0; with 0 a group costs half of its cut, with 1
/// it costs less the more inner cells it has, so that it gains nothing in a corner.
const TILTS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

impl Axis {
    fn of(graph: &Graph, grid: &Grid, axis: usize) -> Axis {
        let length = grid.extents[axis] as usize;
        let (mut steps, mut wraps) = (Vec::new(), Vec::new());
        for &vertex in &grid.members {
            for (other, weight) in graph.row(vertex as usize) {
                match Step::between(grid, axis, vertex as usize, other) {
                    Some(Step { wraps: true }) => wraps.push(weight),
                    Some(Step { wraps: false }) => steps.push(weight),
                    None => {}
                }
            }
        }
        // Every edge occurs at both ends. If one is missing, none counts.
        let lines = grid.members.len() / length;
        let least = |weights: &[f64], count: usize| match weights.len() == 2 * count {
            true => weights.iter().copied().fold(f64::INFINITY, f64::min),
            false => 0.0,
        };
        let (step, wrap) = (least(&steps, lines * (length - 1)), least(&wraps, lines));
        let cycle = length > 2 && wrap > step / 2.0;
        Axis {
            length,
            cycle,
            weight: if cycle { step.min(wrap) } else { step },
        }
    }

    /// Half of the least cut of this axis by a group of `size` cells on `lines` lines, less the
    /// price of its cells.
    fn surface(&self, size: usize, lines: usize, tilt: f64) -> f64 {
        let (size, lines) = (size as f64, lines as f64);
        let length = self.length as f64;
        // Filled lines are not cut; each of the others has at least one cell.
        let filled = ((size - lines) / (length - 1.0)).floor().max(0.0);
        let cut = match self.cycle {
            true => lines - filled,
            false => {
                let touched = 0.5 * (1.0 + tilt) * lines - tilt * size / length;
                touched - 0.5 * (1.0 - tilt) * filled
            }
        };
        self.weight * cut
    }
}

/// A pair of neighbours on a line.
struct Step {
    /// True if they are the two ends of the line.
    wraps: bool,
}

impl Step {
    fn between(grid: &Grid, axis: usize, a: usize, b: usize) -> Option<Step> {
        let (a, b) = (grid.at(a), grid.at(b));
        let same = (0..a.len()).all(|other| other == axis || a[other] == b[other]);
        match (a[axis].abs_diff(b[axis]), grid.extents[axis]) {
            _ if !same => None,
            (1, _) => Some(Step { wraps: false }),
            (apart, length) if apart + 1 == length => Some(Step { wraps: true }),
            _ => None,
        }
    }
}
