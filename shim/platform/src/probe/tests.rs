#![allow(clippy::unwrap_used)]
//! Probes over a simulated network: every rank is a thread with its own clock, and a message
//! carries its arrival time.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use proptest::prelude::*;

use super::measure::{gap_of_train, latency_of_round_trips};
use super::*;
use crate::contention::Contention;
use crate::description::Platform;
use crate::link::Link;
use crate::partial::{GivenPlatform, PartialPlatform};

/// A link of the simulated network.
#[derive(Clone, Copy)]
struct Way {
    latency: f64,
    start: f64,
    per_byte: f64,
    /// Size from which a message waits for a round trip.
    rendezvous: u64,
    /// Response of its network to an exchange.
    contention: Contention,
}

struct Parcel {
    at: f64,
    contents: Vec<u8>,
}

/// One rank of the simulated job.
struct Simulated<W> {
    rank: usize,
    ranks: usize,
    clock: f64,
    way: W,
    out: Vec<Sender<(usize, bool, Parcel)>>,
    inbox: Receiver<(usize, bool, Parcel)>,
    kept: HashMap<(usize, bool), std::collections::VecDeque<Parcel>>,
}

impl<W: Fn(usize, usize) -> Way> Simulated<W> {
    fn post(&mut self, to: usize, is_value: bool, bytes: u64, contents: &[u8], waits: bool) {
        let way = (self.way)(self.rank, to);
        let asks = bytes >= way.rendezvous && waits;
        let handshake = if asks { 2.0 * way.latency } else { 0.0 };
        self.clock += handshake + way.start + way.per_byte * bytes as f64;
        let parcel = Parcel {
            at: self.clock + way.latency,
            contents: contents.to_owned(),
        };
        self.out[to].send((self.rank, is_value, parcel)).unwrap();
    }

    fn take(&mut self, from: usize, is_value: bool) -> Parcel {
        loop {
            let kept = self.kept.get_mut(&(from, is_value));
            if let Some(parcel) = kept.and_then(std::collections::VecDeque::pop_front) {
                self.clock = self.clock.max(parcel.at);
                return parcel;
            }
            let (from, is_value, parcel) = self.inbox.recv().unwrap();
            self.kept
                .entry((from, is_value))
                .or_default()
                .push_back(parcel);
        }
    }
}

impl<W: Fn(usize, usize) -> Way> Messenger for Simulated<W> {
    fn rank(&self) -> usize {
        self.rank
    }
    fn ranks(&self) -> usize {
        self.ranks
    }
    fn seconds(&mut self) -> f64 {
        self.clock
    }
    fn pause(&mut self, seconds: f64) {
        self.clock += seconds;
    }
    fn send(&mut self, to: usize, bytes: u64) {
        self.post(to, false, bytes, &[], true);
    }
    fn receive(&mut self, from: usize, _bytes: u64) {
        self.take(from, false);
    }
    fn send_train(&mut self, to: usize, bytes: u64, count: usize) {
        // All requests are sent together: one round trip for all of them.
        for number in 0..count {
            self.post(to, false, bytes, &[], number == 0);
        }
    }
    fn receive_train(&mut self, from: usize, _bytes: u64, count: usize) {
        for _ in 0..count {
            self.take(from, false);
        }
    }
    fn exchange(&mut self, members: &[usize], bytes: u64) {
        let others: Vec<usize> = others_behind(members, self.rank).collect();
        for &to in &others {
            let way = (self.way)(self.rank, to);
            let gap = way.start + way.per_byte * bytes as f64;
            self.clock += way.contention.gamma * gap + way.contention.delay(bytes);
            let parcel = Parcel {
                at: self.clock + way.contention.gamma * way.latency,
                contents: Vec::new(),
            };
            self.out[to].send((self.rank, false, parcel)).unwrap();
        }
        for &from in &others {
            self.take(from, false);
        }
    }
    fn send_data(&mut self, to: usize, bytes: &[u8]) {
        self.post(to, true, 0, bytes, false);
    }
    fn receive_data(&mut self, from: usize) -> Vec<u8> {
        self.take(from, true).contents
    }
}

