//! Bine trees and butterflies: partners are found by numbers to the base -2, so that their
//! distances grow to both sides (De Sensi et al., SC'25, doi 10.1145/3712285.3759835).
//!
//! ```text
//!   tree of 8     0 --> 3 | 0 --> 7, 3 --> 4 | 0 --> 1, 3 --> 2, 4 --> 5, 7 --> 6
//!   butterfly     0-1 2-3 4-5 6-7 | 0-7 1-2 3-4 5-6 | 0-3 1-6 2-5 4-7
//! ```
//!
//! For large jobs whose groups are unknown, or not aligned: links between groups carry less than
//! with binomial trees and recursive halving. Of their authors' jobs on Leonardo and LUMI, which
//! were mostly small, the median gained nothing, and those of 128 hosts and more gained 14 to 24 %.
//! If hosts are known and their ranks are numbered in blocks, [`super::radices`] cross fewer links.
//!
//! Not implemented: an allreduce whose partners exchange complete partial sums. Between its steps,
//! the ranks of a group hold sums of different ranks, so that results are associated differently on
//! each and may differ in their last bits.

use crate::algorithms::by_rank::stages::{Stage, Stages};
use crate::algorithms::trees;
use crate::algorithms::trees::Neighbours;
use crate::plan::range::Range;
use crate::problem::Problem;
use crate::steps::Steps;

/// Digits with a negative weight to the base -2.
const NEGATIVE: u32 = 0xAAAA_AAAA;

/// Digits of a number to the base -2.
fn to_negabinary(number: i32) -> u32 {
    NEGATIVE.wrapping_add_signed(number) ^ NEGATIVE
}

/// Number with these digits to the base -2.
fn from_negabinary(digits: u32) -> i32 {
    (digits ^ NEGATIVE).wrapping_sub(NEGATIVE) as i32
}

/// Parent of a place in the tree from place 0, and its children in the order of the steps; the
/// number of places is a power of two.
fn tree(place: usize, ranks: usize) -> (Option<usize>, Vec<usize>) {
    let digits = to_negabinary(place as i32);
    let (mut parent, mut children) = (None, Vec::new());
    let mut has_message = place == 0;
    for bits in (1..=ranks.ilog2()).rev() {
        let low = (1 << bits) - 1;
        let partner = from_negabinary(digits ^ low).rem_euclid(ranks as i32) as usize;
        if has_message {
            children.push(partner);
        } else if digits & low == 0 || digits & low == low {
            (parent, has_message) = (Some(partner), true);
        }
    }
    (parent, children)
}

/// Neighbours of a rank in the tree from the root.
fn neighbours(problem: &Problem, rank: usize) -> Neighbours {
    let (parent, children) = tree(problem.place(rank), problem.ranks());
    let at = |place: usize| problem.after(problem.root, place);
    Neighbours {
        parent: parent.map(at),
        children: children.into_iter().map(at).collect(),
    }
}

/// `Bcast`, of a power of two of ranks.
pub(crate) fn broadcast(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let at = neighbours(problem, rank);
    trees::broadcast(steps, &at, Range::output(0, problem.block(rank)));
}

/// `Reduce`, of a power of two of ranks.
pub(crate) fn reduce(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let at = neighbours(problem, rank);
    let length = problem.block(rank);
    let total = (rank == problem.root).then_some(Range::output(0, length));
    trees::reduce(steps, &at, Range::input(0, length), total);
}

/// Ranks of the subtree of a rank in the tree from the root, each before its descendants.
fn subtree(problem: &Problem, rank: usize) -> Vec<usize> {
    let children = neighbours(problem, rank).children.into_iter();
    let below = children.flat_map(|child| subtree(problem, child));
    std::iter::once(rank).chain(below).collect()
}

/// Parent of a rank, and its children with the range of their subtrees' blocks in those of its own.
fn subtrees(problem: &Problem, rank: usize, held: Range) -> (Option<usize>, Vec<(usize, Range)>) {
    let at = neighbours(problem, rank);
    let unit = problem.block(rank);
    let mut start = unit;
    let of_child = |child: usize| {
        let length = subtree(problem, child).len() as u64 * unit;
        start += length;
        (child, held.part(start - length, length))
    };
    (at.parent, at.children.into_iter().map(of_child).collect())
}

/// `Gather`, of a power of two of ranks.
pub(crate) fn gather(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let (ranks, own) = (subtree(problem, rank), Range::input(0, problem.block(rank)));
    let collected = steps.scratch(ranks.len() as u64 * own.length);
    let (parent, children) = subtrees(problem, rank, collected);
    steps.copy(own, collected.part(0, own.length));
    for (child, blocks) in children.into_iter().rev() {
        steps.receive(child, blocks);
    }
    if let Some(parent) = parent {
        return steps.send(parent, collected);
    }
    let (blocks, output) = (problem.blocks(), Range::output(0, problem.total()));
    for (place, &owner) in ranks.iter().enumerate() {
        steps.copy(blocks.of(collected, place), blocks.of(output, owner));
    }
}

