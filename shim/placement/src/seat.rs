//! Ranks that must stay with the process of the same number, because standard input arrives there.
//!
//! A placement determines which ranks are near each other; on a machine of equivalent parts it
//! leaves open on which part. So the part of the tree with the rank is swapped with a part of the
//! same shape that has the process; no distance changes. If there is no such part, two ranks are
//! swapped.
//!
//! ```text
//! process     0 1   2 3           0 1   2 3
//! rank        2 3   0 1   -->     0 1   2 3
//! ```

use std::collections::HashMap;

use treepie_base::{Leaf, List, Process, Rank, Slice};
use treepie_topology::Topology;

/// The processes of a job on a tree.
#[derive(Debug, Clone, Copy)]
pub struct Seats<'a> {
    /// The tree.
    pub topology: &'a Topology,
    /// The leaf of each process.
    pub leaf_of_process: &'a Slice<Process, Leaf>,
    /// Depth below whose nodes parts are swapped: 0, or that of the hosts if the tree does not have
    /// the distances between them.
    pub depth: usize,
}

/// Change by which a rank stays with its process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// None: the rank is there already.
    Nothing,
    /// Equivalent parts of the tree were swapped: distances are the same.
    LikeParts,
    /// The rank was swapped with this one on the same leaf: distances are the same.
    OnLeaf(Rank),
    /// The rank was swapped with this one.
    Exchange(Rank),
}

/// Gives process `process` the rank of its number. An exchange does not move other processes that
/// have the rank of their number.
///
/// # Panics
/// Panics if there is no such process, or `new_rank` is not a permutation.
pub fn keep(new_rank: &mut Slice<Process, Rank>, process: Process, seats: Option<Seats>) -> Change {
    let other = new_rank[process];
    if other.0 == process.0 {
        return Change::Nothing;
    }
    let holder = holder_of(new_rank, process);
    let leaf = |seats: Seats, process: Process| seats.leaf_of_process[process];
    let apart = seats.filter(|&seats| leaf(seats, holder) != leaf(seats, process));
    let pairs =
        apart.and_then(|seats| like_parts(seats, leaf(seats, holder), leaf(seats, process)));
    let (Some(pairs), Some(seats)) = (pairs, apart) else {
        new_rank.swap(holder, process);
        return match seats.is_some() && apart.is_none() {
            true => Change::OnLeaf(other),
            false => Change::Exchange(other),
        };
    };
    let mut on: List<Leaf, Vec<Process>> = vec![Vec::new(); seats.topology.leaf_count()].into();
    for (process, &leaf) in seats.leaf_of_process.iter_enumerated() {
        on[leaf].push(process);
    }
    for (one, other) in pairs {
        for (&one, &other) in on[one].iter().zip(&on[other]) {
            new_rank.swap(one, other);
        }
    }
    // The rank is on the leaf of its process, which may have other ranks.
    let holder = holder_of(new_rank, process);
    new_rank.swap(holder, process);
    Change::LikeParts
}

/// The process that has the rank of the number of `process`.
fn holder_of(new_rank: &Slice<Process, Rank>, process: Process) -> Process {
    let found = new_rank.position(|&rank| rank.0 == process.0);
    found.expect("a permutation has each rank")
}

/// Pairs of leaves to be swapped so that the part with leaf `from` moves to the part with leaf
/// `to`, another leaf, with the first leaf on the second. `None` if these parts differ.
fn like_parts(seats: Seats, from: Leaf, to: Leaf) -> Option<Vec<(Leaf, Leaf)>> {
    let topology = seats.topology;
    let above = topology.common_level(from, to);
    if above < seats.depth {
        return None;
    }
    let shapes = Shapes::new(seats, above + 1);
    let nodes = [from, to].map(|leaf| topology.ancestor(leaf, above + 1));
    shapes.same(above + 1, nodes).then_some(())?;
    let mut pairs = Vec::new();
    shapes
        .pair(above + 1, nodes, Some([from, to]), &mut pairs)
        .then_some(pairs)
}

