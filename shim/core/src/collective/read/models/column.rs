//! The formula of the thesis for a strategy: one homogeneous cluster by the tables of chapter 6, orders
//! between clusters by the makespans of chapter 7.

use super::allgather::Allgather;
use super::allreduce::Allreduce;
use super::alltoall::Alltoall;
use super::barrier::Barrier;
use super::broadcast::Broadcast;
use super::reduce::Reduce;
use super::scatter::Scatter;
use super::{Form, Group};
use crate::collective::algorithms::Between;
use crate::collective::{Clusters, Network, Operation, Strategy, Uniform};
use crate::platform::orders::Accounting;
use crate::platform::{Contention, Timing};

/// Seconds by the formula; `None` where the thesis has none, or where no two levels are alike.
pub fn strategy_formula(
    strategy: &Strategy,
    call: &Uniform,
    segment: u64,
    network: &Network,
    clusters: &Clusters,
    form: Form,
) -> Option<f64> {
    let group = |cluster: usize| {
        let (ranks, link) = (clusters.members(cluster).len(), network.within(cluster)?);
        let group = Group::new(ranks, link as &dyn Timing);
        Some(match form {
            Form::Corrected => group,
            Form::Thesis => group.as_printed(),
        })
    };
    if clusters.count() == 1 {
        let has_levels = network.hosts() > 1 && network.hosts() < clusters.ranks();
        let group = group(0).filter(|_| !has_levels)?;
        return table(strategy.name, call, segment, group, network);
    }
    let Some((Between::Order(order), _)) = strategy.tree else {
        return None;
    };
    // Chapter 7: T_k is the best of table 6.2 inside each cluster.
    let inside = (0..clusters.count()).map(|cluster| {
        let best = |group| Broadcast::choose(group, call.bytes, 1).1.seconds;
        group(cluster).map_or(0.0, best)
    });
    let costs = network.costs(|_, _| call.bytes, inside.collect()).ok()?;
    let root = clusters.of(call.root);
    let span = order
        .schedule(&costs, root)
        .makespan(&costs, Accounting::AfterSends);
    let computing = (clusters.count() - 1) as f64 * network.computing.seconds(call.bytes);
    match call.operation {
        Operation::Bcast => Some(span),
        Operation::Reduce => Some(span + computing),
        Operation::Allreduce => Some(2.0 * span + computing),
        _ => None,
    }
}

/// The row of chapter 6 that a strategy by rank is, on `group`.
pub(in crate::collective) fn table(
    name: &str,
    call: &Uniform,
    segment: u64,
    group: Group<'_>,
    network: &Network,
) -> Option<f64> {
    use Operation as O;
    let (bytes, computing) = (call.bytes, network.computing);
    let cut = segment < bytes;
    Some(match (call.operation, name) {
        // Tables 6.1 and 6.2.
        (O::Bcast, name) => {
            let row = match (name, cut) {
                ("flat", false) => Broadcast::Flat,
                ("flat", true) => Broadcast::SegmentedFlat,
                ("chain", false) => Broadcast::Chain,
                ("chain", true) => Broadcast::SegmentedChain,
                ("binary", false) => Broadcast::Binary,
                ("binomial", false) => Broadcast::Binomial,
                ("binomial", true) => Broadcast::SegmentedBinomial,
                ("octopus", _) => Broadcast::Octopus2,
                ("scatter-collect", _) => Broadcast::ScatterCollection,
                _ => return None,
            };
            row.seconds(group, bytes, segment)
        }
        // Table 6.3; a gather is a scatter backwards.
        (O::Scatter | O::Gather, "flat") => Scatter::Flat.seconds(group, bytes),
        (O::Scatter | O::Gather, "binomial") => Scatter::Binomial.seconds(group, bytes),
        // Section 5.5.
        (O::Reduce, "flat") => Reduce::Flat.seconds(group, computing, bytes, bytes),
        (O::Reduce, "binomial") if !cut => Reduce::Binomial.seconds(group, computing, bytes, bytes),
        (O::Reduce, "rabenseifner") => Reduce::Rabenseifner.seconds(group, computing, bytes, bytes),
        (O::Reduce, "chain") => Reduce::SegmentedChain.seconds(group, computing, bytes, segment),
        // Section 5.6.
        (O::Allreduce, "binomial") if !cut => {
            Allreduce::ReduceBroadcast.seconds(group, computing, bytes)
        }
        (O::Allreduce, "recursive-doubling") => {
            Allreduce::RecursiveDoubling.seconds(group, computing, bytes)
        }
        (O::Allreduce, "rabenseifner") => Allreduce::Rabenseifner.seconds(group, computing, bytes),
        (O::Allreduce, "ring") => Allreduce::Ring.seconds(group, computing, bytes),
        // Section 5.7.
        (O::Allgather, "ring") => Allgather::Ring.seconds(group, bytes),
        (O::Allgather, "bruck") => Allgather::Bruck.seconds(group, bytes),
        // Section 6.4, without contention.
        (O::Alltoall, "flat") => Alltoall::Direct.seconds(group, Contention::NONE, bytes),
        (O::Alltoall, "pairwise") => Alltoall::Pairwise.seconds(group, Contention::NONE, bytes),
        (O::Alltoall, "bruck") => Alltoall::Bruck.seconds(group, Contention::NONE, bytes),
        // Section 5.3.
        (O::Barrier, "binomial") => Barrier::Binomial.seconds(group),
        (O::Barrier, "dissemination") => Barrier::Dissemination.seconds(group),
        _ => return None,
    })
}
