//! `Alltoall`, `Alltoallv` and `Alltoallw`.

use super::matchings::Matching;
use crate::collective::plan::Range;
use crate::collective::problem::Amount;
use crate::collective::{Builder, Clusters, Problem};

/// Where the blocks to and from each rank are: those of the input, and of the
/// output.
fn blocks(problem: &Problem) -> (Vec<Range>, Vec<Range>) {
    let ranks = problem.ranks();
    let (sent, received) = match problem.amount {
        Amount::Each(units) => (vec![*units; ranks], vec![*units; ranks]),
        Amount::Parts(parts) => (parts.clone(), parts.clone()),
        Amount::Exchanged { sent, received } => (sent.clone(), received.clone()),
    };
    let in_order = |lengths: Vec<u64>, range: fn(u64, u64) -> Range| {
        let mut start = 0;
        let next = |length| {
            start += length;
            range(start - length, length)
        };
        lengths.into_iter().map(next).collect()
    };
    (
        in_order(sent, Range::input),
        in_order(received, Range::output),
    )
}

/// The others as a rank serves them, or, `towards` it, as they serve it: one of each other cluster in
/// turn, the next cluster first, so that not all send to the same one; then its own cluster.
fn partners(problem: &Problem, rank: usize, towards: bool) -> Vec<usize> {
    let clusters = problem.clusters;
    let here = clusters.of(rank);
    let members = |cluster: usize| clusters.members(cluster);
    let place = members(here).iter().position(|&m| m == rank).unwrap_or(0);
    let far: Vec<usize> = match towards {
        true => clusters.others_towards(here).collect(),
        false => clusters.others(here).collect(),
    };
    let at = |cluster: usize, distance: usize| {
        let members = members(cluster);
        let size = members.len();
        let distance = if towards { size - distance } else { distance };
        members[(place + distance) % size]
    };
    let deepest = far.iter().map(|&cluster| members(cluster).len()).max();
    let mut partners = Vec::with_capacity(problem.ranks());
    for distance in 0..deepest.unwrap_or(0) {
        let reached = |&&cluster: &&usize| distance < members(cluster).len();
        let clusters = far.iter().filter(reached);
        partners.extend(clusters.map(|&cluster| at(cluster, distance)));
    }
    partners.extend((1..members(here).len()).map(|distance| at(here, distance)));
    partners
}

/// Everyone sends to all others at once, far ones first, in an order that does not depend on
/// how ranks are numbered.
pub fn flat(problem: &Problem, rank: usize, builder: &mut Builder) {
    let (input, output) = blocks(problem);
    for from in partners(problem, rank, true) {
        builder.receive(from, output[from]);
    }
    let far = problem.clusters.count() - 1;
    for round in partners(problem, rank, false).chunks(far.max(1)) {
        builder.send_in_turn(round.iter().map(|&to| (to, input[to])));
    }
    builder.copy(input[rank], output[rank]);
}

/// Bruck et al. (1997), for short blocks: in round k all blocks whose distance
/// has bit k go 2^k ranks further, together.
pub fn bruck(problem: &Problem, rank: usize, builder: &mut Builder) {
    let ranks = problem.ranks();
    let block = problem.part(rank);
    let (input, output) = blocks(problem);
    // Place i: the block that has still `i` ranks to go, of those that came here.
    let held = builder.scratch(ranks as u64 * block);
    let at = |place: usize| held.part(place as u64 * block, block);
    for distance in 0..ranks {
        builder.copy(input[(rank + distance) % ranks], at(distance));
    }
    let mut step = 1;
    while step < ranks {
        let moved: Vec<usize> = (0..ranks).filter(|place| place & step != 0).collect();
        let outgoing = builder.scratch(moved.len() as u64 * block);
        let incoming = builder.scratch(moved.len() as u64 * block);
        let slot = |index: usize| (index as u64 * block, block);
        for (index, &place) in moved.iter().enumerate() {
            builder.copy(at(place), outgoing.part(slot(index).0, slot(index).1));
        }
        builder.send((rank + step) % ranks, outgoing);
        builder.receive((rank + ranks - step) % ranks, incoming);
        for (index, &place) in moved.iter().enumerate() {
            builder.copy(incoming.part(slot(index).0, slot(index).1), at(place));
        }
        step *= 2;
    }
    for distance in 0..ranks {
        builder.copy(at(distance), output[(rank + ranks - distance) % ranks]);
    }
}

