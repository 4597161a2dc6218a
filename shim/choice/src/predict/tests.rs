use crate::form::{Progress, direct};
use crate::policy::MOST_BY_TREE;
use crate::predict::prediction::Prediction;
use crate::predict::predictor::Predictor;
use treepie_base::Cluster;
use treepie_collective::network::Computing;
use treepie_collective::{Algorithm, Amount, Neighbourhoods, Operation, Uniform, grids};
use treepie_native::Family;
use treepie_platform::{Level, Link, Platform, Sample};

fn predictor(platform: &Platform, operation: Operation, bytes: u64) -> Predictor {
    let call = Uniform {
        operation,
        bytes,
        root: 0,
    };
    let computing = Computing::default();
    Predictor::new(platform, call, Family::OpenMpi, computing).unwrap()
}

#[test]
fn every_collective_has_an_answer_and_the_best_comes_first() {
    let [grid, _] = grids::platforms();
    for operation in Operation::all() {
        for bytes in [0, 8, 32 << 10] {
            let found = predictor(&grid, operation, bytes).all(None).unwrap();
            let times = found.iter().map(|p| p.seconds().unwrap_or(f64::INFINITY));
            let times: Vec<f64> = times.collect();
            assert!(times.is_sorted(), "{operation} {times:?}");
            // A plan of no bytes has no messages, except a barrier's.
            let sends = bytes > 0 || operation == Operation::Barrier;
            assert_eq!(times[0] > 0.0, sends, "{operation} {times:?}");
            assert!(
                found
                    .iter()
                    .any(|p| p.algorithm.is_none() && p.seconds().is_some())
            );
            assert!(
                found.iter().all(|p| p.seconds().is_some()),
                "{operation} {bytes}"
            );
        }
    }
}

/// Small blocks that an MPI forwards are sent in one message, however short each is.
#[test]
fn the_mpis_own_exchange_of_small_blocks_is_simulated_as_it_is_estimated() {
    let numbers: Vec<usize> = (0..64).map(|rank| rank / 16).collect();
    let rate = [(0, 2.0), (1 << 20, 8800.0)];
    let links = |_| measured(25.0, &rate);
    let contents = grids::contents(&numbers, 1, links, |_, _| measured(500.0, &rate));
    let platform = Platform::new(contents).unwrap();
    for operation in [Operation::Alltoall, Operation::Allgather] {
        let all = predictor(&platform, operation, 8).all(None).unwrap();
        let native = all.iter().find(|one| one.algorithm.is_none()).unwrap();
        let read = native.estimated.unwrap_or(f64::NAN);
        let ratio = native.simulated.unwrap() / read;
        assert!((ratio - 1.0).abs() < 0.25, "{operation} {native:?}");
    }
}

#[test]
fn where_links_are_alike_algorithms_by_rank_are_considered_of_few_ranks_and_rings_of_many() {
    let rate = [(0, 2.0), (1 << 20, 8800.0)];
    for (members, is_few) in [(16, true), (64, false)] {
        let numbers: Vec<usize> = (0..4 * members).map(|rank| rank / members).collect();
        let links = |_| measured(25.0, &rate);
        let contents = grids::contents(&numbers, 1, links, |_, _| measured(25.0, &rate));
        let platform = Platform::new(contents).unwrap();
        let found = predictor(&platform, Operation::Allreduce, 1 << 20);
        let considered = found.choice().considered();
        let by_rank = considered.iter().filter(|one| one.algorithm.is_by_rank());
        let by_rank: Vec<&str> = by_rank.map(|one| one.algorithm.name).collect();
        assert_eq!(by_rank == ["ring"], !is_few, "{members}: {by_rank:?}");
        if is_few {
            assert!(found.chosen().unwrap().is_by_rank(), "{considered:?}");
        }
    }
}

#[test]
fn what_goes_on_inside_clusters_counts_where_two_exchange() {
    let numbers: Vec<usize> = (0..48).map(|rank| rank / 24).collect();
    let slow = |_| measured(50.0, &[(0, 5.0), (64 << 10, 5700.0)]);
    let between = |_, _| measured(100.0, &[(0, 3.0), (64 << 10, 560.0)]);
    let platform = Platform::new(grids::contents(&numbers, 1, slow, between)).unwrap();
    let found = predictor(&platform, Operation::Bcast, 1 << 20);
    let exchange = Algorithm::find(Operation::Bcast, "grid-exchange").unwrap();
    let exchange = found.of(exchange, None).unwrap();
    let ratio = exchange.estimated.unwrap() / exchange.simulated.unwrap();
    assert!((ratio - 1.0).abs() < 0.25, "{exchange:?}");
}