/// Result of every rank of a simulated job.
fn on_all<W, T>(
    ranks: usize,
    way: W,
    work: impl Fn(&mut Simulated<W>) -> T + Send + Clone + 'static,
) -> Vec<T>
where
    W: Fn(usize, usize) -> Way + Send + Clone + 'static,
    T: Send + 'static,
{
    let (out, inboxes): (Vec<_>, Vec<_>) = (0..ranks).map(|_| channel()).unzip();
    let threads: Vec<_> = inboxes
        .into_iter()
        .enumerate()
        .map(|(rank, inbox)| {
            let mut messenger = Simulated {
                rank,
                ranks,
                clock: 0.0,
                way: way.clone(),
                out: out.clone(),
                inbox,
                kept: HashMap::new(),
            };
            let work = work.clone();
            thread::spawn(move || work(&mut messenger))
        })
        .collect();
    threads
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect()
}

/// Probes a job of hosts with one rank each.
fn probed(
    hosts: Vec<Identity>,
    options: Options,
    way: impl Fn(usize, usize) -> Way + Send + Clone + 'static,
) -> Platform {
    let reports = on_all(hosts.len(), way, move |messenger| {
        let identity = &hosts[messenger.rank];
        probe(messenger, identity, &options).unwrap()
    });
    assert!(reports[1..].iter().all(Option::is_none));
    reports.into_iter().next().unwrap().unwrap().platform
}

#[test]
fn a_platform_that_was_measured_elsewhere_is_told_from_one_that_fits() {
    let platform = probed(alone(9), Options::default(), grid);
    let (same, known) = (platform.clone(), platform.clone());
    let answers = on_all(9, grid, move |messenger| check(messenger, &same, 2.0));
    assert_eq!(answers[0], Some(Ok(())));
    assert!(answers[1..].iter().all(Option::is_none));
    // The same hosts, five times as far from each other.
    let farther = |from, to| Way {
        latency: 5.0 * grid(from, to).latency,
        ..grid(from, to)
    };
    let answers = on_all(9, farther, move |messenger| check(messenger, &known, 2.0));
    let error = answers[0].clone().unwrap().unwrap_err().to_string();
    assert!(
        error.starts_with("does not fit what is here: from cluster"),
        "{error}"
    );
    // Other hosts.
    let names = |name: &str| vec![name.to_owned(); 9];
    let error = platform.for_job(&names("m1")).unwrap_err().to_string();
    assert!(error.starts_with("was measured on other hosts: it does not know m1"));
}

/// The clusters of [`grid`] from elsewhere, by the names of hosts.
fn named_clusters() -> PartialPlatform {
    let of = |cluster: usize| {
        let ranks = (0..9).filter(|rank| rank % 3 == cluster);
        ranks.map(|rank| (rank, format!("n{rank}"))).collect()
    };
    PartialPlatform::from_clusters(&[0, 1, 2].map(of)).unwrap()
}

fn completed(known: &PartialPlatform) -> Platform {
    let names: Vec<String> = (0..9).map(|rank| format!("n{rank}")).collect();
    let GivenPlatform::Partial(known) = known.for_job(&names).unwrap() else {
        panic!("links are missing");
    };
    let reports = on_all(9, grid, move |messenger| {
        let identity = &alone(9)[messenger.rank];
        complete(messenger, identity, &Options::default(), &known).unwrap()
    });
    reports.into_iter().next().unwrap().unwrap().platform
}

#[test]
fn of_clusters_from_elsewhere_the_links_are_measured_and_no_latencies_between_hosts() {
    let platform = completed(&named_clusters());
    let ranks: Vec<Vec<usize>> = (0..3).map(|cluster| platform.ranks_of(cluster)).collect();
    assert_eq!(ranks, [[0, 3, 6], [1, 4, 7], [2, 5, 8]]);
    for from in 0..3 {
        let within = platform.clusters()[from].within.as_ref().unwrap();
        near(within.latency(), LAN.latency, 0.05);
        for to in (0..3).filter(|&to| to != from) {
            near(platform.between(from, to).latency(), WAN.latency, 0.05);
        }
    }
    let probing = platform.contents().probing.as_ref().unwrap();
    assert_eq!(probing.latency_pairs, 0);
    assert!(probing.left_out.is_empty(), "{:?}", probing.left_out);
}

