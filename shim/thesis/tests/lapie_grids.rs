//! The heuristics on the grids of LaPIe's experiments: statements of its prose and of the digest's
//! replay (reference 4.11 and 7.6) on their ranking.
#![allow(clippy::unwrap_used)] // a test may panic

use treepie_base::Cluster;
use treepie_collective::read::simulate::{Options, Sending, simulate};
use treepie_collective::{Algorithm, Clusters, Operation, Uniform};
use treepie_platform::orders::{Accounting, Order};
use treepie_thesis::lapie::{CASE_1, CASE_2, CASE_3, CASE_4, CASE_5, Grid, Volumes, exchanged};
use treepie_thesis::models::chapter_7::{Served, exchange_bound, scatter_direct, scatter_grouped};
use treepie_thesis::models::{self, Reading};
use treepie_thesis::orders::optimum;

const MEGABYTE: u64 = 1 << 20;

/// Seconds by the heuristic's own accounting, from a cluster.
fn makespan(grid: &Grid, order: Order, root: usize) -> f64 {
    let costs = grid.costs(MEGABYTE);
    let schedule = order.schedule(&costs, Cluster(root));
    schedule.makespan(&costs, Accounting::AfterSends)
}

/// A grid, the root's cluster, and the seconds of each order.
type Row<'a> = (&'a Grid, usize, &'a [(Order, f64)]);

#[test]
fn one_megabyte_on_88_and_78_processes_takes_what_the_replay_says() {
    use Order::*;
    let rows: [Row; 5] = [
        (
            &CASE_1,
            0,
            &[
                (Flat, 1.36),
                (BottomUp, 0.58),
                (Fef, 0.409),
                (Ecef, 0.409),
                (EcefLa, 0.409),
                (EcefLatMin, 0.409),
                (EcefLat, 0.400),
            ],
        ),
        (
            &CASE_2,
            0,
            &[
                (Flat, 1.10),
                (Fef, 0.429),
                (Ecef, 0.409),
                (EcefLa, 0.395),
                (EcefLatMin, 0.395),
                (EcefLat, 0.409),
                (BottomUp, 0.537),
            ],
        ),
        (&CASE_2, 1, &[(Flat, 0.521), (Fef, 0.431), (Ecef, 0.266)]),
        (
            &CASE_2,
            4,
            &[(Flat, 0.817), (Fef, 0.301), (Ecef, 0.301), (EcefLat, 0.357)],
        ),
        (
            &CASE_2,
            5,
            &[(Flat, 0.670), (Fef, 0.392), (Ecef, 0.336), (EcefLat, 0.304)],
        ),
    ];
    for (grid, root, expected) in rows {
        for &(order, seconds) in expected {
            let found = makespan(grid, order, root);
            println!(
                "{} root {root} {order}: {found:.3} for {seconds}",
                grid.name
            );
            // The digest gives its inner times as a range.
            assert!(
                (found / seconds - 1.0).abs() < 0.05,
                "{} root {root}: {order} {found}, {seconds} expected",
                grid.name
            );
        }
    }
}

#[test]
fn the_best_order_of_88_processes_takes_what_the_replay_says_for_one_and_four_megabytes() {
    use Order::*;
    for (bytes, flat, bottom_up, ecef, best) in [
        (MEGABYTE, 1.36, 0.58, 0.409, 0.395),
        (4 * MEGABYTE, 5.44, 2.32, 1.60, 1.56),
    ] {
        let costs = CASE_1.costs(bytes);
        let span = |order: Order| {
            order
                .schedule(&costs, Cluster(0))
                .makespan(&costs, Accounting::AfterSends)
        };
        let exhaustive = optimum(&costs, Cluster(0), Accounting::AfterSends).unwrap();
        let exhaustive = exhaustive.makespan(&costs, Accounting::AfterSends);
        for (found, expected) in [
            (span(Flat), flat),
            (span(BottomUp), bottom_up),
            (span(Fef), ecef),
            (span(Ecef), ecef),
            (span(EcefLa), ecef),
            (span(EcefLatMin), ecef),
            (exhaustive, best),
        ] {
            assert!(
                (found / expected - 1.0).abs() < 0.05,
                "{bytes}: {found} for {expected}"
            );
        }
        assert!(exhaustive <= span(EcefLat));
    }
}

/// Seconds of a plan, message by message, with one port per process as in the thesis, and whole
/// messages.
fn simulated(grid: &Grid, operation: Operation, name: &str, bytes: u64, root: usize) -> f64 {
    let network = grid.network();
    let clusters = Clusters::of_network(&network);
    let strategy = Algorithm::find(operation, name).unwrap();
    let call = Uniform {
        operation,
        bytes,
        root,
    };
    let plans = strategy.plans(&call, Some(&network), &clusters, u64::MAX >> 8);
    let options = Options {
        sending: Sending::OnePort,
        ..Options::default()
    };
    simulate(&network, &plans, 1, options).unwrap().seconds
}

