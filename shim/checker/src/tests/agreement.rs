//! Both engines on platforms of few different links, where many events are simultaneous.
//!
//! All parameters are small multiples of powers of two, so that sums of them are exact: events that
//! are simultaneous by arithmetic are so in both engines, in any order of additions.

use crate::tests::plain;
use crate::tests::{amounts, neighbourhoods};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use std::sync::Arc;
use treepie_collective::grids;
use treepie_collective::network::Computing;
use treepie_collective::read::simulate::{Options, Sending, simulate};
use treepie_collective::{
    Algorithm, Clusters, Description, Flow, Neighbourhoods, Network, Operation, Plan, Problem,
};
use treepie_platform::{Contention, Level, Link, Parallel, Platform, Sample};

/// Number of random platforms.
const CASES: u32 = 4000;

/// Maximum numbers of steps of all plans, of most calls and of some: the second engine is slow.
const MOST_STEPS: [usize; 2] = [400, 3000];

/// Maximum number of ranks for the optimal schedules of matchings, which take long to compute.
const MOST_OPTIMAL: usize = 12;

/// Maximum number of ranks for tables of uneven sizes, which take long to build.
const MOST_UNEVEN: usize = 40;

/// A small multiple of `2^exponent`.
fn dyadic(times: u32, exponent: i32) -> f64 {
    f64::from(times) * 2_f64.powi(exponent)
}

/// Choices of the parameters of a link.
#[derive(Debug, Clone, Copy)]
struct Picks {
    latency: u32,
    start: u32,
    per_byte: u32,
    handshake: u32,
    overhead: u32,
}

impl Picks {
    /// Link; its messages of 64 KiB and more may use a rendezvous.
    fn link(self) -> Link {
        let latency = dyadic(self.latency, -14);
        let sample = |bytes: u32| {
            let gap = dyadic(self.start, -18) + dyadic(self.per_byte * bytes, -27);
            let overhead = match self.overhead {
                0 => 0.0,
                1 => gap,
                2 => gap / 2.0,
                _ => dyadic(1, -16),
            };
            Sample {
                bytes: u64::from(bytes),
                gap,
                handshake: match bytes {
                    0 => 0.0,
                    _ => dyadic(self.handshake, -1) * latency,
                },
                send: overhead,
                receive: overhead,
                ..Sample::default()
            }
        };
        Link::new(latency, [0, 1 << 16, 1 << 17].map(sample).to_vec()).unwrap()
    }
}

prop_compose! {
    fn picks()(
        latency in prop::sample::select(vec![1_u32, 2, 4, 64]),
        start in prop::sample::select(vec![0_u32, 1, 8]),
        per_byte in prop::sample::select(vec![0_u32, 1, 2, 16]),
        handshake in prop::sample::select(vec![0_u32, 1, 4, 5]),
        overhead in 0_u32..4,
    ) -> Picks {
        Picks { latency, start, per_byte, handshake, overhead }
    }
}

/// Random platform.
#[derive(Debug, Clone)]
struct Drawn {
    /// Hosts of each cluster.
    hosts: Vec<usize>,
    on_host: usize,
    /// Number of ranks that the last cluster lacks.
    fewer: usize,
    /// True if ranks are in the order of clusters, false if they are assigned round-robin.
    in_blocks: bool,
    /// A few links, one of which is assigned to each pair of clusters.
    links: Vec<Picks>,
    has_levels: bool,
    /// True if hosts of one cluster replace clusters.
    by_host: bool,
    contention: Option<(u32, u32)>,
    /// Number of pairs that fill an uplink.
    pairs: usize,
    computing: u32,
}