#[test]
fn links_that_are_known_stay_and_only_those_that_are_missing_are_measured() {
    let mut contents = named_clusters().contents().clone();
    let slow = Link::linear(1.0, 1e-3, 1e-6).unwrap();
    contents.clusters[1].name = "lyon".to_owned();
    contents.clusters[1].within = Some(slow.clone());
    contents.links.insert((2, 0), slow.clone());
    let platform = completed(&PartialPlatform::new(contents).unwrap());
    assert_eq!(platform.clusters()[1].name, "lyon");
    assert_eq!(platform.clusters()[1].within, Some(slow.clone()));
    assert_eq!(platform.between(0, 2), &slow);
    assert_eq!(platform.between(2, 0), &slow);
    near(platform.between(0, 1).latency(), WAN.latency, 0.05);
    let within = platform.clusters()[0].within.as_ref().unwrap();
    near(within.latency(), LAN.latency, 0.05);
}

#[test]
fn clusters_from_elsewhere_without_a_host_of_the_job_are_refused_by_its_name() {
    let error = named_clusters().for_job(&["m7".to_owned()]).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("does not know m7, where rank 0 runs")
    );
    // If the job runs on one host of each of two clusters, no link inside is missing.
    let given = named_clusters().for_job(&["n4".to_owned(), "n2".to_owned()]);
    let GivenPlatform::Partial(partial) = given.unwrap() else {
        panic!("the link between is missing");
    };
    assert_eq!(partial.contents().clusters.len(), 2);
}

fn host(name: &str) -> Identity {
    Identity {
        host: name.to_owned(),
        ..Identity::default()
    }
}

fn alone(ranks: usize) -> Vec<Identity> {
    (0..ranks).map(|rank| host(&format!("n{rank}"))).collect()
}

const LAN: Way = Way {
    latency: 50e-6,
    start: 3e-6,
    per_byte: 9e-9,
    rendezvous: u64::MAX,
    contention: Contention::NONE,
};
const WAN: Way = Way {
    latency: 10e-3,
    start: 5e-6,
    per_byte: 85e-9,
    rendezvous: 64 << 10,
    contention: Contention::NONE,
};

/// Three clusters of ranks 0, 3, 6; 1, 4, 7; 2, 5, 8, asymmetric between them.
fn grid(from: usize, to: usize) -> Way {
    let slower = if from < to { 1.0 } else { 2.0 };
    if from % 3 == to % 3 {
        LAN
    } else {
        Way {
            per_byte: WAN.per_byte * slower,
            ..WAN
        }
    }
}

fn near(found: f64, expected: f64, part: f64) {
    assert!(
        (found / expected - 1.0).abs() < part,
        "{found} for {expected}"
    );
}

#[test]
fn the_clusters_latencies_gaps_and_the_switch_to_rendezvous_are_found() {
    let platform = probed(alone(9), Options::default(), grid);
    let ranks: Vec<Vec<usize>> = (0..3).map(|cluster| platform.ranks_of(cluster)).collect();
    assert_eq!(ranks, [[0, 3, 6], [1, 4, 7], [2, 5, 8]]);
    for from in 0..3 {
        let within = platform.clusters()[from].within.as_ref().unwrap();
        near(within.latency(), LAN.latency, 0.05);
        near(within.gap(1 << 20), LAN.per_byte * (1 << 20) as f64, 0.05);
        for to in (0..3).filter(|&to| to != from) {
            let link = platform.between(from, to);
            let way = grid(from, to);
            near(link.latency(), WAN.latency, 0.05);
            for bytes in [64 << 10, 256 << 10, 1 << 20] {
                near(
                    link.gap(bytes),
                    way.start + way.per_byte * bytes as f64,
                    0.05,
                );
                near(link.handshake(bytes), 2.0 * WAN.latency, 0.05);
            }
            let limit = link.eager_limit().unwrap();
            assert!((50 << 10..64 << 10).contains(&limit), "{limit}");
            assert_eq!(link.handshake(16 << 10), 0.0);
        }
    }
    let probing = platform.contents().probing.as_ref().unwrap();
    // C (C - 1) / 2 + C of 36 pairs.
    assert_eq!(
        (probing.probes, probing.pairs, probing.latency_pairs),
        (6, 36, 36)
    );
    assert!(probing.left_out.is_empty(), "{:?}", probing.left_out);
}

#[test]
fn a_budget_that_is_too_short_leaves_out_and_says_what() {
    let options = Options {
        budget: 1.5,
        ..Options::default()
    };
    let platform = probed(alone(9), options, grid);
    let probing = platform.contents().probing.as_ref().unwrap();
    assert!(!probing.left_out.is_empty());
    assert!(probing.seconds < 15.0, "{}", probing.seconds);
    assert_eq!(platform.ranks(), 9);
}