/// One message at a time (MPICH, LAM; item 73): in step i to the rank i further, or to rank xor i
/// where ranks are a power of two, so that two exchange.
pub fn pairwise(problem: &Problem, rank: usize, builder: &mut Builder) {
    let ranks = problem.ranks();
    let partners = (1..ranks).map(|step| match ranks.is_power_of_two() {
        true => (rank ^ step, rank ^ step),
        false => ((rank + step) % ranks, (rank + ranks - step) % ranks),
    });
    let (to, from): (Vec<usize>, Vec<usize>) = partners.unzip();
    one_after_the_other(problem, rank, builder, &to, &from);
}

/// One message at a time, in the order of a matching of senders and receivers.
pub fn matched(problem: &Problem, rank: usize, builder: &mut Builder, matching: Matching) {
    let ranks = problem.ranks();
    // Blocks that not all ranks know the size of are taken to be alike.
    let bytes = match problem.amount {
        Amount::Each(units) => units.saturating_mul(problem.unit_bytes),
        Amount::Parts(_) | Amount::Exchanged { .. } => 64 << 10,
    };
    let clusters = problem.clusters;
    let seconds = |from: usize, to: usize| match problem.network {
        Some(network) => network
            .link(from, to)
            .map_or(0.0, |link| link.delivery(bytes)),
        None if clusters.of(from) == clusters.of(to) => 1.0,
        None => 10.0,
    };
    let order = matching.order(ranks, seconds);
    let from: Vec<usize> = (1..ranks).map(|d| (rank + ranks - d) % ranks).collect();
    one_after_the_other(problem, rank, builder, &order[rank], &from);
}

/// Sends in turn; what comes is received whenever it comes.
fn one_after_the_other(
    problem: &Problem,
    rank: usize,
    builder: &mut Builder,
    to: &[usize],
    from: &[usize],
) {
    let (input, output) = blocks(problem);
    builder.copy(input[rank], output[rank]);
    for &from in from {
        builder.receive(from, output[from]);
    }
    for &to in to {
        if input[to].length > 0 {
            builder.send(to, input[to]);
            builder.in_turn();
        }
    }
}

