//! The formula of the thesis for an algorithm: one homogeneous cluster by the tables of chapter 6,
//! orders between clusters by the makespans of chapter 7.

use crate::links::{MessageModel, Modelled, Timing};
use crate::models::group::{Form, Group};
use crate::models::table_6_3::Scatter;
use crate::models::tables_6_1_and_6_2::Broadcast;
use crate::models::{chapter_5, section_6_4};
use treepie_base::Cluster;
use treepie_base::square::Square;
use treepie_collective::algorithms::Between;
use treepie_collective::{Algorithm, Clusters, Network, Operation, Uniform};
use treepie_platform::Contention;
use treepie_platform::orders::{Accounting, Costs, Order};

/// Interpretation of the formulas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reading {
    /// Corrected or as printed.
    pub form: Form,
    /// The model of single messages.
    pub model: MessageModel,
}

impl Reading {
    /// Processes on equal links, with the formulas in this form.
    pub(super) fn group(self, processes: usize, link: &Modelled) -> Group<'_> {
        let group = Group::new(processes, link as &dyn Timing);
        match self.form {
            Form::Corrected => group,
            Form::Thesis => group.as_printed(),
        }
    }
}

/// Seconds by the formula, with the message costs of a model; `None` if the thesis has no formula,
/// or if no two levels are alike.
pub fn formula(
    algorithm: &Algorithm,
    call: &Uniform,
    segment: u64,
    network: &Network,
    clusters: &Clusters,
    reading: Reading,
) -> Option<f64> {
    if clusters.count() == 1 {
        let has_levels = network.hosts() > 1 && network.hosts() < clusters.ranks();
        let link = Modelled::new(
            reading.model,
            network.within(Cluster(0)).filter(|_| !has_levels)?,
        );
        let group = reading.group(clusters.ranks(), &link);
        return table(algorithm.name, call, segment, group, network);
    }
    let Some((Between::Order(order), _)) = algorithm.tree else {
        return None;
    };
    let span = makespan(order, call, network, clusters, reading)?;
    let computing = (clusters.count() - 1) as f64 * network.computing.seconds(call.bytes);
    match call.operation {
        Operation::Bcast => Some(span),
        Operation::Reduce => Some(span + computing),
        Operation::Allreduce => Some(2.0 * span + computing),
        _ => None,
    }
}

/// Seconds of a broadcast in this order between clusters, by chapter 7: `T_k` is the best of table
/// 6.2 inside each cluster.
pub fn makespan(
    order: Order,
    call: &Uniform,
    network: &Network,
    clusters: &Clusters,
    reading: Reading,
) -> Option<f64> {
    let inside = clusters.all().map(|cluster| {
        let Some(link) = network.within(cluster) else {
            return 0.0;
        };
        let link = Modelled::new(reading.model, link);
        let group = reading.group(clusters.members(cluster).len(), &link);
        Broadcast::choose(group, call.bytes, 1).1.seconds
    });
    let count = clusters.count();
    let between: Square<Cluster, Option<Modelled>> = Square::new(count, |(from, to)| {
        Some(Modelled::new(reading.model, network.between(from, to)?))
    });
    let all = |of: &dyn Fn(&Modelled) -> f64| {
        Square::new(count, |pair| between[pair].as_ref().map_or(0.0, of))
    };
    let gap = all(&|link| link.gap(call.bytes));
    let latency = all(&|link| link.latency() + link.handshake(call.bytes));
    let costs = Costs::new(gap, latency, inside.collect()).ok()?;
    let schedule = order.schedule(&costs, clusters.of(call.root));
    Some(schedule.makespan(&costs, Accounting::AfterSends))
}

/// The row of chapter 6 for an algorithm by rank, on `group`.
fn table(
    name: &str,
    call: &Uniform,
    segment: u64,
    group: Group<'_>,
    network: &Network,
) -> Option<f64> {
    use Operation as O;
    let (bytes, computing) = (call.bytes, network.computing);
    let contention = network.contention(Cluster(0)).unwrap_or(Contention::NONE);
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
        // Section 5.4.
        (O::Reduce, "flat") => chapter_5::reduce_flat(group, computing, bytes),
        (O::Reduce, "binomial") if !cut => chapter_5::reduce_binomial(group, computing, bytes),
        (O::Reduce, "reduce-scatter-gather") => {
            chapter_5::reduce_scatter_gather(group, computing, bytes)
        }
        (O::Reduce, "chain") => chapter_5::reduce_chain(group, computing, bytes, segment),
        // Section 5.6.
        (O::Allreduce, "binomial") if !cut => {
            chapter_5::allreduce_binomial(group, computing, bytes)
        }
        (O::Allreduce, "recursive-doubling") => {
            chapter_5::allreduce_doubling(group, computing, bytes)
        }
        (O::Allreduce, "reduce-scatter-allgather") => {
            chapter_5::allreduce_halving(group, computing, bytes)
        }
        (O::Allreduce, "ring") => chapter_5::allreduce_ring(group, computing, bytes),
        // Section 5.7.
        (O::Allgather, "ring") => chapter_5::allgather_ring(group, bytes),
        (O::Allgather, "bruck") => chapter_5::allgather_bruck(group, bytes),
        // Section 6.4, with the measured contention.
        (O::Alltoall, "flat") => section_6_4::direct(group, contention, bytes),
        (O::Alltoall, "pairwise") => section_6_4::pairwise(group, bytes),
        (O::Alltoall, "bruck") => section_6_4::bruck(group, bytes),
        // Section 5.3.
        (O::Barrier, "binomial") => chapter_5::barrier_binomial(group),
        (O::Barrier, "dissemination") => chapter_5::barrier_dissemination(group),
        _ => return None,
    })
}
