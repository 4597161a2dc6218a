//! Messages of recorded collectives.

use std::borrow::Cow;

use crate::family::{Family, NativeAlgorithm};
use crate::traffic::model::Model;
use crate::traffic::neighbours;
use crate::traffic::sent::Sent;
use treepie_collective::algorithms::Scope;
use treepie_collective::operation::{Operation, Unit};
use treepie_collective::record::{Record, Volume};
use treepie_collective::{Algorithm, Amount, AsRun, Clusters, Problem, Requirement, share};
use treepie_traffic::{Traffic, TrafficMatrix};

/// Adds the messages of `record` to `into`, between world ranks: messages and bytes of all its
/// calls.
///
/// `model` selects the rules; an algorithm that is not modelled in the way of `family`
/// ([`Family::models`]) is replaced by the usual one of `family`. Bytes are exact for the
/// algorithm. Messages without a byte only count if they synchronize, since MPIs omit them
/// otherwise; data that a rank sends to itself are no message. Exact pairs ([`Volume::Pairs`]) are
/// used unchanged, with any model.
///
/// A record that does not fit the ranks of `into` adds nothing: [`Record::validate`] reports why,
/// and readers of files call it.
pub fn expand(record: &Record, model: Model, family: Family, into: &mut TrafficMatrix) {
    if record.calls == 0 || record.validate(into.order()).is_err() {
        return;
    }
    if let Volume::Pairs(pairs) = &record.volume {
        return expand_pairs(&record.group, pairs, into);
    }
    let (operation, ranks) = (record.operation, record.group.len());
    let family = match model {
        Model::Native(family) => family,
        _ => family,
    };
    let name = match model {
        Model::Logical => meant(operation),
        Model::Algorithm(named) if family.models(operation, named, ranks) && !is_spread(record) => {
            named
        }
        // Blocks that are known only by sender are distributed evenly.
        _ if is_spread(record) => meant(operation),
        _ => family.usual_algorithm(operation, ranks, record.block_bytes()),
    };
    match family.by_name(operation, name, ranks) {
        Some(NativeAlgorithm::Composed(parts)) => {
            for operation in parts {
                let part = part(record, operation);
                expand(&part, Model::Native(family), family, into);
            }
        }
        Some(NativeAlgorithm::By(algorithm)) => {
            let run = AsRun {
                algorithm,
                clusters: Cow::Owned(Clusters::one(ranks)),
                network: None,
                ordered: false,
                unit_bytes: 1,
                flow: family.flow(operation, algorithm.name),
            };
            read(record, &run, into);
        }
        None => debug_assert!(false, "{operation} by {name} on {ranks} ranks"),
    }
}

/// Adds the messages of `record` as it was run by a plan, as [`expand`] does: the messages of the
/// plans of all ranks, for all calls. Exact pairs are used unchanged, except for algorithms that
/// relay them, where every call is assumed to be the mean one. Nothing is added for a record that
/// does not fit, nor by an algorithm that does not serve it. Blocks that must be equal are assumed
/// to have their mean size.
pub fn expand_as_run(record: &Record, run: &AsRun, into: &mut TrafficMatrix) {
    let fits = record.validate(into.order()).is_ok() && run.clusters.ranks() == record.group.len();
    if record.calls == 0 || !fits {
        return;
    }
    let operation = record.operation;
    match &record.volume {
        Volume::Pairs(pairs)
            if run.algorithm.scope == Scope::Grid && operation.is_among_neighbours() =>
        {
            neighbours::expand_relayed(record, pairs, run, into);
        }
        Volume::Pairs(pairs) if !needs_all_sizes(run.algorithm) => {
            expand_pairs(&record.group, pairs, into);
        }
        Volume::PerRank(blocks) if record.operation.has_equal_blocks() => {
            // One block for each rank, or, of a total exchange, for each pair.
            let count = match record.operation.unit() {
                Unit::PairBlocks => blocks.len() * blocks.len(),
                _ => blocks.len(),
            };
            let all = blocks
                .iter()
                .fold(0, |sum: u64, &one| sum.saturating_add(one));
            let volume = Volume::Uniform(all / count as u64);
            let alike = Record {
                volume,
                ..record.clone()
            };
            read(&alike, run, into);
        }
        _ => read(record, run, into),
    }
}

/// True if ranks need sizes that MPI does not give them: without these, no algorithm relays blocks
/// of uneven sizes.
pub(super) fn needs_all_sizes(algorithm: &Algorithm) -> bool {
    let needs = |one: &Requirement| matches!(one, Requirement::KnownSizes | Requirement::ToldSizes);
    algorithm.requires.iter().any(needs)
}

/// True if a total exchange is only known by sender.
fn is_spread(record: &Record) -> bool {
    record.operation.unit() == Unit::PairBlocks && matches!(record.volume, Volume::PerRank(_))
}

