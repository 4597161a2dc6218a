//! `Alltoall`, `Alltoallv` and `Alltoallw` with aggregated messages between hosts, or clusters:
//! every rank sends its own, or a few leaders send for the ranks around them (Kinkead, ..., Bienz,
//! SC Workshops 2025, arXiv 2601.17606).
//!
//! ```text
//!   hosts of 4   1   5 --blocks for 0 1 2 3--> 1      to the rank of the same number in its host
//!                2   1 --blocks of 1 5 9--> 0, 2, 3   to each in the host all that came for it
//!
//!   2 leaders    0   6 --all blocks--> 4              to its leader
//!                1   4 --blocks of 4 6 for 0 1 2 3--> 0
//!                2   0 --blocks of 0 4 6 8 10--> 1, 2, 3
//! ```
//!
//! Fewer messages between hosts, and longer ones, than [`super::pairwise`]. All ranks must know the
//! sizes of all blocks.

use crate::algorithms::by_rank::pairwise::buffers;
use crate::clusters::Clusters;
use crate::plan::range::Range;
use crate::problem::{Blocks, Problem};
use crate::steps::Steps;
use treepie_base::Cluster;

/// Exceeds the number of ranks of any cluster: each rank sends for itself.
pub(crate) const ALL: u32 = 1 << 16;

/// Ranks of each cluster that send to other clusters, one of each host round-robin, and the ranks
/// for which they send.
struct Leaders<'a> {
    clusters: &'a Clusters,
    /// Maximum number of leaders of a cluster.
    most: usize,
    /// Place of each rank among those of its cluster.
    place: Vec<usize>,
}

impl<'a> Leaders<'a> {
    fn new(problem: &Problem<'a>) -> Self {
        let clusters = problem.clusters;
        let mut place = vec![0; clusters.ranks()];
        for cluster in clusters.all() {
            for (number, &rank) in clusters.dealt(cluster).iter().enumerate() {
                place[rank] = number;
            }
        }
        Leaders {
            clusters,
            most: problem.parameter(ALL) as usize,
            place,
        }
    }

    /// Leaders of a cluster.
    fn of(&self, cluster: Cluster) -> &'a [usize] {
        let dealt = self.clusters.dealt(cluster);
        &dealt[..self.most.min(dealt.len())]
    }

    /// Leader that sends for `rank`.
    fn leading(&self, rank: usize) -> usize {
        let leaders = self.of(self.clusters.of(rank));
        leaders[self.place[rank] % leaders.len()]
    }

    /// Ranks for which `leader` sends, itself first.
    fn led_by(&self, leader: usize) -> impl Iterator<Item = usize> + use<'a> {
        let cluster = self.clusters.of(leader);
        let dealt = self.clusters.dealt(cluster)[self.place[leader]..].iter();
        dealt.copied().step_by(self.of(cluster).len())
    }

    /// Leader of `cluster` that receives the blocks of `leader` for it.
    fn counterpart(&self, leader: usize, cluster: Cluster) -> usize {
        let leaders = self.of(cluster);
        leaders[self.place[leader] % leaders.len()]
    }

    /// Leaders of other clusters that send to `leader`.
    fn senders(&self, leader: usize) -> impl Iterator<Item = usize> + '_ {
        let here = self.clusters.of(leader);
        let (count, place) = (self.of(here).len(), self.place[leader]);
        let far = self.clusters.others_towards(here);
        far.flat_map(move |cluster| self.of(cluster).iter().skip(place).step_by(count).copied())
    }

    /// Ranks of other clusters whose blocks arrive at `rank`, in the order of arrival: none if it
    /// is not a leader.
    fn origins(&self, rank: usize) -> impl Iterator<Item = usize> + '_ {
        let leader = Some(rank).filter(|&rank| self.leading(rank) == rank);
        let senders = leader.into_iter().flat_map(|leader| self.senders(leader));
        senders.flat_map(|sender| self.led_by(sender))
    }
}

/// One range for several in this order, if they are contiguous.
fn joined(parts: &[Range]) -> Option<Range> {
    let follows = |pair: &[Range]| pair[0].space == pair[1].space && pair[0].end() == pair[1].start;
    let first = parts.first()?;
    parts.windows(2).all(follows).then(|| Range {
        length: parts.iter().map(|part| part.length).sum(),
        ..*first
    })
}

/// Scratch buffer for several ranges, and the range of each in it.
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

