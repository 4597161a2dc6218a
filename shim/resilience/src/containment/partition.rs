//! Groups of whole failure domains with little traffic between them.

use std::collections::BTreeSet;

use treepie_placement::{Effort, Options, PlacementError, Strategy, place};
use treepie_topology::Topology;
use treepie_traffic::Matrix;

use crate::containment::domains::Domains;
use crate::containment::error::ContainmentError;

/// Maximum number of passes of moves over all domains.
const PASSES: usize = 8;

/// Numbers of groups to examine: 1, 2, 3, 4, 6, 8, 12, ... and the number of domains, and the
/// numbers of nodes of the levels above them.
pub(crate) fn group_counts(domains: &Domains, levels: &[Domains]) -> Vec<usize> {
    let all = domains.count();
    let mut counts: BTreeSet<usize> = [1, all].into();
    let mut power = 1;
    while power < all {
        counts.extend(
            [power, power * 3 / 2]
                .into_iter()
                .filter(|&count| count < all),
        );
        power *= 2;
    }
    counts.extend(levels.iter().map(Domains::count));
    counts
        .into_iter()
        .filter(|count| (1..=all).contains(count))
        .collect()
}

/// The group of each rank: `groups` groups of whole domains, of at most `1.1 N / groups` ranks if
/// the domains allow it. Candidates are blocks of domains in their order, the result of [`place`]
/// for as many nodes as groups, and the nodes of `levels`; single moves then improve the first two.
/// The smallest excess over the largest size wins, then the smallest cut.
///
/// # Errors
/// There are more groups than domains, or the sum of the traffic is too large.
pub fn grouped(
    bytes: &Matrix,
    domains: &Domains,
    levels: &[Domains],
    groups: usize,
) -> Result<Vec<usize>, ContainmentError> {
    let count = domains.count();
    if groups == 0 || groups > count {
        let (groups, domains) = (groups, count);
        return Err(ContainmentError::TooManyGroups { groups, domains });
    }
    let contracted = contract(bytes, domains)?;
    let cells = Cells {
        edges: contracted.symmetrised(),
        weights: domains.sizes(),
        groups,
    };
    let mut candidates = vec![cells.improved(cells.blocks())];
    if groups > 1 && groups < count {
        candidates.push(cells.improved(cells.placed(&contracted)?));
    }
    let levels = levels.iter().filter(|level| level.count() == groups);
    candidates.extend(levels.filter_map(|level| group_of_domain(domains, level)));
    let mut best = candidates.swap_remove(0);
    for candidate in candidates {
        if cells.is_better(&candidate, &best) {
            best = candidate;
        }
    }
    let of_rank = domains.of_rank().iter().map(|&domain| best[domain]);
    Ok(of_rank.collect())
}

/// Traffic between domains.
fn contract(bytes: &Matrix, domains: &Domains) -> Result<Matrix, PlacementError> {
    let of = domains.of_rank();
    let between = bytes.entries().filter(|&(from, to, _)| of[from] != of[to]);
    let between = between.map(|(from, to, value)| (of[from], of[to], value));
    Ok(Matrix::from_entries(domains.count(), between)?)
}

/// The node of `level` that each domain is in; `None` if a domain is in several.
fn group_of_domain(domains: &Domains, level: &Domains) -> Option<Vec<usize>> {
    let mut found = vec![None; domains.count()];
    for (&domain, &node) in domains.of_rank().iter().zip(level.of_rank()) {
        if *found[domain].get_or_insert(node) != node {
            return None;
        }
    }
    found.into_iter().collect()
}

/// Domains that are to be divided into groups.
struct Cells {
    /// Traffic between domains, both directions at both ends.
    edges: Matrix,
    /// Maximum number of ranks of a group.
    weights: Vec<usize>,
    groups: usize,
}

impl Cells {
    /// The most ranks of a group.
    fn limit(&self) -> usize {
        let ranks: usize = self.weights.iter().sum();
        (11 * ranks).div_ceil(10 * self.groups)
    }

