//! Two parts of exact sizes with a small cut, by coarsening, growing and
//! refining (multilevel bisection with the moves of Fiduccia and Mattheyses 1982).

use crate::coarsen::graph::Graph;
use crate::coarsen::matching::{Coarse, Step, coarsened};
use crate::heap::Heap;
use crate::random::Random;

/// Coarsening stops at this many vertices.
const COARSEST: usize = 40;

/// Effort of a bisection.
#[derive(Debug, Clone, Copy)]
pub struct Trials {
    /// Parts grown from random starts on the coarsest graph.
    pub growths: usize,
    /// Number of whole runs including coarsening, of which the best is returned.
    pub runs: usize,
    /// Maximum number of refinement passes on each graph.
    pub passes: usize,
}

/// The side of each vertex, such that `first` vertices are on side 0, with
/// little weight between the sides.
pub(crate) fn bisect(graph: Graph, first: usize, trials: Trials, random: &mut Random) -> Vec<u8> {
    let order = graph.order();
    let whole = Coarse {
        sizes: vec![1; order],
        graph,
    };
    if first == 0 || first == order {
        return vec![u8::from(first == 0); order];
    }
    let mut best: Option<(f64, Vec<u8>)> = None;
    for _ in 0..trials.runs {
        let side = multilevel(&whole, first, trials, random);
        let cut = cut(&whole.graph, &side);
        if best.as_ref().is_none_or(|best| cut < best.0) {
            best = Some((cut, side));
        }
        if cut == 0.0 {
            break;
        }
    }
    best.map_or_else(Vec::new, |best| best.1)
}

fn cut(graph: &Graph, side: &[u8]) -> f64 {
    let of_vertex = |vertex: usize| {
        let crossing = graph.row(vertex).filter(|&(n, _)| side[n] != side[vertex]);
        crossing.map(|(_, weight)| weight).sum::<f64>()
    };
    (0..graph.order()).map(of_vertex).sum::<f64>() / 2.0
}

fn multilevel(whole: &Coarse, first: usize, trials: Trials, random: &mut Random) -> Vec<u8> {
    let order = whole.sizes.len();
    let mut steps: Vec<Step> = Vec::new();
    loop {
        let finest = steps.last().map_or(whole, |step| &step.coarse);
        let vertices = finest.sizes.len();
        if vertices <= COARSEST {
            break;
        }
        let largest = (order / COARSEST).max(2) as u32 * 3 / 2;
        let step = coarsened(finest, largest, random);
        if step.coarse.sizes.len() * 20 > vertices * 19 {
            break;
        }
        steps.push(step);
    }
    let coarsest = steps.last().map_or(whole, |step| &step.coarse);
    let mut side = initial(coarsest, first, trials, random);
    while let Some(step) = steps.pop() {
        let finer = steps.last().map_or(whole, |step| &step.coarse);
        let projected = step.vertex_of.iter().map(|&v| side[v as usize]);
        side = projected.collect();
        Refinement::new(finer, first, &mut side).run(trials.passes);
    }
    side
}

/// The best of several parts grown around random vertices.
fn initial(coarse: &Coarse, first: usize, trials: Trials, random: &mut Random) -> Vec<u8> {
    let mut best: Option<((u64, f64), Vec<u8>)> = None;
    for _ in 0..trials.growths {
        let mut side = grow_greedily(coarse, first, random);
        let mut refinement = Refinement::new(coarse, first, &mut side);
        refinement.run(trials.passes);
        let found = (refinement.excess.unsigned_abs(), refinement.cut);
        let better = best.as_ref().is_none_or(|(least, _)| found < *least);
        if better {
            best = Some((found, side));
        }
    }
    best.map_or_else(Vec::new, |best| best.1)
}

/// Side 0 grown around a random vertex: the vertex with the strongest connection to it joins
/// repeatedly, until it is full.
fn grow_greedily(coarse: &Coarse, first: usize, random: &mut Random) -> Vec<u8> {
    let order = coarse.sizes.len();
    let mut side = vec![1; order];
    let mut drawn = Heap::new(order);
    let mut size = 0;
    let start = random.below(order);
    let mut rest = (0..order).map(|at| (start + at) % order);
    while size < first {
        let next = drawn.top().map(|top| top.0);
        let next = next.or_else(|| rest.find(|&vertex| side[vertex] == 1));
        let Some(vertex) = next else { break };
        drawn.remove(vertex);
        let vertex_size = coarse.sizes[vertex] as usize;
        // A vertex that would overshoot by more than it fills is left out.
        if size + vertex_size > first && size + vertex_size - first > first - size {
            break;
        }
        side[vertex] = 0;
        size += vertex_size;
        for (neighbour, weight) in coarse.graph.row(vertex) {
            if side[neighbour] == 0 {
                continue;
            }
            if drawn.contains(neighbour) {
                drawn.add(neighbour, 2.0 * weight);
            } else {
                let all: f64 = coarse.graph.weights(neighbour).iter().sum();
                drawn.set(neighbour, 2.0 * weight - all);
            }
        }
    }
    side
}

/// Passes of moves from one side to the other.
struct Refinement<'a> {
    coarse: &'a Coarse,
    side: &'a mut [u8],
    /// Size of side 0 less its target.
    excess: i64,
    cut: f64,
    /// Vertices of each side that may move, by gain.
    free: [Heap; 2],
    moved: Vec<u32>,
    has_moved: Vec<bool>,
    largest: i64,
}

