//! The applications that the thesis balances (3.5), as matrices and loads of their shape, with its
//! results: kNeighbor, Stencil3D and commBench with TMLB_TREEBASED, LeanMD with TMLB_MIN_WEIGHT.
#![allow(clippy::unwrap_used)] // a test may panic

use treepie_base::{Leaf, List, Rank, Slice};
use treepie_placement::balance::{FakeTree, deal_by_load, in_blocks};
use treepie_placement::objective::{dist_comm, traffic_by_level};
use treepie_placement::{Options, Strategy, place};
use treepie_topology::Topology;
use treepie_traffic::Matrix;

/// Bytes of a message of kNeighbor and commBench.
const MESSAGE: f64 = 1e6;

/// Pseudo-random numbers that are the same in every run (Knuth's MMIX generator).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    fn order(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            order.swap(last, self.below(last + 1));
        }
        order
    }
}

/// A ring in which every chare sends to those at a distance of up to `reach(chare)`.
fn ring(chares: usize, reach: impl Fn(usize) -> usize) -> Matrix {
    let sent = (0..chares).flat_map(|from| {
        let near = 1..=reach(from);
        near.flat_map(move |d| [(from + d) % chares, (from + chares - d) % chares])
            .map(move |to| (from, to, MESSAGE))
    });
    Matrix::from_entries(chares, sent).unwrap()
}

#[track_caller]
fn balanced(
    strategy: Strategy,
    matrix: &Matrix,
    machine: &Topology,
    loads: &Slice<Rank, f64>,
    current: &Slice<Rank, Leaf>,
) -> List<Rank, Leaf> {
    let options = Options {
        loads: Some(loads),
        current: Some(current),
        ..Options::default()
    };
    let placed = place(strategy, matrix, machine, &options).unwrap();
    placed.placement.leaf_of_rank
}

fn load_of_each(
    leaf_of_rank: &Slice<Rank, Leaf>,
    loads: &Slice<Rank, f64>,
    leaves: usize,
) -> Vec<f64> {
    let mut sums = vec![0.0; leaves];
    for (&leaf, load) in leaf_of_rank.iter().zip(loads) {
        sums[leaf.0] += load;
    }
    sums
}

fn leaves(count: usize) -> Vec<Leaf> {
    (0..count).map(Leaf).collect()
}

fn most(loads: &[f64]) -> f64 {
    loads.iter().copied().fold(0.0, f64::max)
}

fn moved(before: &Slice<Rank, Leaf>, after: &Slice<Rank, Leaf>) -> usize {
    let pairs = before.iter().zip(after);
    pairs.filter(|(before, after)| before != after).count()
}

/// Section 3.5.3, figures 3.18, 3.20 and 3.21: k = 7 on a node of two sockets of four cores, whose
/// system counts cores in the order 0,2,4,6,1,3,5,7 while chares start on the cores 0 to 7.
#[test]
fn kneighbor_is_placed_as_well_as_by_the_best_static_placement() {
    let node = Topology::from_arities("2:4").unwrap();
    let leaf_of_core = [0, 4, 1, 5, 2, 6, 3, 7].map(Leaf);
    for chares in [64, 128, 256] {
        let matrix = ring(chares, |_| 7);
        let best = in_blocks(&leaves(8), chares);
        let before: List<Rank, Leaf> = best.iter().map(|core| leaf_of_core[core.0]).collect();
        let loads = List::from(vec![1.0; chares]);
        let after = balanced(Strategy::TreeBased, &matrix, &node, &loads, &before);
        let cost = |leaves: &Slice<Rank, Leaf>| dist_comm(&matrix, &node, leaves);
        assert!(
            cost(&after) <= cost(&best),
            "{chares} chares: {} {}",
            cost(&after),
            cost(&best)
        );
        // The thesis reports 7.5 % fewer messages over the root.
        let at_root = |leaves: &Slice<Rank, Leaf>| traffic_by_level(&matrix, &node, leaves)[0];
        assert!(
            at_root(&after) <= 0.925 * at_root(&before),
            "{chares} chares"
        );
        assert_eq!(most(&load_of_each(&after, &loads, 8)), chares as f64 / 8.0);
    }
}

/// Section 3.5.4, figure 3.22: chares of equal load in a grid, balanced once.
#[test]
fn stencil3d_gets_even_cores_and_sends_less_far() {
    let machine = Topology::from_arities("8:2:4").unwrap();
    let side = 8;
    let number = |x: usize, y: usize, z: usize| (x * side + y) * side + z;
    let mut faces = Vec::new();
    for (x, y, z) in (0..side * side * side).map(|n| (n / 64, n / 8 % 8, n % 8)) {
        let here = number(x, y, z);
        let further = [
            (x + 1 < side).then(|| number(x + 1, y, z)),
            (y + 1 < side).then(|| number(x, y + 1, z)),
            (z + 1 < side).then(|| number(x, y, z + 1)),
        ];
        for there in further.into_iter().flatten() {
            faces.extend([(here, there, 1e5), (there, here, 1e5)]);
        }
    }
    let matrix = Matrix::from_entries(512, faces).unwrap();
    let loads = List::from(vec![1.0; 512]);
    // Distributed over the cores round-robin, as Charm++ maps arrays of chares by default.
    let before = Leaf::list((0..512).map(|chare| chare % 64));
    let after = balanced(Strategy::TreeBased, &matrix, &machine, &loads, &before);
    assert_eq!(load_of_each(&after, &loads, 64), vec![8.0; 64]);
    let cost = |leaves: &Slice<Rank, Leaf>| dist_comm(&matrix, &machine, leaves);
    assert!(
        cost(&after) < 0.82 * cost(&before),
        "{} {}",
        cost(&after),
        cost(&before)
    );
}

