//! All strategies: name, collectives, whether they keep the order of operands, the
//! generator, and what estimates their time between clusters.

use super::between::{Between, Direction, Grouped};
use super::lanes;
use super::matchings::{MOST_RANKS, Matching};
use super::trees::Shape::{Alpha, Binary, Binomial, Chain, Flat, Octopus};
use super::{
    allgather, allreduce, alltoall, barrier, direct, gather, grid_broadcast, grid_reduce, halving,
    inside, reduce_exchange, reduce_scatter, scan, scan_exchange,
};
use crate::collective::Operation::{self, *};
use crate::collective::algorithms::strategy::{Generate, Strategy};
use crate::collective::read::estimate::{self, Scene};
use crate::platform::orders::Order;

const ROOTED_BLOCKS: &[Operation] = &[Gather, Gatherv];
const SCATTERS: &[Operation] = &[Scatter, Scatterv];
const ALLGATHERS: &[Operation] = &[Allgather, Allgatherv];
const EXCHANGES: &[Operation] = &[Alltoall, Alltoallv, Alltoallw];
const REDUCE_SCATTERS: &[Operation] = &[ReduceScatter, ReduceScatterBlock];
const SCANS: &[Operation] = &[Scan, Exscan];

/// A strategy that keeps operands in the order of ranks if that is asked for, or has none.
const fn ordered(
    name: &'static str,
    operations: &'static [Operation],
    generate: Generate,
) -> Strategy {
    Strategy {
        name,
        operations,
        keeps_order: true,
        only_ordered: false,
        most_ranks: usize::MAX,
        generate,
        is_tree: false,
        tree: None,
        estimate: None,
    }
}

/// A strategy that combines operands as they come.
const fn unordered(
    name: &'static str,
    operations: &'static [Operation],
    generate: Generate,
) -> Strategy {
    Strategy {
        keeps_order: false,
        ..ordered(name, operations, generate)
    }
}

/// A broadcast, a reduction or both along a tree between clusters.
macro_rules! between {
    ($name:literal, Bcast, $between:expr) => {
        ordered($name, &[Bcast], |p, r, b| {
            grid_broadcast::tree(p, r, b, $between)
        })
        .along($between, Direction::Down)
        .estimated(|s, _, edges| estimate::broadcast_tree(s, edges))
    };
    ($name:literal, Reduce, $between:expr) => {
        unordered($name, &[Reduce], |p, r, b| {
            grid_reduce::tree(p, r, b, $between)
        })
        .along($between, Direction::Up)
        .estimated(|s, _, edges| estimate::reduce_tree(s, edges))
    };
    ($name:literal, Allreduce, $between:expr) => {
        unordered($name, &[Allreduce], |p, r, b| {
            grid_reduce::allreduce(p, r, b, $between)
        })
        .along($between, Direction::Down)
        .estimated(|s, _, edges| estimate::allreduce_tree(s, edges))
    };
}

/// A gather or a scatter with one message for each cluster.
macro_rules! grouped {
    ($name:literal, Gather, $order:expr) => {
        ordered($name, &[Gather], gather::gather_grouped)
            .estimated(|s, _, _| estimate::grouped(s, $order))
    };
    ($name:literal, Scatter, $order:expr) => {
        ordered($name, &[Scatter], |p, r, b| {
            gather::scatter_grouped(p, r, b, $order)
        })
        .estimated(|s, _, _| estimate::grouped(s, $order))
    };
}

/// A total exchange in the order of a matching: for few ranks.
macro_rules! matched {
    ($name:literal, $matching:expr) => {
        Strategy {
            most_ranks: MOST_RANKS,
            ..ordered($name, EXCHANGES, |p, r, b| {
                alltoall::matched(p, r, b, $matching)
            })
        }
    };
}

/// How many lanes work side by side.
fn lanes_of(scene: &Scene) -> usize {
    lanes::count(scene.clusters)
}

/// The same, as far as the message has pieces for them.
fn worthwhile_lanes_of(scene: &Scene) -> usize {
    lanes::worthwhile(
        scene.clusters,
        Some(scene.network),
        scene.bytes,
        scene.piece.bytes,
    )
}

