//! Grids of ranks folded onto grids of nodes.
//!
//! Every side of the grid of ranks is written as a product of numbers that belong to sides of the
//! grid of nodes, or to the slots inside a node; its coordinate becomes digits of a reflected
//! mixed-radix Gray code, so that a step changes one digit by one (Ma and Tao 1988). If each side
//! of the nodes belongs to one side of the ranks, all partners are neighbours; if two sides of the
//! ranks share one, its coordinate is `hi * m + lo`, and steps of `hi` have length `m`.

use crate::initial::grid::Grid;
use crate::target::network::NetworkTarget;
use treepie_base::{List, Rank, Slot};
use treepie_topology::networks::{DIMENSION_LIMIT, Network};

/// Maximum number of foldings examined.
const MOST_FOLDINGS: usize = 60_000;

/// Number of the most promising foldings, whose cost is computed.
const TRIED: usize = 16;

/// Maximum number of axes of a grid of ranks that is folded.
const MOST_AXES: usize = 8;

/// The nodes of a job as a full box of cells.
pub(crate) struct NodeBox {
    /// Length of each side.
    sizes: Vec<usize>,
    /// True if all cells of a row are neighbours, as in HyperX.
    complete: bool,
    /// Slots of each cell, in the order of cells with the first side fastest.
    cells: Vec<Vec<u32>>,
    /// Number of slots of a cell.
    inner: usize,
    /// Distance of slots inside a cell; also added to the hops of each path to another cell.
    access: f64,
}

impl NodeBox {
    /// The box that the nodes fill, if all cells have the same number of slots; `None` if there is
    /// none.
    pub fn new(target: &NetworkTarget) -> Option<NodeBox> {
        let nodes = target.nodes;
        let (sizes, complete) = match nodes.network() {
            Network::Lattice(lattice) => (lattice.sizes().to_vec(), false),
            Network::HyperX(hyperx) => (hyperx.sizes().to_vec(), true),
            _ => return None,
        };
        let at = |node: usize| -> [usize; DIMENSION_LIMIT] {
            match nodes.network() {
                Network::Lattice(lattice) => lattice.coordinates(nodes.position(node)),
                Network::HyperX(hyperx) => hyperx.coordinates(nodes.position(node)),
                _ => [0; DIMENSION_LIMIT],
            }
        };
        let used: Vec<usize> = (0..nodes.count())
            .filter(|&node| !target.slots_of(node).is_empty())
            .collect();
        // The index of each coordinate that occurs.
        let mut places: Vec<Vec<Option<usize>>> = Vec::new();
        let mut extents = Vec::new();
        for (dimension, &size) in sizes.iter().enumerate() {
            let mut occupied = vec![false; size];
            used.iter()
                .for_each(|&node| occupied[at(node)[dimension]] = true);
            let first = first_of_run(&occupied);
            let mut place = vec![None; size];
            let mut next = 0;
            for step in 0..size {
                let coordinate = (first + step) % size;
                if occupied[coordinate] {
                    // Across a hole, adjacent indices would not be neighbours.
                    if !complete && next != step {
                        return None;
                    }
                    place[coordinate] = Some(next);
                    next += 1;
                }
            }
            places.push(place);
            extents.push(next);
        }
        let count: usize = extents.iter().product();
        let mut cells = vec![Vec::new(); count];
        for &node in &used {
            let at = at(node);
            let mut cell = 0;
            for dimension in (0..extents.len()).rev() {
                cell = cell * extents[dimension] + places[dimension][at[dimension]]?;
            }
            cells[cell].extend_from_slice(target.slots_of(node));
        }
        let inner = cells.first().map_or(0, Vec::len);
        let several = target.most_slots < inner;
        (inner > 0 && cells.iter().all(|cell| cell.len() == inner)).then(|| NodeBox {
            access: match several {
                true => f64::from(nodes.network().access()),
                false => 0.0,
            },
            sizes: extents,
            complete,
            cells,
            inner,
        })
    }

