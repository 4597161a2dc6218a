//! `Alltoall`, `Alltoallv` and `Alltoallw` with one message between two clusters, from leader to
//! leader:
//!
//! ```text
//!   members --blocks for c--> leader ==all blocks for c==> leader of c --> members
//! ```
//!
//! All must know the sizes of all blocks: leaders pass on those of others.

use crate::algorithms::by_rank::pairwise::buffers;
use crate::clusters::Clusters;
use crate::plan::range::Range;
use crate::problem::{Blocks, Problem};
use crate::steps::Steps;

/// Where a message between clusters is one segment, a member gives all its blocks for other
/// clusters together, and gets those of a cluster together.
pub fn grouped(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let clusters = problem.clusters;
    let pair = |from: usize, to: usize| problem.pair(from, to);
    let exchange = Exchange::new(problem, rank, &pair);
    let (input, output) = (&exchange.input, &exchange.output);
    // Inside the cluster direct to each other.
    let members = clusters.members(clusters.of(rank));
    steps.copy(input[rank], output[rank]);
    for &member in members.iter().filter(|&&member| member != rank) {
        steps.receive(member, output[member]);
    }
    for &member in members.iter().filter(|&&member| member != rank) {
        steps.send(member, input[member]);
    }
    match steps.segment(1) >= exchange.largest_message() {
        true => exchange.in_few_messages(steps),
        false => exchange.as_they_come(steps),
    }
}

/// The part of a grouped exchange that goes to other clusters.
pub(super) struct Exchange<'a> {
    problem: &'a Problem<'a>,
    clusters: &'a Clusters,
    /// Units from one rank to another that go through leaders: all of a block, or nothing.
    pair: &'a dyn Fn(usize, usize) -> u64,
    here: usize,
    rank: usize,
    input: Vec<Range>,
    output: Vec<Range>,
}

/// A scratch buffer for a block for each row and column.
struct ScratchBlocks {
    range: Range,
    blocks: Blocks,
    width: usize,
}

impl ScratchBlocks {
    /// The block in `column` of `row`.
    fn at(&self, row: usize, column: usize) -> Range {
        self.blocks.of(self.range, row * self.width + column)
    }

    /// All blocks of a row.
    fn row(&self, row: usize) -> Range {
        let first = row * self.width;
        self.blocks.span(self.range, first, first + self.width)
    }
}

impl<'a> Exchange<'a> {
    pub fn new(
        problem: &'a Problem<'a>,
        rank: usize,
        pair: &'a dyn Fn(usize, usize) -> u64,
    ) -> Self {
        let (input, output) = buffers(problem, rank);
        Exchange {
            problem,
            clusters: problem.clusters,
            pair,
            here: problem.clusters.of(rank),
            rank,
            input,
            output,
        }
    }

    /// The units of the largest message between two clusters.
    fn largest_message(&self) -> u64 {
        let count = self.clusters.count();
        let pairs =
            (0..count).flat_map(|from| self.clusters.others(from).map(move |to| (from, to)));
        let units = pairs.map(|(from, to)| self.problem.between(from, to));
        units.max().unwrap_or(0)
    }

    /// A scratch buffer for what each of `senders` has for each of `receivers`, sender by sender.
    fn scratch(
        &self,
        steps: &mut dyn Steps,
        senders: &[usize],
        receivers: &[usize],
    ) -> ScratchBlocks {
        let pair = |&from: &usize| receivers.iter().map(move |&to| (self.pair)(from, to));
        self.listed(
            steps,
            senders.iter().flat_map(pair).collect(),
            receivers.len(),
        )
    }

    /// The same, receiver by receiver.
    fn scratch_by_receiver(
        &self,
        steps: &mut dyn Steps,
        receivers: &[usize],
        senders: &[usize],
    ) -> ScratchBlocks {
        let pair = |&to: &usize| senders.iter().map(move |&from| (self.pair)(from, to));
        self.listed(
            steps,
            receivers.iter().flat_map(pair).collect(),
            senders.len(),
        )
    }

    fn listed(&self, steps: &mut dyn Steps, lengths: Vec<u64>, width: usize) -> ScratchBlocks {
        let blocks = Blocks::listed(&lengths);
        ScratchBlocks {
            range: steps.scratch(blocks.total()),
            blocks,
            width,
        }
    }