#[test]
fn near_hosts_of_a_cluster_are_predicted_as_jobs_see_them_and_short_messages_left_to_the_mpi() {
    for (latency, is_near) in [(2e-6, true), (2e-3, false)] {
        let between = Link::linear(latency, 3e-7, 4e-11).unwrap();
        let platform = grids::one_cluster(8, 4, between);
        let found = predictor(&platform, Operation::Allreduce, 8);
        assert_eq!(
            (found.clusters.count(), found.network.is_near()),
            (8, is_near)
        );
        assert_eq!(found.chosen().is_none(), is_near);
        assert_eq!(found.reason().contains("guard"), is_near);
        let best = found.all(None).unwrap()[0].algorithm.unwrap().name;
        assert!(best.starts_with("grid-"), "{best}");
    }
    // Long messages, whose time is that of the links.
    let flat = grids::one_cluster(8, 1, Link::linear(2e-6, 3e-7, 4e-9).unwrap());
    let found = predictor(&flat, Operation::Bcast, 1 << 20);
    assert_eq!(
        (found.clusters.count(), found.chosen().is_some()),
        (8, true)
    );
}

#[test]
fn between_many_near_hosts_only_algorithms_in_rounds_replace_the_mpis_own() {
    let hosts = MOST_BY_TREE + 32;
    let platform = grids::one_cluster(hosts, 1, Link::linear(2e-6, 3e-7, 4e-9).unwrap());
    let found = predictor(&platform, Operation::Bcast, 1 << 20);
    assert_eq!(found.clusters.count(), hosts);
    assert_eq!(found.chosen().unwrap().name, "scatter-allgather");
    let predicted = found.all(None).unwrap();
    let taken = |algorithm: Option<&Algorithm>| {
        let of = predicted.iter().find(|one| one.algorithm == algorithm);
        of.unwrap().simulated.unwrap()
    };
    assert!(taken(found.chosen()) < 0.8 * taken(None));
    assert!(predicted.iter().all(|one| one.inside.is_none()));
    // No algorithm in rounds gathers.
    let found = predictor(&platform, Operation::Gather, 64 << 10);
    assert!(found.choice().algorithm.is_none() && found.choice().seconds.is_some());
}

#[test]
fn other_numbers_of_ranks_are_those_of_clusters_made_larger_and_smaller_alike() {
    let [grid, _] = grids::platforms();
    for ranks in [1, 3, 4, 15, 16, 17, 64, 1000] {
        let scaled = grid.scaled(ranks);
        assert_eq!(scaled.ranks(), ranks.max(4), "every cluster keeps one rank");
        let sizes: Vec<usize> = (0..4).map(|c| scaled.ranks_of(Cluster(c)).len()).collect();
        let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
        assert!(most - least <= 3, "{sizes:?}");
        let found = predictor(&scaled, Operation::Bcast, 8).all(None).unwrap();
        assert!(found[0].seconds().is_some_and(|seconds| seconds > 0.0));
    }
}

#[test]
fn what_would_take_too_long_to_simulate_is_estimated() {
    let [grid, _] = grids::platforms();
    let predictor = predictor(&grid.scaled(1024), Operation::Alltoall, 1 << 10);
    let found = predictor.all(None).unwrap();
    assert!(
        found
            .iter()
            .any(|p| p.simulated.is_none() && p.estimated.is_some())
    );
}

