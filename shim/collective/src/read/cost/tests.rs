use crate::algorithms::algorithm::Algorithm;
use crate::clusters::Clusters;
use crate::grids;
use crate::grids::of_numbers;
use crate::network::links::Network;
use crate::operation::Operation;
use crate::problem::Uniform;
use crate::read::cost::reading::Reading;
use crate::read::cost::script::OneByOne;
use crate::read::simulate::{engine::simulate, outcome::Options};
use crate::steps::Flow;
use crate::steps::LARGEST_MESSAGE;
use treepie_platform::Link;

fn call(operation: Operation, bytes: u64) -> Uniform {
    Uniform {
        operation,
        bytes,
        root: 0,
    }
}

fn read(network: &Network, ordered: bool, flow: Flow) -> Reading<'_> {
    Reading {
        network,
        clusters: None,
        ordered,
        flow,
        one_by_one: OneByOne::Sends,
    }
}

/// Ranks on hosts of four, in four clusters.
fn network(ranks: usize) -> Network {
    let numbers: Vec<usize> = (0..ranks).map(|rank| rank * 4 / ranks).collect();
    let wan = |_, _| grids::wan(10.0, 100.0);
    of_numbers(&numbers, 4, |_| grids::lan(), wan)
}

fn simulated(network: &Network, algorithm: &Algorithm, call: &Uniform, segment: u64) -> f64 {
    let clusters = Clusters::one(network.ranks());
    let plans = algorithm.plans(call, None, &clusters, segment);
    let outcome = simulate(network, &plans, 1, Options::default());
    outcome.unwrap().seconds
}

/// Algorithms by rank that serve a call of this many ranks.
fn serving(call: &Uniform, ranks: usize) -> impl Iterator<Item = &'static Algorithm> + use<> {
    let by_rank = Algorithm::of(call.operation).filter(|known| known.is_by_rank());
    by_rank.filter(move |known| known.requires.iter().all(|need| need.allows(ranks)))
}

#[test]
fn what_is_read_is_near_what_the_simulator_takes_for_every_algorithm_by_rank() {
    let (mut errors, mut far) = (Vec::new(), Vec::new());
    for ranks in [12, 16] {
        let network = network(ranks);
        for operation in Operation::all() {
            for bytes in [8, 16 << 10, 256 << 10] {
                let call = call(operation, bytes);
                for algorithm in serving(&call, ranks) {
                    let taken = simulated(&network, algorithm, &call, LARGEST_MESSAGE);
                    let found = read(&network, false, Flow::WHOLE)
                        .times(algorithm, &call)
                        .end;
                    let error = (found / taken - 1.0).abs();
                    if error > 0.35 {
                        let name = algorithm.name;
                        far.push(format!(
                            "{operation} {name} {ranks} {bytes}: {found} {taken}"
                        ));
                    }
                    errors.push(error);
                }
            }
        }
    }
    errors.sort_by(f64::total_cmp);
    let at = |part: usize| errors[errors.len() * part / 100];
    println!("{} {:?} {far:#?}", errors.len(), [50, 80, 90].map(at));
    assert!(at(50) < 0.02 && at(90) < 0.15, "{:?}", [50, 90].map(at));
    assert!(far.len() * 50 < errors.len(), "{far:#?}");
}

#[test]
fn no_algorithm_by_rank_waits_for_itself() {
    for ranks in [1, 2, 3, 5, 8, 13, 24] {
        let network = network(ranks.max(4));
        let ranks = network.ranks();
        for operation in Operation::all() {
            for ordered in [false, true] {
                let call = call(operation, 1000);
                for algorithm in serving(&call, ranks) {
                    let found = read(&network, ordered, 100.into()).times(algorithm, &call);
                    let name = algorithm.name;
                    assert!(found.end.is_finite(), "{operation} {name} on {ranks} ranks");
                }
            }
        }
    }
}

