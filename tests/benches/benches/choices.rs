//! Choices on random platforms against the simulation: `cargo bench -p treepie-benches --bench
//! choices [-- SEED [PLATFORMS]]`.
//!
//! For each platform, collective and size: the simulated time of what is chosen over that of the
//! fastest algorithm, the MPI's own included, and the estimate over the simulation. Platforms have
//! 1 to 12 clusters of 1 to 24 hosts of 1 to 8 ranks, at most 256 in all; inside, Fast Ethernet,
//! gigabit Ethernet or a fabric of 200 Gbit/s; between clusters 0.1 to 10 ms and 100 or
//! 1,000 Mbit/s, one for all pairs or different ones.
#![allow(clippy::unwrap_used)] // a benchmark may panic

use treepie_base::{Cluster, SplitMix64};
use treepie_choice::predict::{Prediction, Predictor};
use treepie_collective::network::Computing;
use treepie_collective::{Operation, Uniform};
use treepie_native::Family;
use treepie_platform::{Contents, Host, Level, Link, Platform, PlatformCluster, Sample};

const MOST_RANKS: usize = 256;
const SIZES: [u64; 4] = [8, 8 << 10, 64 << 10, 1 << 20];
const OPERATIONS: [Operation; 10] = [
    Operation::Bcast,
    Operation::Reduce,
    Operation::Allreduce,
    Operation::Allgather,
    Operation::Alltoall,
    Operation::Gather,
    Operation::Scatter,
    Operation::ReduceScatterBlock,
    Operation::Scan,
    Operation::Barrier,
];

/// Rows above this ratio are listed.
const LISTED: f64 = 1.25;

fn main() {
    let numbers = std::env::args().skip(1).filter_map(|a| a.parse().ok());
    let numbers: Vec<u64> = numbers.collect();
    let seed = numbers.first().copied().unwrap_or(1);
    let mut random = SplitMix64::new(seed);
    let mut all = Rows::default();
    for number in 0..numbers.get(1).copied().unwrap_or(12) {
        let (name, platform) = platform(&mut random);
        let mut rows = Rows::default();
        for operation in OPERATIONS {
            for bytes in SIZES {
                let is_listed = operation != Operation::Barrier || bytes == SIZES[0];
                if is_listed {
                    rows.add(&platform, &format!("{number} {name}"), operation, bytes);
                }
            }
        }
        println!("{number:3} {name:44} {}", rows.summary());
        all.ratios.extend(rows.ratios);
        all.estimates.extend(rows.estimates);
        all.losses += rows.losses;
        all.listed.extend(rows.listed);
    }
    println!("seed {seed}, all: {}", all.summary());
    all.listed.sort_by(|one, other| other.0.total_cmp(&one.0));
    for (_, line) in &all.listed {
        println!("  {line}");
    }
}

/// Ratios of some platforms.
#[derive(Default)]
struct Rows {
    /// Chosen over fastest.
    ratios: Vec<f64>,
    /// Estimate over simulation.
    estimates: Vec<f64>,
    /// Rows in which the MPI's own collective is faster by more than 5 %.
    losses: usize,
    listed: Vec<(f64, String)>,
}

impl Rows {
    fn add(&mut self, platform: &Platform, name: &str, operation: Operation, bytes: u64) {
        let call = Uniform {
            operation,
            bytes: if operation == Operation::Barrier {
                0
            } else {
                bytes
            },
            root: 0,
        };
        let predictor =
            Predictor::new(platform, call, Family::OpenMpi, Computing::default()).unwrap();
        let predictions = predictor.all(None).unwrap();
        let chosen = predictions
            .iter()
            .find(|one| one.algorithm == predictor.chosen());
        let Some((chosen, seconds)) = chosen.and_then(|one| Some((one, one.simulated?))) else {
            return;
        };
        let simulated = predictions.iter().filter(|one| one.simulated.is_some());
        let fastest = simulated.min_by(|one, other| {
            let seconds = |one: &Prediction| one.simulated.unwrap_or(f64::INFINITY);
            seconds(one).total_cmp(&seconds(other))
        });
        let Some((fastest, least)) = fastest.and_then(|one| Some((one, one.simulated?))) else {
            return;
        };
        self.ratios.push(seconds / least);
        let native = predictions.iter().find(|one| one.algorithm.is_none());
        let native = native.and_then(|one| one.simulated);
        self.losses += usize::from(native.is_some_and(|native| seconds > 1.05 * native));
        if let Some(estimated) = chosen.estimated.filter(|_| chosen.algorithm.is_some()) {
            self.estimates.push(estimated / seconds);
        }
        if seconds > LISTED * least {
            let named = |one: &Prediction| one.algorithm.map_or("native", |known| known.name);
            let estimated = |one: &Prediction| match one.estimated {
                Some(seconds) => format!("{:.3}", 1e3 * seconds),
                None => "none".to_owned(),
            };
            let line = format!(
                "{:5.2} {operation} of {bytes} on {name}: {} {:.3} ms (estimate {}), {} {:.3} ({})",
                seconds / least,
                named(chosen),
                1e3 * seconds,
                estimated(chosen),
                named(fastest),
                1e3 * least,
                estimated(fastest)
            );
            self.listed.push((seconds / least, line));
        }
    }

