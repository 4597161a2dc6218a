//! Moves between the cells of a block by simulated annealing (Kirkpatrick,
//! Gelatt and Vecchi 1983; for graph partitions Johnson et al. 1989).
//!
//! ```text
//! moves     single ranks, to the cell of a neighbour; excess or missing ranks
//!           of a cell have a cost, and the temperature falls
//! settling  ranks move from cells that are too full to those that are too empty
//! swaps     pairs of ranks, nearly cold; sizes stay exact from here on
//! ```

use std::hint::select_unpredictable;

use crate::coarsen::block::Block;
use crate::coarsen::graph::Graph;
use crate::heap::Heap;
use crate::random::{Random, pick};
use crate::refine::mapping::Mapping;
use crate::refine::schedule::Schedule;

/// Cost of one excess rank, in temperatures.
const CROWDING: f64 = 1.0;

/// Number of sweeps of swaps after settling.
const LAST_SWEEPS: usize = 20;

/// Number of final sweeps of swaps that accept no loss.
const FROZEN_SWEEPS: usize = 4;

/// Largest number of ranks of a cell that is only filled by swaps: one excess rank is too large a
/// part of it.
const SMALL: usize = 8;

/// Number of entries in the table of chances.
const CHANCES: usize = 1 << 10;

/// Computes the cell of each rank by annealing from `cell_of`. Cells have their exact sizes before
/// and after.
pub(crate) fn anneal(
    graph: &Graph,
    block: &Block,
    cell_of: Vec<u32>,
    schedule: Schedule,
    random: &mut Random,
) -> Vec<u32> {
    let mut mapping = Mapping::new(graph, block, cell_of);
    let usual = usual_saving(graph, block) * mapping.scale;
    let chances = chances();
    let sweeps = schedule.sweeps as usize;
    let ratio = schedule.ratio(sweeps);
    let mut temperature = schedule.hot * usual;
    if graph.order() <= SMALL * block.sizes.len() {
        // A proposed swap costs about as much as two moves.
        let sweeps = sweeps / 2;
        let cooling = Cooling {
            temperature,
            ratio: ratio * ratio,
            sweeps,
        };
        swaps(&mut mapping, cooling, &chances, random);
        return mapping.cell_of;
    }
    for _ in 0..sweeps {
        sweep_of_moves(&mut mapping, temperature as f32, &chances, random);
        temperature *= ratio;
    }
    settle(&mut mapping);
    mapping.measure();
    let cooling = Cooling {
        temperature,
        ratio: 0.8,
        sweeps: LAST_SWEEPS,
    };
    swaps(&mut mapping, cooling, &chances, random);
    mapping.cell_of
}

/// Thresholds of the Metropolis rule, which accepts a loss with the probability exp(-loss /
/// temperature): if the loss is below the temperature times the negative logarithm of a random
/// number. These are the logarithms of evenly spread numbers; the last one rejects every move.
fn chances() -> Vec<f32> {
    let chance = |step: usize| (step as f64 + 0.5) / CHANCES as f64;
    let logarithms = (0..CHANCES).map(|step| -libm::log(chance(step)) as f32);
    logarithms.chain([f32::NEG_INFINITY]).collect()
}

/// The mean weight of an edge times the largest saving of a unit of weight.
fn usual_saving(graph: &Graph, block: &Block) -> f64 {
    graph.mean_weight() * block.saved.iter().copied().fold(0.0, f64::max)
}

/// Index in [`chances`], from the upper 32 random bits.
#[inline]
fn chance(bits: u64) -> usize {
    (bits >> 32) as usize % CHANCES
}

/// Proposes for every rank a move to the cell of one of its neighbours.
fn sweep_of_moves(mapping: &mut Mapping, temperature: f32, chances: &[f32], random: &mut Random) {
    let mut start = 0;
    while let Some((rank, there)) = next_move(mapping, start, temperature, chances, random) {
        mapping.shift(rank, there);
        start = rank + 1;
    }
}

/// The first rank from `first` on that accepts its move, and the cell to which it moves. Most do
/// not accept: the test has no branch except the last, so that the processor works on several ranks
/// at the same time.
fn next_move(
    mapping: &Mapping,
    first: usize,
    temperature: f32,
    chances: &[f32],
    random: &mut Random,
) -> Option<(usize, usize)> {
    let crowding = 2.0 * CROWDING as f32 * temperature;
    let (cell_of, excess) = (mapping.cell_of.as_slice(), mapping.excess.as_slice());
    let savings = mapping.all_savings();
    let mut drawing = random.clone();
    let mut found = None;
    for (rank, (&here, savings)) in cell_of.iter().zip(savings).enumerate().skip(first) {
        let neighbours = mapping.graph.neighbours(rank);
        if neighbours.is_empty() {
            continue;
        }
        let bits = drawing.next();
        let there = cell_of[neighbours[pick(bits as u32, neighbours.len())] as usize];
        // A rank that is already there does not move.
        let chance = select_unpredictable(there == here, CHANCES, chance(bits));
        let (here, there) = (here as usize, there as usize);
        // The cost of an excess is its square, so that a move changes it by the difference.
        let crowded = crowding * (excess[there] - excess[here] + 1.0);
        let gain = savings[there] - savings[here] - crowded;
        if gain >= -temperature * chances[chance] {
            found = Some((rank, there));
            break;
        }
    }
    *random = drawing;
    found
}