#[test]
fn of_started_collectives_those_are_predicted_that_progress_allows_and_the_mpis_own() {
    let [grid, _] = grids::platforms();
    for operation in Operation::all() {
        let direct = direct(operation).unwrap().name;
        let names = |progress| -> Vec<&str> {
            let found = predictor(&grid, operation, 1 << 10).started(progress);
            let found = found.all(None).unwrap();
            assert!(found.iter().all(|p| p.seconds().is_some()), "{operation}");
            found
                .iter()
                .map(|p| p.algorithm.map_or("native", |known| known.name))
                .collect()
        };
        let mut own = names(Progress::Own);
        own.sort_unstable_by_key(|&name| name == "native");
        assert_eq!(own, [direct, "native"], "{operation}");
        let called = names(Progress::Called);
        assert!(called.contains(&direct), "{operation}: {called:?}");
        assert!(called.len() >= own.len(), "{operation}: {called:?}");
    }
    // One latency for three.
    let barrier = predictor(&grid, Operation::Barrier, 0).started(Progress::Own);
    assert_eq!(barrier.chosen().unwrap().name, "all-to-all");
    let seconds: Vec<f64> = barrier
        .all(None)
        .unwrap()
        .iter()
        .filter_map(Prediction::seconds)
        .collect();
    assert!(seconds[1] > 1.9 * seconds[0], "{seconds:?}");
}

#[test]
fn a_started_reduce_is_predicted_with_parts_that_may_be_late_as_it_runs() {
    let [grid, _] = grids::platforms();
    let exchange = Algorithm::find(Operation::Reduce, "grid-exchange").unwrap();
    let predicted = |form: Option<Progress>| {
        let mut found = predictor(&grid, Operation::Reduce, 1 << 20);
        if let Some(progress) = form {
            found = found.started(progress);
        }
        let seconds = found.of(exchange, Some(8 << 10)).unwrap().seconds();
        (found.plans(exchange, 8 << 10), seconds.unwrap())
    };
    let (blocking, started) = (predicted(None), predicted(Some(Progress::Called)));
    assert_ne!(blocking.0, started.0);
    assert!(started.1 > blocking.1, "{} {}", started.1, blocking.1);
}

#[test]
fn of_neighbourhood_collectives_equal_blocks_go_to_each_cluster_once_and_the_bound_holds() {
    let [grid, _] = grids::platforms();
    let ranks = grid.ranks();
    let pairs = (0..ranks as u32).flat_map(|from| (0..ranks as u32).map(move |to| (from, to)));
    let edges: Vec<(u32, u32)> = pairs.filter(|(from, to)| from != to).collect();
    let all = Neighbourhoods::graph(ranks, &edges).unwrap();
    for operation in Operation::of_neighbours() {
        for form in [None, Some(Progress::Own), Some(Progress::Called)] {
            let mut found = predictor(&grid, operation, 64 << 10).with_neighbourhoods(all.clone());
            if let Some(progress) = form {
                found = found.started(progress);
            }
            let chosen = found.chosen().map(|chosen| chosen.name);
            let relays = operation.gathers_from_neighbours() && form != Some(Progress::Own);
            let expected = if relays { "grid-relay" } else { "flat" };
            assert_eq!(chosen, Some(expected), "{operation} {form:?}");
            let (network, call) = (&found.network, &found.call);
            let least = treepie_collective::bound(
                network,
                &found.clusters,
                operation,
                call.bytes,
                call.root,
            );
            for one in found.all(None).unwrap() {
                let seconds = one.seconds().unwrap();
                assert!(seconds >= least, "{operation} {one:?}: {least}");
            }
        }
    }
    let unknown = predictor(&grid, Operation::NeighborAlltoallv, 8).with_neighbourhoods(all);
    assert_eq!(unknown.reason(), "not all ranks know the sizes: by rule");
}

#[test]
fn what_mpis_read_differently_is_left_to_them() {
    let [grid, _] = grids::platforms();
    let rings = Neighbourhoods::grid(&[(grid.ranks() / 2, true), (2, true)]);
    let found = predictor(&grid, Operation::NeighborAlltoall, 8).with_neighbourhoods(rings);
    assert!(found.chosen().is_none());
    assert!(
        found.reason().contains("several edges"),
        "{}",
        found.reason()
    );
}

/// Sizes from each rank to each; those of a rank to one of the other clusters are long.
fn skewed(ranks: usize) -> Vec<u64> {
    let pairs = (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to)));
    let size = |(from, to): (usize, usize)| match (from + 3 * to) % 8 {
        0 => 0,
        1 => 40_000,
        _ => 200,
    };
    pairs.map(size).collect()
}