/// Shape of each node from some depth on, as a number: nodes of a depth with the same number have
/// the same number of processes on the same number of leaves, in equivalent parts.
struct Shapes<'a> {
    topology: &'a Topology,
    depth: usize,
    of: Vec<Vec<usize>>,
}

impl<'a> Shapes<'a> {
    fn new(seats: Seats<'a>, depth: usize) -> Self {
        let topology = seats.topology;
        let mut below = vec![0; topology.leaf_count()];
        for &leaf in seats.leaf_of_process {
            below[leaf.0] += 1;
        }
        let mut of = vec![below];
        for depth in (depth..topology.depth()).rev() {
            let mut known: HashMap<Vec<usize>, usize> = HashMap::new();
            let below = &of[of.len() - 1];
            let shapes = (0..topology.node_count(depth)).map(|node| {
                let mut parts = below[topology.children(depth, node)].to_vec();
                parts.sort_unstable();
                let next = known.len();
                *known.entry(parts).or_insert(next)
            });
            let shapes = shapes.collect();
            of.push(shapes);
        }
        of.reverse();
        Shapes {
            topology,
            depth,
            of,
        }
    }

    fn shape(&self, depth: usize, node: usize) -> usize {
        self.of[depth - self.depth][node]
    }

    fn same(&self, depth: usize, [one, other]: [usize; 2]) -> bool {
        self.shape(depth, one) == self.shape(depth, other)
    }