    fn summary(&self) -> String {
        let mean = self.ratios.iter().map(|ratio| ratio.ln()).sum::<f64>();
        let mean = (mean / self.ratios.len() as f64).exp();
        let part = |of: &[f64], is_in: &dyn Fn(f64) -> bool| {
            100.0 * of.iter().filter(|&&one| is_in(one)).count() as f64 / of.len().max(1) as f64
        };
        format!(
            "{} rows, {mean:.2} in the mean, within 5 %: {:.0} %, above {LISTED}: {}, {:.1} at most; \
             slower than the MPI's own: {}; estimates within 15 %: {:.0} % of {}",
            self.ratios.len(),
            part(&self.ratios, &|ratio| ratio <= 1.05),
            self.ratios.iter().filter(|&&ratio| ratio > LISTED).count(),
            self.ratios.iter().copied().fold(1.0, f64::max),
            self.losses,
            part(&self.estimates, &|ratio| (ratio.ln()).abs() < 0.14),
            self.estimates.len(),
        )
    }
}

/// Microseconds of latency, and bytes per microsecond.
type Speed = (f64, f64);

const INSIDE: [(&str, Speed); 3] = [
    ("Fast Ethernet", (50.0, 11.5)),
    ("gigabit", (25.0, 117.0)),
    ("fabric", (2.0, 23_000.0)),
];

/// Random platform, and its description.
fn platform(random: &mut SplitMix64) -> (String, Platform) {
    let mut one_of = |some: &[usize]| some[random.below(some.len())];
    let (clusters, on_host) = (one_of(&[1, 2, 2, 3, 4, 6, 8, 12]), one_of(&[1, 1, 2, 4, 8]));
    let usual = one_of(&[2, 4, 8, 16, 24]).max(3 - clusters.min(2));
    let (inside, far) = (one_of(&[0, 1, 2]), one_of(&[100, 1000, 5000, 10_000]));
    let (rate, is_mixed) = (one_of(&[11, 117]), one_of(&[0, 1]) == 1);
    let mut contents = Contents::default();
    let mut ranks = 0;
    for cluster in 0..clusters {
        let hosts = usual * one_of(&[2, 2, 3, 4]) / 2;
        let left = (MOST_RANKS - ranks) / on_host / (clusters - cluster);
        let hosts = hosts.clamp(1, left.max(1));
        let first = contents.hosts.len();
        for host in first..first + hosts {
            contents.hosts.push(Host {
                name: format!("h{host}"),
                ranks: (ranks..ranks + on_host).collect(),
            });
            ranks += on_host;
        }
        contents.clusters.push(PlatformCluster {
            name: format!("c{cluster}"),
            hosts: (first..first + hosts).collect(),
            leader: first * on_host,
            within: (hosts > 1).then(|| link(INSIDE[inside].1)),
            levels: (on_host > 1)
                .then(|| Level {
                    name: "node".to_owned(),
                    link: link((0.4, 8700.0)),
                })
                .into_iter()
                .collect(),
            contention: None,
        });
    }
    for from in 0..clusters {
        for to in (0..clusters).filter(|&to| to != from) {
            let (low, high) = (from.min(to), from.max(to));
            let times = match is_mixed {
                true => 0.5 + ((7 * low + 5 * high) % 8) as f64 / 4.0,
                false => 1.0,
            };
            let link = link((far as f64 * times, rate as f64 / times));
            contents.links.insert((Cluster(from), Cluster(to)), link);
        }
    }
    let mixed = if is_mixed { ", mixed" } else { "" };
    let name = format!(
        "{clusters} x {usual} x {on_host}, {}, {} ms{mixed}",
        INSIDE[inside].0,
        far as f64 / 1e3
    );
    (name, Platform::new(contents).unwrap())
}

/// Link as a probe measures it, with a rendezvous from 64 KiB.
fn link((latency, rate): Speed) -> Link {
    let sizes = [0, 1 << 10, 16 << 10, 65_535, 65_536, 1 << 20];
    let sample = |&bytes: &u64| Sample {
        bytes,
        gap: 1e-6 * (0.3 + bytes as f64 / rate),
        handshake: if bytes > 65_535 { 2e-6 * latency } else { 0.0 },
        send: 5e-7,
        receive: 5e-7,
        confidence: 0.0,
    };
    Link::new(1e-6 * latency, sizes.iter().map(sample).collect()).unwrap()
}