/// Brings every cell to its size: from cells that are too full, the ranks that lose least move, one
/// after the other, to cells that are too empty.
fn settle(mapping: &mut Mapping) {
    for full in 0..mapping.cells {
        if mapping.excess[full] < 0.5 {
            continue;
        }
        let mut offers = Heap::new(mapping.cell_of.len());
        for rank in 0..mapping.cell_of.len() {
            offer(mapping, &mut offers, rank, full);
        }
        while mapping.excess[full] > 0.5
            && let Some((rank, gain)) = offers.top()
        {
            let Some((best, cell)) = best_move(mapping, rank, full) else {
                break;
            };
            // The cell to which it would have moved has been filled meanwhile.
            if best < gain {
                offers.set(rank, best);
                continue;
            }
            offers.remove(rank);
            mapping.shift(rank, cell);
            let graph = mapping.graph;
            for &neighbour in graph.neighbours(rank) {
                offer(mapping, &mut offers, neighbour as usize, full);
            }
        }
    }
}

/// Updates in the heap the gain of a rank that leaves a cell that is too full.
fn offer(mapping: &Mapping, offers: &mut Heap, rank: usize, full: usize) {
    if mapping.cell_of[rank] as usize == full
        && let Some((gain, _)) = best_move(mapping, rank, full)
    {
        offers.set(rank, gain);
    }
}

/// The largest gain of moving a rank to a cell that is too empty, and that cell. Of equal cells the
/// first.
fn best_move(mapping: &Mapping, rank: usize, from: usize) -> Option<(f64, usize)> {
    let savings = mapping.savings(rank);
    let mut best: Option<(f64, usize)> = None;
    for (cell, &excess) in mapping.excess.iter().enumerate() {
        let gain = f64::from(savings[cell] - savings[from]);
        if excess < -0.5 && best.is_none_or(|best| gain > best.0) {
            best = Some((gain, cell));
        }
    }
    best
}

/// A temperature that falls by `ratio` from sweep to sweep.
struct Cooling {
    temperature: f64,
    ratio: f64,
    sweeps: usize,
}

/// Performs sweeps of swaps; the last few accept no loss.
fn swaps(mapping: &mut Mapping, cooling: Cooling, chances: &[f32], random: &mut Random) {
    let mut members = Members::new(mapping);
    let mut temperature = cooling.temperature;
    for sweep in 0..cooling.sweeps {
        if sweep + FROZEN_SWEEPS >= cooling.sweeps {
            temperature = 0.0;
        }
        for rank in 0..mapping.cell_of.len() {
            propose_swap(
                mapping,
                &mut members,
                rank,
                temperature as f32,
                chances,
                random,
            );
        }
        temperature *= cooling.ratio;
    }
}

fn propose_swap(
    mapping: &mut Mapping,
    members: &mut Members,
    rank: usize,
    temperature: f32,
    chances: &[f32],
    random: &mut Random,
) {
    let neighbours = mapping.graph.neighbours(rank);
    if neighbours.is_empty() {
        return;
    }
    let bits = random.next();
    let neighbour = neighbours[pick(bits as u32, neighbours.len())] as usize;
    let (here, there) = (mapping.cell_of[rank], mapping.cell_of[neighbour]);
    if here == there {
        return;
    }
    let other = members.pick(there as usize, random.next());
    let limit = -temperature * chances[chance(bits)];
    let gain = mapping.swap_gain(rank, other);
    if gain <= limit || gain - mapping.overcounted(rank, other) <= limit {
        return;
    }
    mapping.shift(rank, there as usize);
    mapping.shift(other, here as usize);
    members.swap(rank, other);
}

/// The ranks of each cell.
struct Members {
    starts: Vec<usize>,
    ranks: Vec<u32>,
    place: Vec<u32>,
}

impl Members {
    fn new(mapping: &Mapping) -> Self {
        let mut starts = vec![0];
        for &size in &mapping.block.sizes {
            starts.push(starts[starts.len() - 1] + size);
        }
        let mut next = starts.clone();
        let mut ranks = vec![0; mapping.cell_of.len()];
        let mut place = vec![0; mapping.cell_of.len()];
        for (rank, &cell) in mapping.cell_of.iter().enumerate() {
            let at = &mut next[cell as usize];
            ranks[*at] = rank as u32;
            place[rank] = *at as u32;
            *at += 1;
        }
        Members {
            starts,
            ranks,
            place,
        }
    }

    fn pick(&self, cell: usize, bits: u64) -> usize {
        let ranks = &self.ranks[self.starts[cell]..self.starts[cell + 1]];
        ranks[pick(bits as u32, ranks.len())] as usize
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.ranks
            .swap(self.place[a] as usize, self.place[b] as usize);
        self.place.swap(a, b);
    }
}