    /// Pairs the leaves of two nodes of one shape, the `marked` ones with each other. Returns true
    /// if that is possible.
    fn pair(
        &self,
        depth: usize,
        nodes: [usize; 2],
        marked: Option<[Leaf; 2]>,
        pairs: &mut Vec<(Leaf, Leaf)>,
    ) -> bool {
        if depth == self.topology.depth() {
            pairs.push((Leaf(nodes[0]), Leaf(nodes[1])));
            return true;
        }
        let below = marked.map(|marked| marked.map(|leaf| self.topology.ancestor(leaf, depth + 1)));
        if let Some(below) = below
            && !(self.same(depth + 1, below) && self.pair(depth + 1, below, marked, pairs))
        {
            return false;
        }
        let others = [0, 1].map(|side| {
            let children = self.topology.children(depth, nodes[side]);
            let others = children.filter(|&child| below.is_none_or(|below| below[side] != child));
            let mut others: Vec<usize> = others.collect();
            others.sort_by_key(|&child| self.shape(depth + 1, child));
            others
        });
        let mut pairs_below = others[0].iter().zip(&others[1]);
        pairs_below.all(|(&one, &other)| self.pair(depth + 1, [one, other], None, pairs))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    fn seats<'a>(topology: &'a Topology, leaf_of_process: &'a Slice<Process, Leaf>) -> Seats<'a> {
        Seats {
            topology,
            leaf_of_process,
            depth: 0,
        }
    }

    fn leaf_of_rank(
        new_rank: &Slice<Process, Rank>,
        leaf_of_process: &Slice<Process, Leaf>,
    ) -> List<Rank, Leaf> {
        let mut leaves = List::from(vec![Leaf(0); new_rank.len()]);
        for (&rank, &leaf) in new_rank.iter().zip(leaf_of_process) {
            leaves[rank] = leaf;
        }
        leaves
    }

    #[test]
    fn whole_hosts_change_places_and_an_odd_one_exchanges_two_ranks() {
        let even = Topology::from_arities("2:2").unwrap();
        let mut new_rank = Rank::list([2, 3, 1, 0]);
        let places = Leaf::list([0, 1, 2, 3]);
        let change = keep(&mut new_rank, Process(0), Some(seats(&even, &places)));
        assert_eq!(
            (change, new_rank),
            (Change::LikeParts, Rank::list([0, 1, 3, 2]))
        );
        // Three processes on one host, one on the other.
        let odd = Topology::from_arities("2:3").unwrap();
        let mut new_rank = Rank::list([2, 3, 1, 0]);
        let change = keep(&mut new_rank, Process(0), Some(seats(&odd, &places)));
        assert_eq!(
            (change, new_rank),
            (Change::Exchange(Rank(2)), Rank::list([0, 3, 1, 2]))
        );
        let mut new_rank = Rank::list([2, 3, 1, 0]);
        let one_leaf = Topology::from_arities("1").unwrap();
        let change = keep(
            &mut new_rank,
            Process(0),
            Some(seats(&one_leaf, &Leaf::list([0; 4]))),
        );
        assert_eq!(
            (change, new_rank),
            (Change::OnLeaf(Rank(2)), Rank::list([0, 3, 1, 2]))
        );
        let mut new_rank = Rank::list([2, 3, 1, 0]);
        assert_eq!(
            keep(&mut new_rank, Process(0), None),
            Change::Exchange(Rank(2))
        );
        assert_eq!(keep(&mut new_rank, Process(0), None), Change::Nothing);
    }

    #[test]
    fn hosts_whose_distances_the_tree_does_not_tell_stay() {
        let tree = Topology::from_arities("2:2").unwrap();
        let places = Leaf::list([0, 1, 2, 3]);
        let hosts_stay = Seats {
            depth: 1,
            ..seats(&tree, &places)
        };
        let mut new_rank = Rank::list([2, 3, 1, 0]);
        let change = keep(&mut new_rank, Process(0), Some(hosts_stay));
        assert_eq!(change, Change::Exchange(Rank(2)));
        let mut new_rank = Rank::list([2, 0, 1, 3]);
        let change = keep(&mut new_rank, Process(0), Some(hosts_stay));
        assert_eq!(
            (change, new_rank),
            (Change::LikeParts, Rank::list([0, 2, 1, 3]))
        );
    }

    proptest! {
        #[test]
        fn distances_are_kept_where_parts_are_alike_and_the_rank_has_its_process(
            arities in prop::sample::select(vec!["2:2:2", "3:4", "2:3:2", "8"]),
            order in Just((0..24_usize).collect::<Vec<_>>()).prop_shuffle(),
            slots in prop::sample::select(vec![1_usize, 2]),
            process in 0..8_usize,
        ) {
            let tree = Topology::from_arities(arities).unwrap();
            let ranks = tree.leaf_count() * slots;
            let places = Leaf::list((0..ranks).map(|process| process / slots));
            let before = Rank::list(order.into_iter().filter(|&rank| rank < ranks));
            let mut after = before.clone();
            let change = keep(&mut after, Process(process), Some(seats(&tree, &places)));
            prop_assert_eq!(after[Process(process)], Rank(process));
            prop_assert!(!matches!(change, Change::Exchange(_)), "all parts are alike");
            let [before, after] = [before, after].map(|ranks| leaf_of_rank(&ranks, &places));
            for one in (0..ranks).map(Rank) {
                for other in (0..ranks).map(Rank) {
                    let apart = |leaves: &Slice<Rank, Leaf>| tree.distance(leaves[one], leaves[other]);
                    prop_assert_eq!(apart(&before), apart(&after));
                }
            }
        }

        #[test]
        fn what_remains_is_a_permutation_on_uneven_machines(
            order in Just((0..7_usize).collect::<Vec<_>>()).prop_shuffle(),
            leaves in Just((0..12_usize).collect::<Vec<_>>()).prop_shuffle(),
            process in 0..7_usize,
        ) {
            let tree = Topology::from_arities("2:2:3").unwrap();
            let places = Leaf::list(leaves.into_iter().take(7));
            let mut after = Rank::list(order);
            keep(&mut after, Process(process), Some(seats(&tree, &places)));
            prop_assert_eq!(after[Process(process)], Rank(process));
            let mut sorted = after;
            sorted.sort_unstable();
            prop_assert_eq!(sorted, Rank::list(0..7));
        }
    }
}
