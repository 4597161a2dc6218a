//! Distribution of ranks to cores by load first and affinity second: the loop of LessLoadedCore,
//! ChooseChare and AssignChareOnCore (thesis 3.4.1).

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use treepie_base::{Leaf, Rank, Slice};
use treepie_topology::Topology;

/// Core that takes the next rank: the one with the least load; among equal loads, the one with the
/// fewest ranks.
#[derive(PartialEq)]
struct Core {
    load: f64,
    ranks: usize,
    number: usize,
}

impl Eq for Core {}

impl Ord for Core {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_load = self.load.total_cmp(&other.load);
        by_load.then((self.ranks, self.number).cmp(&(other.ranks, other.number)))
    }
}

impl PartialOrd for Core {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Assigns ranks to `cores` cores. `leaf_of_rank` orders the ranks by affinity on `fake`; the order
/// is cut into one part for each core, as equal as possible. Repeatedly, the core with the least
/// load takes the heaviest remaining rank of its part or, if its part is empty, of the nearest part
/// that is not. (The thesis does not define "nearest": here it is the distance of the parts on the
/// fake tree.)
///
/// In the end the load of every core is within the load of the heaviest rank of the mean.
pub fn deal_by_load(
    leaf_of_rank: &Slice<Rank, Leaf>,
    fake: &Topology,
    loads: &Slice<Rank, f64>,
    cores: usize,
) -> Vec<Vec<Rank>> {
    let mut parts = Parts::new(leaf_of_rank, loads, cores);
    let mut waiting: BinaryHeap<Reverse<Core>> = (0..cores)
        .map(|number| {
            Reverse(Core {
                load: 0.0,
                ranks: 0,
                number,
            })
        })
        .collect();
    let mut ranks_of = vec![Vec::new(); cores];
    while let Some(Reverse(mut core)) = waiting.pop() {
        let Some(rank) = parts.heaviest_for(core.number, fake) else {
            break;
        };
        ranks_of[core.number].push(rank);
        core.load += loads[rank];
        core.ranks += 1;
        waiting.push(Reverse(core));
    }
    ranks_of
}

/// Remaining ranks of each part, the heaviest rank last.
struct Parts {
    left: Vec<Vec<Rank>>,
    /// First leaf of each part on the fake tree.
    begins: Vec<Leaf>,
}

impl Parts {
    fn new(leaf_of_rank: &Slice<Rank, Leaf>, loads: &Slice<Rank, f64>, cores: usize) -> Self {
        let mut order: Vec<Rank> = leaf_of_rank.keys().collect();
        order.sort_by_key(|&rank| leaf_of_rank[rank]);
        let ranks = order.len();
        let mut left = Vec::with_capacity(cores);
        let mut begins = Vec::with_capacity(cores);
        for core in 0..cores {
            let part = core * ranks / cores..(core + 1) * ranks / cores;
            let first = order.get(part.start).or(order.last());
            begins.push(first.map_or(Leaf(0), |&rank| leaf_of_rank[rank]));
            let mut members = order[part].to_vec();
            members.sort_by(|&a, &b| loads[a].total_cmp(&loads[b]).then(b.cmp(&a)));
            left.push(members);
        }
        Parts { left, begins }
    }

    fn heaviest_for(&mut self, core: usize, fake: &Topology) -> Option<Rank> {
        if let Some(rank) = self.left[core].pop() {
            return Some(rank);
        }
        let distance = |part: &usize| {
            let climbed = fake.distance(self.begins[core], self.begins[*part]);
            (climbed, part.abs_diff(core), *part)
        };
        let with_ranks = (0..self.left.len()).filter(|&part| !self.left[part].is_empty());
        let nearest = with_ranks.min_by_key(distance)?;
        self.left[nearest].pop()
    }
}
