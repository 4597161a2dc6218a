//! The best placement of a few ranks, by trying all that differ.

use std::collections::HashMap;

use super::graph::Graph;
use super::slots::Slots;

/// Up to so many ranks all placements are tried.
pub const FEW: usize = 8;

/// Partial placements that are examined, at most.
const MOST_STEPS: usize = 5_000_000;

/// The leaf of each of the first `ranks` vertices in a cheapest placement, if
/// it costs less than `limit`; `None` too if there is too much to try.
///
/// Ranks are placed one after the other (branch and bound). Subtrees of one
/// parent that are alike and empty are the same to a rank, so that only the
/// first is tried.
pub fn cheapest(graph: &Graph, slots: &Slots, ranks: usize, limit: f64) -> Option<Vec<usize>> {
    let mut order: Vec<usize> = (0..ranks).collect();
    let strength = |rank: usize| graph.weights(rank).iter().sum::<f64>();
    order.sort_by(|&a, &b| strength(b).total_cmp(&strength(a)).then(a.cmp(&b)));
    let nodes = |depth: usize| slots.topology().node_count(depth);
    let depths = 0..=slots.group_depth();
    let nearest = slots.distance(slots.group_depth());
    let mut search = Search {
        graph,
        slots,
        kinds: kinds(slots),
        used: depths.map(|depth| vec![0; nodes(depth)]).collect(),
        group_of: vec![None; ranks],
        least: limit,
        best: None,
        // Below what all edges cost together at the smallest distance, no placement goes.
        unplaced: (0..ranks).map(strength).sum::<f64>() / 2.0 * nearest,
        order,
        steps: 0,
    };
    let bound = search.unplaced;
    search.place(0, 0.0, bound);
    if search.steps > MOST_STEPS {
        return None;
    }
    search.best.map(|groups| on_leaves(&groups, slots))
}

/// A number for each node by depth, the same for nodes with the same subtrees.
fn kinds(slots: &Slots) -> Vec<Vec<u32>> {
    let groups = 0..slots.groups();
    let depth = slots.group_depth();
    let mut kinds = vec![
        groups
            .map(|g| slots.room(depth, g) as u32)
            .collect::<Vec<_>>(),
    ];
    for depth in (0..depth).rev() {
        let below = &kinds[kinds.len() - 1];
        let mut known: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut kind = |node: usize| {
            let children = slots.children(depth, node);
            let inside = children
                .iter()
                .map(|&child| below[child as usize])
                .collect();
            let next = known.len() as u32;
            *known.entry(inside).or_insert(next)
        };
        let level = (0..slots.topology().node_count(depth)).map(&mut kind);
        let level = level.collect();
        kinds.push(level);
    }
    kinds.reverse();
    kinds
}

struct Search<'a> {
    graph: &'a Graph,
    slots: &'a Slots<'a>,
    kinds: Vec<Vec<u32>>,
    order: Vec<usize>,
    used: Vec<Vec<usize>>,
    group_of: Vec<Option<usize>>,
    least: f64,
    best: Option<Vec<usize>>,
    unplaced: f64,
    steps: usize,
}

impl Search<'_> {
    /// Places the ranks from the `next` one on. The edges between those that
    /// are placed cost `cost`, all others at least `bound`.
    fn place(&mut self, next: usize, cost: f64, bound: f64) {
        self.steps += 1;
        let rounding = 1e-12 * self.least.abs();
        if cost + bound >= self.least - rounding || self.steps > MOST_STEPS {
            return;
        }
        let Some(&rank) = self.order.get(next) else {
            self.least = cost;
            self.best = self.group_of.iter().copied().collect();
            return;
        };
        let nearest = self.slots.distance(self.slots.group_depth());
        let known = self
            .graph
            .row(rank)
            .filter(|&(n, _)| self.group_of[n].is_some());
        let placed: f64 = known.map(|(_, weight)| weight).sum();
        let bound = (bound - placed * nearest).max(0.0);
        let mut groups = Vec::new();
        self.different_groups(0, 0, &mut groups);
        let mut groups: Vec<(f64, usize)> = groups
            .into_iter()
            .map(|group| (self.cost(rank, group), group))
            .collect();
        groups.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (added, group) in groups {
            self.put(rank, group, true);
            self.place(next + 1, cost + added, bound);
            self.put(rank, group, false);
        }
    }

    fn cost(&self, rank: usize, group: usize) -> f64 {
        let topology = self.slots.topology();
        let first = |group: usize| topology.leaves_below(self.slots.group_depth(), group).start;
        let lengths = self.graph.row(rank).filter_map(|(neighbour, weight)| {
            let there = self.group_of[neighbour]?;
            let depth = topology.common_level(first(group), first(there));
            Some(weight * self.slots.distance(depth.min(self.slots.group_depth())))
        });
        lengths.sum()
    }

    /// The groups with room that differ from each other.
    fn different_groups(&self, depth: usize, node: usize, found: &mut Vec<usize>) {
        if depth == self.slots.group_depth() {
            if self.used[depth][node] < self.slots.room(depth, node) {
                found.push(node);
            }
            return;
        }
        let mut empty: Vec<u32> = Vec::new();
        for child in self.slots.children(depth, node) {
            let child = child as usize;
            if self.used[depth + 1][child] == 0 {
                let kind = self.kinds[depth + 1][child];
                if empty.contains(&kind) {
                    continue;
                }
                empty.push(kind);
            }
            self.different_groups(depth + 1, child, found);
        }
    }

    fn put(&mut self, rank: usize, group: usize, there: bool) {
        self.group_of[rank] = there.then_some(group);
        let topology = self.slots.topology();
        let leaf = topology.leaves_below(self.slots.group_depth(), group).start;
        for (depth, used) in self.used.iter_mut().enumerate() {
            let used = &mut used[topology.ancestor(leaf, depth)];
            *used = if there { *used + 1 } else { *used - 1 };
        }
    }
}

/// A leaf for each rank in its group.
fn on_leaves(groups: &[usize], slots: &Slots) -> Vec<usize> {
    let mut taken: HashMap<usize, usize> = HashMap::new();
    let leaf = |&group: &usize| {
        let at = taken.entry(group).or_insert(0);
        *at += 1;
        slots.leaves(slots.group_depth(), group).nth(*at - 1)
    };
    groups.iter().filter_map(leaf).collect()
}