/// Leaders receive no sizes that all ranks know, even if direct messages are the fastest.
#[test]
fn a_persistent_collective_whose_sizes_all_know_needs_no_leaders() {
    let grid = grids::hosts_of_eight_platform();
    let ranks = grid.ranks();
    let one = || {
        let sizes = Amount::Table(vec![200_000; ranks * ranks]);
        predictor(&grid, Operation::Alltoallv, 0).with_sizes(sizes)
    };
    let needs_leaders = |one: &Predictor| one.chosen().is_some_and(Algorithm::needs_leaders);
    assert!(needs_leaders(&one().started(Progress::Called)));
    assert!(!needs_leaders(&one().persistent(Progress::Called)));
}

#[test]
fn sizes_that_all_ranks_know_decide_where_they_are_exchanged_and_others_do_not() {
    let [grid, _] = grids::platforms();
    let predictor = |progress: Option<Progress>| {
        let sizes = Amount::Table(skewed(16));
        let one = predictor(&grid, Operation::Alltoallv, 0).with_sizes(sizes);
        match progress {
            Some(progress) => one.persistent(progress),
            None => one,
        }
    };
    let persistent = predictor(Some(Progress::Called));
    let all = persistent.all(None).unwrap();
    let seconds = |name: &str| {
        let mut named = all.iter();
        let found = named.find(|one| one.algorithm.is_some_and(|known| known.name == name));
        found.and_then(Prediction::seconds).unwrap()
    };
    let chosen = persistent.chosen().map_or("flat", |one| one.name);
    assert!(seconds(chosen) <= seconds("flat"), "{chosen}: {all:?}");
    assert!(all.iter().all(|one| one.estimated.is_none()));
    assert!(persistent.bound() <= all[0].seconds().unwrap());
    // The links carry the long blocks.
    assert!(persistent.bound() > 15e-3, "{}", persistent.bound());
    // Without an exchange, ranks share no sizes from which to choose.
    let [own, once] = [Some(Progress::Own), None].map(predictor);
    assert!(own.chosen().is_none(), "{:?}", own.chosen());
    let once = once.chosen().map(|one| one.name);
    assert!(matches!(once, Some("flat" | "grid-aggregate")), "{once:?}");
}

/// A link with these gaps by bytes, all in microseconds.
fn measured(latency: f64, gaps: &[(u64, f64)]) -> Link {
    let sample = |&(bytes, gap): &(u64, f64)| Sample {
        bytes,
        gap: 1e-6 * gap,
        ..Sample::default()
    };
    Link::new(1e-6 * latency, gaps.iter().map(sample).collect()).unwrap()
}

#[test]
fn four_clusters_of_sixteen_hosts_on_links_of_one_rate_are_predicted_for_every_broadcast() {
    let rate = [(0, 2.0), (16 << 10, 142.0), (1 << 20, 9100.0)];
    let numbers: Vec<usize> = (0..64).map(|rank| rank / 16).collect();
    let between = |_, _| measured(5000.0, &[(0, 5.0), rate[1], rate[2]]);
    let contents = grids::contents(&numbers, 1, |_| measured(60.0, &rate), between);
    let platform = Platform::new(contents).unwrap();
    for bytes in [1 << 20, 2 << 20] {
        let found = predictor(&platform, Operation::Bcast, bytes).all(None);
        assert!(found.unwrap().iter().all(|p| p.simulated.is_some()));
    }
}

#[test]
fn one_cluster_of_sixteen_hosts_of_sixteen_ranks_is_predicted_for_every_broadcast() {
    let numbers = [0; 256];
    let fabric = [(0, 0.3), (4 << 10, 0.6), (64 << 10, 3.2), (1 << 20, 44.0)];
    let fabric = |_| measured(2.0, &fabric);
    let mut contents = grids::contents(&numbers, 16, fabric, |_, _| unreachable!());
    contents.clusters[Cluster(0)].levels = vec![Level {
        name: "node".to_owned(),
        link: measured(0.4, &[(0, 0.1), (4 << 10, 0.6), (1 << 20, 120.0)]),
    }];
    let platform = Platform::new(contents).unwrap();
    let found = predictor(&platform, Operation::Bcast, 1 << 20).all(None);
    assert!(found.unwrap().iter().all(|p| p.simulated.is_some()));
}