/// Rounds that differ from each other, and blocks that are cut: none represents others.
#[test]
fn exchanges_at_growing_distances_are_read_for_what_they_take() {
    let network = network(64);
    for (operation, name, bytes, segment) in [
        (
            Operation::Allgather,
            "recursive-doubling",
            64 << 10,
            16 << 10,
        ),
        (Operation::Allgather, "bruck", 64 << 10, 4 << 10),
        (Operation::Alltoall, "bruck", 8 << 10, 8 << 10),
        (Operation::Alltoall, "hypercube", 8 << 10, 8 << 10),
        (Operation::Scatter, "binomial", 64 << 10, 8 << 10),
    ] {
        let algorithm = Algorithm::find(operation, name).unwrap();
        let call = call(operation, bytes);
        let taken = simulated(&network, algorithm, &call, segment);
        let reading = read(&network, false, segment.into());
        let found = reading.times(algorithm, &call).end;
        let ratio = found / taken;
        assert!(
            (ratio - 1.0).abs() < 0.25,
            "{operation} {name}: {found} {taken}"
        );
    }
}

/// The parts that are run represent the whole.
#[test]
fn long_pipelines_and_exchanges_of_many_are_read_in_part_for_what_they_take_whole() {
    let network = network(160);
    for (operation, name, bytes, segment) in [
        (Operation::Bcast, "chain", 1 << 20, 64 << 10),
        (Operation::Bcast, "scatter-allgather", 1 << 20, 1 << 20),
        (Operation::Reduce, "binomial", 1 << 20, 32 << 10),
        (Operation::Allgather, "ring", 8, 8),
        (Operation::Allgather, "ring", 4096, 4096),
        (Operation::Allgather, "ring", 65536, 65536),
        (Operation::Allreduce, "ring", 160, 160),
        (Operation::Allreduce, "ring", 160 << 10, 160 << 10),
        (Operation::Allreduce, "ring", 160 << 15, 160 << 15),
        (Operation::ReduceScatter, "pairwise", 1024, 1024),
        (Operation::ReduceScatter, "ring", 1024, 1024),
        (Operation::Alltoall, "pairwise", 8, 8),
        (Operation::Alltoall, "pairwise", 1024, 1024),
        (Operation::Alltoall, "flat", 1024, 1024),
    ] {
        let algorithm = Algorithm::find(operation, name).unwrap();
        let call = call(operation, bytes);
        let flow = Flow {
            segment,
            ..Flow::WHOLE
        };
        let taken = simulated(&network, algorithm, &call, segment);
        let found = read(&network, false, flow).times(algorithm, &call).end;
        println!(
            "{operation} {name} {bytes} {found} {taken} {}",
            found / taken
        );
        assert!(
            (found / taken - 1.0).abs() < 0.1,
            "{operation} {name} {bytes}: {found} {taken}"
        );
    }
}

/// An algorithm by rank on clusters with contention in exchanges: its time in the simulator and by
/// its description, with contention and without.
struct Read {
    what: String,
    taken: f64,
    found: f64,
    taken_free: f64,
    found_free: f64,
}

fn read_with_contention(operation: Operation, name: &str) -> Vec<Read> {
    let mut all = Vec::new();
    for (place, network) in grids::that_respond_to_exchanges() {
        let free = network.clone().without_contention();
        for bytes in [4 << 10, 32 << 10, 256 << 10] {
            let algorithm = Algorithm::find(operation, name).unwrap();
            let call = call(operation, bytes);
            let simulated = |network| simulated(network, algorithm, &call, LARGEST_MESSAGE);
            let found = |network| {
                read(network, false, Flow::WHOLE)
                    .times(algorithm, &call)
                    .end
            };
            all.push(Read {
                what: format!("{operation} {name} {bytes} on {place}"),
                taken: simulated(&network),
                found: found(&network),
                taken_free: simulated(&free),
                found_free: found(&free),
            });
        }
    }
    all
}

