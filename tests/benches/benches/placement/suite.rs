//! The communication patterns on which mappers are compared, and their trees: one process per core.

use crate::numpy::Generator;
use treepie_base::{Leaf, List, Rank, Slice};
use treepie_placement::check;
use treepie_placement::objective::dist_comm;
use treepie_topology::Topology;
use treepie_traffic::Matrix;

pub const PATTERNS: [&str; 7] = ["st2d5", "st3d7", "st3d27", "rnd8", "plaw", "nascg", "fft2d"];
pub const SIZES: [usize; 6] = [64, 512, 768, 4096, 6144, 16384];

/// An undirected edge and its weight.
pub type Edge = (usize, usize, u64);

/// Arities from the root and distances from the root.
pub fn tree(ranks: usize) -> Option<(Vec<usize>, Vec<f64>)> {
    let three = vec![100.0, 10.0, 1.0];
    let four = vec![200.0, 100.0, 10.0, 1.0];
    Some(match ranks {
        64 => (vec![8, 2, 4], three),
        512 => (vec![16, 2, 16], three),
        768 => (vec![16, 2, 24], three),
        4096 => (vec![8, 16, 2, 16], four),
        6144 => (vec![64, 2, 48], three),
        16384 => (vec![32, 16, 2, 16], four),
        100_000 => (vec![125, 20, 2, 20], four),
        1_000_000 => (vec![250, 100, 2, 20], four),
        _ => return None,
    })
}

/// A pattern under some numbering, and its tree.
pub struct Instance {
    pub pattern: String,
    pub ranks: usize,
    pub arities: Vec<usize>,
    pub distances: Vec<f64>,
    pub topology: Topology,
    pub matrix: Matrix,
    /// J of natural numbering.
    pub identity: f64,
    pub anchor: Option<f64>,
    pub known: Option<f64>,
}

impl Instance {
    /// Builds the instance in which natural rank `i` has the name `name[i]`.
    pub fn new(
        pattern: &str,
        ranks: usize,
        edges: &[Edge],
        name: &[usize],
    ) -> Result<Self, String> {
        let (arities, distances) = tree(ranks).ok_or("no such size")?;
        let topology = topology(ranks).ok_or("no such tree")?;
        let matrix = matrix(ranks, edges, name)?;
        Ok(Instance {
            pattern: pattern.to_owned(),
            identity: dist_comm(&matrix, &topology, &inverse(name)),
            anchor: anchor(pattern, ranks),
            known: best_known(pattern, ranks),
            ranks,
            arities,
            distances,
            topology,
            matrix,
        })
    }

    /// J of a placement, which must be valid.
    pub fn cost(&self, leaf_of_rank: &Slice<Rank, Leaf>) -> Result<f64, String> {
        let valid = check(leaf_of_rank, self.ranks, &self.topology);
        valid.map_err(|error| format!("{}: {error}", self.pattern))?;
        Ok(dist_comm(&self.matrix, &self.topology, leaf_of_rank))
    }

    /// Neighbours and whole weights of every rank.
    pub fn adjacent(&self) -> Vec<Vec<(usize, u64)>> {
        let row = |rank| self.matrix.row(rank).map(|(n, w)| (n, w as u64)).collect();
        (0..self.ranks).map(row).collect()
    }
}

/// Index of each name: the placement that puts natural rank `i` on leaf `i`.
fn inverse(name: &[usize]) -> List<Rank, Leaf> {
    let mut natural = List::from(vec![Leaf(0); name.len()]);
    let names = name.iter().enumerate();
    names.for_each(|(i, &n)| natural[Rank(n)] = Leaf(i));
    natural
}

fn topology(ranks: usize) -> Option<Topology> {
    let (arities, distances) = tree(ranks)?;
    let topology = Topology::from_arity_list(&arities, None).ok()?;
    topology.with_level_distances(&distances).ok()
}

/// The edges of a pattern in natural numbering; `None` if the pattern has no such size.
pub fn edges(pattern: &str, ranks: usize) -> Option<Vec<Edge>> {
    let flat = shape_2d(ranks);
    let cube = shape_3d(ranks);
    match pattern {
        "st2d5" => Some(stencil(&flat?, &[100])),
        "st3d7" => Some(stencil(&cube?, &[100])),
        "st3d27" => Some(stencil(&cube?, &[100, 10, 1])),
        "rnd8" => Some(random(ranks)),
        "plaw" => Some(preferential(ranks)),
        "nascg" if ranks.is_power_of_two() => Some(conjugate_gradient(ranks)),
        "fft2d" if ranks.is_power_of_two() && ranks <= 4096 => Some(transposes(ranks)),
        _ => None,
    }
}

