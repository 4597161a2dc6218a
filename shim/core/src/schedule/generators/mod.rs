//! One function for each algorithm, which writes what one rank does.

mod allgather;
mod allreduce;
mod alltoall;
mod barrier;
mod gather;
mod grid_broadcast;
mod grid_reduce;
mod inside;
mod lanes;
mod reduce_scatter;
mod scan;
mod trees;

use super::strategy::Strategy;
use crate::affinity::collective::Operation::{self, *};
use lanes::Way::{Direct, Ring};
use trees::Shape::{Binary, Binomial, Chain, Flat};

const ROOTED_BLOCKS: &[Operation] = &[Gather, Gatherv];
const SCATTERS: &[Operation] = &[Scatter, Scatterv];
const ALLGATHERS: &[Operation] = &[Allgather, Allgatherv];
const EXCHANGES: &[Operation] = &[Alltoall, Alltoallv, Alltoallw];
const REDUCE_SCATTERS: &[Operation] = &[ReduceScatter, ReduceScatterBlock];
const SCANS: &[Operation] = &[Scan, Exscan];

/// A strategy that serves `operations`; `keeps_order` says whether operands stay
/// in the order of ranks if that is asked for.
macro_rules! strategy {
    ($name:literal, $operations:expr, $keeps_order:literal, $generate:expr) => {
        Strategy {
            name: $name,
            operations: $operations,
            keeps_order: $keeps_order,
            generate: $generate,
        }
    };
}

/// All strategies, for each collective from simple to elaborate. Those whose name
/// starts with `grid-` look at clusters, the others only at ranks.
pub(super) static STRATEGIES: &[Strategy] = &[
    strategy!("flat", &[Bcast], true, |p, r, b| inside::broadcast(
        p, r, b, Flat
    )),
    strategy!("chain", &[Bcast], true, |p, r, b| inside::broadcast(
        p, r, b, Chain
    )),
    strategy!("binary", &[Bcast], true, |p, r, b| inside::broadcast(
        p, r, b, Binary
    )),
    strategy!("binomial", &[Bcast], true, |p, r, b| inside::broadcast(
        p, r, b, Binomial
    )),
    strategy!(
        "scatter-collect",
        &[Bcast],
        true,
        allgather::scatter_collect
    ),
    strategy!("grid-flat", &[Bcast], true, |p, r, b| grid_broadcast::tree(
        p, r, b, Flat
    )),
    strategy!(
        "grid-chain",
        &[Bcast],
        true,
        |p, r, b| grid_broadcast::tree(p, r, b, Chain)
    ),
    strategy!("grid-binomial", &[Bcast], true, |p, r, b| {
        grid_broadcast::tree(p, r, b, Binomial)
    }),
    strategy!("grid-exchange", &[Bcast], true, grid_broadcast::exchange),
    strategy!("flat", &[Reduce], true, |p, r, b| inside::reduce(
        p, r, b, Flat
    )),
    strategy!("chain", &[Reduce], true, |p, r, b| inside::reduce(
        p, r, b, Chain
    )),
    strategy!("binary", &[Reduce], false, |p, r, b| inside::reduce(
        p, r, b, Binary
    )),
    strategy!("binomial", &[Reduce], true, |p, r, b| inside::reduce(
        p, r, b, Binomial
    )),
    strategy!("grid-flat", &[Reduce], false, |p, r, b| grid_reduce::tree(
        p, r, b, Flat
    )),
    strategy!("grid-chain", &[Reduce], false, |p, r, b| grid_reduce::tree(
        p, r, b, Chain
    )),
    strategy!("grid-binomial", &[Reduce], false, |p, r, b| {
        grid_reduce::tree(p, r, b, Binomial)
    }),
    strategy!("grid-lanes", &[Reduce], false, lanes::reduce),
    strategy!("flat", &[Allreduce], true, |p, r, b| inside::allreduce(
        p, r, b, Flat
    )),
    strategy!("chain", &[Allreduce], true, |p, r, b| inside::allreduce(
        p, r, b, Chain
    )),
    strategy!("binomial", &[Allreduce], true, |p, r, b| inside::allreduce(
        p, r, b, Binomial
    )),
    strategy!(
        "recursive-doubling",
        &[Allreduce],
        true,
        allreduce::recursive_doubling
    ),
    strategy!("ring", &[Allreduce], false, allreduce::ring),
    strategy!(
        "grid-exchange",
        &[Allreduce],
        false,
        lanes::allreduce_exchange
    ),
    strategy!("grid-chain", &[Allreduce], false, |p, r, b| {
        grid_reduce::allreduce(p, r, b, Chain)
    }),
    strategy!("grid-lanes", &[Allreduce], false, |p, r, b| {
        lanes::allreduce(p, r, b, Ring)
    }),
    strategy!("grid-direct", &[Allreduce], false, |p, r, b| {
        lanes::allreduce(p, r, b, Direct)
    }),
    strategy!("flat", &[Barrier], true, |p, r, b| inside::barrier(
        p, r, b, Flat
    )),
    strategy!("binomial", &[Barrier], true, |p, r, b| inside::barrier(
        p, r, b, Binomial
    )),
    strategy!("dissemination", &[Barrier], true, barrier::dissemination),
    strategy!("grid-exchange", &[Barrier], true, barrier::grid_exchange),
    strategy!("flat", ROOTED_BLOCKS, true, gather::gather),
    strategy!("binomial", &[Gather], true, gather::gather_binomial),
    strategy!("flat", SCATTERS, true, gather::scatter),
    strategy!("binomial", &[Scatter], true, gather::scatter_binomial),
    strategy!("flat", ALLGATHERS, true, allgather::flat),
    strategy!("ring", ALLGATHERS, true, allgather::ring),
    strategy!("bruck", &[Allgather], true, allgather::bruck),
    strategy!("grid-exchange", ALLGATHERS, true, allgather::grid_exchange),
    strategy!("flat", EXCHANGES, true, alltoall::flat),
    strategy!("bruck", &[Alltoall], true, alltoall::bruck),
    strategy!("pairwise", REDUCE_SCATTERS, true, reduce_scatter::pairwise),
    strategy!("chain", SCANS, true, scan::chain),
    strategy!("recursive-doubling", SCANS, true, scan::recursive_doubling),
];