#[test]
fn ranks_of_one_host_stay_together_and_their_levels_are_measured() {
    // Cores 0 and 1 are on socket 0, 2 and 3 on socket 1.
    let on = |name: &str, core: usize| {
        let (socket, core) = (Some(core / 2), Some(core));
        Identity {
            host: name.to_owned(),
            groups: [socket, None, None, None, core],
        }
    };
    let hosts = vec![
        on("a", 0),
        on("a", 1),
        on("a", 2),
        on("b", 0),
        on("b", 1),
        on("b", 1),
    ];
    let way = |from: usize, to: usize| {
        if from / 3 == to / 3 {
            Way {
                latency: 1e-6,
                start: 0.2e-6,
                per_byte: 1e-10,
                ..LAN
            }
        } else {
            LAN
        }
    };
    let options = Options {
        together: true,
        ..Options::default()
    };
    let platform = probed(hosts, options, way);
    // Two hosts that are alone: one link, which is the shortest of both.
    assert_eq!(platform.clusters().len(), 1);
    let cluster = &platform.clusters()[0];
    let names: Vec<&str> = cluster
        .levels
        .iter()
        .map(|level| level.name.as_str())
        .collect();
    assert_eq!(names, ["node", "socket", "core"]);
    near(cluster.within.as_ref().unwrap().latency(), 50e-6, 0.05);
    near(cluster.levels[0].link.latency(), 1e-6, 0.25);
    // Several simultaneous pairs: three of the two hosts, one of each level of a host.
    let parallel = &platform.contents().parallel;
    let measured: Vec<_> = parallel.iter().map(|p| (p.level, p.pairs)).collect();
    let of_levels = ["node", "socket", "core"].map(|level| (Some(level), 1));
    assert_eq!(measured[..2], [(None, 1), (None, 2)]);
    assert_eq!(measured[2..], of_levels);
    assert!(parallel.iter().all(|p| (p.from, p.to) == (0, 0)));
}

#[test]
fn a_rank_alone_is_a_platform_without_links() {
    let platform = probed(alone(1), Options::default(), grid);
    assert_eq!((platform.ranks(), platform.clusters().len()), (1, 1));
    assert_eq!(platform.clusters()[0].within, None);
}

/// Latencies of table 7.4, in microseconds, and the sizes of its clusters.
const TABLE_7_4: [[f64; 6]; 6] = [
    [48.39, 6577.49, 6586.49, 6592.51, 5211.94, 8602.73],
    [6577.49, 35.52, 59.96, 59.96, 5387.48, 2736.56],
    [6586.49, 59.96, 60.08, 79.51, 5393.98, 2740.26],
    [6592.51, 59.96, 79.51, 60.08, 5405.78, 2745.98],
    [5211.94, 5387.48, 5393.98, 5405.78, 26.94, 3630.51],
    [8602.73, 2736.56, 2740.26, 2745.98, 3630.51, 35.04],
];
const SIZES_7_4: [usize; 6] = [20, 11, 7, 1, 20, 19];

#[test]
fn the_78_nodes_of_table_7_4_take_a_probe_for_each_pair_of_clusters_and_inside_each() {
    let cluster_of = |rank: usize| {
        let mut ends = SIZES_7_4.iter().scan(0, |end, size| {
            *end += size;
            Some(*end)
        });
        ends.position(|end| rank < end).unwrap()
    };
    let way = move |from: usize, to: usize| Way {
        latency: TABLE_7_4[cluster_of(from)][cluster_of(to)] * 1e-6,
        start: 1e-6,
        ..LAN
    };
    let platform = probed(alone(78), Options::default(), way);
    let sizes: Vec<usize> = (0..6)
        .map(|cluster| platform.ranks_of(cluster).len())
        .collect();
    assert_eq!(sizes, SIZES_7_4);
    let probing = platform.contents().probing.as_ref().unwrap();
    // 15 between clusters and one inside each; none inside that of one node.
    assert_eq!((probing.probes, probing.pairs), (15 + 5, 3003));
}

#[test]
fn several_pairs_together_are_measured_when_asked_for() {
    let options = Options {
        together: true,
        ..Options::default()
    };
    let platform = probed(alone(6), options, grid);
    let parallel = &platform.contents().parallel;
    let pairs: Vec<usize> = parallel
        .iter()
        .filter(|p| (p.from, p.to) == (0, 1))
        .map(|p| p.pairs)
        .collect();
    assert_eq!(pairs, [1, 2]);
    assert!(parallel.iter().all(|p| p.bytes_per_second > 0.0));
    // Two hosts of a cluster have one rank each.
    let inside = parallel.iter().filter(|p| p.from == p.to);
    assert!(inside.map(|p| p.pairs).all(|pairs| pairs == 1));
}

