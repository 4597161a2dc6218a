//! From a record to traffic: the pattern of the chosen algorithm, laid over the
//! group.

use std::num::NonZeroU64;

use crate::affinity::{Traffic, TrafficMatrix};
use crate::collective::native::Host;
use crate::collective::operation::{Operation, Unit};
use crate::collective::read::traffic::algorithm::Algorithm;
use crate::collective::read::traffic::blocks::Blocks;
use crate::collective::read::traffic::messages::Messages;
use crate::collective::read::traffic::model::Model;
use crate::collective::read::traffic::tree::Flow;
use crate::collective::read::traffic::{
    bruck, doubling, halving, logical, neighbours, pairwise, ring, tree,
};
use crate::collective::record::{Record, Volume};

/// Adds the messages that `record` stands for to `into`, between world ranks:
/// messages and bytes of all its calls together.
///
/// `model` is by which rules; an algorithm that is not modelled as `host` does it
/// ([`Host::models`]) stands for what `host` usually does. Bytes are exact
/// for the algorithm. Messages without a byte count only in barriers, as hosts
/// leave them out elsewhere; what a rank gives itself is no message. Exact pairs
/// ([`Volume::Pairs`]) are taken as they are, whatever the model.
///
/// A record that does not fit the ranks of `into` adds nothing:
/// [`Record::validate`] says why, and readers of files call it.
pub fn expand(record: &Record, model: Model, host: Host, into: &mut TrafficMatrix) {
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
    let host = match model {
        Model::Host(host) => host,
        _ => host,
    };
    let usual = || host.usual_algorithm(operation, record.group.len(), record.block_bytes());
    let algorithm = match model {
        Model::Logical => None,
        Model::Algorithm(named) if host.models(operation, named, record.group.len()) => Some(named),
        _ => Some(usual()),
    };
    if let Some(parts) = algorithm.and_then(|algorithm| parts(record, algorithm)) {
        for part in parts {
            expand(&part, Model::Host(host), host, into);
        }
        return;
    }
    let mut messages = Messages {
        group: &record.group,
        calls: record.calls,
        empty_too: operation == Operation::Barrier,
        into,
    };
    match operation.unit() {
        Unit::Nothing | Unit::Message => move_message(&mut messages, record, algorithm, host),
        Unit::Blocks => move_blocks(&mut messages, record, algorithm, host),
        Unit::PairBlocks => alltoall(&mut messages, record, algorithm),
    }
}

/// The collectives that a collective is made of where the algorithm says so, both
/// with rank 0 as root.
fn parts(record: &Record, algorithm: Algorithm) -> Option<[Record; 2]> {
    let (first, then) = match algorithm {
        Algorithm::ReduceBroadcast => (Operation::Reduce, Operation::Bcast),
        Algorithm::ReduceScatterv if record.operation == Operation::ReduceScatter => {
            (Operation::Reduce, Operation::Scatterv)
        }
        Algorithm::ReduceScatterv => (Operation::Reduce, Operation::Scatter),
        Algorithm::GatherBroadcast if record.operation == Operation::Allgatherv => {
            (Operation::Gatherv, Operation::Bcast)
        }
        Algorithm::GatherBroadcast => (Operation::Gather, Operation::Bcast),
        _ => return None,
    };
    let part = |operation: Operation| Record {
        operation,
        root: Some(0),
        volume: match operation.unit() == record.operation.unit() {
            true => record.volume.clone(),
            false => Volume::Uniform(blocks_of(record).map_or(0, |blocks| blocks.all())),
        },
        ..record.clone()
    };
    Some([part(first), part(then)])
}

fn expand_pairs(group: &[u32], pairs: &[(u32, u32, u64, u64)], into: &mut TrafficMatrix) {
    let world = |rank: u32| group[rank as usize] as usize;
    for &(from, to, bytes, messages) in pairs {
        if from != to {
            into.add(world(from), world(to), Traffic::new(messages, bytes));
        }
    }
}

/// Barriers, broadcasts, reductions and scans: every rank has the whole message,
/// in a barrier one of no bytes. Without an algorithm, what is meant.
fn move_message(
    messages: &mut Messages,
    record: &Record,
    algorithm: Option<Algorithm>,
    host: Host,
) {
    let bytes = match record.volume {
        _ if record.operation == Operation::Barrier => 0,
        Volume::Uniform(bytes) => bytes,
        _ => return, // a valid record of these operations has one number
    };
    let root = root_of(record);
    let Some(algorithm) = algorithm else {
        return logical::message(messages, record.operation, root, bytes);
    };
    match record.operation {
        Operation::Barrier => barrier(messages, algorithm),
        Operation::Bcast => bcast(messages, root, bytes, algorithm),
        Operation::Reduce => reduce(messages, root, bytes, algorithm),
        Operation::Allreduce => allreduce(messages, bytes, algorithm, host),
        _ if algorithm == Algorithm::Linear => tree::chain(messages, bytes),
        _ => doubling::scan(messages, bytes),
    }
}

fn barrier(messages: &mut Messages, algorithm: Algorithm) {
    let nothing = |_, _| 0;
    match algorithm {
        Algorithm::RecursiveDoubling => doubling::barrier(messages),
        Algorithm::Linear => {
            tree::linear(messages, 0, Flow::ToRoot, nothing);
            tree::linear(messages, 0, Flow::FromRoot, nothing);
        }
        Algorithm::Binomial => {
            tree::binomial(messages, 0, Flow::ToRoot, nothing);
            tree::binomial(messages, 0, Flow::FromRoot, nothing);
        }
        _ => bruck::barrier(messages),
    }
}

