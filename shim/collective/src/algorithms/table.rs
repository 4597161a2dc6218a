//! The table of algorithms: name, operations, description, and properties.
//!
//! | word | meaning |
//! |---|---|
//! | `also` | other names that are accepted |
//! | `requires` | requirements on a call, beside its operation |
//! | `symmetric` | for equal blocks every rank sends as rank 0 does: it alone is read |
//! | `alternating` | every rank sends as rank 0 or 1 does |
//! | `flipped` | on a power of two of ranks, each sends as rank 0 does, with the same bits flipped |
//! | `parameter` | a number that a user may set: its name, least, largest and default value |
//! | `over_trees` | it uses trees inside clusters, whose shapes can be set |
//! | `along` | its tree between clusters |
//! | `estimated` | the choice considers it, by this estimate |
//! | `priced` | the choice considers it, by its description |
//! | `for_order` | as `priced`, only if operands must stay in order |
//! | `in_whole` | as `priced`, with whole messages |
//! | `of_few` | as `in_whole`, for few ranks |
//! | `of_few_in_segments` | as `priced`, for few ranks |

use crate::algorithms::algorithm::{
    Algorithm, Candidate, Cut, Describe, Effort, Estimate, Parameter, Price, Scope, Symmetry,
};
use crate::algorithms::by_cluster::between::{Between, Direction, Grouped};
use crate::algorithms::by_cluster::{
    aggregate, allgather, alltoall, barrier, broadcast, direct, grouped, lanes, multi_source,
    reduce, reduce_exchange, reduce_scatter, scan,
};
use crate::algorithms::by_neighbour::{direct as to_neighbours, relay};
use crate::algorithms::by_rank::matchings::{MOST_RANKS, Matching};
use crate::algorithms::by_rank::scheduled::{Schedule, matched};
use crate::algorithms::by_rank::{
    at_once, bine, bruck, circulant, circulant_blocks, composed, doubling, halving, hypercube,
    linear, neighbours, node_aware, pairwise, radices, ring, rounds, scan as prefix, scatter,
    sparbit, stages, tree, uniform, windowed,
};
use crate::algorithms::requirement::Requirement;
use crate::algorithms::requirement::Requirement::{
    Commutative, EvenRanks, KnownSizes, MaxRanks, PowerOfTwo, ToldSizes, Topology,
};
use crate::algorithms::trees::Shape::{
    Alpha, Binary, Binomial, Chain, Flat, HighestBit, Lambda, Octopus, Quadrinomial,
};
use crate::operation::Operation;
use crate::operation::Operation::*;
use crate::problem::Problem;
use crate::read::estimate::input::CostInput;
use crate::read::estimate::{blocks, reductions, trees};
use crate::steps::Steps;
use crate::told::MOST_RANKS as MOST_TOLD;
use treepie_platform::orders::Order;

const GATHERS: &[Operation] = &[Gather, Gatherv];
const SCATTERS: &[Operation] = &[Scatter, Scatterv];
const ALLGATHERS: &[Operation] = &[Allgather, Allgatherv];
const EXCHANGES: &[Operation] = &[Alltoall, Alltoallv, Alltoallw];
const REDUCE_SCATTERS: &[Operation] = &[ReduceScatter, ReduceScatterBlock];
const SCANS: &[Operation] = &[Scan, Exscan];
const OF_NEIGHBOURS: &[Operation] = &[
    NeighborAllgather,
    NeighborAllgatherv,
    NeighborAlltoall,
    NeighborAlltoallv,
    NeighborAlltoallw,
];
const GATHERS_FROM_NEIGHBOURS: &[Operation] = &[NeighborAllgather, NeighborAllgatherv];

/// Row of an algorithm without requirements.
const fn row(
    name: &'static str,
    operations: &'static [Operation],
    describe: fn(&Problem, usize, &mut dyn Steps),
) -> Algorithm {
    described(name, Scope::Flat, operations, Describe::ByRank(describe))
}

/// Row of an algorithm over clusters, without requirements.
const fn grid(
    name: &'static str,
    operations: &'static [Operation],
    describe: fn(&Problem, usize, &mut dyn Steps),
) -> Algorithm {
    described(name, Scope::Grid, operations, Describe::ByRank(describe))
}