/// Receives the blocks of several ranks for several others in one message: by sender, the block for
/// each of `receivers`.
fn receive_blocks(
    problem: &Problem,
    steps: &mut dyn Steps,
    from: usize,
    senders: &[usize],
    receivers: &[usize],
) -> Vec<Vec<Range>> {
    let row = |&sender: &usize| receivers.iter().map(move |&to| problem.pair(sender, to));
    let lengths: Vec<u64> = senders.iter().flat_map(row).collect();
    let blocks = Blocks::listed(&lengths);
    let all = steps.scratch(blocks.total());
    steps.receive(from, all);
    let block = |index| blocks.of(all, index);
    let row = |sender: usize| (sender * receivers.len()..(sender + 1) * receivers.len()).map(block);
    (0..senders.len())
        .map(|sender| row(sender).collect())
        .collect()
}

/// Writes the steps of `rank`.
pub(crate) fn exchange(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let clusters = problem.clusters;
    let leaders = Leaders::new(problem);
    let (input, output) = buffers(problem, rank);
    let here = clusters.of(rank);
    let members = clusters.members(here);
    let far = clusters
        .others(here)
        .flat_map(|cluster| clusters.members(cluster));
    let far: Vec<usize> = far.copied().collect();
    let own: Vec<Range> = far.iter().map(|&to| input[to]).collect();
    let leader = leaders.leading(rank);
    let mut held = Vec::new();
    if leader != rank {
        send(steps, leader, &own);
    } else {
        // By represented rank, its block for each far rank.
        let mut led = vec![own];
        for from in leaders.led_by(rank).skip(1) {
            led.extend(receive_blocks(problem, steps, from, &[from], &far));
        }
        let mut first = 0;
        for cluster in clusters.others(here) {
            let end = first + clusters.members(cluster).len();
            let parts: Vec<Range> = led
                .iter()
                .flat_map(|blocks| &blocks[first..end])
                .copied()
                .collect();
            send(steps, leaders.counterpart(rank, cluster), &parts);
            first = end;
        }
        for from in leaders.senders(rank) {
            let senders: Vec<usize> = leaders.led_by(from).collect();
            held.extend(receive_blocks(problem, steps, from, &senders, members));
        }
    }
    let number = members.binary_search(&rank).unwrap_or(0);
    for distance in 1..members.len() {
        let to = (number + distance) % members.len();
        let near = std::iter::once(input[members[to]]);
        let parts: Vec<Range> = near.chain(held.iter().map(|blocks| blocks[to])).collect();
        send(steps, members[to], &parts);
    }
    steps.copy(input[rank], output[rank]);
    for (from, blocks) in leaders.origins(rank).zip(&held) {
        steps.copy(blocks[number], output[from]);
    }
    for distance in 1..members.len() {
        let member = members[(number + members.len() - distance) % members.len()];
        let all = std::iter::once(member).chain(leaders.origins(member));
        let parts: Vec<Range> = all.map(|from| output[from]).collect();
        receive(steps, member, &parts);
    }
}

#[cfg(test)]
mod tests {
    use super::ALL;
    use crate::algorithms::algorithm::Algorithm;
    use crate::clusters::Clusters;
    use crate::composition::Composition;
    use crate::operation::Operation;
    use crate::plan::step::Action;
    use crate::problem::Uniform;

    /// Counts messages between clusters of four and inside them, and the blocks of the longest: (4
    /// blocks, 24 messages).
    fn messages(ranks: usize, leaders: u32) -> [(u64, usize); 2] {
        let numbers: Vec<usize> = (0..ranks).map(|rank| rank / 4).collect();
        let call = Uniform {
            operation: Operation::Alltoall,
            bytes: 1,
            root: 0,
        };
        let algorithm = Algorithm::find(Operation::Alltoall, "grid-node-aware").unwrap();
        let clusters = Clusters::new(&numbers);
        let clusters = clusters.for_plan(&Composition {
            parameter: Some(leaders),
            ..Composition::from(algorithm)
        });
        let plans = algorithm.plans(&call, None, &clusters, 1 << 20);
        let mut found = [(0, 0); 2];
        for (rank, plan) in plans.iter().enumerate() {
            for step in plan.steps() {
                if let Action::Send { to, range, .. } = step.action {
                    let (blocks, count) = &mut found[usize::from(numbers[rank] == numbers[to])];
                    (*blocks, *count) = (range.length.max(*blocks), *count + 1);
                }
            }
        }
        found
    }

    #[test]
    fn messages_are_as_many_and_as_long_as_in_the_paper() {
        assert_eq!(messages(12, ALL), [(4, 24), (3, 36)]);
        assert_eq!(messages(8, ALL), [(4, 8), (2, 24)]);
    }

    /// Each of two leaders sends for two, to all four of the other clusters; inside, each rank
    /// sends to three, and two of them to their leader before.
    #[test]
    fn leaders_send_for_those_around_them() {
        assert_eq!(messages(12, 2), [(8, 12), (8, 36 + 6)]);
        assert_eq!(messages(12, 1), [(16, 6), (9, 36 + 9)]);
    }
}
