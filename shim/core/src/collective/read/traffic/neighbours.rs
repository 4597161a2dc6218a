//! What a neighbourhood allgather sends whose blocks are relayed: read from its description, on the
//! topology that the recorded pairs make.

use std::sync::Arc;

use super::{AsRun, Sent};
use crate::affinity::{Traffic, TrafficMatrix};
use crate::collective::record::Record;
use crate::collective::{Amount, Clusters, Neighbourhoods, Problem};

/// Adds what the ranks of a record send in all its calls, each of which is taken to be the mean
/// one.
pub(super) fn expand_relayed(
    record: &Record,
    pairs: &[(u32, u32, u64, u64)],
    run: &AsRun,
    into: &mut TrafficMatrix,
) {
    let ranks = record.group.len();
    let mut edges: Vec<(u32, u32)> = pairs.iter().map(|&(from, to, ..)| (from, to)).collect();
    edges.sort_unstable();
    edges.dedup();
    let Some(all) = Neighbourhoods::graph(ranks, &edges) else {
        return;
    };
    // A rank gives all its neighbours the same; where its calls differ, the mean of them.
    let mut given = vec![(0_u64, 0_u64); ranks];
    for &(from, _, bytes, messages) in pairs {
        let (sum, count) = &mut given[from as usize];
        *sum = sum.saturating_add(bytes);
        *count += messages;
    }
    let block = |rank: usize| given[rank].0 / given[rank].1.max(1);
    let clusters = Clusters::clone(run.clusters).with_neighbourhoods(Arc::new(all));
    for from in 0..ranks {
        let Some(neighbourhoods) = clusters.neighbourhoods() else {
            return;
        };
        let ends = neighbourhoods.incoming(from).iter().flatten();
        let amount = Amount::Exchanged {
            sent: vec![block(from)],
            received: ends.map(|end| block(end.rank)).collect(),
        };
        let problem = Problem {
            operation: record.operation,
            root: 0,
            amount: &amount,
            clusters: &clusters,
            ordered: false,
            network: run.network,
            unit_bytes: 1,
        };
        let mut sent = Sent::new(problem.flow(run.flow));
        for &(to, one) in sent.of(&run.algorithm.describe(&problem), from) {
            let all = Traffic::new(
                one.messages.saturating_mul(record.calls),
                one.bytes.saturating_mul(record.calls),
            );
            into.add(record.group[from] as usize, record.group[to] as usize, all);
        }
    }
}
