//! TMLB_MIN_WEIGHT (thesis 3.4.1, algorithm 3), for applications that compute more than they
//! communicate.

use crate::balance::deal::deal_by_load;
use crate::balance::fake::FakeTree;
use crate::balance::situation::Situation;
use crate::error::PlacementError;
use treepie_base::assignment::cheapest_assignment;
use treepie_base::{Leaf, List, Rank, Slice};
use treepie_topology::Topology;

/// Largest number of leaves for the Hungarian method; with more, ranks are matched greedily,
/// because it would take minutes.
const MOST_FOR_HUNGARIAN: usize = 2048;

/// Computes the leaf of each rank. Criteria, in this order: equal loads, communicating ranks on one
/// leaf, few migrations. Ranks are ordered by affinity on a fake tree with a leaf for each and
/// dealt by load to as many groups as there are leaves; each group goes to the leaf where the
/// fewest of its ranks have to move. (The thesis orders the matrix of migrations by old core and
/// sums the ranks that moved; to minimize migrations it must hold, as its caption says, those that
/// *would* move.)
///
/// # Errors
/// No leaf may be used, or sums are not finite.
pub fn min_weight(
    situation: &Situation,
    topology: &Topology,
    seed: u64,
) -> Result<List<Rank, Leaf>, PlacementError> {
    let leaves = topology.allowed_leaves();
    let ranks = situation.matrix.order();
    let fake = FakeTree::for_ranks(ranks)?;
    let ordered = fake.leaf_of_rank(situation.matrix, seed)?;
    let groups = deal_by_load(&ordered, fake.topology(), situation.loads, leaves.len());
    let current = situation.current.iter();
    let current: List<Rank, Option<usize>> = current
        .map(|leaf| leaves.binary_search(leaf).ok())
        .collect();
    let leaf_of_group = match leaves.len() <= MOST_FOR_HUNGARIAN {
        true => {
            let costs = migration_costs(&groups, &current);
            cheapest_assignment(groups.len(), |group, leaf| costs[group][leaf] as f64)
        }
        false => greedily(&groups, &current),
    };
    let mut leaf_of_rank = List::from(vec![Leaf(0); ranks]);
    for (group, members) in groups.iter().enumerate() {
        let leaf = leaves[leaf_of_group[group]];
        members.iter().for_each(|&rank| leaf_of_rank[rank] = leaf);
    }
    Ok(leaf_of_rank)
}

/// The leaf of each group: the one that already has most of it. The group with the most ranks on
/// one leaf is assigned first.
fn greedily(groups: &[Vec<Rank>], current: &Slice<Rank, Option<usize>>) -> Vec<usize> {
    let mut counts = std::collections::BTreeMap::new();
    for (group, members) in groups.iter().enumerate() {
        for leaf in members.iter().filter_map(|&rank| current[rank]) {
            *counts.entry((group, leaf)).or_insert(0_usize) += 1;
        }
    }
    let mut preferences: Vec<_> = counts
        .into_iter()
        .map(|(pair, count)| (count, pair))
        .collect();
    preferences.sort_by_key(|&(count, pair)| (std::cmp::Reverse(count), pair));
    let mut leaf_of: Vec<Option<usize>> = vec![None; groups.len()];
    let mut taken = vec![false; groups.len()];
    for (_, (group, leaf)) in preferences {
        if leaf_of[group].is_none() && !taken[leaf] {
            leaf_of[group] = Some(leaf);
            taken[leaf] = true;
        }
    }
    let mut free = (0..groups.len()).filter(|&leaf| !taken[leaf]);
    let leaves = leaf_of.into_iter().map(|leaf| leaf.or_else(|| free.next()));
    leaves.map(|leaf| leaf.unwrap_or(0)).collect()
}

/// `costs[group][leaf]`: number of ranks of a group that move if the group goes to that leaf, which
/// are those not there now (caption of thesis figure 3.6). `groups` has the ranks of each group;
/// the number of leaves equals that of groups.
pub fn migration_costs(
    groups: &[Vec<Rank>],
    current: &Slice<Rank, Option<usize>>,
) -> Vec<Vec<usize>> {
    let costs = groups.iter().map(|members| {
        let mut moved = vec![members.len(); groups.len()];
        for &member in members {
            if let Some(leaf) = current[member] {
                moved[leaf] -= 1;
            }
        }
        moved
    });
    costs.collect()
}

#[cfg(test)]
mod tests {
    use super::greedily;
    use treepie_base::{List, Rank};

    #[test]
    fn a_group_goes_where_most_of_it_is() {
        let groups = [&[0, 1, 2][..], &[3, 4], &[5]];
        let groups = groups.map(|ranks| ranks.iter().copied().map(Rank).collect());
        let current = List::from(vec![Some(1), Some(1), Some(0), Some(1), Some(0), None]);
        assert_eq!(greedily(&groups, &current), [1, 0, 2]);
    }
}
