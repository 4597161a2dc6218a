//! What rank 0 does: ask for measurements round by round, within the budget.

use super::super::{LatencyMatrix, Link, Mismatch, Parallel, Partition, Platform, PlatformError};
use super::assemble::{Measured, Place, assemble};
use super::player::{identity_of, perform};
use super::rounds::{cut, tournament};
use super::task::{Order, Task, link_of};
use super::{Identity, Messenger, Options, Report};

/// Part of the budget that latencies between hosts may take.
const LATENCY_SHARE: f64 = 0.3;
/// Size and number of the messages of several pairs at once.
const STREAM: Task = Task::Stream {
    bytes: 256 << 10,
    count: 8,
};
/// Most pairs of two clusters at once.
const MOST_PAIRS: usize = 16;

/// One measurement: who measures, who mirrors.
type Pair = (usize, usize);

/// Leads the measurement, takes part in it, and puts the answers together.
pub(super) fn conduct(
    messenger: &mut impl Messenger,
    identity: &Identity,
    options: &Options,
) -> Result<Report, PlatformError> {
    let began = messenger.seconds();
    let mut identities = vec![identity.clone()];
    for rank in 1..messenger.ranks() {
        identities.push(identity_of(&messenger.hear(rank)));
    }
    let place = Place::of(&identities);
    let mut conductor = Conductor {
        messenger,
        options,
        began,
        left_out: Vec::new(),
    };
    let latencies = conductor.latencies(&place);
    let latency_pairs = latencies.len();
    let matrix = LatencyMatrix::from_pairs(place.hosts.len(), latencies)
        .unwrap_or_else(|_| LatencyMatrix::default());
    let partition = Partition::of(&matrix, options.tolerance);
    let mut measured = Measured {
        latency_pairs,
        ..Measured::default()
    };
    conductor.links(&place, &partition, &mut measured);
    if options.together {
        measured.parallel = conductor.together(&place, &partition);
    }
    end(conductor.messenger);
    measured.left_out = conductor.left_out;
    measured.seconds = conductor.messenger.seconds() - began;
    let platform = assemble(&place, &partition, &matrix, measured, options)?;
    Ok(Report { platform })
}

/// One round: everyone is told, rank 0 does its own part, and everyone has
/// answered before the next round begins.
fn ask(messenger: &mut impl Messenger, task: Task, pairs: &[Pair]) -> Vec<String> {
    let mut own = None;
    for &(measuring, mirroring) in pairs {
        // The mirror first: it must be there when the first message comes.
        for (rank, partner, measures) in
            [(mirroring, measuring, false), (measuring, mirroring, true)]
        {
            let order = Order::Do {
                task,
                partner,
                measures,
            };
            match rank {
                0 => own = Some((partner, measures)),
                _ => messenger.tell(rank, &order.text()),
            }
        }
    }
    let own_answer =
        own.and_then(|(partner, measures)| perform(messenger, task, partner, measures));
    pairs
        .iter()
        .map(|&(measuring, _)| match measuring {
            0 => own_answer.clone().unwrap_or_default(),
            _ => messenger.hear(measuring),
        })
        .collect()
}

/// Tells all others that there is nothing more to do.
fn end(messenger: &mut impl Messenger) {
    for rank in 1..messenger.ranks() {
        messenger.tell(rank, &Order::End.text());
    }
}

/// Measures the latencies of a few pairs of clusters, disjoint ones at the same
/// time, and compares them with those of `platform`.
pub(super) fn compare(
    messenger: &mut impl Messenger,
    platform: &Platform,
    factor: f64,
) -> Result<(), Mismatch> {
    let coordinator = |cluster: usize| platform.clusters()[cluster].coordinator;
    let pairs = tournament(platform.clusters().len())
        .into_iter()
        .next()
        .unwrap_or_default();
    let ranks: Vec<Pair> = pairs
        .iter()
        .map(|&(a, b)| (coordinator(a), coordinator(b)))
        .collect();
    let answers = ask(messenger, Task::Latency, &ranks);
    end(messenger);
    let found = pairs.iter().zip(answers);
    let measured: Vec<(usize, usize, f64)> = found
        .filter_map(|(&(a, b), answer)| Some((a, b, answer.parse().ok()?)))
        .collect();
    platform.check_latencies(&measured, factor)
}

struct Conductor<'a, M: Messenger> {
    messenger: &'a mut M,
    options: &'a Options,
    began: f64,
    left_out: Vec<String>,
}

