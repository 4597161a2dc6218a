//! Time of a replay on process 0 at the start of the job: reading the profile from its files, the
//! hardware of all hosts from their descriptions, the allocation from both and from the data of the
//! processes, the matrix from all layers, the placement; all of it together; and, instead, a
//! placement remapped to other hosts. The rest is MPI communication: gathering the locations of
//! processes and broadcasting the result; see `scripts/bench replay-start`.
//!
//! ```text
//! cargo bench -p treepie-benches --bench startup -- [RANKS ...]
//! ```
//!
//! This job is also placed for hosts on a torus and on a dragonfly with some more nodes than
//! hosts.
//!
//! Hosts have 2 sockets of 16 cores. Each number is the least of five runs, in
//! milliseconds, on one thread.

use std::path::PathBuf;
use std::time::Instant;

use tempfile::TempDir;
use treepie_base::{List, Process, Slice};
use treepie_placement::allocation::{Allocation, Movement, Recorded};
use treepie_placement::binding::LaunchedProcess;
use treepie_profile::{Host, Profile};
use treepie_topology::Machine;
use treepie_topology::networks::Site;
use treepie_traffic::{Layer, Matrix, Metric, Traffic, TrafficMatrix};

const SOCKETS: usize = 2;
const CORES: usize = 16;

fn machine() -> Machine {
    let units = (0..SOCKETS * CORES).map(|core| vec![core]).collect();
    let children = [vec![SOCKETS], vec![CORES; SOCKETS]];
    let names = vec!["socket".into(), "core".into()];
    Machine::from_levels(None, names, &children, units).expect("a small machine")
}

/// Processes distributed over hosts round-robin, bound to their cores.
fn processes(ranks: usize, name: &str) -> List<Process, LaunchedProcess> {
    let hosts = ranks.div_ceil(SOCKETS * CORES);
    let process = |rank: usize| LaunchedProcess {
        host: format!("{name}{}", rank % hosts),
        allowed: vec![rank / hosts],
    };
    (0..ranks).map(process).collect()
}

/// The traffic of a pattern.
fn traffic(pattern: &str, ranks: usize) -> TrafficMatrix {
    let mut traffic = TrafficMatrix::new(ranks);
    let mut add = |from: usize, to: usize, bytes: u64| {
        if from != to {
            traffic.add(from, to, Traffic::new(10, bytes));
        }
    };
    let side = (ranks as f64).cbrt().round() as usize;
    for rank in 0..ranks {
        match pattern {
            "stencil" => {
                for stride in [1, side, side * side] {
                    add(rank, (rank + stride) % ranks, 80_000);
                    add((rank + stride) % ranks, rank, 80_000);
                }
            }
            "random" => {
                let mut at = rank as u64 + 1;
                for _ in 0..8 {
                    at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    add(rank, (at >> 33) as usize % ranks, 1_000 + at % 9_000);
                }
            }
            // All ranks communicate equally.
            "uniform" => (0..ranks).for_each(|to| add(rank, to, 1_000)),
            // To all, and much more to three distant ones and similar ranks.
            _ => (0..ranks).for_each(|to| {
                let apart = rank.abs_diff(to);
                let far = [side * side, 3 * side, side / 2].contains(&apart);
                let noise = (rank * 31 + to * 17) % 500;
                add(rank, to, if far { 80_000 } else { 1_000 + noise as u64 });
            }),
        }
    }
    traffic
}

/// A profile of this traffic in a file.
fn written(folder: &TempDir, traffic: TrafficMatrix) -> PathBuf {
    let ranks = traffic.order();
    let mut profile = Profile::new(ranks);
    profile.hosts = vec![Host {
        name: "n0".into(),
        processes: (0..ranks).map(treepie_base::Process).collect(),
    }];
    profile.point_to_point = traffic;
    let file = folder.path().join("app.profile.yaml");
    profile.write(&file).expect("the directory is writable");
    file
}

