//! Costs of a choice, and times of algorithms at scale: `cargo bench -p treepie-benches --bench
//! collectives [-- choose|scale [RANKS]|uneven]`.
//!
//! `choose`: microseconds to choose a plan, the first time and again, on up to 8,192 ranks.
//! `scale`: the plans of 1,000 and 10,000 ranks on 20 to 50 clusters in the simulator: every
//! algorithm for a broadcast, a reduction and an allreduce, the native binomial tree by rank (in
//! the best and the worst numbering), and the bound. `uneven`: total exchanges of uneven sizes on
//! LaPIe's grid of 40 ranks and on four clusters of four, and the cost of a choice among all
//! algorithms.
#![allow(clippy::unwrap_used)] // a benchmark may panic

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use treepie_base::Cluster;
use treepie_base::statistics::median;
use treepie_choice::Chooser;
use treepie_choice::uneven::{exchange_seconds, fastest};
use treepie_collective::read::simulate::{Options, Sending, simulate};
use treepie_collective::{
    Algorithm, Amount, Clusters, Network, Operation, Problem, Uniform, bound,
};
use treepie_native::Family;
use treepie_platform::{Contention, Contents, Host, Link, Platform, PlatformCluster, Sample};
use treepie_thesis::lapie;

fn main() {
    let which: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with('-'))
        .collect();
    let wants = |name: &str| which.is_empty() || which.iter().any(|given| given == name);
    if wants("choose") {
        choose();
    }
    if wants("scale") {
        scale(which.get(1).and_then(|ranks| ranks.parse().ok()));
    }
    if wants("uneven") {
        uneven();
    }
}

/// Clusters of this number of ranks, four per host, 1 to 12 ms and 50 to 600 Mbit/s apart. Numbered
/// in blocks, or round-robin.
fn grid(clusters: usize, ranks: usize, in_blocks: bool) -> Network {
    grid_with((clusters, ranks, 4), in_blocks, None)
}

/// Like `grid`, with this number of ranks per host and a response of the clusters to exchanges.
fn grid_with(
    (clusters, ranks, on_host): (usize, usize, usize),
    in_blocks: bool,
    contention: Option<Contention>,
) -> Network {
    let of = |rank: usize| match in_blocks {
        true => rank * clusters / ranks,
        false => rank % clusters,
    };
    let members =
        |cluster: usize| -> Vec<usize> { (0..ranks).filter(|&rank| of(rank) == cluster).collect() };
    let mut contents = Contents::default();
    for cluster in 0..clusters {
        let first = contents.hosts.len();
        let all = members(cluster);
        for on_host in all.chunks(on_host) {
            contents.hosts.push(Host {
                name: format!("n{}", on_host[0]),
                ranks: on_host.to_vec(),
            });
        }
        contents.clusters.push(PlatformCluster {
            name: format!("c{cluster}"),
            hosts: (first..contents.hosts.len()).collect(),
            leader: all[0],
            within: (contents.hosts.len() - first > 1)
                .then(|| Link::linear(50e-6, 2e-6, 9e-9).unwrap()),
            levels: vec![treepie_platform::Level {
                name: "node".to_owned(),
                link: Link::linear(1e-6, 2e-7, 2e-10).unwrap(),
            }],
            contention,
        });
    }
    for from in 0..clusters {
        for to in (0..clusters).filter(|&to| to != from) {
            let (low, high) = (from.min(to), from.max(to));
            // No two are equal, like measured ones: a result looked up for one cannot be used for
            // another.
            let latency = 1e-3 * (1 + (7 * low + 5 * high) % 12) as f64
                + 1e-8 * (from * clusters + to) as f64;
            let uplink = |cluster: usize| 50 * (1 + cluster * 7 % 12);
            let link = wan(latency, uplink(from).min(uplink(to)));
            contents.links.insert((Cluster(from), Cluster(to)), link);
        }
    }
    let platform = Platform::new(contents).unwrap();
    let all: Vec<usize> = (0..ranks).collect();
    let near = Network::between_near_hosts(&platform, &all);
    near.or_else(|| Network::new(&platform, &all)).unwrap()
}

