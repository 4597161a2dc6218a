//! Neighbourhood of a rank, and the ranges of its blocks.

use crate::neighbourhoods::{End, Neighbourhoods};
use crate::plan::range::Range;
use crate::problem::{Amount, Problem};
use crate::steps::{LARGEST_MESSAGE, Steps};
use std::collections::VecDeque;
use treepie_base::{Cluster, List};

/// Maximum number of messages from one rank to another in a call: their tags are numbered.
const MOST_MESSAGES: u64 = 2048;

/// Neighbourhood of a rank, and the ranges of its blocks.
pub(super) struct Own<'a> {
    pub(super) problem: &'a Problem<'a>,
    pub(super) all: &'a Neighbourhoods,
    pub(super) rank: usize,
    /// Range of each sent block.
    pub(super) input: Vec<Range>,
    /// Range of each received block.
    pub(super) output: Vec<Range>,
}

impl<'a> Own<'a> {
    /// `None` if the communicator has no topology.
    pub(super) fn new(problem: &'a Problem<'a>, rank: usize) -> Option<Self> {
        let all = problem.clusters.neighbourhoods()?;
        let (input, output) = blocks(problem, all, rank);
        Some(Own {
            problem,
            all,
            rank,
            input,
            output,
        })
    }

    /// Messages that carry a block, in one piece if `is_whole`, or else segmented: equal for its
    /// sender and its receiver.
    pub(super) fn messages(&self, block: Range, is_whole: bool, steps: &dyn Steps) -> Vec<Range> {
        let blocks = self.all.most_blocks().max(1) as u64;
        let most = (MOST_MESSAGES / blocks).max(1);
        let segment = match is_whole {
            true => LARGEST_MESSAGE,
            false => steps.segment(block.length),
        };
        let segment = segment.max(block.length.div_ceil(most));
        block.segments(segment.min(LARGEST_MESSAGE)).collect()
    }

    /// True if two ranks are in one cluster.
    pub(super) fn are_near(&self, one: usize, other: usize) -> bool {
        let clusters = self.problem.clusters;
        clusters.of(one) == clusters.of(other)
    }

    /// These ranks in the order in which this rank sends to them, or, `towards` it, in which their
    /// messages arrive: one of each other cluster, round-robin, the next cluster and the next rank
    /// first; then those of its own cluster.
    pub(super) fn in_turn(&self, ranks: &[usize], towards: bool) -> Vec<usize> {
        let clusters = self.problem.clusters;
        let here = clusters.of(self.rank);
        let distance = |rank: usize| match towards {
            true => self.problem.before(self.rank, rank),
            false => self.problem.before(rank, self.rank),
        };
        let others = match towards {
            true => clusters.others_towards(here).collect::<Vec<Cluster>>(),
            false => clusters.others(here).collect(),
        };
        let mut queues: List<Cluster, VecDeque<usize>> =
            vec![VecDeque::new(); clusters.count()].into();
        let mut sorted = ranks.to_vec();
        sorted.sort_by_key(|&rank| distance(rank));
        let mut near = Vec::new();
        for rank in sorted {
            match clusters.of(rank) {
                cluster if cluster == here => near.push(rank),
                cluster => queues[cluster].push_back(rank),
            }
        }
        let mut order = Vec::with_capacity(ranks.len());
        while order.len() + near.len() < ranks.len() {
            let next = |&cluster: &Cluster| queues[cluster].pop_front();
            order.extend(others.iter().filter_map(next));
        }
        order.extend(near);
        order
    }

    /// Sends each of these ranks its ranges, in their order: one message to each other cluster per
    /// round, so that no link is idle while another is overloaded.
    pub(super) fn send(&self, mut what: Vec<(usize, VecDeque<Range>)>, steps: &mut dyn Steps) {
        let round = self.problem.clusters.count().saturating_sub(1).max(1);
        for round in what.chunks_mut(round) {
            let mut is_left = true;
            while is_left {
                is_left = false;
                for (to, messages) in round.iter_mut() {
                    if let Some(message) = messages.pop_front() {
                        steps.send_segment(*to, message);
                        is_left = true;
                    }
                }
            }
        }
    }
}

/// Ranges of the blocks that a rank sends, and of those that it receives.
pub fn blocks(problem: &Problem, all: &Neighbourhoods, rank: usize) -> (Vec<Range>, Vec<Range>) {
    let (outgoing, incoming) = (all.outgoing(rank), all.incoming(rank));
    let lengths = |given: Option<&[u64]>, ends: &[Option<End>]| -> Vec<u64> {
        let length = |(place, end): (usize, &Option<End>)| match (end, given) {
            (None, _) => 0,
            (Some(_), Some(given)) => given.get(place).copied().unwrap_or(0),
            (Some(_), None) => problem.block(rank),
        };
        ends.iter().enumerate().map(length).collect()
    };
    let (sent, received) = match problem.amount {
        Amount::Exchanged { sent, received } => (Some(&sent[..]), Some(&received[..])),
        _ => (None, None),
    };
    let input = match problem.operation.gathers_from_neighbours() {
        true => {
            let own = sent.and_then(<[u64]>::first).copied();
            let own = Range::input(0, own.unwrap_or_else(|| problem.block(rank)));
            vec![own; outgoing.len()]
        }
        false => in_order(lengths(sent, outgoing), Range::input),
    };
    (input, in_order(lengths(received, incoming), Range::output))
}

fn in_order(lengths: Vec<u64>, range: fn(u64, u64) -> Range) -> Vec<Range> {
    let mut start = 0;
    let next = |length| {
        start += length;
        range(start - length, length)
    };
    lengths.into_iter().map(next).collect()
}