prop_compose! {
    fn platforms()(
        hosts in prop_oneof![
            20 => prop::collection::vec(1_usize..=4, 1..=6),
            4 => prop::collection::vec(1_usize..=16, 1..=3),
            1 => prop::collection::vec(1_usize..=64, 1..=6),
        ],
        on_host in prop_oneof![6 => Just(1_usize), 4 => 1_usize..=4, 1 => 1_usize..=16],
        fewer in 0_usize..3,
        in_blocks in any::<bool>(),
        links in prop::collection::vec(picks(), 1..=3),
        has_levels in any::<bool>(),
        by_host in any::<bool>(),
        contention in prop::option::of((2_u32..6, 0_u32..3)),
        pairs in prop::sample::select(vec![1_usize, 1, 2, 4]),
        computing in 0_u32..3,
    ) -> Drawn {
        Drawn {
            hosts, on_host, fewer, in_blocks, links, has_levels, by_host, contention, pairs,
            computing,
        }
    }
}

impl Drawn {
    fn link(&self, number: usize) -> Link {
        self.links[number % self.links.len()].link()
    }

    /// Cluster of every rank.
    fn numbers(&self) -> Vec<usize> {
        let mut left: Vec<usize> = self
            .hosts
            .iter()
            .map(|hosts| hosts * self.on_host)
            .collect();
        let last = left.len() - 1;
        left[last] -= self.fewer.min(left[last] - 1);
        if self.in_blocks {
            let of = |(cluster, &ranks): (usize, &usize)| std::iter::repeat_n(cluster, ranks);
            return left.iter().enumerate().flat_map(of).collect();
        }
        let mut numbers = Vec::new();
        while left.iter().any(|&ranks| ranks > 0) {
            for (cluster, ranks) in left.iter_mut().enumerate().filter(|(_, ranks)| **ranks > 0) {
                *ranks -= 1;
                numbers.push(cluster);
            }
        }
        numbers
    }

    fn network(&self) -> Network {
        let between = |from: usize, to: usize| self.link(from + 2 * to);
        let within = |cluster: usize| self.link(cluster);
        let mut contents = grids::contents(&self.numbers(), self.on_host, within, between);
        for (place, cluster) in contents.clusters.iter_mut().enumerate() {
            cluster.levels = match self.has_levels {
                true => vec![Level {
                    name: "node".to_owned(),
                    link: self.link(place + 1),
                }],
                false => Vec::new(),
            };
            cluster.contention = self.contention.map(|(gamma, delta)| Contention {
                gamma: dyadic(gamma, -1),
                delta: dyadic(delta, -12),
                threshold: 1 << 10,
                ranks: 0,
            });
        }
        for (&(from, to), link) in &contents.links {
            let alone = (1 << 20) as f64 / link.gap(1 << 20);
            if alone.is_finite() {
                contents.parallel.push(Parallel {
                    from,
                    to,
                    level: None,
                    pairs: self.pairs,
                    bytes_per_second: self.pairs as f64 * alone,
                });
            }
        }
        let platform = Platform::new(contents).unwrap();
        let ranks: Vec<usize> = (0..platform.ranks()).collect();
        let near = || Network::between_near_hosts(&platform, &ranks);
        let network = self.by_host.then(near).flatten();
        let mut network = network.unwrap_or_else(|| Network::new(&platform, &ranks).unwrap());
        network.computing = Computing {
            per_byte: dyadic(self.computing, -29),
        };
        network
    }
}

/// Collective call, and its algorithm.
#[derive(Debug, Clone)]
struct Call {
    operation: Operation,
    algorithm: &'static Algorithm,
    bytes: u64,
    flow: Flow,
    root: prop::sample::Index,
    sending: Sending,
    most_steps: usize,
}

fn all_algorithms() -> Vec<(Operation, &'static Algorithm)> {
    let of = |operation| Algorithm::of(operation).map(move |algorithm| (operation, algorithm));
    Operation::every().flat_map(of).collect()
}