/// The matrix of a pattern whose natural rank `i` has the name `name[i]`.
fn matrix(ranks: usize, edges: &[Edge], name: &[usize]) -> Result<Matrix, String> {
    let both = edges.iter().flat_map(|&(a, b, weight)| {
        let (a, b) = (name[a], name[b]);
        [(a, b, weight as f64), (b, a, weight as f64)]
    });
    Matrix::from_entries(ranks, both).map_err(|error| error.to_string())
}

/// The shuffle of all reference figures.
pub fn shuffle(ranks: usize) -> Vec<usize> {
    Generator::new(7).permutation(ranks)
}

fn shape_2d(ranks: usize) -> Option<Vec<usize>> {
    let shape = match ranks {
        64 => [8, 8],
        512 => [32, 16],
        768 => [32, 24],
        4096 => [64, 64],
        6144 => [96, 64],
        16384 => [128, 128],
        _ => return None,
    };
    Some(shape.to_vec())
}

fn shape_3d(ranks: usize) -> Option<Vec<usize>> {
    let shape = match ranks {
        64 => [4, 4, 4],
        512 => [8, 8, 8],
        768 => [12, 8, 8],
        4096 => [16, 16, 16],
        6144 => [24, 16, 16],
        16384 => [32, 32, 16],
        100_000 => [50, 50, 40],
        1_000_000 => [100, 100, 100],
        _ => return None,
    };
    Some(shape.to_vec())
}

/// Edges between cells that differ by at most one in every coordinate, and in at most as many
/// coordinates as there are `weights`.
fn stencil(shape: &[usize], weights: &[u64]) -> Vec<Edge> {
    let ranks: usize = shape.iter().product();
    let offsets = 3_usize.pow(shape.len() as u32);
    let mut edges = Vec::new();
    for offset in offsets / 2 + 1..offsets {
        let steps: Vec<isize> = (0..shape.len())
            .map(|axis| (offset / 3_usize.pow(axis as u32) % 3) as isize - 1)
            .collect();
        let moved = steps.iter().filter(|&&step| step != 0).count();
        let Some(&weight) = weights.get(moved - 1) else {
            continue;
        };
        for cell in 0..ranks {
            if let Some(other) = neighbour(shape, cell, &steps) {
                edges.push((cell, other, weight));
            }
        }
    }
    edges
}

/// The cell `steps` away; the last coordinate is the fastest.
fn neighbour(shape: &[usize], cell: usize, steps: &[isize]) -> Option<usize> {
    let (mut rest, mut stride, mut other) = (cell, 1, 0);
    for (&extent, &step) in shape.iter().zip(steps).rev() {
        let moved = (rest % extent).checked_add_signed(step)?;
        if moved >= extent {
            return None;
        }
        other += moved * stride;
        stride *= extent;
        rest /= extent;
    }
    Some(other)
}

/// Seeds of the reference generator, by size and whether the pattern is "plaw".
fn seed(ranks: usize, preferential: bool) -> u32 {
    match (ranks, preferential) {
        (64, false) => 13051,
        (64, true) => 13060,
        (512, false) => 12888,
        (512, true) => 13281,
        (768, false) => 12908,
        (768, true) => 13301,
        (4096, false) => 12481,
        (4096, true) => 12490,
        (6144, false) => 13210,
        (6144, true) => 13219,
        (16384, false) => 12565,
        (16384, true) => 12574,
        _ => 12345,
    }
}

fn random(ranks: usize) -> Vec<Edge> {
    let mut generator = Generator::new(seed(ranks, false));
    let mut draw = || -> Vec<usize> { (0..4 * ranks).map(|_| generator.below(ranks)).collect() };
    let (from, to) = (draw(), draw());
    let distinct = from.into_iter().zip(to).filter(|(a, b)| a != b);
    let pairs: Vec<(usize, usize)> = distinct.collect();
    let mut weigh = || generator.below(100) as u64 + 1;
    pairs.into_iter().map(|(a, b)| (a, b, weigh())).collect()
}

/// Barabási and Albert's preferential attachment, four edges for each new rank.
fn preferential(ranks: usize) -> Vec<Edge> {
    const EDGES: usize = 4;
    let mut generator = Generator::new(seed(ranks, true));
    let mut ends: Vec<usize> = (0..EDGES).collect();
    let mut pairs = Vec::new();
    for rank in EDGES..ranks {
        let mut chosen = SmallSet::default();
        while chosen.count < EDGES {
            chosen.add(ends[generator.below(ends.len())]);
        }
        for partner in chosen.slots.into_iter().flatten() {
            pairs.push((rank, partner));
            ends.extend([rank, partner]);
        }
    }
    let mut weigh = || generator.below(100) as u64 + 1;
    pairs.into_iter().map(|(a, b)| (a, b, weigh())).collect()
}

/// CPython's set of up to four small integers, for its iteration order: the reference generator
/// attaches edges in that order.
#[derive(Default)]
struct SmallSet {
    slots: [Option<usize>; 8],
    count: usize,
}