/// All strategies, for each collective from simple to elaborate. Those whose name
/// starts with `grid-` look at clusters, the others only at ranks.
pub(in crate::collective) static STRATEGIES: &[Strategy] = &[
    ordered("flat", &[Bcast], |p, r, b| inside::broadcast(p, r, b, Flat)),
    ordered("chain", &[Bcast], |p, r, b| {
        inside::broadcast(p, r, b, Chain)
    }),
    ordered("binary", &[Bcast], |p, r, b| {
        inside::broadcast(p, r, b, Binary)
    }),
    ordered("binomial", &[Bcast], |p, r, b| {
        inside::broadcast(p, r, b, Binomial)
    }),
    ordered("octopus", &[Bcast], |p, r, b| {
        inside::broadcast(p, r, b, Octopus(2))
    }),
    ordered("alpha", &[Bcast], |p, r, b| {
        inside::broadcast(p, r, b, Alpha(25))
    }),
    ordered("scatter-collect", &[Bcast], allgather::scatter_collect),
    between!("grid-flat", Bcast, Between::Shape(Flat)),
    between!("grid-chain", Bcast, Between::Shape(Chain)),
    between!("grid-binomial", Bcast, Between::Shape(Binomial)),
    between!("grid-fnf", Bcast, Between::Order(Order::Fnf)),
    between!("grid-fef", Bcast, Between::Order(Order::Fef)),
    between!("grid-ecef", Bcast, Between::Order(Order::Ecef)),
    between!("grid-ecef-la", Bcast, Between::Order(Order::EcefLa)),
    between!(
        "grid-ecef-lat-min",
        Bcast,
        Between::Order(Order::EcefLatMin)
    ),
    between!("grid-ecef-lat", Bcast, Between::Order(Order::EcefLat)),
    between!("grid-bottom-up", Bcast, Between::Order(Order::BottomUp)),
    between!(
        "grid-bottom-up-ready",
        Bcast,
        Between::Order(Order::BottomUpReady)
    ),
    // One of the others, by the number of clusters: not predicted again.
    ordered("grid-mixed", &[Bcast], |p, r, b| {
        grid_broadcast::tree(p, r, b, Between::Order(Order::Mixed))
    }),
    ordered("grid-lanes", &[Bcast], |p, r, b| {
        lanes::broadcast(p, r, b, Between::Order(Order::Mixed))
    })
    .along(Between::Order(Order::Mixed), Direction::Down)
    .in_its_way()
    .estimated(|s, _, edges| {
        let lanes = lanes::to_fill(s.clusters, Some(s.network));
        estimate::broadcast_lanes(s, edges, lanes)
    }),
    ordered("grid-exchange", &[Bcast], grid_broadcast::exchange)
        .estimated(|s, _, _| estimate::broadcast_exchange(s)),
    ordered("flat", &[Reduce], |p, r, b| inside::reduce(p, r, b, Flat)),
    ordered("chain", &[Reduce], |p, r, b| inside::reduce(p, r, b, Chain))
        .for_order(|s, _, _| estimate::chain(s)),
    unordered("binary", &[Reduce], |p, r, b| {
        inside::reduce(p, r, b, Binary)
    }),
    ordered("binomial", &[Reduce], |p, r, b| {
        inside::reduce(p, r, b, Binomial)
    })
    .for_order(|s, _, _| estimate::binomial(s)),
    ordered("rabenseifner", &[Reduce], halving::reduce),
    between!("grid-flat", Reduce, Between::Shape(Flat)),
    between!("grid-chain", Reduce, Between::Shape(Chain)),
    between!("grid-binomial", Reduce, Between::Shape(Binomial)),
    between!("grid-fnf", Reduce, Between::Order(Order::Fnf)),
    between!("grid-fef", Reduce, Between::Order(Order::Fef)),
    between!("grid-ecef", Reduce, Between::Order(Order::Ecef)),
    between!("grid-ecef-la", Reduce, Between::Order(Order::EcefLa)),
    between!(
        "grid-ecef-lat-min",
        Reduce,
        Between::Order(Order::EcefLatMin)
    ),
    between!("grid-ecef-lat", Reduce, Between::Order(Order::EcefLat)),
    between!("grid-bottom-up", Reduce, Between::Order(Order::BottomUp)),
    between!(
        "grid-bottom-up-ready",
        Reduce,
        Between::Order(Order::BottomUpReady)
    ),
    unordered("grid-mixed", &[Reduce], |p, r, b| {
        grid_reduce::tree(p, r, b, Between::Order(Order::Mixed))
    }),
    unordered("grid-lanes", &[Reduce], lanes::reduce_chain)
        .estimated(|s, _, _| estimate::reduce_lanes(s, lanes_of(s))),
    unordered("grid-exchange", &[Reduce], reduce_exchange::exchange)
        .estimated(|s, _, _| estimate::reduce_exchange(s)),
    unordered("grid-direct", &[Reduce], direct::reduce)
        .estimated(|s, _, _| estimate::reduce_direct(s, worthwhile_lanes_of(s))),
    ordered("flat", &[Allreduce], |p, r, b| {
        inside::allreduce(p, r, b, Flat)
    }),
    ordered("chain", &[Allreduce], |p, r, b| {
        inside::allreduce(p, r, b, Chain)
    })
    .for_order(|s, _, _| 2.0 * estimate::chain(s)),
    ordered("binomial", &[Allreduce], |p, r, b| {
        inside::allreduce(p, r, b, Binomial)
    })
    .for_order(|s, _, _| 2.0 * estimate::binomial(s)),
    ordered(
        "recursive-doubling",
        &[Allreduce],
        allreduce::recursive_doubling,
    )
    .for_order(|s, _, _| estimate::doubling(s)),
    ordered("rabenseifner", &[Allreduce], halving::allreduce),
    unordered("ring", &[Allreduce], allreduce::ring),
    unordered("grid-exchange", &[Allreduce], lanes::allreduce_exchange)
        .estimated(|s, _, _| estimate::allreduce_exchange(s)),
    between!("grid-chain", Allreduce, Between::Shape(Chain)),
    between!("grid-flat", Allreduce, Between::Shape(Flat)),
    between!("grid-ecef-lat", Allreduce, Between::Order(Order::EcefLat)),
    unordered("grid-lanes", &[Allreduce], lanes::allreduce)
        .estimated(|s, _, _| estimate::allreduce_ring(s, lanes_of(s))),
    unordered("grid-direct", &[Allreduce], direct::allreduce)
        .estimated(|s, _, _| estimate::allreduce_direct(s, worthwhile_lanes_of(s))),
    ordered("flat", &[Barrier], |p, r, b| inside::barrier(p, r, b, Flat)),
    ordered("binomial", &[Barrier], |p, r, b| {
        inside::barrier(p, r, b, Binomial)
    }),
    ordered("dissemination", &[Barrier], barrier::dissemination),
    ordered("grid-exchange", &[Barrier], barrier::grid_exchange)
        .estimated(|s, _, _| estimate::barrier_exchange(s)),
    ordered("flat", ROOTED_BLOCKS, gather::gather)
        .estimated(|s, operation, _| estimate::direct(s, operation)),
    ordered("binomial", &[Gather], gather::gather_binomial),
    grouped!("grid-grouped", Gather, Grouped::InOrder),
    ordered("flat", SCATTERS, gather::scatter)
        .estimated(|s, operation, _| estimate::direct(s, operation)),
    ordered("binomial", &[Scatter], gather::scatter_binomial),
    grouped!("grid-grouped", Scatter, Grouped::InOrder),
    grouped!("grid-slowest-first", Scatter, Grouped::SlowestFirst),
    grouped!("grid-latest-tail-first", Scatter, Grouped::LatestTailFirst),
    ordered("flat", ALLGATHERS, allgather::flat)
        .estimated(|s, operation, _| estimate::direct(s, operation)),
    ordered("ring", ALLGATHERS, allgather::ring),
    ordered("bruck", &[Allgather], allgather::bruck),
    ordered("grid-exchange", ALLGATHERS, allgather::grid_exchange)
        .estimated(|s, _, _| estimate::allgather_exchange(s)),
    ordered("grid-lanes", ALLGATHERS, allgather::grid_lanes)
        .estimated(|s, _, _| estimate::allgather_lanes(s)),
    ordered("flat", EXCHANGES, alltoall::flat)
        .estimated(|s, operation, _| estimate::direct(s, operation)),
    ordered("bruck", &[Alltoall], alltoall::bruck),
    ordered("pairwise", EXCHANGES, alltoall::pairwise),
    matched!("max-min", Matching::MaxMin),
    matched!("max-weight", Matching::MaxWeight),
    matched!("greedy", Matching::Greedy),
    matched!("open-shop", Matching::OpenShop),
    ordered("grid-grouped", &[Alltoall], alltoall::grouped)
        .estimated(|s, _, _| estimate::alltoall_grouped(s)),
    ordered("pairwise", REDUCE_SCATTERS, reduce_scatter::pairwise)
        .estimated(|s, operation, _| estimate::direct(s, operation)),
    unordered(
        "recursive-halving",
        REDUCE_SCATTERS,
        halving::reduce_scatter,
    ),
    unordered(
        "grid-exchange",
        REDUCE_SCATTERS,
        reduce_scatter::grid_exchange,
    )
    .estimated(|s, _, _| estimate::reduce_scatter_exchange(s)),
    ordered("chain", SCANS, scan::chain).estimated(|s, _, _| estimate::chain(s)),
    ordered("grid-gather", SCANS, scan::gathered)
        .estimated(|s, _, _| estimate::allgather_exchange(s)),
    unordered("grid-exchange", SCANS, scan_exchange::exchange)
        .estimated(|s, _, _| estimate::scan_exchange(s)),
    ordered("recursive-doubling", SCANS, scan::recursive_doubling)
        .estimated(|s, _, _| estimate::doubling(s)),
];
