//! `Alltoall`, `Alltoallv` and `Alltoallw` with one message between two clusters, from leader to
//! leader:
//!
//! ```text
//!   members --blocks for c--> leader ==all blocks for c==> leader of c --> members
//! ```
//!
//! All must know the sizes of all blocks: leaders pass on those of others.

use crate::collective::algorithms::by_rank::pairwise::buffers;
use crate::collective::plan::Range;
use crate::collective::problem::Blocks;
use crate::collective::{Clusters, Problem, Steps};

/// Where a message between clusters is one segment, a member gives all its blocks for other
/// clusters together, and gets those of a cluster together.
pub fn grouped(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let clusters = problem.clusters;
    let (input, output) = buffers(problem, rank);
    // Inside the cluster direct to each other.
    let members = clusters.members(clusters.of(rank));
    steps.copy(input[rank], output[rank]);
    for &member in members.iter().filter(|&&member| member != rank) {
        steps.receive(member, output[member]);
    }
    for &member in members.iter().filter(|&&member| member != rank) {
        steps.send(member, input[member]);
    }
    let exchange = Exchange {
        problem,
        clusters,
        here: clusters.of(rank),
        rank,
        input,
        output,
    };
    match steps.segment(1) >= exchange.largest_message() {
        true => exchange.in_few_messages(steps),
        false => exchange.as_they_come(steps),
    }
}

/// The part of a grouped exchange that goes to other clusters.
struct Exchange<'a> {
    problem: &'a Problem<'a>,
    clusters: &'a Clusters,
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

impl Exchange<'_> {
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
        let pair = |&from: &usize| receivers.iter().map(move |&to| self.problem.pair(from, to));
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
        let pair = |&to: &usize| senders.iter().map(move |&from| self.problem.pair(from, to));
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
    fn in_few_messages(&self, steps: &mut dyn Steps) {
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
                steps.copy(self.input[receiver], own.at(0, place));
            }
            steps.send(leader, own.range);
            for other in clusters.others_towards(self.here) {
                let senders = clusters.members(other);
                let came = self.scratch_by_receiver(steps, &[rank], senders);
                steps.receive(leader, came.range);
                for (place, &sender) in senders.iter().enumerate() {
                    steps.copy(came.at(0, place), self.output[sender]);
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
                    let from = match member == rank {
                        true => self.input[receiver],
                        false => given.at(column, place + row),
                    };
                    steps.copy(from, all.at(row, column));
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
                    steps.copy(all.at(row, column), self.output[sender]);
                }
            }
        }
    }
}