    /// The cheapest folding found of `grid` onto the box: the slot of every rank.
    pub fn fold(&self, target: &NetworkTarget, grid: &Grid) -> Option<List<Rank, Slot>> {
        if grid.members.len() != target.ranks || grid.extents.len() > MOST_AXES {
            return None;
        }
        let total = self.inner * self.cells.len();
        let extents: Vec<usize> = grid.extents.iter().map(|&e| e as usize).collect();
        let weights = weights_of_axes(target, grid);
        let mut foldings = Vec::new();
        for padded in padded(&extents, total) {
            let mut search = FoldingSearch {
                node_box: self,
                extents: &padded,
                weights: &weights,
                factors: vec![vec![1; padded.len()]; self.sizes.len() + 1],
                left: MOST_FOLDINGS,
                foldings: &mut foldings,
            };
            search.divide(0, 0, self.inner, &mut padded.clone());
        }
        foldings.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        foldings.truncate(TRIED);
        let mut best: Option<(f64, List<Rank, Slot>)> = None;
        for folding in &foldings {
            let slots = self.laid_out(grid, folding);
            let cost = target.cost(&slots);
            if best.as_ref().is_none_or(|best| cost < best.0) {
                best = Some((cost, slots));
            }
        }
        best.map(|best| best.1)
    }

    /// The slot of every rank.
    fn laid_out(&self, grid: &Grid, folding: &Folding) -> List<Rank, Slot> {
        let slot = |rank: usize| {
            let mut inside = vec![0; folding.digits.len()];
            let mut coordinates = vec![0; self.sizes.len()];
            for (axis, digits) in folding.digits.iter().enumerate() {
                let mut rest = grid.at(rank)[axis] as usize;
                for digit in digits {
                    let (value, above) = (rest % digit.radix, rest / digit.radix);
                    // Reflected if the number above is odd: a carry moves one digit only.
                    let value = match above % 2 {
                        0 => value,
                        _ => digit.radix - 1 - value,
                    };
                    match digit.side {
                        None => inside[axis] += value * digit.stride,
                        Some(side) => coordinates[side] += value * digit.stride,
                    }
                    rest = above;
                }
            }
            let sides = coordinates.iter().zip(&self.sizes).rev();
            let cell = sides.fold(0, |cell, (&at, &size)| cell * size + at);
            self.cells[cell][inside.iter().sum::<usize>()] as usize
        };
        Slot::list((0..grid.members.len()).map(slot))
    }
}

/// First coordinate of the only run of occupied ones, which may wrap around; 0 if there are
/// several.
fn first_of_run(occupied: &[bool]) -> usize {
    let size = occupied.len();
    let starts = |&at: &usize| occupied[at] && !occupied[(at + size - 1) % size];
    (0..size).find(starts).unwrap_or(0)
}

/// Sums of the weights of the edges along each axis.
fn weights_of_axes(target: &NetworkTarget, grid: &Grid) -> Vec<f64> {
    let mut weights = vec![0.0; grid.extents.len()];
    for rank in 0..target.ranks {
        for (other, weight) in target.graph.row(rank) {
            let both = grid.at(rank).iter().zip(grid.at(other));
            let mut differ = both.enumerate().filter(|(_, (a, b))| a != b);
            if let (Some((axis, _)), None) = (differ.next(), differ.next()) {
                weights[axis] += weight;
            }
        }
    }
    weights
}

/// Lists of sides at least as long as `extents` whose product is `total`: only `extents` if they
/// fill the box.
fn padded(extents: &[usize], total: usize) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    let mut sides = extents.to_vec();
    pad(extents, total, 0, &mut sides, &mut found);
    found
}

fn pad(
    extents: &[usize],
    total: usize,
    axis: usize,
    sides: &mut [usize],
    found: &mut Vec<Vec<usize>>,
) {
    const MOST: usize = 64;
    if axis == extents.len() {
        if total == 1 {
            found.push(sides.to_vec());
        }
        return;
    }
    let least: usize = extents[axis + 1..].iter().product();
    for side in extents[axis]..=total / least.max(1) {
        if total.is_multiple_of(side) && found.len() < MOST {
            sides[axis] = side;
            pad(extents, total / side, axis + 1, sides, found);
        }
    }
}

/// A digit of the code of a coordinate, the fastest first.
#[derive(Debug, Clone, Copy)]
struct Digit {
    /// Side of the nodes along which it moves; `None` inside a cell.
    side: Option<usize>,
    radix: usize,
    stride: usize,
}

/// A folding, with its cost.
struct Folding {
    cost: f64,
    /// The digits of every axis, the fastest first.
    digits: Vec<Vec<Digit>>,
}

