//! Grouping level by level, and the placement that follows from the groups.

use crate::error::PlacementError;
use crate::treematch::aggregate::{aggregated, extended};
use crate::treematch::possible_groups::group_count;
use crate::treematch::{exact, fast};
use treepie_traffic::Matrix;

/// Parameters of TreeMatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameters {
    /// Number of possible groups below which a level is grouped exactly (T_h of thesis 2.4.2.2);
    /// with 0 all levels are grouped fast.
    pub exact_below: u64,
    /// Number of buckets of edges in fast grouping (b of thesis 2.4.2.2).
    pub buckets: usize,
    /// Seed of the sample from which buckets get their limits.
    pub seed: u64,
}

impl Default for Parameters {
    fn default() -> Self {
        Parameters {
            exact_below: 30_000,
            buckets: 8,
            seed: 0,
        }
    }
}

/// The groups made at one depth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupedLevel {
    /// Number of entities before padding; those from this number on are artificial.
    pub entities: usize,
    /// Members of every group, ascending; groups by their smallest member.
    pub groups: Vec<Vec<usize>>,
    /// True if the groups were chosen from all possible ones.
    pub exact: bool,
}

/// The groups of all levels of a balanced symmetric tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hierarchy {
    ranks: usize,
    arities: Vec<usize>,
    levels: Vec<GroupedLevel>,
}

/// Groups the entities of a symmetric matrix for the tree with these arities,
/// from the root: the loop of algorithm 1 in thesis 2.4.1.
///
/// # Errors
/// There are more entities than leaves, or sums of affinities are not finite.
pub fn group(
    matrix: &Matrix,
    arities: &[usize],
    parameters: &Parameters,
) -> Result<Hierarchy, PlacementError> {
    let ranks = matrix.order();
    let leaves = arities.iter().fold(1, |l: usize, &a| l.saturating_mul(a));
    if ranks > leaves || leaves == 0 {
        return Err(PlacementError::TooManyRanks { ranks, leaves });
    }
    let mut levels = Vec::with_capacity(arities.len());
    let mut matrix = matrix.clone();
    for &arity in arities.iter().rev() {
        let entities = matrix.order();
        // Without ranks there is still one group, of artificial entities.
        let whole = entities.max(1).next_multiple_of(arity);
        let padded = match whole == entities {
            true => matrix,
            false => extended(&matrix, whole)?,
        };
        let exact = group_count(padded.order(), arity) < parameters.exact_below;
        let mut groups = if exact {
            exact::group(&padded, arity)
        } else {
            fast::group(&padded, arity, parameters.buckets, parameters.seed).groups
        };
        groups
            .iter_mut()
            .for_each(|members| members.sort_unstable());
        groups.sort_unstable();
        matrix = aggregated(&padded, &groups)?;
        levels.push(GroupedLevel {
            entities,
            groups,
            exact,
        });
    }
    levels.reverse();
    Ok(Hierarchy {
        ranks,
        arities: arities.to_vec(),
        levels,
    })
}

/// The largest number of possible groups on any level of a tree with these arities, and the size of
/// these groups: the number that exact grouping would list.
pub(crate) fn most_groups(ranks: usize, arities: &[usize]) -> (u64, usize) {
    let mut entities = ranks.max(1);
    let mut most = (0, 1);
    for &arity in arities.iter().rev() {
        entities = entities.next_multiple_of(arity.max(1));
        most = most.max((group_count(entities, arity), arity));
        entities /= arity.max(1);
    }
    most
}

impl Hierarchy {
    /// The levels from the root: `levels()[d]` groups the nodes at depth `d + 1`.
    pub fn levels(&self) -> &[GroupedLevel] {
        &self.levels
    }

    /// True if some level with a choice was grouped exactly, so that fast grouping may give another
    /// result.
    pub(crate) fn has_exact_choice(&self) -> bool {
        let choice = |level: &&GroupedLevel| level.exact && level.groups.len() > 1;
        self.levels.iter().any(|level| choice(&level))
    }

    /// Logical leaf of each entity (MapGroups of thesis 2.4.1): from the root
    /// down, the members of a group become the children of its node, in order.
    /// The subtrees of artificial entities stay empty.
    pub fn leaf_of_entity(&self) -> Vec<usize> {
        // Leaf where each group of the present level begins.
        let mut first_leaf = vec![0];
        let mut span: usize = self.arities.iter().product();
        for (level, arity) in self.levels.iter().zip(&self.arities) {
            span /= arity;
            let mut below = vec![0; level.entities];
            for (members, first) in level.groups.iter().zip(&first_leaf) {
                for (child, &member) in members.iter().enumerate() {
                    if let Some(leaf) = below.get_mut(member) {
                        *leaf = first + child * span;
                    }
                }
            }
            first_leaf = below;
        }
        // A tree without levels has one leaf, even for no entity.
        first_leaf.truncate(self.ranks);
        first_leaf
    }
}