/// `Scatter`, of a power of two of ranks.
pub(crate) fn scatter(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let (ranks, own) = (
        subtree(problem, rank),
        Range::output(0, problem.block(rank)),
    );
    let held = steps.scratch(ranks.len() as u64 * own.length);
    let (parent, children) = subtrees(problem, rank, held);
    match parent {
        Some(parent) => steps.receive(parent, held),
        None => {
            let (blocks, input) = (problem.blocks(), Range::input(0, problem.total()));
            for (place, &owner) in ranks.iter().enumerate() {
                steps.copy(blocks.of(input, owner), blocks.of(held, place));
            }
        }
    }
    for (child, blocks) in children {
        steps.send(child, blocks);
    }
    steps.copy(held.part(0, own.length), own);
}

/// Partner of a place in the step of a butterfly that corresponds to this distance, a power of two,
/// of a binary butterfly.
fn partner(place: usize, distance: usize, places: usize) -> usize {
    // 1, -1, 3, -5, 11, ...: (1 - (-2)^(step + 1)) / 3.
    let power = match distance.ilog2() % 2 {
        0 => -2 * distance as i64,
        _ => 2 * distance as i64,
    };
    let far = (1 - power) / 3;
    let signed = if place.is_multiple_of(2) { far } else { -far };
    (place as i64 + signed).rem_euclid(places as i64) as usize
}

/// Place of a rank's block: partners of the first step differ in its highest bit, those of the next
/// one in the next, and so on.
fn block_place(rank: usize, ranks: usize) -> usize {
    let bits = ranks.ilog2();
    let signed = if rank.is_multiple_of(2) {
        -(rank as i32)
    } else {
        rank as i32
    };
    let digits = to_negabinary(signed) as usize & (ranks - 1);
    let grey = digits ^ (digits >> 1);
    match bits {
        0 => 0,
        _ => grey.reverse_bits() >> (usize::BITS - bits),
    }
}

/// Stages of a rank, near ones first; the number of ranks is a power of two.
pub(crate) fn stages(ranks: usize, rank: usize) -> Stages {
    let mut part = 0..ranks;
    let own = block_place(rank, ranks);
    let stage = |step: u32| {
        let other = partner(rank, 1 << step, ranks);
        let is_second = own >= part.start + part.len() / 2;
        let stage = Stage {
            members: if is_second {
                vec![other, rank]
            } else {
                vec![rank, other]
            },
            digit: is_second.into(),
            part: part.clone(),
        };
        part = stage.kept();
        stage
    };
    let stages = (0..ranks.ilog2()).map(stage).collect();
    let mut owners = vec![0; ranks];
    for rank in 0..ranks {
        owners[block_place(rank, ranks)] = rank;
    }
    Stages { stages, owners }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partners_and_places_of_blocks_are_those_of_the_paper() {
        let step = |ranks: usize, step: u32| -> Vec<usize> {
            (0..ranks)
                .map(|rank| partner(rank, 1 << step, ranks))
                .collect()
        };
        assert_eq!(step(8, 0), [1, 0, 3, 2, 5, 4, 7, 6]);
        assert_eq!(step(8, 1), [7, 2, 1, 4, 3, 6, 5, 0]);
        assert_eq!(step(8, 2), [3, 6, 5, 0, 7, 2, 1, 4]);
        assert_eq!(step(12, 2), [3, 10, 5, 0, 7, 2, 9, 4, 11, 6, 1, 8]);
        assert_eq!(step(12, 3), [7, 6, 9, 8, 11, 10, 1, 0, 3, 2, 5, 4]);
        let places = |ranks: usize| -> Vec<usize> {
            (0..ranks).map(|rank| block_place(rank, ranks)).collect()
        };
        assert_eq!(places(8), [0, 4, 6, 1, 3, 7, 5, 2]);
        let of_16 = [0, 8, 12, 2, 5, 14, 9, 7, 3, 11, 15, 1, 6, 13, 10, 4];
        assert_eq!(places(16), of_16);
    }

    #[test]
    fn trees_are_those_of_the_paper() {
        let children = |ranks: usize| -> Vec<Vec<usize>> {
            (0..ranks).map(|place| tree(place, ranks).1).collect()
        };
        let none = Vec::new;
        let of_8 = [
            vec![3, 7, 1],
            none(),
            none(),
            vec![4, 2],
            vec![5],
            none(),
            none(),
            vec![6],
        ];
        assert_eq!(children(8), of_8);
        let of_16 = children(16);
        assert_eq!(of_16[0], [11, 3, 15, 1]);
        assert_eq!(of_16[11], [8, 12, 10]);
        assert_eq!([&of_16[3], &of_16[8]], [&[4, 2], &[7, 9]]);
        for ranks in [1, 2, 4, 8, 16, 32, 64, 128] {
            for (place, children) in children(ranks).into_iter().enumerate() {
                for child in children {
                    assert_eq!(tree(child, ranks).0, Some(place));
                }
            }
        }
    }

    #[test]
    fn partners_of_a_stage_hold_the_same_part_and_keep_the_two_halves_of_it() {
        for ranks in [1, 2, 4, 8, 16, 32, 64, 128] {
            for rank in 0..ranks {
                let own = stages(ranks, rank);
                for (step, stage) in own.stages.iter().enumerate() {
                    let other = stage.members[1 - stage.digit];
                    let theirs = &stages(ranks, other).stages[step];
                    assert_eq!(stage.members, theirs.members);
                    assert_eq!(stage.part, theirs.part);
                }
            }
        }
    }
}