/// A link as written by a probe: a dozen sizes, a handshake from 64 KiB.
fn wan(latency: f64, mbit: usize) -> Link {
    let per_byte = 8.5 / (1e6 * mbit as f64);
    let sizes = [
        0,
        1,
        1 << 10,
        4 << 10,
        8 << 10,
        16 << 10,
        32 << 10,
        65535,
        65536,
        256 << 10,
        1 << 20,
    ];
    let sample = |&bytes: &u64| Sample {
        bytes,
        gap: 5e-6 + per_byte * bytes as f64,
        handshake: if bytes > 65535 { 2.0 * latency } else { 0.0 },
        send: 5e-6,
        receive: 5e-6,
        confidence: 0.0,
    };
    Link::new(latency, sizes.iter().map(sample).collect()).unwrap()
}

const OPERATIONS: [Operation; 9] = [
    Operation::Bcast,
    Operation::Reduce,
    Operation::Allreduce,
    Operation::Gather,
    Operation::Scatter,
    Operation::Allgather,
    Operation::Alltoall,
    Operation::ReduceScatter,
    Operation::Barrier,
];

fn choose() {
    println!("choosing a plan, microseconds (median; the MPI's own among the candidates)");
    println!(
        "{:>9} {:>6}  {:16} {:>9} {:>9} {:>16}",
        "clusters", "ranks", "operation", "first", "again", "with contention"
    );
    for size in [
        (4, 16, 4),
        (16, 64, 4),
        (16, 256, 4),
        (64, 1024, 4),
        (1, 64, 4),
        (1, 192, 4),
        (1, 512, 4),
        (1, 7680, 128),
        (1, 8192, 64),
    ] {
        let (clusters, ranks, _) = size;
        let network = Arc::new(grid_with(size, true, None));
        let known = Clusters::of_network(&network);
        let fresh =
            |network: Arc<Network>| Chooser::new(Some(network), &known, Some(Family::OpenMpi));
        let contention = Some(Contention::GIGA_ETHERNET);
        let busy = fresh(Arc::new(grid_with(size, true, contention)));
        let fresh = fresh(network);
        for operation in OPERATIONS {
            let (mut first, mut again, mut with) = (Vec::new(), Vec::new(), Vec::new());
            let step = if ranks > 1024 { 20 } else { 1 };
            for round in (0..101u64).step_by(step) {
                let bytes = 1000 + 977 * round * round;
                let mut chooser = fresh.clone();
                let began = Instant::now();
                black_box(chooser.choose(operation, Some(bytes), 0, false, &known));
                first.push(1e6 * began.elapsed().as_secs_f64());
                let began = Instant::now();
                for _ in 0..100 {
                    black_box(chooser.choose(operation, Some(black_box(bytes)), 0, false, &known));
                }
                again.push(1e4 * began.elapsed().as_secs_f64());
                let mut chooser = busy.clone();
                let began = Instant::now();
                black_box(chooser.choose(operation, Some(bytes), 0, false, &known));
                with.push(1e6 * began.elapsed().as_secs_f64());
            }
            println!(
                "{clusters:>9} {ranks:>6}  {:16} {:>9.2} {:>9.3} {:>16.2}",
                operation.to_string(),
                median(&first).unwrap(),
                median(&again).unwrap(),
                median(&with).unwrap()
            );
        }
    }
}

fn scale(only: Option<usize>) {
    println!("\nsimulated makespans, milliseconds (segment in bytes; over the bound)");
    let grids = [(20, 1_000), (50, 1_000), (20, 10_000), (50, 10_000)];
    for (clusters, ranks) in grids
        .into_iter()
        .filter(|&(_, r)| only.is_none_or(|only| only == r))
    {
        for operation in [Operation::Bcast, Operation::Reduce, Operation::Allreduce] {
            for bytes in [8, 64 << 10, 1 << 20] {
                rows(clusters, ranks, operation, bytes);
            }
        }
    }
}

