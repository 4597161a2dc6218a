//! The strategies that come into question for a call, each with the size of messages that suits it.
//!
//! ```text
//!   every strategy --its tree, its time in the smallest messages--> the quickest first
//!                  --all sizes, unless even what larger messages save leaves it slower than the best so far-->
//! ```

use super::{ALIKE, Considered, Known, Orders};
use crate::collective::Operation;
use crate::collective::Strategy;
use crate::collective::algorithms::Estimate;
use crate::collective::algorithms::{Between, Direction};
use crate::collective::read::estimate::{Costed, Scene};

/// A strategy with its tree.
struct Candidate {
    strategy: &'static Strategy,
    estimate: Estimate,
    tree: Option<(Between, Direction)>,
    /// Along the tree.
    edges: Vec<(usize, usize)>,
    /// An earlier candidate with the same tree: schedulers often come to the same one.
    same: Option<usize>,
}

impl Candidate {
    fn seconds(&self, scene: &Scene, operation: Operation) -> f64 {
        (self.estimate)(scene, operation, &self.edges)
    }
}

fn candidates(scene: &Scene, operation: Operation, ordered: bool) -> Vec<Candidate> {
    let orders = Orders::default();
    let mut all: Vec<Candidate> = Vec::with_capacity(16);
    for strategy in Strategy::of(operation) {
        let serves = match ordered {
            true => strategy.keeps_order(),
            false => !strategy.only_ordered,
        };
        let Some(estimate) = strategy.estimate.filter(|_| serves) else {
            continue;
        };
        let tree = strategy.tree_for(scene.count());
        let is_known = |other: &&Candidate| tree.is_some() && other.tree == tree;
        let edges = match all.iter().find(is_known) {
            Some(other) => other.edges.clone(),
            None => orders.edges(scene, strategy),
        };
        let is_same = |other: &Candidate| other.strategy.is_tree && other.edges == edges;
        let same = match strategy.is_tree {
            true => all.iter().position(is_same),
            false => None,
        };
        all.push(Candidate {
            strategy,
            estimate,
            tree,
            edges,
            same,
        });
    }
    all
}

/// How much of the time of `small` messages the same bytes need at least in `large` ones, which cost less for each
/// byte.
fn left_by_larger(small: &Costed, large: &Costed) -> f64 {
    let for_each_byte = |costed: &Costed, seconds: f64| seconds / costed.bytes.max(1) as f64;
    let left = |before: f64, after: f64| match before > 0.0 {
        true => for_each_byte(large, after) / for_each_byte(small, before),
        false => 1.0,
    };
    let uplinks = small.leaving.iter().zip(&large.leaving);
    let uplinks = uplinks.map(|(&before, &after)| left(before, after));
    let inside = small.within.iter().zip(&large.within);
    let inside = inside.chain(small.on_host.iter().zip(&large.on_host));
    let inside = inside.map(|(before, after)| left(before.gap, after.gap));
    uplinks.chain(inside).fold(1.0, f64::min)
}

/// What each strategy takes, in the order of the table. Of those that cannot be chosen the time is that in the
/// smallest messages.
pub(super) fn considered(
    known: &Known,
    scene: &Scene,
    operation: Operation,
    ordered: bool,
) -> Vec<Considered> {
    let candidates = candidates(scene, operation, ordered);
    let pieces = known.pieces_of(scene.bytes);
    let cut = pieces.first().filter(|p| p.bytes < scene.bytes);
    let piece = cut.unwrap_or(scene.piece);
    let smallest = Scene { piece, ..*scene };
    let mut found: Vec<Considered> = Vec::with_capacity(candidates.len());
    for candidate in &candidates {
        found.push(Considered {
            strategy: candidate.strategy,
            segment: piece.bytes.max(1),
            seconds: match candidate.same {
                Some(same) => found[same].seconds,
                None => candidate.seconds(&smallest, operation),
            },
        });
    }
    if cut.is_none() {
        return found;
    }
    let left = left_by_larger(piece, pieces.last().unwrap_or(piece));
    let left = left.min(left_by_larger(piece, scene.piece));
    let mut quickest_first: Vec<usize> = (0..found.len()).collect();
    quickest_first.retain(|&place| candidates[place].same.is_none());
    let seconds = |place: &usize| found[*place].seconds;
    quickest_first.sort_unstable_by(|one, other| seconds(one).total_cmp(&seconds(other)));
    let mut best = f64::INFINITY;
    for place in quickest_first {
        if ALIKE * left * found[place].seconds > best {
            continue;
        }
        let of_size = |scene: &Scene| candidates[place].seconds(scene, operation);
        let (segment, seconds) = known.best_size(scene, operation, of_size);
        best = best.min(seconds);
        found[place] = Considered {
            segment,
            seconds,
            ..found[place]
        };
    }
    for (place, candidate) in candidates.iter().enumerate() {
        if let Some(same) = candidate.same {
            found[place] = Considered {
                strategy: candidate.strategy,
                ..found[same]
            };
        }
    }
    found
}
