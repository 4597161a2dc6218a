//! Neighbourhood allgathers in which a block is sent to each cluster once, and to each host once:
//! to one of the neighbours there, which forwards it to the others.
//!
//! ```text
//!   rank 0 ------> rank 5 ----> rank 4          both are neighbours of rank 0, in another cluster
//!             \                    `--> rank 7
//!              `-> rank 9                       the only one in a third cluster
//! ```
//!
//! A block is relayed by ranks that need it themselves: they know its size, and no other rank must.
//! Different ranks relay different blocks, so that the work is shared.

use crate::algorithms::by_neighbour::own::Own;
use crate::clusters::Clusters;
use crate::plan::range::Range;
use crate::problem::Problem;
use crate::steps::Steps;
use std::collections::{HashMap, VecDeque};

/// Sends each block to each cluster once.
pub fn gather(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let Some(own) = Own::new(problem, rank) else {
        return;
    };
    let mut what: HashMap<usize, VecDeque<Range>> = HashMap::new();
    let mut coming: HashMap<usize, Vec<Range>> = HashMap::new();
    // The blocks that two ranks exchange are in the order of their sources, at both.
    let mut sources = own.all.senders(rank);
    sources.push(rank);
    sources.sort_unstable();
    for source in sources {
        let way = BlockPath::new(&own, source);
        let block = match source == rank {
            true => own.input.first().copied(),
            false => own.places_from(source).first().map(|&at| own.output[at]),
        };
        let Some(block) = block else { continue };
        if let Some(from) = way.from {
            let messages = own.messages(block, way.is_whole(&own, rank), steps);
            coming.entry(from).or_default().extend(messages);
        }
        for to in way.to {
            let is_whole = own.are_near(source, to);
            let messages = own.messages(block, is_whole, steps);
            what.entry(to).or_default().extend(messages);
        }
    }
    let from: Vec<usize> = coming.keys().copied().collect();
    for from in own.in_turn(&from, true) {
        for &message in &coming[&from] {
            steps.receive_segment(from, message);
        }
    }
    let to: Vec<usize> = what.keys().copied().collect();
    let to = own.in_turn(&to, false).into_iter();
    let what = to.filter_map(|to| Some((to, what.remove(&to)?)));
    let what = what.collect();
    own.send(what, steps);
    own.copy_own(steps);
    own.copy_repeated(steps);
}

/// Path of a block, from the view of one of its ranks.
struct BlockPath {
    source: usize,
    /// Sender to this rank; `None` for the source.
    from: Option<usize>,
    /// Receivers from this rank.
    to: Vec<usize>,
}

impl BlockPath {
    fn new(own: &Own, source: usize) -> BlockPath {
        let mut way = BlockPath {
            source,
            from: None,
            to: Vec::new(),
        };
        let receivers = own.all.receivers(source);
        ways(own.problem.clusters, source, &receivers, &mut |from, to| {
            if to == own.rank {
                way.from = Some(from);
            }
            if from == own.rank {
                way.to.push(to);
            }
        });
        way
    }

    fn is_whole(&self, own: &Own, receiver: usize) -> bool {
        own.are_near(self.source, receiver)
    }
}

/// Computes the path of the block of `source` to `receivers`, in ascending order: calls `each` with
/// every sender and receiver.
pub fn ways(
    clusters: &Clusters,
    source: usize,
    receivers: &[usize],
    each: &mut impl FnMut(usize, usize),
) {
    spread(clusters, source, (source, receivers), 0, each);
}

/// Forwards the block of `source` from `holder`, which has it, to `receivers`: calls `each` with
/// every sender and receiver. Level 0 divides ranks by clusters, further levels by the levels
/// inside clusters.
fn spread(
    clusters: &Clusters,
    source: usize,
    (holder, receivers): (usize, &[usize]),
    level: usize,
    each: &mut impl FnMut(usize, usize),
) {
    let group = |rank: usize| match level.checked_sub(1) {
        None => clusters.of(rank).0,
        Some(closer) => clusters.closer()[closer][rank],
    };
    if level > clusters.closer().len() {
        receivers.iter().for_each(|&to| each(holder, to));
        return;
    }
    let mut groups: Vec<(usize, Vec<usize>)> = Vec::new();
    for &rank in receivers {
        let group = group(rank);
        match groups.iter_mut().find(|(known, _)| *known == group) {
            Some((_, members)) => members.push(rank),
            None => groups.push((group, vec![rank])),
        }
    }
    for (number, mut members) in groups {
        if number == group(holder) {
            spread(clusters, source, (holder, &members), level + 1, each);
            continue;
        }
        let relay = members.remove(source % members.len());
        each(holder, relay);
        spread(clusters, source, (relay, &members), level + 1, each);
    }
}
