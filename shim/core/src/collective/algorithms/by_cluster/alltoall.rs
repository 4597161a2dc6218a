//! `Alltoall` with one message between two clusters, from leader to leader:
//!
//! ```text
//!   members --blocks for c--> leader ==all blocks for c==> leader of c --> members
//! ```

use crate::collective::algorithms::by_rank::pairwise::buffers;
use crate::collective::plan::Range;
use crate::collective::{Clusters, Problem, Steps};

/// Blocks of one length. Where a message between clusters is one segment, a member gives all its
/// blocks for other clusters together, and gets those of a cluster together.
pub fn grouped(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let clusters = problem.clusters;
    let (input, output) = buffers(problem);
    // Inside the cluster direct to each other.
    let members = clusters.members(clusters.of(rank));
    steps.copy(input[rank], output[rank]);
    for &member in members.iter().filter(|&&member| member != rank) {
        steps.receive(member, output[member]);
    }
    for &member in members.iter().filter(|&&member| member != rank) {
        steps.send(member, input[member]);
    }
    let sizes = (0..clusters.count()).map(|cluster| clusters.members(cluster).len() as u64);
    let largest = sizes.max().unwrap_or(0);
    let exchange = Exchange {
        clusters,
        here: clusters.of(rank),
        rank,
        block: problem.block(rank),
        input,
        output,
    };
    match steps.segment(1) >= largest * largest * exchange.block {
        true => exchange.in_few_messages(steps),
        false => exchange.as_they_come(steps),
    }
}

/// The part of a grouped exchange that goes to other clusters.
struct Exchange<'a> {
    clusters: &'a Clusters,
    here: usize,
    rank: usize,
    block: u64,
    input: Vec<Range>,
    output: Vec<Range>,
}

impl Exchange<'_> {
    /// A scratch buffer for a block of each of `one` for each of `other`.
    fn room(&self, steps: &mut dyn Steps, one: &[usize], other: &[usize]) -> Range {
        steps.scratch((one.len() * other.len()) as u64 * self.block)
    }

    /// Of `width` blocks in a row of `all`, the one in `column` of `row`.
    fn at(&self, all: Range, width: usize, row: usize, column: usize) -> Range {
        all.part((row * width + column) as u64 * self.block, self.block)
    }

    /// Cluster by cluster, as soon as something is there.
    fn as_they_come(&self, steps: &mut dyn Steps) {
        let (clusters, rank) = (self.clusters, self.rank);
        let members = clusters.members(self.here);
        let leader = clusters.leader(self.here);
        for other in clusters.others(self.here) {
            let far = clusters.members(other);
            // The own blocks for them, in their order.
            let own = self.room(steps, &[rank], far);
            for (place, &receiver) in far.iter().enumerate() {
                steps.copy(self.input[receiver], self.at(own, far.len(), 0, place));
            }
            if rank != leader {
                steps.send(leader, own);
                continue;
            }
            let all = self.room(steps, members, far);
            for (place, &member) in members.iter().enumerate() {
                let into = all.part(place as u64 * own.length, own.length);
                match member == rank {
                    true => steps.copy(own, into),
                    false => steps.receive(member, into),
                }
            }
            steps.send(clusters.leader(other), all);
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
            let all = self.room(steps, far, members);
            steps.receive(clusters.leader(other), all);
            for (row, &sender) in far.iter().enumerate() {
                for (column, &member) in members.iter().enumerate() {
                    let from = self.at(all, members.len(), row, column);
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
            let own = self.room(steps, &[rank], &far);
            for (place, &receiver) in far.iter().enumerate() {
                steps.copy(self.input[receiver], self.at(own, far.len(), 0, place));
            }
            steps.send(leader, own);
            for other in clusters.others_towards(self.here) {
                let senders = clusters.members(other);
                let came = self.room(steps, &[rank], senders);
                steps.receive(leader, came);
                for (place, &sender) in senders.iter().enumerate() {
                    let from = self.at(came, senders.len(), 0, place);
                    steps.copy(from, self.output[sender]);
                }
            }
            return;
        }
        let given = self.room(steps, members, &far);
        for (row, &member) in members.iter().enumerate().filter(|(_, m)| **m != rank) {
            let length = far.len() as u64 * self.block;
            steps.receive(member, given.part(row as u64 * length, length));
        }
        // Receiver by receiver, so that each one's blocks can be handed on as they are.
        let mut place = 0;
        for &other in &others {
            let receivers = clusters.members(other);
            let all = self.room(steps, receivers, members);
            for (row, &receiver) in receivers.iter().enumerate() {
                for (column, &member) in members.iter().enumerate() {
                    let from = match member == rank {
                        true => self.input[receiver],
                        false => self.at(given, far.len(), column, place + row),
                    };
                    steps.copy(from, self.at(all, members.len(), row, column));
                }
            }
            place += receivers.len();
            steps.send(clusters.leader(other), all);
        }
        for other in clusters.others_towards(self.here) {
            let senders = clusters.members(other);
            let all = self.room(steps, members, senders);
            steps.receive(clusters.leader(other), all);
            for (row, &member) in members.iter().enumerate() {
                let length = senders.len() as u64 * self.block;
                let blocks = all.part(row as u64 * length, length);
                if member != rank {
                    steps.send(member, blocks);
                    continue;
                }
                for (column, &sender) in senders.iter().enumerate() {
                    let from = self.at(all, senders.len(), row, column);
                    steps.copy(from, self.output[sender]);
                }
            }
        }
    }
}
