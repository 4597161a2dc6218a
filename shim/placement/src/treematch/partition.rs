//! A partition into parts of exact, unequal sizes with a small cut:
//! `constraint_k_partition` of thesis 3.3.2.

use std::collections::{BinaryHeap, HashMap};

use crate::random::Random;
use treepie_traffic::Matrix;

/// Number of random constructions (thesis 3.3.2).
const TRIALS: usize = 10;

const NO_PART: usize = usize::MAX;

/// Part of each entity of a symmetric matrix, such that part `i` has `sizes[i]` entities, which
/// must add up to the matrix's order, and there is little affinity between parts.
///
/// The thesis prescribes a "very simple probabilistic" partitioner, the best of ten runs, and does
/// not describe it. Here a run gives each part a random first member, and then repeatedly takes the
/// free entity and the incomplete part that have the most affinity. The partition in index order is
/// also a candidate, and stays unless another is cheaper: ranks are rarely numbered at random.
///
/// # Panics
/// Panics if the sizes do not add up to the order.
pub fn partition(matrix: &Matrix, sizes: &[usize], seed: u64) -> Vec<usize> {
    assert_eq!(sizes.iter().sum::<usize>(), matrix.order());
    let mut best = in_index_order(sizes);
    let mut least = cut(matrix, &best);
    let mut random = Random::new(seed);
    for _ in 0..TRIALS {
        if least == 0.0 {
            break;
        }
        let parts = Growth::new(matrix, sizes).run(&mut random);
        let cost = cut(matrix, &parts);
        if cost < least {
            (least, best) = (cost, parts);
        }
    }
    best
}

fn in_index_order(sizes: &[usize]) -> Vec<usize> {
    let blocks = sizes.iter().enumerate();
    blocks
        .flat_map(|(part, &size)| std::iter::repeat_n(part, size))
        .collect()
}

/// Affinity between different parts, each unordered pair once.
fn cut(matrix: &Matrix, parts: &[usize]) -> f64 {
    let crossing = matrix.entries().filter(|&(a, b, _)| parts[a] < parts[b]);
    crossing.map(|(_, _, value)| value).sum()
}

/// A free entity that has affinity with a part: the largest affinity first,
/// then the smallest numbers.
#[derive(PartialEq)]
struct Preference {
    affinity: f64,
    entity: usize,
    part: usize,
}

impl Eq for Preference {}

impl Ord for Preference {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.affinity
            .total_cmp(&other.affinity)
            .then_with(|| (other.entity, other.part).cmp(&(self.entity, self.part)))
    }
}

impl PartialOrd for Preference {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// One run of the construction.
struct Growth<'a> {
    matrix: &'a Matrix,
    room: Vec<usize>,
    part_of: Vec<usize>,
    affinity: HashMap<(usize, usize), f64>,
    preferences: BinaryHeap<Preference>,
}

impl<'a> Growth<'a> {
    fn new(matrix: &'a Matrix, sizes: &[usize]) -> Self {
        Growth {
            matrix,
            room: sizes.to_vec(),
            part_of: vec![NO_PART; matrix.order()],
            affinity: HashMap::new(),
            preferences: BinaryHeap::new(),
        }
    }

    fn run(mut self, random: &mut Random) -> Vec<usize> {
        let mut free: Vec<usize> = (0..self.matrix.order()).collect();
        for part in 0..self.room.len() {
            if self.room[part] > 0 {
                let first = free.swap_remove(random.below(free.len()));
                self.put(first, part);
            }
        }
        while let Some(preference) = self.preferences.pop() {
            if self.part_of[preference.entity] == NO_PART && self.room[preference.part] > 0 {
                self.put(preference.entity, preference.part);
            }
        }
        self.fill_with_the_rest();
        self.part_of
    }

    /// Puts `entity` into `part`, and adds the preferences of its free partners.
    fn put(&mut self, entity: usize, part: usize) {
        self.part_of[entity] = part;
        self.room[part] -= 1;
        for (partner, value) in self.matrix.row(entity) {
            if self.part_of[partner] != NO_PART {
                continue;
            }
            let sum = self.affinity.entry((partner, part)).or_insert(0.0);
            *sum += value;
            self.preferences.push(Preference {
                affinity: *sum,
                entity: partner,
                part,
            });
        }
    }

    /// Distributes entities without affinity to an incomplete part over the remaining places.
    fn fill_with_the_rest(&mut self) {
        let mut part = 0;
        for entity in 0..self.part_of.len() {
            if self.part_of[entity] != NO_PART {
                continue;
            }
            while self.room[part] == 0 {
                part += 1;
            }
            self.part_of[entity] = part;
            self.room[part] -= 1;
        }
    }
}