prop_compose! {
    fn calls()(
        (operation, algorithm) in prop::sample::select(all_algorithms()),
        bytes in prop::sample::select(vec![0_u64, 1, 64, 1 << 10, 1 << 16, 1 << 17, 1 << 20]),
        segment in prop::sample::select(vec![1_u64 << 10, 1 << 14, 1 << 16, 1 << 30]),
        in_flight in prop::option::of(0_u64..(1 << 18)),
        late in 0_usize..3,
        root in any::<prop::sample::Index>(),
        sending in prop::sample::select(vec![Sending::Overlapping, Sending::OnePort]),
        most_steps in prop_oneof![50 => Just(MOST_STEPS[0]), 1 => Just(MOST_STEPS[1])],
    ) -> Call {
        // Segments grow with the message, so that there are few.
        let segment = segment.max(bytes / 8);
        let flow = Flow { segment, in_flight, late };
        Call { operation, algorithm, bytes, flow, root, sending, most_steps }
    }
}

impl Call {
    /// Plans of all ranks; `None` if the algorithm does not serve the call, or there are too many
    /// steps.
    fn plans(&self, network: &Network) -> Option<Vec<Plan>> {
        let ranks = network.ranks();
        if !self.operation.has_equal_blocks() && ranks > MOST_UNEVEN {
            return None;
        }
        let mut clusters = Clusters::of_network(network);
        let is_among_neighbours = self.operation.is_among_neighbours();
        let around = || {
            let edges = (0..ranks as u32).flat_map(|from| {
                let others = [1, 2, 5].into_iter();
                others.map(move |further| (from, (from + further) % ranks as u32))
            });
            Neighbourhoods::graph(ranks, &edges.collect::<Vec<_>>()).unwrap()
        };
        let root = match self.operation.has_root() {
            true => self.root.index(ranks),
            false => 0,
        };
        let amounts = match is_among_neighbours {
            true => neighbourhoods::amounts(self.operation, &around(), self.bytes),
            false => amounts(self.operation, ranks, root, self.bytes, true),
        };
        if is_among_neighbours {
            clusters = clusters.with_neighbourhoods(Arc::new(around()));
        }
        let problem = |amount| Problem {
            operation: self.operation,
            root,
            amount,
            clusters: &clusters,
            ordered: false,
            network: Some(network),
            unit_bytes: 1,
        };
        let takes_long = self.algorithm.is_slow_to_schedule() && ranks > MOST_OPTIMAL;
        if takes_long || !self.algorithm.serves(&problem(&amounts[0])) {
            return None;
        }
        // All ranks know the same sizes, or each its own.
        let is_one = amounts.iter().all(|amount| *amount == amounts[0]);
        let problems: Vec<Problem> = match is_one {
            true => vec![problem(&amounts[0])],
            false => amounts.iter().map(problem).collect(),
        };
        let described = problems.iter().map(|one| self.algorithm.describe(one));
        let described: Vec<Description> = described.collect();
        let plan = |rank: usize| described[rank % described.len()].plan(rank, self.flow);
        if plan(ranks / 2).steps().len() * ranks > self.most_steps {
            return None;
        }
        let plans: Vec<Plan> = (0..ranks).map(plan).collect();
        let steps: usize = plans.iter().map(|plan| plan.steps().len()).sum();
        (steps <= self.most_steps).then_some(plans)
    }
}

fn agree(network: &Network, plans: &[Plan], sending: Sending) -> Result<(), TestCaseError> {
    let options = Options {
        sending,
        timeline: false,
    };
    let found = simulate(network, plans, 1, options);
    let expected = plain::ends(network, plans, sending == Sending::OnePort);
    prop_assert_eq!(found.ok().map(|outcome| outcome.ends), expected);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: CASES,
        max_global_rejects: 4 * CASES,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_rank_ends_when_a_second_engine_says_also_where_much_happens_at_the_same_time(
        platform in platforms(),
        call in calls(),
    ) {
        let network = platform.network();
        let plans = call.plans(&network);
        prop_assume!(plans.is_some());
        agree(&network, &plans.unwrap(), call.sending)?;
    }
}