#[test]
fn contention_is_read_as_it_is_simulated_in_exchanges_of_all_with_all() {
    let exchanges = [
        (Operation::Alltoall, "pairwise"),
        (Operation::Alltoall, "flat"),
        (Operation::ReduceScatterBlock, "pairwise"),
    ];
    let all = exchanges
        .into_iter()
        .flat_map(|(operation, name)| read_with_contention(operation, name));
    // If the links between clusters dominate, contention has no effect.
    let met: Vec<Read> = all
        .filter(|one| one.taken > 1.02 * one.taken_free)
        .collect();
    let far_off = |found: fn(&Read) -> f64| {
        let error = |one: &Read| (found(one) / one.taken - 1.0).abs();
        met.iter().filter(|one| error(one) > 0.25).count()
    };
    let (far, unaware) = (far_off(|one| one.found), far_off(|one| one.found_free));
    let count = met.len();
    println!("{far} of {count} are far off; {unaware} would be without contention");
    assert!(
        unaware * 3 > count * 2 && far * 5 < count,
        "{unaware} {far} {count}"
    );
    for one in met {
        let (found, taken) = (one.found, one.taken);
        assert!(
            found / taken > 0.6 && found / taken < 1.6,
            "{}: {found} {taken}",
            one.what
        );
    }
}

/// Exchanges at distances 1, 2, 4, ... reach all ranks of a cluster of three or fewer.
#[test]
fn contention_is_not_read_where_no_rank_sends_to_all_of_its_cluster() {
    let algorithm = Algorithm::find(Operation::Alltoall, "bruck").unwrap();
    let large = grids::that_respond_to_exchanges().into_iter();
    for (place, network) in large.filter(|(place, _)| !place.starts_with("uneven")) {
        let free = network.clone().without_contention();
        let call = call(Operation::Alltoall, 32 << 10);
        let [met, free] =
            [&network, &free].map(|one| read(one, false, Flow::WHOLE).times(algorithm, &call));
        assert_eq!(met, free, "{place}");
    }
}

/// All ranks of a cluster of near hosts, 25 us and 114 MiB/s apart.
fn near(hosts: usize, on_host: usize) -> Network {
    let between = Link::linear(25e-6, 2e-6, 8.4e-9).unwrap();
    let platform = grids::one_cluster(hosts, on_host, between);
    let all: Vec<usize> = (0..platform.ranks()).collect();
    Network::between_near_hosts(&platform, &all).unwrap()
}

#[test]
fn what_takes_rounds_is_near_the_simulator_in_lockstep_between_near_hosts() {
    let mut errors = Vec::new();
    for (hosts, on_host) in [(16, 1), (12, 4), (8, 8)] {
        let network = near(hosts, on_host);
        let clusters = Clusters::of_network(&network);
        for operation in [
            Operation::Allreduce,
            Operation::Allgather,
            Operation::ReduceScatterBlock,
        ] {
            for bytes in [8, 64 << 10] {
                let call = call(operation, bytes);
                let reading = Reading {
                    clusters: Some(&clusters),
                    ..read(&network, false, Flow::WHOLE)
                };
                let in_rounds = Algorithm::of(operation).filter(|known| known.has_rounds());
                let in_rounds =
                    in_rounds.filter(|one| one.requires.iter().all(|r| r.allows(hosts * on_host)));
                for algorithm in in_rounds {
                    let found = reading.lockstep(algorithm, &call);
                    let plans = algorithm.plans(&call, Some(&network), &clusters, LARGEST_MESSAGE);
                    let outcome = simulate(&network, &plans, 1, Options::default());
                    if found.is_finite() {
                        let ratio = found / outcome.unwrap().seconds;
                        errors.push((ratio - 1.0).abs());
                    }
                }
            }
        }
    }
    errors.sort_by(f64::total_cmp);
    let at = |part: usize| errors[errors.len() * part / 100];
    println!("{} {:?}", errors.len(), [50, 80, 90].map(at));
    assert!(errors.len() > 80 && at(50) < 0.1 && at(80) < 0.35);
}

#[test]
fn work_on_arriving_messages_delays_the_sends_of_an_exchange() {
    let network = near(16, 1);
    let call = call(Operation::Alltoall, 8);
    let flat = Algorithm::find(Operation::Alltoall, "flat").unwrap();
    let found = read(&network, false, Flow::WHOLE).times(flat, &call).end;
    let taken = simulated(&network, flat, &call, LARGEST_MESSAGE);
    assert!((found / taken - 1.0).abs() < 0.05, "{found} {taken}");
    // Each rank sends and receives fifteen messages, 2 us each.
    assert!(found > 25e-6 + 25.0 * 2e-6, "{found}");
}