/// A network with this response to a total exchange in each of the three clusters of [`grid`].
fn congested(contention: Contention) -> impl Fn(usize, usize) -> Way + Send + Clone + 'static {
    move |from, to| Way {
        contention,
        ..grid(from, to)
    }
}

#[test]
fn the_contention_of_each_cluster_is_found_when_asked_for() {
    let options = Options {
        exchange: true,
        ..Options::default()
    };
    let truth = Contention {
        gamma: 2.5,
        delta: 2e-3,
        threshold: 16 << 10,
        ranks: 0,
    };
    let platform = probed(alone(24), options, congested(truth));
    for cluster in platform.clusters() {
        let found = cluster.contention.unwrap();
        near(found.gamma, truth.gamma, 0.1);
        near(found.delta, truth.delta, 0.2);
        assert_eq!((found.threshold, found.ranks), (truth.threshold, 8));
    }
    let plain = probed(alone(24), Options::default(), congested(truth));
    assert!(
        plain
            .clusters()
            .iter()
            .all(|cluster| cluster.contention.is_none())
    );
}

#[test]
fn clusters_that_no_exchange_fills_get_no_contention_and_a_line_that_says_why() {
    let options = |budget: f64| Options {
        exchange: true,
        budget,
        ..Options::default()
    };
    let lines = |platform: &Platform| {
        assert!(
            platform
                .clusters()
                .iter()
                .all(|cluster| cluster.contention.is_none())
        );
        let probing = platform.contents().probing.as_ref().unwrap();
        let of = |line: &&String| line.starts_with("contention of cluster");
        probing
            .left_out
            .iter()
            .filter(of)
            .cloned()
            .collect::<Vec<String>>()
    };
    // Two ranks in each cluster.
    let few = lines(&probed(alone(6), options(60.0), grid));
    assert_eq!(few.len(), 3);
    assert!(
        few[0].starts_with("contention of cluster0: it has 2 of the 3 ranks"),
        "{few:?}"
    );
    // An exchange that is faster than the links allow.
    let quick = Contention {
        gamma: 0.2,
        ..Contention::NONE
    };
    let idle = lines(&probed(alone(24), options(60.0), congested(quick)));
    assert_eq!(idle.len(), 3);
    assert!(
        idle[0].contains("did not fill the links; nothing is stored"),
        "{idle:?}"
    );
    // No time.
    let late = lines(&probed(alone(24), options(1.0), grid));
    assert_eq!(late.len(), 3);
    assert!(
        late[0].ends_with("nothing is stored, give a longer --time-limit"),
        "{late:?}"
    );
}

#[test]
fn kielmanns_equations_give_back_what_a_link_is_made_of() {
    let (latency, g0, gm) = (5e-3, 4e-6, 2e-3);
    let empty_trip = 2.0 * (latency + g0);
    near(latency_of_round_trips(empty_trip, g0), latency, 1e-9);
    let trip = latency + gm + latency + g0;
    near(isolated_gap(trip, empty_trip, g0), gm, 1e-9);
    let train = |count: f64| 2.0 * latency + count * g0;
    near(gap_of_train(train(1.0), train(128.0), 128), g0, 1e-9);
}

proptest! {
    #[test]
    fn a_tournament_has_every_pair_once_and_nobody_twice_in_a_round(participants in 0_usize..40) {
        let rounds = tournament(participants);
        let expected = match participants {
            0 | 1 => 0,
            _ => participants - 1 + participants % 2,
        };
        prop_assert_eq!(rounds.len(), expected);
        let mut pairs: Vec<(usize, usize)> = rounds.concat();
        pairs.sort_unstable();
        let all: Vec<_> = (0..participants).flat_map(|a| (a + 1..participants).map(move |b| (a, b))).collect();
        prop_assert_eq!(pairs, all);
        for round in rounds {
            let mut seen: Vec<usize> = round.iter().flat_map(|&(a, b)| [a, b]).collect();
            let count = seen.len();
            seen.sort_unstable();
            seen.dedup();
            prop_assert_eq!(seen.len(), count);
        }
    }
}