impl<'a> Refinement<'a> {
    fn new(coarse: &'a Coarse, first: usize, side: &'a mut [u8]) -> Self {
        let order = coarse.sizes.len();
        let sizes = coarse.sizes.iter().zip(side.iter());
        let on_first = sizes
            .filter(|(_, side)| **side == 0)
            .map(|(&size, _)| i64::from(size));
        let excess = on_first.sum::<i64>() - first as i64;
        Refinement {
            cut: cut(&coarse.graph, side),
            coarse,
            side,
            excess,
            free: [Heap::new(order), Heap::new(order)],
            moved: Vec::with_capacity(order),
            has_moved: vec![false; order],
            largest: i64::from(coarse.sizes.iter().copied().max().unwrap_or(1)),
        }
    }

    /// Passes until nothing improves.
    fn run(&mut self, passes: usize) {
        for _ in 0..passes {
            if !self.pass() {
                break;
            }
        }
    }

    /// The excess that a result may have: none where vertices are single ranks.
    fn tolerance(&self) -> i64 {
        self.largest - 1
    }

    /// Moves vertices one after the other, each once, the best first; then undoes the moves after
    /// the best state. Returns true if that is better than the start.
    fn pass(&mut self) -> bool {
        self.fill();
        let order = self.side.len();
        let slack = self.largest.max(order as i64 / 50);
        let patience = 25 + order / 20;
        let quality =
            |excess: i64, cut: f64, tolerance: i64| ((excess.abs() - tolerance).max(0), cut);
        let start = quality(self.excess, self.cut, self.tolerance());
        let (mut best, mut best_at) = (start, 0);
        while let Some(vertex) = self.next((best.0 == 0).then_some(slack)) {
            self.shift(vertex);
            self.moved.push(vertex as u32);
            self.has_moved[vertex] = true;
            let now = quality(self.excess, self.cut, self.tolerance());
            if now.0 < best.0 || (now.0 == best.0 && now.1 < best.1 - 1e-9 * best.1.abs()) {
                (best, best_at) = (now, self.moved.len());
            }
            if best.0 == 0 && self.moved.len() - best_at > patience {
                break;
            }
        }
        for at in (best_at..self.moved.len()).rev() {
            self.flip(self.moved[at] as usize);
        }
        best < start
    }

    /// Puts the vertices at the border into the heaps; all vertices while the sizes are wrong.
    fn fill(&mut self) {
        for vertex in self.moved.drain(..) {
            self.has_moved[vertex as usize] = false;
        }
        self.free.iter_mut().for_each(Heap::clear);
        let everything = self.excess.abs() > self.tolerance() || self.side.len() <= 256;
        let mut cut = 0.0;
        for vertex in 0..self.side.len() {
            let (gain, outside) = self.gain(vertex);
            cut += outside;
            if everything || outside > 0.0 {
                self.free[usize::from(self.side[vertex])].set(vertex, gain);
            }
        }
        self.cut = cut / 2.0;
    }

    /// Gain (decrease of the cut) of moving `vertex`, and its weight to the other side.
    fn gain(&self, vertex: usize) -> (f64, f64) {
        let (mut inside, mut outside) = (0.0, 0.0);
        for (neighbour, weight) in self.coarse.graph.row(vertex) {
            match self.side[neighbour] == self.side[vertex] {
                true => inside += weight,
                false => outside += weight,
            }
        }
        (outside - inside, outside)
    }

    /// The next vertex to move: from the side that is too large by more than
    /// `slack` (or at all, without one), else the one with the larger gain.
    fn next(&self, slack: Option<i64>) -> Option<usize> {
        let tops = [self.free[0].top(), self.free[1].top()];
        let allowed = |side: usize| {
            let (vertex, gain) = tops[side]?;
            let size = i64::from(self.coarse.sizes[vertex]);
            let after = if side == 0 {
                self.excess - size
            } else {
                self.excess + size
            };
            let balances = after.abs() < self.excess.abs();
            (balances || slack.is_some_and(|slack| after.abs() <= slack)).then_some((vertex, gain))
        };
        match (allowed(0), allowed(1)) {
            (Some(a), Some(b)) => {
                let first = a.1 > b.1 || (a.1 == b.1 && self.excess > 0);
                Some(if first { a.0 } else { b.0 })
            }
            (a, b) => a.or(b).map(|(vertex, _)| vertex),
        }
    }

    /// Moves a vertex for this pass and updates its neighbours.
    fn shift(&mut self, vertex: usize) {
        let from = usize::from(self.side[vertex]);
        let (gain, _) = self.gain(vertex);
        self.free[from].remove(vertex);
        self.flip(vertex);
        self.cut -= gain;
        for (neighbour, weight) in self.coarse.graph.row(vertex) {
            let side = usize::from(self.side[neighbour]);
            let change = if side == from {
                2.0 * weight
            } else {
                -2.0 * weight
            };
            if self.free[side].contains(neighbour) {
                self.free[side].add(neighbour, change);
            } else if change > 0.0 && !self.has_moved[neighbour] {
                let gain = self.gain(neighbour).0;
                self.free[side].set(neighbour, gain);
            }
        }
    }

    fn flip(&mut self, vertex: usize) {
        let size = i64::from(self.coarse.sizes[vertex]);
        self.excess += if self.side[vertex] == 0 { -size } else { size };
        self.side[vertex] ^= 1;
    }
}