/// Section 3.5.2, figure 3.17: kNeighbor with a random number of neighbours of each chare, on cores
/// in random order; here on 4 of the 16 nodes.
#[test]
fn the_irregular_pattern_of_commbench_stays_more_inside_nodes() {
    let machine = Topology::from_arities("4:2:16").unwrap();
    let chares = 1024;
    let mut numbers = Numbers(7);
    let reach: Vec<usize> = (0..chares).map(|_| numbers.below(8)).collect();
    let core_order = numbers.order(128);
    let order: Vec<usize> = (0..chares)
        .map(|chare| core_order[chare / 8] * 8 + chare % 8)
        .collect();
    let matrix = ring(chares, |chare| reach[chare])
        .renumbered(&order)
        .unwrap();
    let loads: List<Rank, f64> = order
        .iter()
        .map(|_| 1.0 + numbers.below(3) as f64)
        .collect();
    let before = in_blocks(&leaves(128), chares);
    let after = balanced(Strategy::TreeBased, &matrix, &machine, &loads, &before);
    let between_nodes = |leaves: &Slice<Rank, Leaf>| traffic_by_level(&matrix, &machine, leaves)[0];
    let (was, is) = (between_nodes(&before), between_nodes(&after));
    assert!(is < 0.75 * was, "{was} {is}");
    let (was, is) = (
        load_of_each(&before, &loads, 128),
        load_of_each(&after, &loads, 128),
    );
    assert!(most(&is) <= most(&was), "{} {}", most(&was), most(&is));
}

/// LeanMD: a cube of 4 x 4 x 4 cells, periodic, and a compute object for each cell and each pair of
/// neighbouring cells: 64 + 64 x 14 = 960 chares. Cells send their atoms to their compute objects
/// and get forces back; the work of a compute object grows with the product of its cells' atoms.
fn lean_md() -> (Matrix, List<Rank, f64>) {
    let mut numbers = Numbers(42);
    let atoms: Vec<f64> = (0..64)
        .map(|_| 1000.0 + numbers.below(2001) as f64)
        .collect();
    let cell = |x: usize, y: usize, z: usize| (x % 4 * 4 + y % 4) * 4 + z % 4;
    let mut loads: Vec<f64> = atoms.iter().map(|atoms| atoms / 1e3).collect();
    let mut sent = Vec::new();
    for here in 0..64 {
        let (x, y, z) = (here / 16, here / 4 % 4, here % 4);
        // Half of the 26 neighbours, and the cell itself: each pair once.
        for place in 13..27 {
            let there = cell(x + place / 9 + 3, y + place / 3 % 3 + 3, z + place % 3 + 3);
            let compute = loads.len();
            let pairs = atoms[here] * atoms[there] * if here == there { 0.5 } else { 1.0 };
            loads.push(pairs / 1e6);
            let mut cells = vec![here, there];
            cells.dedup();
            for cell in cells {
                let bytes = 24.0 * atoms[cell];
                sent.extend([(cell, compute, bytes), (compute, cell, bytes)]);
            }
        }
    }
    let matrix = Matrix::from_entries(loads.len(), sent).unwrap();
    (matrix, loads.into())
}

/// Section 3.5.1, figures 3.15 and 3.16: 64 cores; the time without a balancer is that of the most
/// loaded core. Greedy moves almost all chares, the parts without the Hungarian method 682 of 960,
/// the balancer fewer.
#[test]
fn leanmd_is_balanced_with_fewer_migrations_than_greedily_or_without_minimising_them() {
    let machine = Topology::from_arities("8:2:4").unwrap();
    let (matrix, loads) = lean_md();
    assert_eq!(loads.len(), 960);
    let before = in_blocks(&leaves(64), 960);
    let after = balanced(Strategy::MinWeight, &matrix, &machine, &loads, &before);
    let (was, is) = (
        load_of_each(&before, &loads, 64),
        load_of_each(&after, &loads, 64),
    );
    let mean = loads.iter().sum::<f64>() / 64.0;
    assert!(most(&is) <= mean + most(&loads.raw));
    assert!(most(&is) < 0.8 * most(&was), "{} {}", most(&was), most(&is));

    // The same parts on the cores with their numbers.
    let fake = FakeTree::for_ranks(960).unwrap();
    let order = fake.leaf_of_rank(&matrix, 0).unwrap();
    let mut unminimised = Leaf::list([0; 960]);
    for (core, part) in deal_by_load(&order, fake.topology(), &loads, 64)
        .iter()
        .enumerate()
    {
        part.iter()
            .for_each(|&chare| unminimised[chare] = Leaf(core));
    }
    // The heaviest remaining chare goes to the core with the least load.
    let mut greedy = Leaf::list([0; 960]);
    let mut heaviest: Vec<Rank> = loads.keys().collect();
    heaviest.sort_by(|&one, &other| loads[other].total_cmp(&loads[one]));
    let mut sums = vec![0.0; 64];
    for chare in heaviest {
        let least = |best: usize, core: usize| if sums[core] < sums[best] { core } else { best };
        let core = (0..64).reduce(least).unwrap();
        sums[core] += loads[chare];
        greedy[chare] = Leaf(core);
    }
    let [ours, unminimised, greedy] = [&after, &unminimised, &greedy].map(|to| moved(&before, to));
    assert!(
        ours < unminimised && unminimised < greedy,
        "{ours} {unminimised} {greedy}"
    );
    assert!(greedy > 900, "{greedy}");
}