#[test]
fn formulas_of_chapter_7_take_what_simulations_by_their_rules_take() {
    let scatter = |grid: &Grid, name| simulated(grid, Operation::Scatter, name, MEGABYTE, 0);
    for grid in [&CASE_2, &CASE_5] {
        let network = grid.network();
        let clusters = Clusters::of_network(&network);
        let grouped = |served| scatter_grouped(&network, &clusters, MEGABYTE, served);
        for (formula, name) in [
            (scatter_direct(&network, MEGABYTE, 0.0), "flat"),
            (grouped(Served::InOrder), "grid-grouped"),
            (grouped(Served::SlowestFirst), "grid-slowest-first"),
        ] {
            let ratio = scatter(grid, name) / formula;
            assert!(
                (0.99..1.01).contains(&ratio),
                "{} {name}: {ratio}",
                grid.name
            );
        }
    }
    // Whole messages use a tree inside clusters; the pipelines of table 6.2 are faster.
    for grid in [&CASE_1, &CASE_2, &CASE_3] {
        let network = grid.network();
        let clusters = Clusters::of_network(&network);
        for (order, name) in [
            (Order::Flat, "grid-flat"),
            (Order::Fef, "grid-fef"),
            (Order::Ecef, "grid-ecef"),
        ] {
            let call = Uniform {
                operation: Operation::Bcast,
                bytes: MEGABYTE,
                root: 0,
            };
            let formula =
                models::makespan(order, &call, &network, &clusters, Reading::default()).unwrap();
            let ratio = simulated(grid, Operation::Bcast, name, MEGABYTE, 0) / formula;
            assert!(
                (1.0..1.12).contains(&ratio),
                "{} {name}: {ratio}",
                grid.name
            );
        }
    }
    let exchange = |name| simulated(&CASE_4, Operation::Alltoall, name, 64 << 10, 0);
    let ratio = exchange("max-weight") / exchange_bound(&CASE_4.network(), 64 << 10);
    assert!((1.0..1.03).contains(&ratio), "{ratio}");
}

const ECEF_FAMILY: [&str; 4] = [
    "grid-ecef",
    "grid-ecef-la",
    "grid-ecef-lat-min",
    "grid-ecef-lat",
];

#[test]
fn in_case_1_flat_is_worse_than_binomial_by_rank_and_bottom_up_between_it_and_the_others() {
    let seconds = |name| simulated(&CASE_1, Operation::Bcast, name, MEGABYTE, 0);
    let (flat, bottom_up) = (seconds("grid-flat"), seconds("grid-bottom-up"));
    let best: Vec<f64> = ECEF_FAMILY
        .into_iter()
        .chain(["grid-fef"])
        .map(seconds)
        .collect();
    let (least, most) = best
        .iter()
        .fold((f64::MAX, 0.0_f64), |(l, m), &s| (l.min(s), m.max(s)));
    assert!(flat > seconds("binomial"), "{flat}");
    assert!(
        flat > 1.5 * bottom_up && bottom_up > 1.1 * most,
        "{flat} {bottom_up} {best:?}"
    );
    // FEF and ECEF-* are similar.
    assert!(most < 1.1 * least, "{best:?}");
}

#[test]
fn in_case_2_fef_is_not_the_best_and_all_heuristics_are_far_below_binomial_by_rank() {
    for root in [0, 1, 4, 5] {
        let root = CASE_2.first_of(Cluster(root));
        let seconds = |name| simulated(&CASE_2, Operation::Bcast, name, MEGABYTE, root);
        let best = ECEF_FAMILY
            .into_iter()
            .map(seconds)
            .fold(f64::MAX, f64::min);
        assert!(best <= seconds("grid-fef"), "{root}");
        assert!(2.0 * best < seconds("binomial"), "{root}");
        assert!(best < seconds("grid-flat"), "{root}");
    }
}

#[test]
fn in_case_3_binomial_by_rank_is_slower_than_every_heuristic_from_every_site() {
    for root in 0..5 {
        let root = CASE_3.first_of(Cluster(root));
        let seconds = |name| simulated(&CASE_3, Operation::Bcast, name, MEGABYTE, root);
        let all = ["grid-flat", "grid-fef", "grid-bottom-up"];
        let worst = ECEF_FAMILY
            .into_iter()
            .chain(all)
            .map(seconds)
            .fold(0.0, f64::max);
        assert!(
            1.05 * worst < seconds("binomial"),
            "{root}: {worst} {}",
            seconds("binomial")
        );
    }
}

#[test]
fn the_order_of_clusters_gives_a_scatter_no_visible_gain() {
    for bytes in [64 << 10, MEGABYTE] {
        let seconds = |name| simulated(&CASE_2, Operation::Scatter, name, bytes, 0);
        let unordered = seconds("grid-grouped");
        for name in ["grid-slowest-first", "grid-latest-tail-first"] {
            let gain = unordered / seconds(name);
            assert!((0.97..1.05).contains(&gain), "{name} {bytes}: {gain}");
        }
        // The provably best order of one sender is at least as good as the thesis's.
        assert!(seconds("grid-latest-tail-first") <= 1.000_001 * seconds("grid-slowest-first"));
    }
}

/// Seconds of an exchange on the grid of table 7.6, with one port per process as in the thesis.
fn exchange(volumes: Volumes, mean: u64, name: &str) -> f64 {
    let network = CASE_4.network();
    let strategy = Algorithm::find(Operation::Alltoallv, name).unwrap();
    let table = volumes.table(network.ranks(), mean);
    exchanged(&network, table, strategy, Sending::OnePort).unwrap()
}

#[test]
fn matchings_that_see_uneven_sizes_are_faster_than_an_exchange_by_rank() {
    let seconds = |name| exchange(Volumes::Skewed, 64 << 10, name);
    let by_rank = seconds("pairwise");
    for name in ["max-min", "max-weight", "greedy", "open-shop", "uniform"] {
        let matched = seconds(name);
        println!("{name}: {matched:.3} for {by_rank:.3}");
        assert!(matched < by_rank, "{name}: {matched} {by_rank}");
    }
}

#[test]
fn max_weight_and_max_min_are_near_each_other_as_in_figure_7_25() {
    for volumes in [Volumes::Mixed, Volumes::Skewed] {
        let seconds = |name| exchange(volumes, 64 << 10, name);
        let ratio = seconds("max-weight") / seconds("max-min");
        println!("{volumes:?}: {ratio:.3}");
        assert!((0.8..1.25).contains(&ratio), "{volumes:?}: {ratio}");
    }
}