fn bcast(messages: &mut Messages, root: usize, bytes: u64, algorithm: Algorithm) {
    match algorithm {
        Algorithm::ScatterAllgather | Algorithm::ScatterDoubling => {
            scatter_and_allgather(messages, root, bytes, algorithm);
        }
        _ => along_tree(messages, root, Flow::FromRoot, bytes, algorithm),
    }
}

fn reduce(messages: &mut Messages, root: usize, bytes: u64, algorithm: Algorithm) {
    match algorithm {
        Algorithm::ReduceScatterGather => halving::reduce_scatter_gather(messages, root, bytes),
        Algorithm::InOrderBinary => tree::in_order_binary(messages, root, bytes),
        _ => along_tree(messages, root, Flow::ToRoot, bytes, algorithm),
    }
}

/// The whole message along a tree, binomial if nothing else is named.
fn along_tree(messages: &mut Messages, root: usize, flow: Flow, bytes: u64, algorithm: Algorithm) {
    let parent = match algorithm {
        Algorithm::Linear => |_| 0,
        Algorithm::Chain => |distance| distance - 1,
        Algorithm::Binary => tree::binary,
        Algorithm::HighestBitBinomial => tree::highest_bit_cleared,
        Algorithm::Quadrinomial => tree::lowest_base_4_digit_cleared,
        _ => |distance| distance & (distance - 1),
    };
    tree::whole(messages, root, flow, bytes, parent);
}

fn allreduce(messages: &mut Messages, bytes: u64, algorithm: Algorithm, host: Host) {
    match algorithm {
        Algorithm::ReduceScatterAllgather => {
            halving::reduce_scatter_allgather(messages, bytes, host);
        }
        Algorithm::Ring => {
            let ranks = ranks_from(0, messages.size());
            ring::allreduce(messages, &ranks, bytes);
        }
        _ => doubling::allreduce(messages, bytes),
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
        ring::allgather(messages, &ranks, &parts, None);
    }
}

/// Gathers, scatters and reduce-scatters: one block for each rank. Without an
/// algorithm, what is meant.
fn move_blocks(messages: &mut Messages, record: &Record, algorithm: Option<Algorithm>, host: Host) {
    let Some(blocks) = blocks_of(record) else {
        return; // a valid record of these operations has no pairs
    };
    let (operation, root) = (record.operation, root_of(record));
    let Some(algorithm) = algorithm else {
        return logical::blocks(messages, operation, root, &blocks);
    };
    match operation {
        Operation::Gather | Operation::Gatherv => {
            rooted_blocks(messages, root, Flow::ToRoot, &blocks, algorithm);
        }
        Operation::Scatter | Operation::Scatterv => {
            rooted_blocks(messages, root, Flow::FromRoot, &blocks, algorithm);
        }
        Operation::Allgather | Operation::Allgatherv => {
            allgather(messages, &blocks, algorithm, host.ring_piece(operation));
        }
        _ => reduce_scatter(messages, operation, &blocks, algorithm),
    }
}

/// One block for each rank, where the record has that.
fn blocks_of(record: &Record) -> Option<Blocks> {
    match &record.volume {
        Volume::PerRank(sizes) => Some(Blocks::listed(sizes.iter().copied())),
        Volume::Uniform(bytes) => Some(Blocks::Equal {
            count: record.group.len(),
            bytes: *bytes,
        }),
        Volume::Pairs(_) => None,
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
        Algorithm::SynchronisedLinear => {
            for rank in (0..messages.size()).filter(|&rank| rank != root) {
                messages.signal(root, rank);
                messages.send_many(rank, root, 2, blocks.one(rank));
            }
        }
        _ => tree::binomial(messages, root, flow, bytes),
    }
}

fn allgather(
    messages: &mut Messages,
    blocks: &Blocks,
    algorithm: Algorithm,
    piece: Option<NonZeroU64>,
) {
    let ranks = ranks_from(0, messages.size());
    match algorithm {
        Algorithm::Ring => ring::allgather(messages, &ranks, blocks, piece),
        Algorithm::NeighbourExchange if ranks.len().is_multiple_of(2) => {
            neighbours::allgather(messages, blocks);
        }
        Algorithm::NeighbourExchange => ring::allgather(messages, &ranks, blocks, piece),
        Algorithm::RecursiveDoubling if ranks.len().is_power_of_two() => {
            doubling::allgather(messages, &ranks, blocks);
        }
        // Bruck's is what recursive doubling gives way to on other numbers of ranks.
        _ => bruck::allgather(messages, blocks),
    }
}

fn reduce_scatter(
    messages: &mut Messages,
    operation: Operation,
    blocks: &Blocks,
    algorithm: Algorithm,
) {
    match algorithm {
        Algorithm::Pairwise => pairwise::exchange(messages, |_, to| blocks.one(to)),
        Algorithm::Butterfly => {
            let put_in_order = operation == Operation::ReduceScatterBlock;
            halving::butterfly(messages, blocks, put_in_order);
        }
        Algorithm::Ring => {
            let ranks = ranks_from(0, messages.size());
            ring::reduce_scatter(messages, &ranks, blocks);
        }
        _ => halving::reduce_scatter(messages, blocks),
    }
}

/// Pairwise is also what is meant.
fn alltoall(messages: &mut Messages, record: &Record, algorithm: Option<Algorithm>) {
    let count = messages.size();
    match &record.volume {
        Volume::Uniform(block) if algorithm == Some(Algorithm::Bruck) => {
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
