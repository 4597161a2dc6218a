//! The initiator, rank 0: requests measurements round by round, within the budget.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::super::{
    LatencyMatrix, Link, Mismatch, Parallel, Partition, Platform, PlatformError, Ways,
};
use super::assemble::{Measured, Place, assemble};
use super::responder::perform_all;
use super::rounds::{cut, tournament};
use super::task::{Answer, Order, Task};
use super::{Identity, Messenger, Options, Report, exchange, receive_value, send_value};

/// Part of the budget that latencies between hosts may take.
const LATENCY_SHARE: f64 = 0.3;
/// Part of the budget after which links are measured no more where ways follow.
const LINK_SHARE: f64 = 0.5;
/// So many rounds of latencies are begun before the time is checked.
const ROUNDS_TOGETHER: usize = 8;
/// Size and number of the messages of several pairs at once.
const STREAM: Task = Task::Stream {
    bytes: 256 << 10,
    count: 8,
};
/// Most pairs at once.
const MOST_PAIRS: usize = 16;

/// One measurement: the measuring and the echoing rank.
type Pair = (usize, usize);

/// Leads the measurement, takes part in it, and puts the answers together.
pub(super) fn measure_all(
    messenger: &mut impl Messenger,
    identity: &Identity,
    options: &Options,
) -> Result<Report, PlatformError> {
    let began = messenger.seconds();
    let mut identities = vec![identity.clone()];
    for rank in 1..messenger.ranks() {
        identities.push(receive_value(messenger, rank).unwrap_or_default());
    }
    let place = Place::new(&identities);
    let mut initiator = Initiator {
        messenger,
        options,
        began,
        left_out: Vec::new(),
    };
    let latencies = initiator.latencies(&place);
    let latency_pairs = latencies.len();
    let matrix = LatencyMatrix::from_pairs(place.hosts.len(), latencies)
        .unwrap_or_else(|_| LatencyMatrix::default());
    let partition = Partition::new(&matrix, options.tolerance);
    let mut measured = Measured {
        latency_pairs,
        ..Measured::default()
    };
    initiator.links(&place, &partition, &mut measured);
    if options.ways {
        initiator.ways(&place, &partition, &mut measured);
    }
    if options.together {
        measured.parallel = initiator.together(&place, &partition);
    }
    if options.exchange {
        exchange::all_clusters(&mut initiator, &place, &partition, &mut measured);
    }
    end(initiator.messenger);
    measured.left_out = initiator.left_out;
    measured.seconds = initiator.messenger.seconds() - began;
    let platform = assemble(&place, &partition, &matrix, measured, options)?;
    Ok(Report { platform })
}

/// One round: all get their orders, rank 0 does its own part, and everyone has answered before the
/// next round begins.
fn run_task(messenger: &mut impl Messenger, task: &Task, pairs: &[Pair]) -> Vec<Option<Answer>> {
    run_all(messenger, task, &[pairs]).concat()
}

/// Rounds of which a pair begins its own as soon as both are done with the one before: no pair
/// waits for rank 0, which may be far. None waits for ever either, since all do their rounds in the
/// same order.
fn run_all(
    messenger: &mut impl Messenger,
    task: &Task,
    rounds: &[impl AsRef<[Pair]>],
) -> Vec<Vec<Option<Answer>>> {
    let ranks = messenger.ranks();
    let mut orders: Vec<Vec<Order>> = vec![Vec::new(); ranks];
    for &(measuring, mirroring) in rounds.iter().flat_map(AsRef::as_ref) {
        for (rank, partner, measures) in
            [(mirroring, measuring, false), (measuring, mirroring, true)]
        {
            orders[rank].push(Order {
                task: task.clone(),
                partner,
                measures,
            });
        }
    }
    let mut answers = run_orders(messenger, &orders);
    let mut answer = |measuring: usize| answers[measuring].pop_front();
    rounds
        .iter()
        .map(|pairs| pairs.as_ref().iter().map(|pair| answer(pair.0)).collect())
        .collect()
}