/// The least time of five runs, in milliseconds, and the last result.
fn least<T>(mut run: impl FnMut() -> T) -> (f64, T) {
    let mut best = f64::INFINITY;
    let mut last = None;
    for _ in 0..5 {
        let began = Instant::now();
        last = Some(run());
        best = best.min(began.elapsed().as_secs_f64() * 1e3);
    }
    (best, last.expect("five runs"))
}

/// The hosts of `job` on a torus and a dragonfly.
fn on_networks(ranks: usize, make: impl Fn() -> Allocation) -> [Allocation; 2] {
    let hosts = ranks.div_ceil(SOCKETS * CORES);
    let mut sizes = [1; 3];
    (0..).find(|&turn| {
        sizes[turn % 3] += 1;
        sizes.iter().product::<usize>() >= hosts
    });
    let [long, wide, high] = sizes;
    let groups = hosts.div_ceil(8).max(2);
    [
        format!("torus:{long}x{wide}x{high}"),
        format!("dragonfly:4,{groups},2"),
    ]
    .map(|described| {
        let site = Site::from_description(&described).expect("a network as documented");
        make().on_network(site).expect("as many nodes as hosts")
    })
}

fn main() {
    let numbers = std::env::args()
        .skip(1)
        .filter_map(|word| word.parse().ok());
    let mut sizes: Vec<usize> = numbers.collect();
    if sizes.is_empty() {
        sizes = vec![256, 1_024, 4_096];
    }
    println!(
        "{:>7} {:>9} {:>9} {:>9} {:>11} {:>9} {:>9} {:>9} {:>11} {:>11} {:>9} {:>9}",
        "ranks",
        "pattern",
        "profile",
        "hardware",
        "allocation",
        "matrix",
        "placed",
        "all",
        "carried",
        "DistComm",
        "torus",
        "dragonfly"
    );
    let folder = tempfile::tempdir().expect("a temporary directory can be made");
    for ranks in sizes {
        let job = processes(ranks, "n");
        let machine = machine();
        let make = |job: &Slice<Process, LaunchedProcess>| {
            Allocation::new(job, |_| Some(machine.clone()), None).expect("hosts")
        };
        let (allocation_time, allocation) = least(|| make(&job));
        let networks = on_networks(ranks, || make(&job));
        let said = vec![machine.to_string(); ranks.div_ceil(SOCKETS * CORES)];
        let (hardware_time, _) = least(|| {
            let understood = said.iter().map(|text| text.parse::<Machine>().is_ok());
            assert!(understood.collect::<Vec<bool>>().iter().all(|&good| good));
        });
        let elsewhere = make(&processes(ranks, "m"));
        for pattern in ["stencil", "random", "uniform", "dense"] {
            if ranks > 1_024 && ["uniform", "dense"].contains(&pattern) {
                continue;
            }
            let file = written(&folder, traffic(pattern, ranks));
            let (read_time, profile) =
                least(|| Profile::read(&file).expect("it has just been written"));
            let (matrix_time, matrix): (f64, Matrix) = least(|| {
                let traffic = profile.traffic(Layer::ALL);
                traffic.exact_affinity(Metric::Size).expect("small counts")
            });
            let place = |allocation: &Allocation| {
                let found = allocation.placed(&matrix, Movement::Ranks);
                found.expect("as many ranks as processes")
            };
            let (placed_time, placed) = least(|| place(&allocation));
            let [torus, dragonfly] = networks.each_ref().map(|on| least(|| place(on)).0);
            let recorded = Recorded {
                topology: &placed.topology,
                leaf_of_rank: &placed.leaf_of_rank,
                leaf_of_process: &placed.leaf_of_process,
            };
            let (carried_time, _) = least(|| elsewhere.remap(recorded).expect("the same shape"));
            let all = read_time + hardware_time + allocation_time + matrix_time + placed_time;
            let gain = placed.costs.1 / placed.costs.0;
            println!(
                "{ranks:>7} {pattern:>9} {read_time:>9.1} {hardware_time:>9.1} {allocation_time:>11.1} {matrix_time:>9.1} {placed_time:>9.1} {all:>9.1} {carried_time:>11.1} {gain:>11.3} {torus:>9.1} {dragonfly:>9.1}"
            );
        }
    }
}