impl<M: Messenger> Conductor<'_, M> {
    /// Seconds left of a part of the budget.
    fn left(&mut self, part: f64) -> f64 {
        self.began + part * self.options.budget - self.messenger.seconds()
    }

    /// Latencies between the first ranks of all hosts, by places of hosts.
    fn latencies(&mut self, place: &Place) -> Vec<(usize, usize, f64)> {
        let first = |host: usize| place.hosts[host].ranks[0];
        let mut found = Vec::new();
        let mut skipped = 0;
        for round in tournament(place.hosts.len()) {
            for part in cut(round, self.options.at_a_time) {
                if self.left(LATENCY_SHARE) <= 0.0 {
                    skipped += part.len();
                    continue;
                }
                let ranks: Vec<Pair> = part.iter().map(|&(a, b)| (first(a), first(b))).collect();
                let answers = ask(self.messenger, Task::Latency, &ranks);
                for (&(a, b), answer) in part.iter().zip(answers) {
                    if let Ok(seconds) = answer.parse::<f64>() {
                        found.push((a, b, seconds));
                    }
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

    /// pLogP parameters between clusters, in clusters and on hosts.
    fn links(&mut self, place: &Place, partition: &Partition, measured: &mut Measured) {
        let coordinator = |cluster: usize| place.hosts[partition.clusters[cluster][0]].ranks[0];
        let mut rounds: Vec<(Vec<Pair>, Kind)> = Vec::new();
        let inner = place.inner_pairs(partition);
        let mut level = 0;
        loop {
            let pairs: Vec<_> = inner
                .iter()
                .filter_map(|of_cluster| of_cluster.get(level))
                .map(|inner| (inner.pair, inner.cluster, inner.level))
                .collect();
            if pairs.is_empty() {
                break;
            }
            for part in cut(pairs, self.options.at_a_time) {
                let (ranks, kinds) = part
                    .into_iter()
                    .map(|(pair, cluster, level)| (pair, (cluster, level)))
                    .unzip();
                rounds.push((ranks, Kind::Inside(kinds)));
            }
            level += 1;
        }
        for round in tournament(partition.clusters.len()) {
            for part in cut(round, self.options.at_a_time) {
                for swapped in [false, true] {
                    let (ranks, clusters) = part
                        .iter()
                        .map(|&(a, b)| if swapped { (b, a) } else { (a, b) })
                        .map(|(a, b)| ((coordinator(a), coordinator(b)), (a, b)))
                        .unzip();
                    rounds.push((ranks, Kind::Between(clusters)));
                }
            }
        }
        let count = rounds.len();
        for (done, (ranks, kind)) in rounds.into_iter().enumerate() {
            let left = self.left(1.0);
            if left <= 0.0 {
                self.left_out.push(kind.left_out());
                continue;
            }
            let task = Task::Link {
                seconds: left / (count - done) as f64,
                largest: self.options.largest,
            };
            let answers = ask(self.messenger, task, &ranks);
            let links = answers.iter().map(|answer| link_of(answer));
            measured.note(&kind, links.collect());
        }
    }

    /// Bytes a second of 1, 2, 4, ... pairs of two clusters at once (item 23).
    fn together(&mut self, place: &Place, partition: &Partition) -> Vec<Parallel> {
        let Task::Stream { bytes, count } = STREAM else {
            return Vec::new();
        };
        let ranks_of = |cluster: usize| -> Vec<usize> {
            let hosts = &partition.clusters[cluster];
            let deepest = hosts
                .iter()
                .map(|&host| place.hosts[host].ranks.len())
                .max();
            // One rank of each host before the second of any.
            (0..deepest.unwrap_or(0))
                .flat_map(|turn| {
                    hosts
                        .iter()
                        .filter_map(move |&host| place.hosts[host].ranks.get(turn).copied())
                })
                .collect()
        };
        let mut found = Vec::new();
        let clusters = partition.clusters.len();
        for from in 0..clusters {
            for to in (0..clusters).filter(|&to| to != from) {
                let (senders, receivers) = (ranks_of(from), ranks_of(to));
                let most = senders.len().min(receivers.len()).min(MOST_PAIRS);
                let mut pairs = 1;
                while pairs <= most {
                    if self.left(1.0) <= 0.0 {
                        self.left_out.push(format!(
                            "several pairs at once from cluster {from} to cluster {to}: there was \
                             no time for it; give a larger --budget"
                        ));
                        break;
                    }
                    let ranks: Vec<Pair> = senders
                        .iter()
                        .copied()
                        .zip(receivers.iter().copied())
                        .take(pairs)
                        .collect();
                    let answers = ask(self.messenger, STREAM, &ranks);
                    let slowest = answers
                        .iter()
                        .filter_map(|answer| answer.parse::<f64>().ok())
                        .fold(1e-9, f64::max);
                    found.push(Parallel {
                        from,
                        to,
                        pairs,
                        bytes_per_second: (pairs * count) as f64 * bytes as f64 / slowest,
                    });
                    pairs *= 2;
                }
            }
        }
        found
    }
}

/// What the pairs of a round stand for.
pub(super) enum Kind {
    /// Clusters, from and to.
    Between(Vec<(usize, usize)>),
    /// A cluster and what its two ranks share: `None` for a cluster's hosts.
    Inside(Vec<(usize, Option<&'static str>)>),
}

impl Kind {
    fn left_out(&self) -> String {
        let what = match self {
            Kind::Between(pairs) => {
                let names: Vec<String> = pairs
                    .iter()
                    .map(|(from, to)| format!("{from} to {to}"))
                    .collect();
                format!("links between clusters ({})", names.join(", "))
            }
            Kind::Inside(inner) => {
                let names: Vec<String> = inner.iter().map(|(of, _)| of.to_string()).collect();
                format!("links inside clusters ({})", names.join(", "))
            }
        };
        format!(
            "{what}: there was no time for them, so the slowest link measured is assumed; give a larger --budget"
        )
    }
}

impl Measured {
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
