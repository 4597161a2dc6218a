//! `Alltoall`, `Alltoallv` and `Alltoallw` with one message from each rank to each other host, or
//! cluster (Kinkead, ..., Bienz, SC Workshops 2025, arXiv 2601.17606).
//!
//! ```text
//!   hosts of 4   1   5 --blocks for 0 1 2 3--> 1      to the rank of the same number in its host
//!                2   1 --blocks of 1 5 9--> 0, 2, 3   to each in the host all that came for it
//! ```
//!
//! Fewer messages between hosts, and longer ones, than [`super::pairwise`]; all ranks of a host
//! send them, not leaders alone. All must know the sizes of all blocks.

use crate::algorithms::by_rank::pairwise::buffers;
use crate::plan::range::Range;
use crate::problem::{Blocks, Problem};
use crate::steps::Steps;

/// The rank of `cluster` that gets what `rank` has for it.
fn counterpart(problem: &Problem, rank: usize, cluster: usize) -> usize {
    let clusters = problem.clusters;
    let own = clusters.members(clusters.of(rank));
    let number = own.binary_search(&rank).unwrap_or(0);
    let members = clusters.members(cluster);
    members[number % members.len()]
}

/// The ranks whose blocks for `rank`'s cluster come to it, itself first.
fn senders(problem: &Problem, rank: usize) -> Vec<usize> {
    let clusters = problem.clusters;
    let here = clusters.of(rank);
    let far = clusters.others_towards(here);
    let far = far.flat_map(|cluster| clusters.members(cluster));
    let come = far.filter(|&&other| counterpart(problem, other, here) == rank);
    std::iter::once(rank).chain(come.copied()).collect()
}

/// One range for several in this order, if they are one behind the other.
fn joined(parts: &[Range]) -> Option<Range> {
    let follows = |pair: &[Range]| pair[0].space == pair[1].space && pair[0].end() == pair[1].start;
    let first = parts.first()?;
    parts.windows(2).all(follows).then(|| Range {
        length: parts.iter().map(|part| part.length).sum(),
        ..*first
    })
}

/// A scratch buffer for several ranges, and where each is in it.
fn room(steps: &mut dyn Steps, parts: &[Range]) -> (Range, Vec<Range>) {
    let lengths: Vec<u64> = parts.iter().map(|part| part.length).collect();
    let blocks = Blocks::listed(&lengths);
    let all = steps.scratch(blocks.total());
    (
        all,
        (0..parts.len()).map(|part| blocks.of(all, part)).collect(),
    )
}

/// Sends several ranges in one message.
fn send(steps: &mut dyn Steps, to: usize, parts: &[Range]) {
    let message = joined(parts).unwrap_or_else(|| {
        let (all, places) = room(steps, parts);
        for (&part, place) in parts.iter().zip(places) {
            steps.copy(part, place);
        }
        all
    });
    steps.send(to, message);
}

/// Receives several ranges in one message.
fn receive(steps: &mut dyn Steps, from: usize, parts: &[Range]) {
    if let Some(all) = joined(parts) {
        return steps.receive(from, all);
    }
    let (all, places) = room(steps, parts);
    steps.receive(from, all);
    for (&part, place) in parts.iter().zip(places) {
        steps.copy(place, part);
    }
}

/// The steps of `rank`.
pub(crate) fn exchange(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let clusters = problem.clusters;
    let (input, output) = buffers(problem, rank);
    let here = clusters.of(rank);
    let members = clusters.members(here);
    for cluster in clusters.others(here) {
        let far = clusters.members(cluster);
        let parts: Vec<Range> = far.iter().map(|&to| input[to]).collect();
        send(steps, counterpart(problem, rank, cluster), &parts);
    }
    // By sender, what it has for each member.
    let mut held: Vec<Vec<Range>> = vec![members.iter().map(|&to| input[to]).collect()];
    let senders_here = senders(problem, rank);
    for &from in &senders_here[1..] {
        let lengths = members.iter().map(|&to| problem.pair(from, to));
        let blocks = Blocks::listed(&lengths.collect::<Vec<u64>>());
        let all = steps.scratch(blocks.total());
        steps.receive(from, all);
        held.push(
            (0..members.len())
                .map(|member| blocks.of(all, member))
                .collect(),
        );
    }
    let number = members.binary_search(&rank).unwrap_or(0);
    for distance in 1..members.len() {
        let to = (number + distance) % members.len();
        let parts: Vec<Range> = held.iter().map(|blocks| blocks[to]).collect();
        send(steps, members[to], &parts);
    }
    for (&from, blocks) in senders_here.iter().zip(&held) {
        steps.copy(blocks[number], output[from]);
    }
    for distance in 1..members.len() {
        let member = members[(number + members.len() - distance) % members.len()];
        let parts = senders(problem, member)
            .into_iter()
            .map(|from| output[from]);
        receive(steps, member, &parts.collect::<Vec<Range>>());
    }
}

#[cfg(test)]
mod tests {
    use crate::algorithms::algorithm::Algorithm;
    use crate::clusters::Clusters;
    use crate::operation::Operation;
    use crate::plan::step::Action;
    use crate::problem::Uniform;

    /// Messages between clusters of four and inside them, and the blocks of each: (4 blocks, 24
    /// messages).
    fn messages(ranks: usize) -> [(u64, usize); 2] {
        let numbers: Vec<usize> = (0..ranks).map(|rank| rank / 4).collect();
        let call = Uniform {
            operation: Operation::Alltoall,
            bytes: 1,
            root: 0,
        };
        let algorithm = Algorithm::find(Operation::Alltoall, "grid-node-aware").unwrap();
        let plans = algorithm.plans(&call, None, &Clusters::new(&numbers), 1 << 20);
        let mut found = [(0, 0); 2];
        for (rank, plan) in plans.iter().enumerate() {
            for step in plan.steps() {
                if let Action::Send { to, range, .. } = step.action {
                    let (blocks, count) = &mut found[usize::from(numbers[rank] == numbers[to])];
                    assert!(*count == 0 || *blocks == range.length);
                    (*blocks, *count) = (range.length, *count + 1);
                }
            }
        }
        found
    }

    #[test]
    fn messages_are_as_many_and_as_long_as_in_the_paper() {
        assert_eq!(messages(12), [(4, 24), (3, 36)]);
        assert_eq!(messages(8), [(4, 8), (2, 24)]);
    }
}