/// All ranks get their orders, rank 0 does its own, and all answers come back, by rank.
fn run_orders(messenger: &mut impl Messenger, orders: &[Vec<Order>]) -> Vec<VecDeque<Answer>> {
    let ranks = messenger.ranks();
    let is_told = |rank: &usize| !orders[*rank].is_empty();
    for rank in (1..ranks).filter(is_told) {
        send_value(messenger, rank, &orders[rank]);
    }
    let own = perform_all(messenger, &orders[0]);
    let mut answers: Vec<VecDeque<Answer>> = vec![VecDeque::new(); ranks];
    answers[0] = own.into();
    for (rank, orders) in orders.iter().enumerate().skip(1) {
        if orders.iter().any(|order| order.measures) {
            answers[rank] = receive_value(messenger, rank).unwrap_or_default();
        }
    }
    answers
}

/// The members of an exchange do it all at the same time; the seconds of each time, those of the
/// slowest member.
pub(super) fn run_exchange(
    messenger: &mut impl Messenger,
    members: &[usize],
    bytes: u64,
    times: usize,
) -> Vec<f64> {
    let mut orders: Vec<Vec<Order>> = vec![Vec::new(); messenger.ranks()];
    for &rank in members {
        orders[rank].push(Order {
            task: Task::Exchange {
                members: members.to_vec(),
                bytes,
                times,
            },
            partner: rank,
            measures: true,
        });
    }
    let answers = run_orders(messenger, &orders).into_iter().flatten();
    let mut slowest = vec![0.0_f64; times];
    for all in answers.filter_map(Answer::times) {
        for (slowest, seconds) in slowest.iter_mut().zip(all) {
            *slowest = slowest.max(seconds);
        }
    }
    slowest
}

/// Tells all others that there is nothing more to do.
fn end(messenger: &mut impl Messenger) {
    for rank in 1..messenger.ranks() {
        send_value(messenger, rank, &Vec::<Order>::new());
    }
}

/// Measures the latencies of a few pairs of clusters, disjoint ones at the same
/// time, and compares them with those of `platform`.
pub(super) fn compare(
    messenger: &mut impl Messenger,
    platform: &Platform,
    factor: f64,
) -> Result<(), Mismatch> {
    let leader = |cluster: usize| platform.clusters()[cluster].leader;
    let pairs = tournament(platform.clusters().len())
        .into_iter()
        .next()
        .unwrap_or_default();
    let ranks: Vec<Pair> = pairs.iter().map(|&(a, b)| (leader(a), leader(b))).collect();
    let answers = run_task(messenger, &Task::Latency, &ranks);
    end(messenger);
    let found = pairs.iter().zip(answers);
    let measured: Vec<(usize, usize, f64)> = found
        .filter_map(|(&(a, b), answer)| Some((a, b, answer?.seconds()?)))
        .collect();
    platform.check_latencies(&measured, factor)
}

pub(super) struct Initiator<'a, M: Messenger> {
    pub(super) messenger: &'a mut M,
    pub(super) options: &'a Options,
    began: f64,
    /// What was not measured and why, one line each.
    pub(super) left_out: Vec<String>,
}

