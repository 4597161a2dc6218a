//! From a record to traffic: the pattern of the chosen algorithm, laid over the
//! group.

use super::algorithm::{Algorithm, usual_algorithm};
use super::blocks::Blocks;
use super::messages::Messages;
use super::operation::{Operation, Unit};
use super::record::{Record, Volume};
use super::tree::Flow;
use super::{bruck, doubling, halving, pairwise, ring, tree};
use crate::affinity::{Traffic, TrafficMatrix};

/// Adds the messages that `record` stands for to `into`, between world ranks:
/// messages and bytes of all its calls together.
///
/// `algorithm` is how the collective was done; `None`, or one that is not
/// modelled for the operation, stands for [`usual_algorithm`]. Bytes are exact
/// for the algorithm. Messages without a byte count only in barriers, as hosts
/// leave them out elsewhere; what a rank gives itself is no message. Exact pairs
/// ([`Volume::Pairs`]) are taken as they are, whatever the algorithm.
///
/// A record that does not fit the ranks of `into` adds nothing:
/// [`Record::validate`] says why, and readers of files call it.
pub fn expand(record: &Record, algorithm: Option<Algorithm>, into: &mut TrafficMatrix) {
    if record.calls == 0 || record.validate(into.order()).is_err() {
        return;
    }
    if let Volume::Pairs(pairs) = &record.volume {
        return expand_pairs(&record.group, pairs, into);
    }
    if record.group.len() < 2 {
        return;
    }
    let operation = record.operation;
    let algorithm = algorithm
        .filter(|algorithm| operation.algorithms().contains(algorithm))
        .unwrap_or_else(|| usual_algorithm(operation, record.group.len(), record.block_bytes()));
    let mut messages = Messages {
        group: &record.group,
        calls: record.calls,
        empty_too: operation == Operation::Barrier,
        into,
    };
    match operation.unit() {
        Unit::Nothing => barrier(&mut messages, algorithm),
        Unit::Message => move_message(&mut messages, record, algorithm),
        Unit::Blocks => move_blocks(&mut messages, record, algorithm),
        Unit::PairBlocks => alltoall(&mut messages, record, algorithm),
    }
}

fn expand_pairs(group: &[u32], pairs: &[(u32, u32, u64, u64)], into: &mut TrafficMatrix) {
    let world = |rank: u32| group[rank as usize] as usize;
    for &(from, to, bytes, messages) in pairs {
        if from != to {
            into.add(world(from), world(to), Traffic::new(messages, bytes));
        }
    }
}

fn barrier(messages: &mut Messages, algorithm: Algorithm) {
    match algorithm {
        Algorithm::RecursiveDoubling => doubling::allreduce(messages, 0),
        Algorithm::Linear => {
            tree::linear(messages, 0, Flow::ToRoot, |_, _| 0);
            tree::linear(messages, 0, Flow::FromRoot, |_, _| 0);
        }
        _ => bruck::barrier(messages),
    }
}

/// Broadcasts, reductions and scans: every rank has the whole message.
fn move_message(messages: &mut Messages, record: &Record, algorithm: Algorithm) {
    let Volume::Uniform(bytes) = record.volume else {
        return; // a valid record of these operations has one number
    };
    let root = root_of(record);
    match (record.operation, algorithm) {
        (Operation::Bcast, Algorithm::Linear) => {
            tree::linear(messages, root, Flow::FromRoot, |_, _| bytes);
        }
        (Operation::Bcast, Algorithm::ScatterAllgather | Algorithm::ScatterDoubling) => {
            scatter_and_allgather(messages, root, bytes, algorithm);
        }
        (Operation::Bcast, _) => tree::binomial(messages, root, Flow::FromRoot, |_, _| bytes),
        (Operation::Reduce, Algorithm::Linear) => {
            tree::linear(messages, root, Flow::ToRoot, |_, _| bytes);
        }
        (Operation::Reduce, Algorithm::ReduceScatterGather) => {
            halving::reduce_scatter_gather(messages, root, bytes);
        }
        (Operation::Reduce, _) => tree::binomial(messages, root, Flow::ToRoot, |_, _| bytes),
        (Operation::Allreduce, Algorithm::ReduceScatterAllgather) => {
            halving::reduce_scatter_allgather(messages, bytes);
        }
        (Operation::Allreduce, Algorithm::Ring) => {
            let ranks = ranks_from(0, messages.size());
            ring::allreduce(messages, &ranks, bytes);
        }
        (Operation::Allreduce, _) => doubling::allreduce(messages, bytes),
        (_, Algorithm::Linear) => tree::chain(messages, bytes),
        (_, _) => doubling::scan(messages, bytes),
    }
}

