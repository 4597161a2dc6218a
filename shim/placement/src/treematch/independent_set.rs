//! Disjoint groups of small weight: an independent set in the graph whose vertices are groups and
//! whose edges join groups that share an entity (thesis 2.4.1). The graph is never built; marks on
//! entities replace it.
//!
//! The group size divides the number of entities, so that every maximal choice has order / size
//! groups: a greedy choice is always complete, and only its weight differs. Finding the lightest
//! one is NP-hard.

use crate::treematch::possible_groups::PossibleGroups;

/// Number of possible groups above which both forms of the third heuristic are left out. (The
/// thesis has such a threshold without its value; this is that of the authors' later program.)
const NEIGHBOUR_LIMIT: usize = 10_000;

/// Maximum number of groups that the search for a smaller maximum examines. A count, not a time, so
/// that results do not depend on the machine.
const SEARCH_LIMIT: usize = 100_000;

/// The lightest result of the heuristics, the third in both forms; the earlier one if equal.
pub(super) fn lightest_found(groups: &PossibleGroups) -> Vec<usize> {
    let mut best = smallest_first(groups);
    let mut candidates = vec![smallest_maximum(groups)];
    if groups.len() <= NEIGHBOUR_LIMIT {
        candidates.push(largest_ratio_first(groups));
        candidates.push(largest_neighbours_first(groups));
    }
    for candidate in candidates {
        if groups.total_weight(&candidate) < groups.total_weight(&best) {
            best = candidate;
        }
    }
    best
}

/// Takes each group, in the given order, that shares no entity with those already taken.
fn greedy(groups: &PossibleGroups, order: &[usize]) -> Vec<usize> {
    let mut used = vec![false; groups.order()];
    let target = groups.order() / groups.size();
    let mut chosen = Vec::with_capacity(target);
    for &group in order {
        let members = groups.members(group);
        if members.iter().any(|&member| used[member]) {
            continue;
        }
        members.iter().for_each(|&member| used[member] = true);
        chosen.push(group);
        if chosen.len() == target {
            break;
        }
    }
    chosen
}

/// Heuristic 1, smallest value first: the lightest group that still fits.
pub fn smallest_first(groups: &PossibleGroups) -> Vec<usize> {
    greedy(groups, &groups.by_weight())
}

/// Heuristic 2, smallest maximum: a choice whose heaviest group is as light as possible. The thesis
/// does not specify the search. Here the choice of the first heuristic is repeatedly replaced by
/// one whose groups are all lighter than its heaviest, found by search over the free entities in
/// order, until there is none or enough groups were examined.
pub fn smallest_maximum(groups: &PossibleGroups) -> Vec<usize> {
    let mut with_entity = vec![Vec::new(); groups.order()];
    for group in groups.by_weight() {
        for &member in groups.members(group) {
            with_entity[member].push(group);
        }
    }
    let mut best = smallest_first(groups);
    let mut looks = SEARCH_LIMIT;
    while !best.is_empty() {
        let weights = best.iter().map(|&group| groups.weight(group));
        let mut search = SmallestMaximum {
            groups,
            with_entity: &with_entity,
            below: weights.fold(0.0, f64::max),
            used: vec![false; groups.order()],
            chosen: Vec::new(),
            looks,
        };
        if !search.complete() {
            break;
        }
        looks = search.looks;
        best = search.chosen;
    }
    best
}

/// A depth-first search for a choice of groups that are all lighter than `below`.
struct SmallestMaximum<'a> {
    groups: &'a PossibleGroups,
    with_entity: &'a [Vec<usize>],
    below: f64,
    used: Vec<bool>,
    chosen: Vec<usize>,
    looks: usize,
}

impl SmallestMaximum<'_> {
    /// Completes the present choice; leaves it unchanged if that is impossible or takes too long.
    fn complete(&mut self) -> bool {
        let Some(free) = self.used.iter().position(|used| !used) else {
            return true;
        };
        let candidates: &[usize] = &self.with_entity[free];
        for &group in candidates {
            if self.looks == 0 || self.groups.weight(group) >= self.below {
                return false;
            }
            self.looks -= 1;
            if self.groups.members(group).iter().any(|&m| self.used[m]) {
                continue;
            }
            self.mark(group, true);
            self.chosen.push(group);
            if self.complete() {
                return true;
            }
            self.chosen.pop();
            self.mark(group, false);
        }
        false
    }

    fn mark(&mut self, group: usize, used: bool) {
        for &member in self.groups.members(group) {
            self.used[member] = used;
        }
    }
}

/// Heuristic 3 as in the thesis, largest neighbour weight first: greedy by the average weight of
/// the groups that share an entity with a group. All groups have the same number of them, so that
/// the sums give the same order. On the thesis's own example it is poor: 8472, while 4872 is
/// possible.
pub fn largest_neighbours_first(groups: &PossibleGroups) -> Vec<usize> {
    by_falling(groups, |group| groups.neighbours_weight(group))
}

/// Heuristic 3 as in Kako et al., whom the thesis cites for it: greedy by the ratio of that sum to
/// the group's own weight.
pub fn largest_ratio_first(groups: &PossibleGroups) -> Vec<usize> {
    by_falling(groups, |group| match groups.weight(group) {
        // No traffic leaves this group: no group can be better.
        own if own <= 0.0 => f64::INFINITY,
        own => groups.neighbours_weight(group) / own,
    })
}

fn by_falling(groups: &PossibleGroups, score: impl Fn(usize) -> f64) -> Vec<usize> {
    let scores: Vec<f64> = (0..groups.len()).map(score).collect();
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    greedy(groups, &order)
}