    /// Cluster by cluster, as soon as something is there.
    fn as_they_come(&self, steps: &mut dyn Steps) {
        let (clusters, rank) = (self.clusters, self.rank);
        let members = clusters.members(self.here);
        let leader = clusters.leader(self.here);
        for other in clusters.others(self.here) {
            let far = clusters.members(other);
            // The own blocks for them, in their order.
            let own = self.scratch(steps, &[rank], far);
            for (place, &receiver) in far.iter().enumerate() {
                steps.copy(self.input[receiver], own.at(0, place));
            }
            if rank != leader {
                steps.send(leader, own.range);
                continue;
            }
            let all = self.scratch(steps, members, far);
            for (place, &member) in members.iter().enumerate() {
                match member == rank {
                    true => steps.copy(own.range, all.row(place)),
                    false => steps.receive(member, all.row(place)),
                }
            }
            steps.send(clusters.leader(other), all.range);
        }
        for other in clusters.others_towards(self.here) {
            let far = clusters.members(other);
            if rank != leader {
                for &sender in far {
                    steps.receive(leader, self.output[sender]);
                }
                continue;
            }
            // Sender by sender, the blocks for the members here.
            let all = self.scratch(steps, far, members);
            steps.receive(clusters.leader(other), all.range);
            for (row, &sender) in far.iter().enumerate() {
                for (column, &member) in members.iter().enumerate() {
                    let from = all.at(row, column);
                    match member == rank {
                        true => steps.copy(from, self.output[sender]),
                        false => steps.send(member, from),
                    }
                }
            }
        }
    }

    /// One message from each member, and one to each for each cluster.
    pub(crate) fn in_few_messages(&self, steps: &mut dyn Steps) {
        let (clusters, rank) = (self.clusters, self.rank);
        let members = clusters.members(self.here);
        let leader = clusters.leader(self.here);
        let others: Vec<usize> = clusters.others(self.here).collect();
        let far: Vec<usize> = others
            .iter()
            .flat_map(|&other| clusters.members(other).iter().copied())
            .collect();
        if rank != leader {
            let own = self.scratch(steps, &[rank], &far);
            for (place, &receiver) in far.iter().enumerate() {
                self.give(receiver, own.at(0, place), steps);
            }
            steps.send(leader, own.range);
            for other in clusters.others_towards(self.here) {
                let senders = clusters.members(other);
                let came = self.scratch_by_receiver(steps, &[rank], senders);
                steps.receive(leader, came.range);
                for (place, &sender) in senders.iter().enumerate() {
                    self.take(came.at(0, place), sender, steps);
                }
            }
            return;
        }
        let given = self.scratch(steps, members, &far);
        for (row, &member) in members.iter().enumerate().filter(|(_, m)| **m != rank) {
            steps.receive(member, given.row(row));
        }
        // Receiver by receiver, so that each one's blocks can be handed on as they are.
        let mut place = 0;
        for &other in &others {
            let receivers = clusters.members(other);
            let all = self.scratch_by_receiver(steps, receivers, members);
            for (row, &receiver) in receivers.iter().enumerate() {
                for (column, &member) in members.iter().enumerate() {
                    let into = all.at(row, column);
                    match member == rank {
                        true => self.give(receiver, into, steps),
                        false => steps.copy(given.at(column, place + row), into),
                    }
                }
            }
            place += receivers.len();
            steps.send(clusters.leader(other), all.range);
        }
        for other in clusters.others_towards(self.here) {
            let senders = clusters.members(other);
            let all = self.scratch_by_receiver(steps, members, senders);
            steps.receive(clusters.leader(other), all.range);
            for (row, &member) in members.iter().enumerate() {
                if member != rank {
                    steps.send(member, all.row(row));
                    continue;
                }
                for (column, &sender) in senders.iter().enumerate() {
                    self.take(all.at(row, column), sender, steps);
                }
            }
        }
    }
    /// The own block for a rank, if it goes through leaders.
    fn give(&self, receiver: usize, into: Range, steps: &mut dyn Steps) {
        if into.length > 0 {
            steps.copy(self.input[receiver], into);
        }
    }

    /// The block from a rank, if it came through leaders.
    fn take(&self, from: Range, sender: usize, steps: &mut dyn Steps) {
        if from.length > 0 {
            steps.copy(from, self.output[sender]);
        }
    }
}