/// Broadcast of a long message: its parts are scattered, then gathered by all.
fn scatter_and_allgather(messages: &mut Messages, root: usize, bytes: u64, algorithm: Algorithm) {
    let count = messages.size();
    let parts = Blocks::Parts { count, bytes };
    tree::binomial(messages, root, Flow::FromRoot, |first, led| {
        parts.range(first, first + led)
    });
    let ranks = ranks_from(root, count);
    if algorithm == Algorithm::ScatterDoubling && count.is_power_of_two() {
        doubling::allgather(messages, &ranks, &parts);
    } else {
        ring::allgather(messages, &ranks, &parts);
    }
}

/// Gathers, scatters and reduce-scatters: one block for each rank.
fn move_blocks(messages: &mut Messages, record: &Record, algorithm: Algorithm) {
    let size = messages.size();
    let blocks = match &record.volume {
        Volume::PerRank(sizes) => Blocks::listed(sizes.iter().copied()),
        Volume::Uniform(bytes) => Blocks::Equal {
            count: size,
            bytes: *bytes,
        },
        Volume::Pairs(_) => return, // a valid record of these operations has no pairs
    };
    match record.operation {
        Operation::Gather | Operation::Gatherv => {
            rooted_blocks(messages, root_of(record), Flow::ToRoot, &blocks, algorithm);
        }
        Operation::Scatter | Operation::Scatterv => {
            rooted_blocks(
                messages,
                root_of(record),
                Flow::FromRoot,
                &blocks,
                algorithm,
            );
        }
        Operation::Allgather | Operation::Allgatherv => allgather(messages, &blocks, algorithm),
        _ => reduce_scatter(messages, &blocks, algorithm),
    }
}

fn rooted_blocks(
    messages: &mut Messages,
    root: usize,
    flow: Flow,
    blocks: &Blocks,
    algorithm: Algorithm,
) {
    let bytes = |first: usize, led: usize| blocks.around(root + first, led);
    match algorithm {
        Algorithm::Linear => tree::linear(messages, root, flow, bytes),
        _ => tree::binomial(messages, root, flow, bytes),
    }
}

fn allgather(messages: &mut Messages, blocks: &Blocks, algorithm: Algorithm) {
    let ranks = ranks_from(0, messages.size());
    match algorithm {
        Algorithm::Ring => ring::allgather(messages, &ranks, blocks),
        Algorithm::RecursiveDoubling if ranks.len().is_power_of_two() => {
            doubling::allgather(messages, &ranks, blocks);
        }
        // Bruck's is what recursive doubling gives way to on other numbers of ranks.
        _ => bruck::allgather(messages, blocks),
    }
}

fn reduce_scatter(messages: &mut Messages, blocks: &Blocks, algorithm: Algorithm) {
    match algorithm {
        Algorithm::Pairwise => pairwise::exchange(messages, |_, to| blocks.one(to)),
        Algorithm::Ring => {
            let ranks = ranks_from(0, messages.size());
            ring::reduce_scatter(messages, &ranks, blocks);
        }
        _ => halving::reduce_scatter(messages, blocks),
    }
}

fn alltoall(messages: &mut Messages, record: &Record, algorithm: Algorithm) {
    let count = messages.size();
    match &record.volume {
        Volume::Uniform(block) if algorithm == Algorithm::Bruck => {
            bruck::alltoall(messages, *block);
        }
        Volume::Uniform(block) => pairwise::exchange(messages, |_, _| *block),
        Volume::PerRank(sent) => pairwise::exchange(messages, |from, to| {
            let bytes = sent[from];
            Blocks::Parts { count, bytes }.one(to)
        }),
        Volume::Pairs(_) => {} // expanded before
    }
}

fn root_of(record: &Record) -> usize {
    record.root.unwrap_or(0) as usize
}

/// All ranks of a communicator in a circle that begins at `first`.
fn ranks_from(first: usize, size: usize) -> Vec<usize> {
    (0..size).map(|place| (first + place) % size).collect()
}

#[cfg(test)]
mod tests;
