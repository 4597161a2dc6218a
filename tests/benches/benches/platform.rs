//! Times of platform operations: `cargo bench -p treepie-benches --bench platform`.
//!
//! Clustering 10,000 nodes whose latencies are known inside their clusters and to
//! the next one, and predicting collectives on 10,000 ranks in 20 clusters. Medians
//! of several runs.
#![allow(clippy::unwrap_used)] // a benchmark may panic

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

use treepie_base::Cluster;
use treepie_base::statistics::median;
use treepie_choice::predict::Predictor;
use treepie_collective::network::Computing;
use treepie_collective::{Operation, Uniform};
use treepie_native::Family;
use treepie_platform::{Contents, Host, LatencyMatrix, Link, Partition, Platform, PlatformCluster};

const NODES: usize = 10_000;

fn main() {
    let latencies = sparse();
    let links = latencies.links().count();
    let title = format!("cluster {NODES} nodes, {links} links");
    report(&title, || Partition::new(&latencies, 0.30).clusters.len());
    let platform = grid();
    // Simulated if that takes at most some seconds, and else estimated.
    for (operation, bytes) in [
        (Operation::Bcast, 1 << 10),
        (Operation::Allreduce, 1 << 10),
        (Operation::Alltoall, 1 << 10),
    ] {
        let call = Uniform {
            operation,
            bytes,
            root: 0,
        };
        let computing = Computing::default();
        let title = format!("predict {operation} of {bytes} bytes, {NODES} ranks");
        let began = Instant::now();
        let predictor = Predictor::new(&platform, call, Family::OpenMpi, computing);
        black_box(predictor.unwrap().all(None).unwrap().len());
        println!(
            "{:<48} {:>9.3} ms",
            title,
            1e3 * began.elapsed().as_secs_f64()
        );
    }
}

fn report(title: &str, mut work: impl FnMut() -> usize) {
    let times: Vec<f64> = (0..9)
        .map(|_| {
            let began = Instant::now();
            black_box(work());
            began.elapsed().as_secs_f64()
        })
        .collect();
    println!("{:<48} {:>9.3} ms", title, 1e3 * median(&times).unwrap());
}

/// A hundred clusters of a hundred nodes, each with a slow link to the next.
fn sparse() -> LatencyMatrix {
    let mut links = Vec::new();
    for first in (0..NODES).step_by(100) {
        for a in 0..100 {
            links.extend((a + 1..100).map(|b| (first + a, first + b, 50e-6)));
        }
        if first > 0 {
            links.push((first - 1, first, 5e-3));
        }
    }
    LatencyMatrix::from_pairs(NODES, links).unwrap()
}

/// Twenty clusters of five hundred hosts.
fn grid() -> Platform {
    let (clusters, size) = (20, NODES / 20);
    let host = |rank: usize| Host {
        name: format!("n{rank}"),
        ranks: vec![rank],
    };
    let within = Link::linear(50e-6, 2e-6, 9e-9).unwrap();
    let mut links = BTreeMap::new();
    for from in 0..clusters {
        for to in (0..clusters).filter(|&to| to != from) {
            let ends = (Cluster(from), Cluster(to));
            links.insert(ends, Link::linear(10e-3, 5e-6, 85e-9).unwrap());
        }
    }
    let cluster = |number: usize| PlatformCluster {
        name: format!("c{number}"),
        hosts: (size * number..size * (number + 1)).collect(),
        leader: size * number,
        within: Some(within.clone()),
        levels: Vec::new(),
        contention: None,
    };
    Platform::new(Contents {
        hosts: (0..NODES).map(host).collect(),
        clusters: (0..clusters).map(cluster).collect(),
        links,
        ..Contents::default()
    })
    .unwrap()
}
