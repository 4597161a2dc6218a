//! Growing groups: disjoint sets of entities that can always be completed to groups of exactly the
//! required size.

use treepie_traffic::Matrix;

/// Partial groups of `order` entities that grow to `order / size` groups.
///
/// Invariant: the partial groups of two or more fit into the required groups; single entities fill
/// any gap.
pub(super) struct PartialGroups {
    size: usize,
    target: usize,
    /// Partial group of each entity: an index into `members`.
    group_of: Vec<usize>,
    members: Vec<Vec<usize>>,
    /// Number of partial groups of each size.
    counts: Vec<usize>,
    /// Pairs of sizes that could not be joined since the last join.
    refused: Vec<(usize, usize)>,
}

impl PartialGroups {
    pub(super) fn new(order: usize, size: usize) -> Self {
        let mut counts = vec![0; size + 1];
        counts[1] = order;
        PartialGroups {
            size,
            target: order / size,
            group_of: (0..order).collect(),
            members: (0..order).map(|entity| vec![entity]).collect(),
            counts,
            refused: Vec::new(),
        }
    }

    /// True if all groups are complete.
    pub(super) fn complete(&self) -> bool {
        self.counts[self.size] == self.target
    }

    /// Joins the partial groups of two entities, if that is possible.
    pub(super) fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.group_of[a], self.group_of[b]);
        let sizes = (self.members[a].len(), self.members[b].len());
        if a == b || sizes.0 + sizes.1 > self.size || self.refused.contains(&sizes) {
            return;
        }
        let mut counts = self.counts.clone();
        counts[sizes.0] -= 1;
        counts[sizes.1] -= 1;
        counts[sizes.0 + sizes.1] += 1;
        if self.groups_needed(counts.clone()) > self.target {
            self.refused.push(sizes);
            return;
        }
        self.counts = counts;
        self.refused.clear();
        let moved = std::mem::take(&mut self.members[b]);
        moved.iter().for_each(|&entity| self.group_of[entity] = a);
        self.members[a].extend(moved);
    }

    /// Number of whole groups that hold partial groups of these sizes, largest first, each filled
    /// up with the largest that fits. Single entities need no group.
    fn groups_needed(&self, mut counts: Vec<usize>) -> usize {
        let mut needed = std::mem::take(&mut counts[self.size]);
        for first in (2..self.size).rev() {
            while counts[first] > 0 {
                counts[first] -= 1;
                needed += 1;
                let mut room = self.size - first;
                for second in (2..=first.min(room)).rev() {
                    let taken = counts[second].min(room / second);
                    counts[second] -= taken;
                    room -= taken * second;
                }
            }
        }
        needed
    }

    /// Completes the groups: partial ones are packed as [`Self::groups_needed`] counts them, then
    /// each single entity joins the group with which it has the most affinity.
    pub(super) fn into_groups(mut self, matrix: &Matrix) -> Vec<Vec<usize>> {
        let mut by_size = vec![Vec::new(); self.size + 1];
        for members in std::mem::take(&mut self.members).into_iter().rev() {
            by_size[members.len()].push(members);
        }
        let mut groups = by_size.pop().unwrap_or_default();
        for first in (2..self.size).rev() {
            while let Some(mut group) = by_size[first].pop() {
                for second in (2..=first).rev() {
                    while group.len() + second <= self.size
                        && let Some(more) = by_size[second].pop()
                    {
                        group.extend(more);
                    }
                }
                groups.push(group);
            }
        }
        groups.resize(self.target, Vec::new());
        let singles = by_size.get(1).cloned().unwrap_or_default();
        self.distribute(singles.into_iter().rev().flatten(), &mut groups, matrix);
        groups
    }

    /// Puts each single entity into the incomplete group with which it has the most affinity, the
    /// first one if with none.
    fn distribute(
        &mut self,
        singles: impl Iterator<Item = usize>,
        groups: &mut [Vec<usize>],
        matrix: &Matrix,
    ) {
        let nowhere = groups.len();
        self.group_of.fill(nowhere);
        for (group, members) in groups.iter().enumerate() {
            members.iter().for_each(|&m| self.group_of[m] = group);
        }
        let mut first_with_room = 0;
        let mut affinity = vec![0.0; groups.len()];
        for single in singles {
            while groups[first_with_room].len() == self.size {
                first_with_room += 1;
            }
            let mut best = first_with_room;
            for (partner, value) in matrix.row(single) {
                let group = self.group_of[partner];
                if group != nowhere && groups[group].len() < self.size {
                    affinity[group] += value;
                    let (most, here) = (affinity[best], affinity[group]);
                    if here > most || (here == most && group < best) {
                        best = group;
                    }
                }
            }
            for (partner, _) in matrix.row(single) {
                if let Some(sum) = affinity.get_mut(self.group_of[partner]) {
                    *sum = 0.0;
                }
            }
            groups[best].push(single);
            self.group_of[single] = best;
        }
    }
}