fn rows(clusters: usize, ranks: usize, operation: Operation, bytes: u64) {
    let network = Arc::new(grid(clusters, ranks, true));
    let known = Clusters::of_network(&network);
    let call = Uniform {
        operation,
        bytes,
        root: 0,
    };
    let least = bound(&network, &known, operation, bytes, 0);
    let mut chooser = Chooser::new(Some(network.clone()), &known, None);
    let choice = chooser.choose(operation, Some(bytes), 0, false, &known);
    println!(
        "\n{operation} of {bytes} bytes on {ranks} ranks in {clusters} clusters: bound {:.3}",
        1e3 * least
    );
    let simulated = |network: &Network, algorithm: &Algorithm, segment: u64| {
        let known = Clusters::of_network(network);
        let plans = algorithm.plans(&call, Some(network), &known, segment);
        simulate(network, &plans, 1, Options::default())
            .unwrap()
            .seconds
    };
    let line = |name: &str, segment: u64, seconds: f64, mark: &str| {
        println!(
            "  {mark:1} {name:28} {segment:>9} {:>12.3} {:>8.2}",
            1e3 * seconds,
            seconds / least
        );
    };
    let binomial = Algorithm::find(operation, "binomial").unwrap();
    for (name, in_blocks) in [
        ("host: binomial, in blocks", true),
        ("host: binomial, in turn", false),
    ] {
        let network = grid(clusters, ranks, in_blocks);
        line(
            name,
            bytes.max(1),
            simulated(&network, binomial, bytes.max(1)),
            "",
        );
    }
    // Schedulers often arrive at the same tree, with predictions equal to the last digit: it is
    // simulated once.
    let mut done: Vec<((u64, u64), f64)> = Vec::new();
    for plan in choice.considered() {
        let chosen = choice
            .algorithm
            .is_some_and(|chosen| chosen.name == plan.algorithm.name);
        let alike = (plan.segment, plan.seconds.to_bits());
        let before = done.iter().find(|(key, _)| *key == alike);
        let seconds = match before {
            Some(&(_, seconds)) => seconds,
            None => simulated(&network, plan.algorithm, plan.segment),
        };
        done.push((alike, seconds));
        line(
            plan.algorithm.name,
            plan.segment,
            seconds,
            if chosen { "*" } else { "" },
        );
    }
}

/// Milliseconds of total exchanges by each algorithm: with one port per process as in the thesis,
/// and with shared links; then those of the choice.
fn uneven() {
    let grids = [
        (lapie::CASE_4.name, lapie::CASE_4.network()),
        ("four clusters of four", grid(4, 16, true)),
    ];
    for (name, network) in &grids {
        for sending in [Sending::OnePort, Sending::Overlapping] {
            println!("\nuneven total exchanges, {name}, {sending:?}: ms by mean size of a block");
            print!("    {:16}", "");
            for volumes in lapie::Volumes::ALL {
                print!("{:>12} 4 KiB{:>10} 64 KiB", format!("{volumes:?}"), "");
            }
            println!();
            for algorithm in Algorithm::of(Operation::Alltoallv) {
                print!("    {:16}", algorithm.name);
                for volumes in lapie::Volumes::ALL {
                    for mean in [4 << 10, 64 << 10] {
                        let table = volumes.table(network.ranks(), mean);
                        match lapie::exchanged(network, table, algorithm, sending) {
                            Some(seconds) => print!("{:>18.1}", 1e3 * seconds),
                            None => print!("{:>18}", "-"),
                        }
                    }
                }
                println!();
            }
        }
    }
    for ranks in [16, 32, 64] {
        choose_uneven(&grid(4, ranks, true));
    }
}

/// The cost of a choice among all algorithms if sizes are uneven.
fn choose_uneven(network: &Network) {
    let known = Clusters::of_network(network);
    let ranks = network.ranks();
    println!("\nthe choice on {ranks} ranks, milliseconds");
    for mean in [256, 4 << 10, 64 << 10] {
        let amount = Amount::Table(lapie::Volumes::Skewed.table(network.ranks(), mean));
        let problem = Problem {
            operation: Operation::Alltoallv,
            root: 0,
            amount: &amount,
            clusters: &known,
            ordered: false,
            network: Some(network),
            unit_bytes: 1,
        };
        let flat = Algorithm::find(problem.operation, "flat").unwrap();
        let found = fastest(&problem, 48 << 10, flat).unwrap();
        let time = || {
            let began = Instant::now();
            fastest(&problem, 48 << 10, flat).unwrap();
            began.elapsed().as_secs_f64()
        };
        // Other processes may use the machine, too.
        let seconds = (0..10).map(|_| time()).fold(f64::INFINITY, f64::min);
        println!(
            "    mean {mean:>6}: {:.1}; {} takes {:.1}, flat {:.1}; the exchange of sizes {:.1}",
            1e3 * seconds,
            found.algorithm.name,
            1e3 * found.seconds,
            1e3 * found.unknown,
            1e3 * exchange_seconds(network, (ranks * 2 * 8) as u64),
        );
    }
}