impl<M: Messenger> Initiator<'_, M> {
    /// Seconds left of a part of the budget.
    pub(super) fn left(&mut self, part: f64) -> f64 {
        self.began + part * self.options.budget - self.messenger.seconds()
    }

    /// Latencies between the first ranks of all hosts, by places of hosts.
    fn latencies(&mut self, place: &Place) -> Vec<(usize, usize, f64)> {
        let first = |host: usize| place.hosts[host].ranks[0];
        let rounds: Vec<Vec<Pair>> = tournament(place.hosts.len())
            .into_iter()
            .flat_map(|round| cut(round, self.options.at_a_time))
            .collect();
        // Where only some may measure at a time, all have to wait for them.
        let together = match self.options.at_a_time {
            0 => ROUNDS_TOGETHER,
            _ => 1,
        };
        let mut found = Vec::new();
        let mut skipped = 0;
        for rounds in rounds.chunks(together) {
            if self.left(LATENCY_SHARE) <= 0.0 {
                skipped += rounds.iter().map(Vec::len).sum::<usize>();
                continue;
            }
            let on_ranks = |pairs: &Vec<Pair>| -> Vec<Pair> {
                pairs.iter().map(|&(a, b)| (first(a), first(b))).collect()
            };
            let ranks: Vec<Vec<Pair>> = rounds.iter().map(on_ranks).collect();
            let answers = run_all(self.messenger, &Task::Latency, &ranks).concat();
            for ((a, b), answer) in rounds.concat().into_iter().zip(answers) {
                if let Some(seconds) = answer.and_then(|answer| answer.seconds()) {
                    found.push((a, b, seconds));
                }
            }
        }
        if skipped > 0 {
            self.left_out.push(format!(
                "latencies of {skipped} pairs of hosts: there was no time for them, so they count \
                 as having no link; give a larger --budget"
            ));
        }
        found
    }

    /// pLogP parameters in clusters, on hosts and between clusters.
    fn links(&mut self, place: &Place, partition: &Partition, measured: &mut Measured) {
        let mut rounds = inside(place, partition, self.options.at_a_time);
        rounds.extend(between(place, partition, self.options.at_a_time));
        let count = rounds.len();
        let share = match self.options.ways {
            true => LINK_SHARE,
            false => 1.0,
        };
        for (done, (ranks, kind)) in rounds.into_iter().enumerate() {
            let left = self.left(share);
            if left <= 0.0 {
                let remedy = "so the slowest link measured is assumed";
                self.left_out.push(kind.left_out("links", remedy));
                continue;
            }
            let task = Task::Link {
                seconds: left / (count - done) as f64,
                largest: self.options.largest,
                also: measured.switch(),
            };
            let answers = run_task(self.messenger, &task, &ranks);
            let links = answers.into_iter().map(|answer| answer?.link());
            measured.note(&kind, links.collect());
        }
    }

    /// Ways in which pieces go over all links that were measured.
    fn ways(&mut self, place: &Place, partition: &Partition, measured: &mut Measured) {
        let mut rounds = inside(place, partition, self.options.at_a_time);
        rounds.extend(between(place, partition, self.options.at_a_time));
        let count = rounds.len();
        for (done, (ranks, kind)) in rounds.into_iter().enumerate() {
            let left = self.left(1.0);
            if left <= 0.0 {
                self.left_out
                    .push(kind.left_out("ways", "and none are stored"));
                continue;
            }
            let task = Task::Ways {
                seconds: left / (count - done) as f64,
            };
            let answers = run_task(self.messenger, &task, &ranks);
            let ways = answers.into_iter().map(|answer| answer?.ways());
            measured.note_ways(&kind, ways.collect());
        }
    }

    /// Bytes a second of 1, 2, 4, ... pairs at once (item 23).
    fn together(&mut self, place: &Place, partition: &Partition) -> Vec<Parallel> {
        let Task::Stream { bytes, count } = STREAM else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for lanes in place.lanes(partition) {
            let (from, to, level) = (lanes.from, lanes.to, lanes.level);
            let most = lanes.pairs.len().min(MOST_PAIRS);
            for pairs in std::iter::successors(Some(1), |pairs| Some(2 * pairs)) {
                if pairs > most {
                    break;
                }
                if self.left(1.0) <= 0.0 {
                    let place = match level {
                        Some(level) => format!("in cluster {from}, {level}"),
                        None => format!("from cluster {from} to cluster {to}"),
                    };
                    self.left_out.push(format!(
                        "several pairs at once {place}: there was no time for it; give a larger \
                         --budget"
                    ));
                    break;
                }
                let answers = run_task(self.messenger, &STREAM, &lanes.pairs[..pairs]);
                let slowest = answers
                    .iter()
                    .filter_map(|answer| answer.as_ref()?.seconds())
                    .fold(1e-9, f64::max);
                found.push(Parallel {
                    from,
                    to,
                    level,
                    pairs,
                    bytes_per_second: (pairs * count) as f64 * bytes as f64 / slowest,
                });
            }
        }
        found
    }
}

/// Rounds of pairs inside clusters: two hosts of each, then two ranks of a host.
fn inside(place: &Place, partition: &Partition, at_a_time: usize) -> Vec<(Vec<Pair>, Kind)> {
    let inner = place.inner_pairs(partition);
    let deepest = inner.iter().map(Vec::len).max().unwrap_or(0);
    let levels = (0..deepest).map(|level| {
        let of_level = inner.iter().filter_map(|pairs| pairs.get(level));
        of_level.collect::<Vec<_>>()
    });
    let parts = levels.flat_map(|level| cut(level, at_a_time));
    parts
        .map(|part| {
            let pairs = part.iter().map(|inner| inner.pair);
            let kinds = part.iter().map(|inner| (inner.cluster, inner.level));
            (pairs.collect(), Kind::Inside(kinds.collect()))
        })
        .collect()
}