/// Blocks between two clusters go in one message, from coordinator to coordinator:
///
/// ```text
///   members --blocks for c--> coordinator ==all blocks for c==> coordinator of c --> members
/// ```
///
/// Blocks of one length. Where a message between clusters is one piece, a member gives all its
/// blocks for other clusters together, and gets those of a cluster together.
pub fn grouped(problem: &Problem, rank: usize, builder: &mut Builder) {
    let clusters = problem.clusters;
    let (input, output) = blocks(problem);
    // Inside the cluster straight to each other.
    let members = clusters.members(clusters.of(rank));
    builder.copy(input[rank], output[rank]);
    for &member in members.iter().filter(|&&member| member != rank) {
        builder.receive(member, output[member]);
    }
    for &member in members.iter().filter(|&&member| member != rank) {
        builder.send(member, input[member]);
    }
    let sizes = (0..clusters.count()).map(|cluster| clusters.members(cluster).len() as u64);
    let largest = sizes.max().unwrap_or(0);
    let exchange = Exchange {
        clusters,
        here: clusters.of(rank),
        rank,
        block: problem.part(rank),
        input,
        output,
    };
    match builder.piece(1) >= largest * largest * exchange.block {
        true => exchange.in_few_messages(builder),
        false => exchange.as_they_come(builder),
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
    /// Room for a block of each of `one` for each of `other`.
    fn room(&self, builder: &mut Builder, one: &[usize], other: &[usize]) -> Range {
        builder.scratch((one.len() * other.len()) as u64 * self.block)
    }

    /// Of `width` blocks in a row of `all`, the one in `column` of `row`.
    fn at(&self, all: Range, width: usize, row: usize, column: usize) -> Range {
        all.part((row * width + column) as u64 * self.block, self.block)
    }

    /// Cluster by cluster, as soon as something is there.
    fn as_they_come(&self, builder: &mut Builder) {
        let (clusters, rank) = (self.clusters, self.rank);
        let members = clusters.members(self.here);
        let leader = clusters.speaker(self.here);
        for other in clusters.others(self.here) {
            let far = clusters.members(other);
            // The own blocks for them, in their order.
            let own = self.room(builder, &[rank], far);
            for (place, &receiver) in far.iter().enumerate() {
                builder.copy(self.input[receiver], self.at(own, far.len(), 0, place));
            }
            if rank != leader {
                builder.send(leader, own);
                continue;
            }
            let all = self.room(builder, members, far);
            for (place, &member) in members.iter().enumerate() {
                let into = all.part(place as u64 * own.length, own.length);
                match member == rank {
                    true => builder.copy(own, into),
                    false => builder.receive(member, into),
                }
            }
            builder.send(clusters.speaker(other), all);
        }
        for other in clusters.others_towards(self.here) {
            let far = clusters.members(other);
            if rank != leader {
                for &sender in far {
                    builder.receive(leader, self.output[sender]);
                }
                continue;
            }
            // Sender by sender, the blocks for the members here.
            let all = self.room(builder, far, members);
            builder.receive(clusters.speaker(other), all);
            for (row, &sender) in far.iter().enumerate() {
                for (column, &member) in members.iter().enumerate() {
                    let from = self.at(all, members.len(), row, column);
                    match member == rank {
                        true => builder.copy(from, self.output[sender]),
                        false => builder.send(member, from),
                    }
                }
            }
        }
    }

    /// One message from each member, and one to each for each cluster.
    fn in_few_messages(&self, builder: &mut Builder) {
        let (clusters, rank) = (self.clusters, self.rank);
        let members = clusters.members(self.here);
        let leader = clusters.speaker(self.here);
        let others: Vec<usize> = clusters.others(self.here).collect();
        let far: Vec<usize> = others
            .iter()
            .flat_map(|&other| clusters.members(other).iter().copied())
            .collect();
        if rank != leader {
            let own = self.room(builder, &[rank], &far);
            for (place, &receiver) in far.iter().enumerate() {
                builder.copy(self.input[receiver], self.at(own, far.len(), 0, place));
            }
            builder.send(leader, own);
            for other in clusters.others_towards(self.here) {
                let senders = clusters.members(other);
                let came = self.room(builder, &[rank], senders);
                builder.receive(leader, came);
                for (place, &sender) in senders.iter().enumerate() {
                    let from = self.at(came, senders.len(), 0, place);
                    builder.copy(from, self.output[sender]);
                }
            }
            return;
        }
        let given = self.room(builder, members, &far);
        for (row, &member) in members.iter().enumerate().filter(|(_, m)| **m != rank) {
            let length = far.len() as u64 * self.block;
            builder.receive(member, given.part(row as u64 * length, length));
        }
        // Receiver by receiver, so that each one's blocks can be handed on as they are.
        let mut place = 0;
        for &other in &others {
            let receivers = clusters.members(other);
            let all = self.room(builder, receivers, members);
            for (row, &receiver) in receivers.iter().enumerate() {
                for (column, &member) in members.iter().enumerate() {
                    let from = match member == rank {
                        true => self.input[receiver],
                        false => self.at(given, far.len(), column, place + row),
                    };
                    builder.copy(from, self.at(all, members.len(), row, column));
                }
            }
            place += receivers.len();
            builder.send(clusters.speaker(other), all);
        }
        for other in clusters.others_towards(self.here) {
            let senders = clusters.members(other);
            let all = self.room(builder, members, senders);
            builder.receive(clusters.speaker(other), all);
            for (row, &member) in members.iter().enumerate() {
                let length = senders.len() as u64 * self.block;
                let blocks = all.part(row as u64 * length, length);
                if member != rank {
                    builder.send(member, blocks);
                    continue;
                }
                for (column, &sender) in senders.iter().enumerate() {
                    let from = self.at(all, senders.len(), row, column);
                    builder.copy(from, self.output[sender]);
                }
            }
        }
    }
}
