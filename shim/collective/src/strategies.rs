//! Strategies of property tests: records of collectives.

use proptest::prelude::*;

use crate::algorithms::algorithm::Algorithm;
use crate::operation::Operation;
use crate::record::{PlanRun, Record, Volume, size_class};

/// Valid records of any collective in any group of a world of `ranks` ranks.
pub fn records(ranks: u32) -> impl Strategy<Value = Record> {
    let operation = prop::sample::select(Operation::all().collect::<Vec<_>>());
    let group = (
        Just((0..ranks).collect::<Vec<_>>()).prop_shuffle(),
        1..=ranks,
    )
        .prop_map(|(world, size)| world[..size as usize].to_vec());
    (operation, group, any::<prop::sample::Index>(), 0u64..5)
        .prop_flat_map(|(operation, group, root, calls)| {
            let root = operation.has_root().then(|| root.index(group.len()) as u32);
            let volumes = volumes(operation, group.len());
            (
                Just((operation, group, root, calls)),
                volumes,
                plans(operation),
            )
        })
        .prop_map(|((operation, group, root, calls), volume, plan)| {
            let mut record = Record {
                operation,
                group: group.into(),
                root,
                size_class: 0,
                plan,
                calls,
                volume,
            };
            record.size_class = size_class(record.block_bytes());
            record
        })
}

fn plans(operation: Operation) -> impl Strategy<Value = Option<PlanRun>> {
    let algorithms: Vec<&str> = Algorithm::of(operation).map(|known| known.name).collect();
    let algorithm = prop::sample::select(algorithms);
    let plan = (algorithm, 1u64..1 << 20, 1u64..20, any::<bool>());
    prop::option::of(
        plan.prop_map(|(algorithm, segment, unit_bytes, ordered)| PlanRun {
            algorithm: algorithm.to_owned(),
            segment,
            unit_bytes,
            ordered,
        }),
    )
}

fn volumes(operation: Operation, size: usize) -> BoxedStrategy<Volume> {
    use Operation::*;
    let bytes = || prop_oneof![Just(0u64), 0u64..100, 0u64..1 << 22];
    let uniform = bytes().prop_map(Volume::Uniform);
    let per_rank = prop::collection::vec(bytes(), size).prop_map(Volume::PerRank);
    let rank = 0..size as u32;
    let pair = (rank.clone(), rank, bytes(), 0u64..10);
    let pairs = prop::collection::vec(pair, 0..20).prop_map(Volume::Pairs);
    match operation {
        Barrier | Bcast | Reduce | Allreduce | Scan | Exscan => uniform.boxed(),
        Alltoall | Alltoallv | Alltoallw => prop_oneof![uniform, per_rank, pairs].boxed(),
        operation if operation.is_among_neighbours() => pairs.boxed(),
        _ => prop_oneof![uniform, per_rank].boxed(),
    }
}