/// Returns the algorithm with the logical messages of the collective, independent of its
/// implementation: root to all, all to root, all to all.
fn meant(operation: Operation) -> &'static str {
    use Operation::*;
    match operation {
        Bcast | Reduce | Gather | Gatherv | Scatter | Scatterv | Allgather | Allgatherv => "flat",
        Alltoall | Alltoallv | Alltoallw | ReduceScatter | ReduceScatterBlock => "pairwise",
        NeighborAllgather | NeighborAllgatherv => "flat",
        NeighborAlltoall | NeighborAlltoallv | NeighborAlltoallw => "flat",
        Barrier | Allreduce | Scan | Exscan => "all-to-all",
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

/// Returns one of the collectives that a collective is composed of, with rank 0 as root.
fn part(record: &Record, operation: Operation) -> Record {
    let all = || match &record.volume {
        Volume::Uniform(bytes) => bytes.saturating_mul(record.group.len() as u64),
        Volume::PerRank(blocks) => blocks
            .iter()
            .fold(0, |sum: u64, &one| sum.saturating_add(one)),
        Volume::Pairs(_) => 0,
    };
    Record {
        operation,
        root: Some(0),
        volume: match operation.unit() == record.operation.unit() {
            true => record.volume.clone(),
            false => Volume::Uniform(all()),
        },
        ..record.clone()
    }
}

/// Returns the calls of a record as calls of known sizes, with the number of each: all of the mean
/// size, except for one with the remainder. No byte is lost.
fn calls(record: &Record) -> Vec<(u64, Volume)> {
    let calls = record.calls;
    let of_each = |more: u64| {
        let one = |bytes: u64| bytes / calls + more * (bytes % calls);
        match &record.volume {
            Volume::Uniform(bytes) => Volume::Uniform(one(*bytes)),
            Volume::PerRank(blocks) => {
                Volume::PerRank(blocks.iter().map(|&bytes| one(bytes)).collect())
            }
            Volume::Pairs(pairs) => {
                let of_one =
                    |&(from, to, bytes, _): &(u32, u32, u64, u64)| (from, to, one(bytes), 1);
                Volume::Pairs(pairs.iter().map(of_one).collect())
            }
        }
    };
    match of_each(0) == of_each(1) {
        true => vec![(calls, of_each(0))],
        false => vec![(calls - 1, of_each(0)), (1, of_each(1))],
    }
}

/// Reads the description for all ranks.
fn read(record: &Record, run: &AsRun, into: &mut TrafficMatrix) {
    let (operation, ranks) = (record.operation, record.group.len());
    // Beyond this, sums of blocks would overflow: no call has that many bytes.
    let most = (u64::MAX >> 12) / ranks as u64;
    let most = match operation.unit() {
        Unit::PairBlocks => most / ranks as u64,
        _ => most,
    };
    for (calls, volume) in calls(record) {
        let is_whole = |bytes: &u64| bytes.is_multiple_of(run.unit_bytes.max(1));
        let unit_bytes = match &volume {
            Volume::Uniform(bytes) if is_whole(bytes) => run.unit_bytes.max(1),
            Volume::PerRank(blocks) if blocks.iter().all(is_whole) => run.unit_bytes.max(1),
            // A mean that is no whole number of elements.
            _ => 1,
        };
        let units = |bytes: u64| (bytes / unit_bytes).min(most);
        let needs_all = needs_all_sizes(run.algorithm);
        let amount = |rank: usize| match &volume {
            Volume::PerRank(sent) if operation.unit() == Unit::PairBlocks && needs_all => {
                let row = |&one: &u64| (0..ranks).map(move |to| share(units(one), ranks, to).1);
                Amount::Table(sent.iter().flat_map(row).collect())
            }
            Volume::PerRank(sent) if operation.unit() == Unit::PairBlocks => Amount::Exchanged {
                sent: (0..ranks)
                    .map(|to| share(units(sent[rank]), ranks, to).1)
                    .collect(),
                received: sent
                    .iter()
                    .map(|&from| share(units(from), ranks, rank).1)
                    .collect(),
            },
            Volume::PerRank(blocks) => {
                Amount::KnownBlocks(blocks.iter().map(|&one| units(one)).collect())
            }
            Volume::Uniform(_) if operation == Operation::Barrier => Amount::Each(0),
            Volume::Uniform(bytes) => Amount::Each(units(*bytes)),
            Volume::Pairs(pairs) => {
                let mut table = vec![0; ranks * ranks];
                for &(from, to, bytes, _) in pairs {
                    table[from as usize * ranks + to as usize] += units(bytes);
                }
                Amount::Table(table)
            }
        };
        let first = amount(0);
        let problem_of_first = Problem {
            operation,
            root: record.root.unwrap_or(0) as usize,
            amount: &first,
            clusters: &run.clusters,
            ordered: run.ordered,
            network: run.network,
            unit_bytes,
        };
        if !run.algorithm.serves(&problem_of_first) {
            return;
        }
        // The flow was given in elements, and is converted if there are no whole ones.
        let flow = run.flow.times(run.unit_bytes.max(1) / unit_bytes);
        let mut sent = Sent::new(problem_of_first.flow(flow));
        let alike = run.algorithm.alike(&problem_of_first);
        let read = alike.read(ranks);
        let mut add = |from: usize, sent: &[(usize, Traffic)]| {
            for &(to, one) in sent {
                let to = alike.peer(from, to, ranks);
                let all = Traffic::new(
                    one.messages.saturating_mul(calls),
                    one.bytes.saturating_mul(unit_bytes).saturating_mul(calls),
                );
                into.add(record.group[from] as usize, record.group[to] as usize, all);
            }
        };
        let description = run.algorithm.describe(&problem_of_first);
        for one in 0..read {
            let differs = matches!(first, Amount::Exchanged { .. }) && one > 0;
            let own = differs.then(|| amount(one));
            let problem = own.as_ref().map(|amount| Problem {
                amount,
                ..problem_of_first.clone()
            });
            let sent = match &problem {
                Some(problem) => sent.of(&run.algorithm.describe(problem), one),
                None => sent.of(&description, one),
            };
            (one..ranks).step_by(read).for_each(|rank| add(rank, sent));
        }
    }
}