    /// Consecutive domains, with about the same number of ranks in each group. No group is empty.
    fn blocks(&self) -> Vec<usize> {
        let (ranks, count) = (self.weights.iter().sum::<usize>(), self.weights.len());
        let mut before = 0;
        let mut group_of = Vec::with_capacity(count);
        let mut last = 0;
        for (domain, weight) in self.weights.iter().enumerate() {
            let by_weight = (2 * before + weight) * self.groups / (2 * ranks);
            let still_needed = (self.groups + domain).saturating_sub(count);
            let most = if domain == 0 { 0 } else { last + 1 };
            last = by_weight.max(still_needed).clamp(last, most);
            group_of.push(last);
            before += weight;
        }
        group_of
    }

    /// Groups found by the placement search, with the same number of domains in each.
    fn placed(&self, contracted: &Matrix) -> Result<Vec<usize>, PlacementError> {
        let count = contracted.order();
        let sizes = (0..self.groups).map(|group| (count + group) / self.groups);
        let parts = sizes.map(|size| Topology::from_arities(&size.to_string()));
        let parts = parts.collect::<Result<Vec<_>, _>>()?;
        // Traffic inside a group costs nothing.
        let tree = Topology::join("group", &parts)?.with_level_distances(&[1.0, 0.0])?;
        let options = Options {
            effort: Effort::Fast,
            ..Options::default()
        };
        let found = place(Strategy::Best, contracted, &tree, &options)?;
        let leaves = found.placement.leaf_of_rank.into_iter();
        Ok(leaves.map(|leaf| tree.ancestor(leaf, 1)).collect())
    }

    /// Improves groups by moves of single domains, each of which lowers the excess over the limit,
    /// or the cut without more excess, until none does.
    fn improved(&self, mut group_of: Vec<usize>) -> Vec<usize> {
        let mut loads = self.loads(&group_of);
        let mut members = vec![0; self.groups];
        for &group in &group_of {
            members[group] += 1;
        }
        for _ in 0..PASSES {
            let mut has_moved = false;
            for domain in 0..group_of.len() {
                let from = group_of[domain];
                let to = (members[from] > 1).then(|| self.best_move(domain, &group_of, &loads));
                if let Some(to) = to.flatten() {
                    group_of[domain] = to;
                    loads[from] -= self.weights[domain];
                    loads[to] += self.weights[domain];
                    members[from] -= 1;
                    members[to] += 1;
                    has_moved = true;
                }
            }
            if !has_moved {
                break;
            }
        }
        group_of
    }

    /// The group that a domain should move to, if any.
    fn best_move(&self, domain: usize, group_of: &[usize], loads: &[usize]) -> Option<usize> {
        let (from, weight) = (group_of[domain], self.weights[domain]);
        let mut affinity = vec![0.0; self.groups];
        for (other, value) in self.edges.row(domain) {
            affinity[group_of[other]] += value;
        }
        let over = |load: usize| load.saturating_sub(self.limit()) as i64;
        let leaves = over(loads[from]) - over(loads[from] - weight);
        let mut best = (0, 1e-9 * affinity[from], None);
        for to in (0..self.groups).filter(|&to| to != from) {
            let relief = leaves - (over(loads[to] + weight) - over(loads[to]));
            let gain = affinity[to] - affinity[from];
            if relief > best.0 || (relief == best.0 && gain > best.1) {
                best = (relief, gain, Some(to));
            }
        }
        best.2
    }

    fn loads(&self, group_of: &[usize]) -> Vec<usize> {
        let mut loads = vec![0; self.groups];
        for (&group, weight) in group_of.iter().zip(&self.weights) {
            loads[group] += weight;
        }
        loads
    }

    fn is_better(&self, candidate: &[usize], other: &[usize]) -> bool {
        let excess = |group_of: &[usize]| {
            let loads = self.loads(group_of).into_iter();
            let over: usize = loads.map(|load| load.saturating_sub(self.limit())).sum();
            over
        };
        let cut = |group_of: &[usize]| {
            let crossing = self.edges.entries();
            let crossing = crossing.filter(|&(a, b, _)| group_of[a] != group_of[b]);
            crossing.map(|(_, _, value)| value).sum::<f64>()
        };
        match excess(candidate).cmp(&excess(other)) {
            std::cmp::Ordering::Equal => cut(candidate) < cut(other) * (1.0 - 1e-12),
            order => order.is_lt(),
        }
    }
}