/// Enumerates the divisions of the sides of the nodes among the axes of the ranks.
struct FoldingSearch<'a> {
    node_box: &'a NodeBox,
    extents: &'a [usize],
    weights: &'a [f64],
    /// `factors[side][axis]`, the inside of cells first.
    factors: Vec<Vec<usize>>,
    left: usize,
    foldings: &'a mut Vec<Folding>,
}

impl FoldingSearch<'_> {
    /// Divides the remainder of a side among the axes from `axis` on; `rest` has the remaining
    /// factor of each axis.
    fn divide(&mut self, side: usize, axis: usize, left: usize, rest: &mut Vec<usize>) {
        if self.left == 0 {
            return;
        }
        if axis == self.extents.len() {
            if left > 1 {
                return;
            }
            match self.node_box.sizes.get(side) {
                Some(&next) => self.divide(side + 1, 0, next, rest),
                None if rest.iter().all(|&rest| rest == 1) => self.finish(),
                None => {}
            }
            return;
        }
        for factor in 1..=left {
            if left.is_multiple_of(factor) && rest[axis].is_multiple_of(factor) {
                rest[axis] /= factor;
                self.factors[side][axis] = factor;
                self.divide(side, axis + 1, left / factor, rest);
                rest[axis] *= factor;
            }
        }
        self.factors[side][axis] = 1;
    }

    /// Adds the cheapest order of digits for these factors.
    fn finish(&mut self) {
        self.left -= 1;
        let axes = self.extents.len();
        // For each side, the axes that share it, in all orders from `lo` to `hi`.
        let mut orders: Vec<Vec<Vec<usize>>> = Vec::new();
        for factors in &self.factors {
            let sharing: Vec<usize> = (0..axes).filter(|&axis| factors[axis] > 1).collect();
            orders.push(permutations(&sharing));
        }
        let count: usize = orders.iter().map(Vec::len).product();
        let mut best: Option<Folding> = None;
        for number in 0..count.min(512) {
            let mut rest = number;
            let mut digits = vec![Vec::new(); axes];
            for (side, orders) in orders.iter().enumerate() {
                let mut stride = 1;
                for &axis in &orders[rest % orders.len()] {
                    let radix = self.factors[side][axis];
                    digits[axis].push(Digit {
                        side: side.checked_sub(1),
                        radix,
                        stride,
                    });
                    stride *= radix;
                }
                rest /= orders.len();
            }
            let mut cost = 0.0;
            for (axis, digits) in digits.iter_mut().enumerate() {
                let (least, order) = self.cheapest(digits);
                cost += least * self.weights[axis] / (self.extents[axis].max(2) - 1) as f64;
                *digits = order;
            }
            if best.as_ref().is_none_or(|best| cost < best.cost) {
                best = Some(Folding { cost, digits });
            }
        }
        self.foldings.extend(best);
    }

    /// The order of digits for which a walk along the axis is shortest, and its length.
    fn cheapest(&self, digits: &[Digit]) -> (f64, Vec<Digit>) {
        let orders = permutations(&(0..digits.len()).collect::<Vec<usize>>());
        let mut best = (f64::INFINITY, Vec::new());
        for order in orders {
            let order: Vec<Digit> = order.iter().map(|&at| digits[at]).collect();
            let mut above: usize = order.iter().map(|digit| digit.radix).product();
            let mut length = 0.0;
            for digit in &order {
                above /= digit.radix;
                let steps = ((digit.radix - 1) * above) as f64;
                length += steps * self.step(digit);
            }
            if length < best.0 {
                best = (length, order);
            }
        }
        best
    }

    /// Length of one step of a digit.
    fn step(&self, digit: &Digit) -> f64 {
        let access = self.node_box.access;
        match digit.side {
            None => access,
            Some(_) if self.node_box.complete => access + 1.0,
            Some(_) => access + digit.stride as f64,
        }
    }
}

/// All orders of a few items.
fn permutations(items: &[usize]) -> Vec<Vec<usize>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (at, &first) in items.iter().enumerate() {
        let mut others = items.to_vec();
        others.remove(at);
        for mut rest in permutations(&others) {
            rest.insert(0, first);
            all.push(rest);
        }
    }
    all
}