const fn described(
    name: &'static str,
    scope: Scope,
    operations: &'static [Operation],
    describe: Describe,
) -> Algorithm {
    Algorithm {
        name,
        scope,
        aliases: &[],
        operations,
        requires: &[],
        describe,
        alike: Symmetry::None,
        parameter: None,
        has_trees_inside: false,
        tree: None,
        candidate: Candidate::Never,
    }
}

impl Algorithm {
    /// All algorithms for an operation.
    pub fn of(operation: Operation) -> impl Iterator<Item = &'static Algorithm> {
        let all = TABLE.iter();
        all.filter(move |algorithm| algorithm.operations.contains(&operation))
    }

    /// Algorithm of this name for an operation; the prefix `grid-` may be omitted if no other name
    /// is equal to the rest.
    pub fn find(operation: Operation, name: &str) -> Option<&'static Algorithm> {
        let named = |name: &str| Algorithm::of(operation).find(|known| known.name == name);
        named(name)
            .or_else(|| Algorithm::of(operation).find(|known| known.aliases.contains(&name)))
            .or_else(|| named(&format!("grid-{name}")))
    }

    const fn also(self, aliases: &'static [&'static str]) -> Self {
        Algorithm { aliases, ..self }
    }

    const fn requires(self, requires: &'static [Requirement]) -> Self {
        Algorithm { requires, ..self }
    }

    const fn symmetric(self) -> Self {
        Algorithm {
            alike: Symmetry::Every(1),
            ..self
        }
    }

    const fn alternating(self) -> Self {
        Algorithm {
            alike: Symmetry::Every(2),
            ..self
        }
    }

    const fn flipped(self) -> Self {
        Algorithm {
            alike: Symmetry::Flipped,
            ..self
        }
    }

    const fn along(self, between: Between, direction: Direction) -> Self {
        Algorithm {
            tree: Some((between, direction)),
            ..self
        }
    }

    const fn parameter(self, name: &'static str, least: u32, most: u32, usual: u32) -> Self {
        Algorithm {
            parameter: Some(Parameter {
                name,
                least,
                most,
                usual,
            }),
            ..self
        }
    }

    const fn over_trees(self) -> Self {
        Algorithm {
            has_trees_inside: true,
            ..self
        }
    }

    const fn estimated(self, estimate: Estimate) -> Self {
        Algorithm {
            candidate: Candidate::Always(Price::Estimated(estimate)),
            ..self
        }
    }

    const fn priced(self) -> Self {
        Algorithm {
            candidate: Candidate::Always(Price::Read),
            ..self
        }
    }

    const fn of_few(self) -> Self {
        Algorithm {
            candidate: Candidate::OfFew(Cut::Whole),
            ..self
        }
    }

    const fn in_whole(self) -> Self {
        Algorithm {
            candidate: Candidate::Whole,
            ..self
        }
    }

    const fn of_few_in_segments(self) -> Self {
        Algorithm {
            candidate: Candidate::OfFew(Cut::Segments),
            ..self
        }
    }

    const fn for_order(self) -> Self {
        Algorithm {
            candidate: Candidate::ForOrder(Price::Read),
            ..self
        }
    }
}

/// Row of a broadcast, a reduction or both along a tree between clusters.
macro_rules! between {
    ($name:literal, Bcast, $between:expr) => {
        grid($name, &[Bcast], |p, r, s| {
            broadcast::tree(p, r, s, $between)
        })
        .over_trees()
        .along($between, Direction::Down)
        .estimated(trees::broadcast_tree)
    };
    ($name:literal, Reduce, $between:expr) => {
        grid($name, &[Reduce], |p, r, s| reduce::tree(p, r, s, $between))
            .requires(&[Commutative])
            .over_trees()
            .along($between, Direction::Up)
            .estimated(reductions::reduce_tree)
    };
    ($name:literal, Allreduce, $between:expr) => {
        grid($name, &[Allreduce], |p, r, s| {
            reduce::allreduce(p, r, s, $between)
        })
        .requires(&[Commutative])
        .over_trees()
        .along($between, Direction::Down)
        .estimated(reductions::allreduce_tree)
    };
}

