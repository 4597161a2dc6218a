//! `Alltoall`, `Alltoallv` and `Alltoallw` with one message between two clusters, from leader to
//! leader:
//!
//! ```text
//!   members --blocks for c--> leader ==all blocks for c==> leader of c --> members
//! ```
//!
//! All ranks must know the sizes of all blocks: leaders forward blocks of others.

use crate::algorithms::by_rank::pairwise::buffers;
use crate::clusters::Clusters;
use crate::plan::range::Range;
use crate::problem::{Blocks, Problem};
use crate::steps::Steps;
use crate::told;
use treepie_base::Cluster;

/// Exchange through leaders. If a message between clusters is one segment, or blocks are short, a
/// member sends all its blocks for other clusters together, and receives those from each cluster
/// together.
pub fn grouped(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let clusters = problem.clusters;
    let pair = |from: usize, to: usize| problem.pair(from, to);
    let exchange = ClusterExchange::new(problem, rank, &pair);
    let (input, output) = (&exchange.input, &exchange.output);
    // Directly between ranks of one cluster.
    let members = clusters.members(clusters.of(rank));
    steps.copy(input[rank], output[rank]);
    for &member in members.iter().filter(|&&member| member != rank) {
        steps.receive(member, output[member]);
    }
    for &member in members.iter().filter(|&&member| member != rank) {
        steps.send(member, input[member]);
    }
    let is_short = |units: u64| told::goes_along(units.saturating_mul(problem.unit_bytes));
    let (largest, blocks) = exchange.largest_message();
    match steps.segment(1) >= largest || is_short(largest / blocks.max(1)) {
        true => exchange.in_few_messages(steps),
        false => exchange.as_they_come(steps),
    }
}

/// Inter-cluster part of a grouped exchange.
pub(super) struct ClusterExchange<'a> {
    problem: &'a Problem<'a>,
    clusters: &'a Clusters,
    /// Units relayed by leaders from one rank to another: the whole block, or none.
    pair: &'a dyn Fn(usize, usize) -> u64,
    here: Cluster,
    rank: usize,
    input: Vec<Range>,
    output: Vec<Range>,
}

/// Scratch buffer with a block for each row and column.
struct ScratchBlocks {
    range: Range,
    blocks: Blocks,
    width: usize,
}

impl ScratchBlocks {
    /// Block in `column` of `row`.
    fn at(&self, row: usize, column: usize) -> Range {
        self.blocks.of(self.range, row * self.width + column)
    }

    /// All blocks of a row.
    fn row(&self, row: usize) -> Range {
        let first = row * self.width;
        self.blocks.span(self.range, first, first + self.width)
    }
}

impl<'a> ClusterExchange<'a> {
    pub fn new(
        problem: &'a Problem<'a>,
        rank: usize,
        pair: &'a dyn Fn(usize, usize) -> u64,
    ) -> Self {
        let (input, output) = buffers(problem, rank);
        ClusterExchange {
            problem,
            clusters: problem.clusters,
            pair,
            here: problem.clusters.of(rank),
            rank,
            input,
            output,
        }
    }

    /// Units of the largest message between two clusters, and the number of its blocks.
    fn largest_message(&self) -> (u64, u64) {
        let others = |from| self.clusters.others(from).map(move |to| (from, to));
        let pairs = self.clusters.all().flat_map(others);
        let ranks = |cluster| self.clusters.members(cluster).len() as u64;
        let messages =
            pairs.map(|(from, to)| (self.problem.between(from, to), ranks(from) * ranks(to)));
        messages.max().unwrap_or((0, 0))
    }

    /// Scratch buffer for the blocks of each of `senders` for each of `receivers`, by sender.
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

    /// Scratch buffer for these blocks by receiver.
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

    /// Forwards blocks cluster by cluster, as they arrive.
    fn as_they_come(&self, steps: &mut dyn Steps) {
        let (clusters, rank) = (self.clusters, self.rank);
        let members = clusters.members(self.here);
        let leader = clusters.leader(self.here);
        for other in clusters.others(self.here) {
            let far = clusters.members(other);
            // Own blocks for the far ranks, in their order.
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
            // By sender, the blocks for the members here.
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

    /// Exchanges with one message from each member, and one to each member per cluster.
    pub(crate) fn in_few_messages(&self, steps: &mut dyn Steps) {
        let (clusters, rank) = (self.clusters, self.rank);
        let members = clusters.members(self.here);
        let leader = clusters.leader(self.here);
        let others: Vec<Cluster> = clusters.others(self.here).collect();
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
        // By receiver, so that the blocks of each can be forwarded without copies.
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
    /// Copies or sends the own block for a rank, if leaders relay it.
    fn give(&self, receiver: usize, into: Range, steps: &mut dyn Steps) {
        if into.length > 0 {
            steps.copy(self.input[receiver], into);
        }
    }

    /// Receives the block from a rank, if leaders relayed it.
    fn take(&self, from: Range, sender: usize, steps: &mut dyn Steps) {
        if from.length > 0 {
            steps.copy(from, self.output[sender]);
        }
    }
}