impl SmallSet {
    fn add(&mut self, value: usize) {
        let (mut perturb, mut at) = (value, value & 7);
        while let Some(there) = self.slots[at] {
            if there == value {
                return;
            }
            perturb >>= 5;
            at = (at * 5 + 1 + perturb) & 7;
        }
        self.slots[at] = Some(value);
        self.count += 1;
    }
}

/// Rows and columns of a grid of ranks whose sides are powers of two, the
/// columns at most twice as many as the rows.
fn grid(ranks: usize) -> (usize, usize) {
    let rows = 1 << (ranks.ilog2() / 2);
    (rows, ranks / rows)
}

/// NAS CG: sums over rows by exclusive or, and the exchange with the transpose.
fn conjugate_gradient(ranks: usize) -> Vec<Edge> {
    let (rows, columns) = grid(ranks);
    let mut edges = Vec::new();
    for rank in 0..ranks {
        let (row, column) = (rank / columns, rank % columns);
        let steps = (0..columns.ilog2()).map(|bit| column ^ (1 << bit));
        edges.extend(steps.map(|partner| (rank, row * columns + partner, 100)));
        let transposed = match rows == columns {
            true => column * rows + row,
            false => ((rank / 2 % rows) * rows + rank / 2 / rows) * 2 + rank % 2,
        };
        if transposed != rank {
            edges.push((rank, transposed, 100));
        }
    }
    edges
}

/// A two-dimensional FFT: all to all in rows and in columns.
fn transposes(ranks: usize) -> Vec<Edge> {
    let (rows, columns) = grid(ranks);
    let mut edges = Vec::new();
    for rank in 0..ranks {
        let (row, column) = (rank / columns, rank % columns);
        edges.extend((column + 1..columns).map(|other| (rank, row * columns + other, 10)));
        edges.extend((row + 1..rows).map(|other| (rank, other * columns + column, 10)));
    }
    edges
}

/// J of the best of the compared mappers on shuffled ranks.
fn anchor(pattern: &str, ranks: usize) -> Option<f64> {
    let row: [f64; 7] = match ranks {
        64 => [
            342_400.0, 518_400.0, 653_040.0, 687_724.0, 679_880.0, 636_800.0, 237_760.0,
        ],
        512 => [
            1_580_800.0,
            3_417_600.0,
            4_549_744.0,
            5_509_733.0,
            5_771_942.0,
            5_516_800.0,
            4_288_000.0,
        ],
        768 => [
            1_989_400.0,
            4_179_200.0,
            5_597_168.0,
            8_060_035.0,
            8_280_705.0,
            0.0,
            0.0,
        ],
        4096 => [
            18_650_500.0,
            42_704_400.0,
            57_830_752.0,
            85_261_891.0,
            88_421_206.0,
            122_854_400.0,
            312_832_000.0,
        ],
        6144 => [0.0, 37_660_700.0, 0.0, 73_853_381.0, 0.0, 0.0, 0.0],
        16384 => [
            81_045_600.0,
            210_193_400.0,
            263_613_360.0,
            378_158_031.0,
            387_020_659.0,
            671_897_600.0,
            0.0,
        ],
        _ => return None,
    };
    figure(pattern, row)
}

/// The least known J: of the mappers, of exact tilings, and of a long annealing.
fn best_known(pattern: &str, ranks: usize) -> Option<f64> {
    let row: [f64; 7] = match ranks {
        64 => [
            342_400.0, 518_400.0, 653_040.0, 679_768.0, 674_768.0, 636_800.0, 237_760.0,
        ],
        512 => [
            1_580_800.0,
            3_417_600.0,
            4_549_744.0,
            5_296_604.0,
            5_566_391.0,
            5_516_800.0,
            4_288_000.0,
        ],
        768 => [
            1_897_600.0,
            4_179_200.0,
            5_597_168.0,
            7_757_905.0,
            8_008_626.0,
            0.0,
            0.0,
        ],
        4096 => [
            17_766_400.0,
            42_700_800.0,
            57_830_752.0,
            85_261_891.0,
            88_347_694.0,
            122_854_400.0,
            312_832_000.0,
        ],
        6144 => [0.0, 33_075_200.0, 0.0, 73_853_381.0, 0.0, 0.0, 0.0],
        16384 => [
            76_185_600.0,
            191_283_200.0,
            260_279_008.0,
            378_158_031.0,
            387_020_659.0,
            671_897_600.0,
            0.0,
        ],
        _ => return None,
    };
    figure(pattern, row)
}

fn figure(pattern: &str, row: [f64; 7]) -> Option<f64> {
    let at = PATTERNS.iter().position(|&known| known == pattern)?;
    (row[at] > 0.0).then_some(row[at])
}