/// Row of a scatter with one message for each cluster.
macro_rules! scatter_grouped {
    ($name:literal, $order:expr) => {
        grid($name, SCATTERS, |p, r, s| grouped::scatter(p, r, s, $order))
            .over_trees()
            .requires(&[KnownSizes])
            .estimated(|s| blocks::grouped(s, $order))
    };
}

/// Row of a total exchange by a schedule of all ranks, for few ranks.
const fn scheduled(
    name: &'static str,
    effort: Effort,
    schedule: fn(&Problem) -> Schedule,
) -> Algorithm {
    described(
        name,
        Scope::Flat,
        EXCHANGES,
        Describe::Scheduled(schedule, effort),
    )
    .requires(&[MaxRanks(MOST_RANKS), KnownSizes])
}

/// Number of parallel lanes.
fn lanes_of(input: &CostInput) -> usize {
    lanes::count(input.clusters)
}

/// Number of parallel lanes, limited by the number of segments of the message.
fn worthwhile_lanes_of(input: &CostInput) -> usize {
    lanes::worthwhile(
        input.clusters,
        Some(input.network),
        input.bytes,
        input.segment.bytes,
    )
}

/// All algorithms, for each collective from simple to elaborate.
#[rustfmt::skip]
pub static TABLE: &[Algorithm] = &[
    row("flat", &[Bcast], |p, r, s| tree::broadcast(p, r, s, Flat)).also(&["linear"]),
    row("chain", &[Bcast], |p, r, s| tree::broadcast(p, r, s, Chain)).of_few_in_segments(),
    row("binary", &[Bcast], |p, r, s| tree::broadcast(p, r, s, Binary)),
    row("binomial", &[Bcast], |p, r, s| tree::broadcast(p, r, s, Binomial)),
    row("highest-bit-binomial", &[Bcast], |p, r, s| tree::broadcast(p, r, s, HighestBit)),
    row("quadrinomial", &[Bcast], |p, r, s| tree::broadcast(p, r, s, Quadrinomial)),
    row("octopus", &[Bcast], |p, r, s| tree::broadcast(p, r, s, Octopus(p.parameter(2)))).parameter("degree", 1, 16, 2),
    row("alpha", &[Bcast], |p, r, s| tree::broadcast(p, r, s, Alpha(p.parameter(25)))).parameter("hundredths", 1, 99, 25),
    row("lambda", &[Bcast], |p, r, s| tree::broadcast(p, r, s, Lambda(p.parameter(2)))).parameter("sends", 1, 1000, 2),
    row("scatter-collect", &[Bcast], scatter::scatter_collect),
    row("scatter-allgather", &[Bcast], scatter::broadcast_ring).of_few(),
    row("scatter-doubling", &[Bcast], scatter::broadcast_doubling).requires(&[PowerOfTwo]),
    row("bine", &[Bcast], bine::broadcast).requires(&[PowerOfTwo]),
    row("circulant", &[Bcast], circulant_blocks::broadcast).of_few_in_segments(),
    between!("grid-flat", Bcast, Between::Shape(Flat)),
    between!("grid-chain", Bcast, Between::Shape(Chain)),
    between!("grid-binomial", Bcast, Between::Shape(Binomial)),
    between!("grid-fnf", Bcast, Between::Order(Order::Fnf)),
    between!("grid-fef", Bcast, Between::Order(Order::Fef)),
    between!("grid-ecef", Bcast, Between::Order(Order::Ecef)),
    between!("grid-ecef-la", Bcast, Between::Order(Order::EcefLa)),
    between!("grid-ecef-lat-min", Bcast, Between::Order(Order::EcefLatMin)),
    between!("grid-ecef-lat", Bcast, Between::Order(Order::EcefLat)),
    between!("grid-bottom-up", Bcast, Between::Order(Order::BottomUp)),
    between!("grid-bottom-up-ready", Bcast, Between::Order(Order::BottomUpReady)),
    // Look-aheads that the thesis names but did not evaluate: by name only.
    grid("grid-ecef-la-mean", &[Bcast], |p, r, s| broadcast::tree(p, r, s, Between::Order(Order::EcefLaMean)))
        .over_trees().along(Between::Order(Order::EcefLaMean), Direction::Down),
    grid("grid-ecef-la-mean-of-all", &[Bcast], |p, r, s| broadcast::tree(p, r, s, Between::Order(Order::EcefLaMeanOfAll)))
        .over_trees().along(Between::Order(Order::EcefLaMeanOfAll), Direction::Down),
    grid("grid-bottom-up-la", &[Bcast], |p, r, s| broadcast::tree(p, r, s, Between::Order(Order::BottomUpLa)))
        .over_trees().along(Between::Order(Order::BottomUpLa), Direction::Down),
    // Equal to one of the others, by the number of clusters: not predicted again.
    grid("grid-mixed", &[Bcast], |p, r, s| broadcast::tree(p, r, s, Between::Order(Order::Mixed))).over_trees(),
    grid("grid-lanes", &[Bcast], |p, r, s| lanes::broadcast(p, r, s, Between::Order(Order::Mixed)))
        .over_trees().along(Between::Order(Order::Mixed), Direction::Down)
        .estimated(|s| trees::broadcast_lanes(s, lanes::to_fill(s.clusters, Some(s.network)))),
    grid("grid-exchange", &[Bcast], broadcast::exchange).over_trees().estimated(trees::broadcast_exchange),

    row("flat", &[Reduce], |p, r, s| tree::reduce(p, r, s, Flat)).also(&["linear"]),
    row("chain", &[Reduce], |p, r, s| tree::reduce(p, r, s, Chain)).for_order(),
    row("binary", &[Reduce], |p, r, s| tree::reduce(p, r, s, Binary)).requires(&[Commutative]),
    row("in-order-binary", &[Reduce], tree::reduce_in_order),
    row("binomial", &[Reduce], |p, r, s| tree::reduce(p, r, s, Binomial)).for_order(),
    row("at-once", &[Reduce], at_once::reduce),
    row("reduce-scatter-gather", &[Reduce], halving::reduce).also(&["rabenseifner"]).of_few(),
    row("bine", &[Reduce], bine::reduce).requires(&[Commutative, PowerOfTwo]),
    row("circulant", &[Reduce], circulant_blocks::reduce).requires(&[Commutative]).of_few_in_segments(),
    between!("grid-flat", Reduce, Between::Shape(Flat)),
    between!("grid-chain", Reduce, Between::Shape(Chain)),
    between!("grid-binomial", Reduce, Between::Shape(Binomial)),
    between!("grid-fnf", Reduce, Between::Order(Order::Fnf)),
    between!("grid-fef", Reduce, Between::Order(Order::Fef)),
    between!("grid-ecef", Reduce, Between::Order(Order::Ecef)),
    between!("grid-ecef-la", Reduce, Between::Order(Order::EcefLa)),
    between!("grid-ecef-lat-min", Reduce, Between::Order(Order::EcefLatMin)),
    between!("grid-ecef-lat", Reduce, Between::Order(Order::EcefLat)),
    between!("grid-bottom-up", Reduce, Between::Order(Order::BottomUp)),
    between!("grid-bottom-up-ready", Reduce, Between::Order(Order::BottomUpReady)),
    grid("grid-mixed", &[Reduce], |p, r, s| reduce::tree(p, r, s, Between::Order(Order::Mixed))).over_trees().requires(&[Commutative]),
    grid("grid-lanes", &[Reduce], lanes::reduce_chain).requires(&[Commutative])
        .estimated(|s| reductions::reduce_lanes(s, lanes_of(s))),
    grid("grid-exchange", &[Reduce], reduce_exchange::exchange).over_trees().requires(&[Commutative])
        .estimated(trees::reduce_exchange),
    grid("grid-direct", &[Reduce], direct::reduce).requires(&[Commutative])
        .estimated(|s| reductions::reduce_direct(s, worthwhile_lanes_of(s))),

    row("flat", &[Allreduce], |p, r, s| tree::allreduce(p, r, s, Flat)),
    row("chain", &[Allreduce], |p, r, s| tree::allreduce(p, r, s, Chain)).for_order(),
    row("binomial", &[Allreduce], |p, r, s| tree::allreduce(p, r, s, Binomial))
        .also(&["reduce-broadcast"]).for_order(),
    row("all-to-all", &[Allreduce], linear::allreduce).symmetric(),
    row("at-once", &[Allreduce], at_once::allreduce).symmetric(),
    row("recursive-doubling", &[Allreduce], doubling::allreduce).flipped().for_order(),
    row("reduce-scatter-allgather", &[Allreduce], halving::allreduce).flipped().also(&["rabenseifner"]).of_few(),
    row("reduce-scatter-allgather-shared", &[Allreduce], halving::allreduce_shared_fold).flipped(),
    row("ring", &[Allreduce], ring::allreduce).requires(&[Commutative]).symmetric().in_whole(),
    row("circulant", &[Allreduce], |p, r, s| rounds::allreduce(p, r, s, &circulant::rounds(p.ranks())))
        .requires(&[Commutative]).symmetric(),
    row("sparbit", &[Allreduce], |p, r, s| rounds::allreduce(p, r, s, &sparbit::rounds(p.ranks())))
        .requires(&[Commutative]).symmetric(),
    row("bine", &[Allreduce], |p, r, s| stages::allreduce(p, r, s, &bine::stages(p.ranks(), r)))
        .requires(&[Commutative, PowerOfTwo]).alternating(),
    row("direct-exchange", &[Allreduce], |p, r, s| stages::allreduce(p, r, s, &radices::at_once(p, r))).flipped(),
    row("mixed-radix", &[Allreduce], |p, r, s| stages::allreduce(p, r, s, &radices::by_ranks(p, r))).flipped().parameter("radix", 2, 1024, radices::LARGEST_RADIX),
    grid("grid-levels", &[Allreduce], |p, r, s| stages::allreduce(p, r, s, &radices::by_levels(p, r))).flipped().parameter("radix", 2, 1024, radices::LARGEST_RADIX).of_few(),
    grid("grid-exchange", &[Allreduce], lanes::allreduce_exchange).over_trees().requires(&[Commutative])
        .estimated(reductions::allreduce_exchange),
    between!("grid-chain", Allreduce, Between::Shape(Chain)),
    between!("grid-flat", Allreduce, Between::Shape(Flat)),
    between!("grid-ecef-lat", Allreduce, Between::Order(Order::EcefLat)),
    grid("grid-lanes", &[Allreduce], lanes::allreduce).requires(&[Commutative])
        .estimated(|s| reductions::allreduce_ring(s, lanes_of(s))),
    grid("grid-direct", &[Allreduce], direct::allreduce).requires(&[Commutative])
        .estimated(|s| reductions::allreduce_direct(s, worthwhile_lanes_of(s))),

    row("flat", &[Barrier], |p, r, s| tree::barrier(p, r, s, Flat)).also(&["linear"]),
    row("binomial", &[Barrier], |p, r, s| tree::barrier(p, r, s, Binomial)),
    row("all-to-all", &[Barrier], linear::barrier).symmetric(),
    row("dissemination", &[Barrier], bruck::barrier).symmetric().of_few(),
    row("recursive-doubling", &[Barrier], doubling::barrier).flipped(),
    grid("grid-exchange", &[Barrier], barrier::exchange).over_trees().estimated(blocks::barrier_exchange),

    row("flat", GATHERS, linear::gather).also(&["linear"]).estimated(blocks::direct),
    row("synchronised-linear", &[Gather], linear::gather_synchronised),
    row("binomial", &[Gather], scatter::gather).of_few(),
    row("bine", &[Gather], bine::gather).requires(&[PowerOfTwo]),
    grid("grid-grouped", GATHERS, grouped::gather).over_trees().requires(&[KnownSizes])
        .estimated(|s| blocks::grouped(s, Grouped::InOrder)),
    grid("grid-multi-source", GATHERS, multi_source::gather).over_trees().requires(&[KnownSizes])
        .estimated(|s| blocks::multi_source(s, multi_source::count(s.clusters, s.root, Some(s.network)))),
    grid("grid-aggregate", &[Gatherv], aggregate::gather).requires(&[ToldSizes])
        .estimated(blocks::aggregate),

    row("flat", SCATTERS, linear::scatter).also(&["linear"]).estimated(blocks::direct),
    row("binomial", &[Scatter], scatter::scatter).of_few(),
    row("bine", &[Scatter], bine::scatter).requires(&[PowerOfTwo]),
    scatter_grouped!("grid-grouped", Grouped::InOrder),
    scatter_grouped!("grid-slowest-first", Grouped::SlowestFirst),
    scatter_grouped!("grid-latest-tail-first", Grouped::LatestTailFirst),
    grid("grid-multi-source", SCATTERS, multi_source::scatter).over_trees().requires(&[KnownSizes])
        .estimated(|s| blocks::multi_source(s, multi_source::count(s.clusters, s.root, Some(s.network)))),
    grid("grid-aggregate", &[Scatterv], aggregate::scatter).requires(&[ToldSizes])
        .estimated(blocks::aggregate),

    row("flat", ALLGATHERS, linear::allgather).symmetric().estimated(blocks::direct),
    row("ring", ALLGATHERS, ring::allgather).symmetric().in_whole(),
    row("bruck", ALLGATHERS, |p, r, s| rounds::allgather(p, r, s, &bruck::rounds(p.ranks())))
        .symmetric().of_few(),
    row("circulant", ALLGATHERS, |p, r, s| rounds::allgather(p, r, s, &circulant::rounds(p.ranks())))
        .symmetric(),
    row("sparbit", ALLGATHERS, |p, r, s| rounds::allgather(p, r, s, &sparbit::rounds(p.ranks()))).symmetric(),
    row("bine", ALLGATHERS, |p, r, s| stages::allgather(p, r, s, &bine::stages(p.ranks(), r)))
        .requires(&[PowerOfTwo]).alternating(),
    row("mixed-radix", ALLGATHERS, |p, r, s| stages::allgather(p, r, s, &radices::by_ranks(p, r))).flipped().parameter("radix", 2, 1024, radices::LARGEST_RADIX),
    row("recursive-doubling", ALLGATHERS, doubling::allgather).requires(&[PowerOfTwo]).flipped().of_few(),
    row("neighbour-exchange", ALLGATHERS, neighbours::allgather).requires(&[EvenRanks]).alternating().in_whole(),
    row("gather-broadcast", ALLGATHERS, composed::gather_broadcast),
    grid("grid-levels", ALLGATHERS, |p, r, s| stages::allgather(p, r, s, &radices::by_levels(p, r))).flipped().parameter("radix", 2, 1024, radices::LARGEST_RADIX).of_few(),
    grid("grid-exchange", ALLGATHERS, allgather::exchange).over_trees().estimated(blocks::allgather_exchange),
    grid("grid-lanes", ALLGATHERS, allgather::lanes).estimated(blocks::allgather_lanes),

    row("flat", EXCHANGES, pairwise::flat).symmetric().estimated(blocks::direct),
    row("bruck", &[Alltoall], bruck::alltoall).symmetric().of_few(),
    row("pairwise", EXCHANGES, pairwise::pairwise).symmetric(),
    row("windowed", EXCHANGES, |p, r, s| windowed::exchange(p, r, s, &(0..p.ranks()).collect::<Vec<usize>>()))
        .symmetric().parameter("window", 1, 4096, windowed::WINDOW),
    scheduled("max-min", Effort::High, |p| matched(p, Matching::MaxMin)),
    scheduled("max-weight", Effort::High, |p| matched(p, Matching::MaxWeight)),
    scheduled("greedy", Effort::Low, |p| matched(p, Matching::Greedy)),
    scheduled("open-shop", Effort::Low, |p| matched(p, Matching::OpenShop)),
    scheduled("uniform", Effort::High, uniform::schedule),
    row("hypercube", EXCHANGES, hypercube::exchange)
        .requires(&[PowerOfTwo, MaxRanks(MOST_RANKS), KnownSizes]),
    grid("grid-grouped", EXCHANGES, alltoall::grouped).requires(&[KnownSizes])
        .estimated(blocks::alltoall_grouped),
    grid("grid-spread", EXCHANGES, |p, r, s| windowed::exchange(p, r, s, &windowed::spread(p.clusters)))
        .parameter("window", 1, 4096, windowed::WINDOW),
    grid("grid-node-aware", EXCHANGES, node_aware::exchange).requires(&[KnownSizes])
        .parameter("leaders", 1, node_aware::ALL, node_aware::ALL),
    grid("grid-aggregate", &[Alltoallv, Alltoallw], aggregate::exchange)
        .requires(&[ToldSizes, MaxRanks(MOST_TOLD)]).estimated(blocks::aggregate),

    row("pairwise", REDUCE_SCATTERS, linear::reduce_scatter).symmetric().estimated(blocks::direct),
    row("at-once", REDUCE_SCATTERS, at_once::reduce_scatter).symmetric(),
    row("ring", REDUCE_SCATTERS, ring::reduce_scatter).requires(&[Commutative]).symmetric().in_whole(),
    row("recursive-halving", REDUCE_SCATTERS, halving::reduce_scatter).requires(&[Commutative]).flipped().of_few(),
    row("circulant", REDUCE_SCATTERS, |p, r, s| rounds::reduce_scatter(p, r, s, &circulant::rounds(p.ranks())))
        .requires(&[Commutative]).symmetric(),
    row("sparbit", REDUCE_SCATTERS, |p, r, s| rounds::reduce_scatter(p, r, s, &sparbit::rounds(p.ranks())))
        .requires(&[Commutative]).symmetric(),
    row("bine", REDUCE_SCATTERS, |p, r, s| stages::reduce_scatter(p, r, s, &bine::stages(p.ranks(), r)))
        .requires(&[Commutative, PowerOfTwo]).alternating(),
    row("mixed-radix", REDUCE_SCATTERS, |p, r, s| stages::reduce_scatter(p, r, s, &radices::by_ranks(p, r)))
        .flipped().parameter("radix", 2, 1024, radices::LARGEST_RADIX),
    row("butterfly", &[ReduceScatterBlock], halving::butterfly).flipped(),
    row("butterfly", &[ReduceScatter], halving::butterfly),
    row("reduce-scatterv", REDUCE_SCATTERS, composed::reduce_scatter),
    grid("grid-levels", REDUCE_SCATTERS, |p, r, s| stages::reduce_scatter(p, r, s, &radices::by_levels(p, r)))
        .flipped().parameter("radix", 2, 1024, radices::LARGEST_RADIX).of_few(),
    grid("grid-exchange", REDUCE_SCATTERS, reduce_scatter::exchange).over_trees().requires(&[Commutative])
        .estimated(blocks::reduce_scatter_exchange),

    row("chain", SCANS, prefix::chain).also(&["linear"]).priced(),
    row("all-to-all", SCANS, linear::scan),
    row("at-once", SCANS, at_once::scan),
    row("recursive-doubling", SCANS, doubling::scan).priced(),
    row("hillis-steele", SCANS, prefix::hillis_steele).priced(),
    row("123-doubling", &[Exscan], prefix::one_two_three),
    grid("grid-gather", SCANS, scan::gathered).over_trees().estimated(blocks::allgather_exchange),
    grid("grid-exchange", SCANS, scan::exchange).requires(&[Commutative]).estimated(blocks::scan_exchange),

    row("flat", OF_NEIGHBOURS, to_neighbours::exchange).also(&["linear"]).requires(&[Topology]).priced(),
    grid("grid-relay", GATHERS_FROM_NEIGHBOURS, relay::gather).requires(&[Topology]).priced(),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_which_algorithms_look_at_clusters() {
        for algorithm in TABLE {
            let is_named_so = algorithm.name.starts_with("grid-");
            assert_eq!(
                algorithm.scope == Scope::Grid,
                is_named_so,
                "{}",
                algorithm.name
            );
        }
    }
}
