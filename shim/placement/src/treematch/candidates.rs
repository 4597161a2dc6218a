//! Placements by TreeMatch on the tree of allowed leaves, with its original arities and with their
//! prime factors.

use crate::error::PlacementError;
use crate::objective::hop_bytes::mean_of_directions;
use crate::strategy::Strategy;
use crate::treematch::decompose::decomposed;
use crate::treematch::hierarchy::{Hierarchy, Parameters, group, most_groups};
use crate::treematch::top_down::place_top_down;
use treepie_base::{Leaf, List, Rank};
use treepie_topology::Topology;
use treepie_traffic::Matrix;

/// Maximum number of groups that exact grouping on request lists for a level: some hundred
/// megabytes.
const MOST_GROUPS: u64 = 4_000_000;

/// TreeMatch with its switch from exact to fast grouping, and with fast grouping throughout if that
/// may differ. If the allowed leaves do not form a balanced symmetric tree, there is one placement,
/// the top-down partition.
///
/// # Errors
/// See [`group`].
pub(crate) fn switching(
    matrix: &Matrix,
    topology: &Topology,
    seed: u64,
) -> Result<Vec<List<Rank, Leaf>>, PlacementError> {
    let Some(grouping) = Grouping::new(matrix, topology, seed)? else {
        return Ok(vec![place_top_down(matrix, topology, seed)?]);
    };
    let mut all = Vec::new();
    for arities in &grouping.shapes {
        let hierarchy = grouping.group(arities, Parameters::default().exact_below)?;
        all.push(grouping.leaves(&hierarchy));
        if hierarchy.has_exact_choice() {
            all.push(grouping.leaves(&grouping.group(arities, 0)?));
        }
    }
    Ok(all)
}

/// Exact grouping throughout, if the groups can be listed.
///
/// # Errors
/// The tree is not balanced and symmetric, or there are too many groups in all shapes.
pub(crate) fn exact(
    matrix: &Matrix,
    topology: &Topology,
    seed: u64,
) -> Result<Vec<List<Rank, Leaf>>, PlacementError> {
    let strategy = Strategy::TreeMatchExact;
    let grouping = Grouping::new(matrix, topology, seed)?;
    let grouping = grouping.ok_or(PlacementError::UnevenTree { strategy })?;
    let mut all = Vec::new();
    let mut refused = None;
    for arities in &grouping.shapes {
        let (groups, size) = most_groups(matrix.order(), arities);
        if groups > MOST_GROUPS {
            refused = Some(PlacementError::TooManyGroups {
                groups,
                size,
                limit: MOST_GROUPS,
            });
        } else {
            all.push(grouping.leaves(&grouping.group(arities, MOST_GROUPS + 1)?));
        }
    }
    match refused {
        Some(error) if all.is_empty() => Err(error),
        _ => Ok(all),
    }
}

/// Fast grouping throughout.
///
/// # Errors
/// The tree is not balanced and symmetric.
pub(crate) fn fast(
    matrix: &Matrix,
    topology: &Topology,
    seed: u64,
) -> Result<Vec<List<Rank, Leaf>>, PlacementError> {
    let strategy = Strategy::TreeMatchFast;
    let grouping = Grouping::new(matrix, topology, seed)?;
    let grouping = grouping.ok_or(PlacementError::UnevenTree { strategy })?;
    let placed = |arities: &Vec<usize>| Ok(grouping.leaves(&grouping.group(arities, 0)?));
    grouping.shapes.iter().map(placed).collect()
}

/// Affinities, and a balanced symmetric tree of allowed leaves.
struct Grouping {
    affinity: Matrix,
    /// Its arities, and their prime factors if these differ.
    shapes: Vec<Vec<usize>>,
    allowed: Vec<Leaf>,
    seed: u64,
}

impl Grouping {
    /// `None` if the tree of allowed leaves is not balanced and symmetric.
    fn new(
        matrix: &Matrix,
        topology: &Topology,
        seed: u64,
    ) -> Result<Option<Self>, PlacementError> {
        let Some(arities) = topology.pruned()?.arities() else {
            return Ok(None);
        };
        let factors = decomposed(&arities);
        let mut shapes = vec![arities, factors];
        shapes.dedup();
        Ok(Some(Grouping {
            affinity: mean_of_directions(matrix)?,
            shapes,
            allowed: topology.allowed_leaves(),
            seed,
        }))
    }

    fn group(&self, arities: &[usize], exact_below: u64) -> Result<Hierarchy, PlacementError> {
        let parameters = Parameters {
            exact_below,
            seed: self.seed,
            ..Parameters::default()
        };
        group(&self.affinity, arities, &parameters)
    }

    /// Leaf of the whole tree for each rank.
    fn leaves(&self, hierarchy: &Hierarchy) -> List<Rank, Leaf> {
        let leaves = hierarchy.leaf_of_entity().into_iter();
        leaves.map(|leaf| self.allowed[leaf]).collect()
    }
}