/// Rounds of pairs between clusters, first one way, then the other: answers behind the data of
/// another pair in a queue would come late.
fn between(place: &Place, partition: &Partition, at_a_time: usize) -> Vec<(Vec<Pair>, Kind)> {
    let leader = |cluster: usize| place.hosts[partition.clusters[cluster][0]].ranks[0];
    let mut rounds = Vec::new();
    for round in tournament(partition.clusters.len()) {
        for part in cut(round, at_a_time) {
            let back = part.iter().map(|&(a, b)| (b, a)).collect();
            for ways in [part, back] {
                let pairs = ways.iter().map(|&(a, b)| (leader(a), leader(b)));
                rounds.push((pairs.collect(), Kind::Between(ways)));
            }
        }
    }
    rounds
}

/// Purpose of the pairs of a round.
pub(super) enum Kind {
    /// Clusters, from and to.
    Between(Vec<(usize, usize)>),
    /// A cluster and what its two ranks share: `None` for a cluster's hosts.
    Inside(Vec<(usize, Option<&'static str>)>),
}

impl Kind {
    /// The line about links, or what else was not measured there, and what follows.
    fn left_out(&self, subject: &str, result: &str) -> String {
        let what = match self {
            Kind::Between(pairs) => {
                let names: Vec<String> = pairs
                    .iter()
                    .map(|(from, to)| format!("{from} to {to}"))
                    .collect();
                format!("{subject} between clusters ({})", names.join(", "))
            }
            Kind::Inside(inner) => {
                let names: Vec<String> = inner.iter().map(|(of, _)| of.to_string()).collect();
                format!("{subject} inside clusters ({})", names.join(", "))
            }
        };
        format!("{what}: there was no time for them, {result}; give a larger --budget")
    }
}

impl Measured {
    /// The sizes around the switch to rendezvous between hosts, as far as it is known: it belongs
    /// to the native MPI, so that other links have it at the same place.
    fn switch(&self) -> Vec<u64> {
        let within = self.inside.values().filter_map(|links| links.get(&None));
        let found = self.between.values().chain(within).find_map(|link| {
            let last = link.eager_limit()?;
            let first = link.samples().iter().find(|sample| sample.bytes > last)?;
            Some(vec![last, first.bytes])
        });
        found.unwrap_or_default()
    }

    /// Keeps the ways of a round, with their links.
    fn note_ways(&mut self, kind: &Kind, ways: Vec<Option<Ways>>) {
        let links: Vec<Option<&mut Link>> = match kind {
            Kind::Between(pairs) => {
                let mut known: BTreeMap<_, _> = self.between.iter_mut().collect();
                pairs.iter().map(|pair| known.remove(pair)).collect()
            }
            Kind::Inside(inner) => {
                let mut known = HashMap::new();
                for (cluster, links) in &mut self.inside {
                    known.extend(
                        links
                            .iter_mut()
                            .map(|(level, link)| ((*cluster, *level), link)),
                    );
                }
                inner.iter().map(|inner| known.remove(inner)).collect()
            }
        };
        for (link, ways) in links.into_iter().zip(ways) {
            if let (Some(link), Some(ways)) = (link, ways) {
                *link = link.clone().with_ways(ways);
            }
        }
    }

    /// Keeps the links of a round.
    fn note(&mut self, kind: &Kind, links: Vec<Option<Link>>) {
        match kind {
            Kind::Between(pairs) => {
                for (&pair, link) in pairs.iter().zip(links) {
                    if let Some(link) = link {
                        self.between.insert(pair, link);
                    }
                }
            }
            Kind::Inside(inner) => {
                for (&(cluster, level), link) in inner.iter().zip(links) {
                    if let Some(link) = link {
                        self.inside.entry(cluster).or_default().insert(level, link);
                    }
                }
            }
        }
    }
}
