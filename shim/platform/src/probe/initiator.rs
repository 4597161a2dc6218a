//! The initiator, rank 0: requests measurements round by round, within the budget.

use treepie_base::Cluster;

use super::assemble::{Measured, RankPlaces};
use super::rounds::{cut, tournament};
use super::task::Task;
use crate::clustering::Partition;
use crate::contents::Parallel;
use crate::probe::findings::LinkSubject;
use crate::probe::messenger::Messenger;
use crate::probe::options::Options;
use crate::probe::orders::{Pair, run_all, run_task};

/// Share of the budget for latencies between hosts.
const LATENCY_SHARE: f64 = 0.3;
/// Share of the budget after which no more links are measured if methods are to be measured, too.
const LINK_SHARE: f64 = 0.5;
/// Number of rounds of latencies that are begun before the time is checked.
const ROUNDS_TOGETHER: usize = 8;
/// Size and number of the messages of several simultaneous pairs.
const STREAM: Task = Task::Stream {
    bytes: 256 << 10,
    count: 8,
};
/// Maximum number of simultaneous pairs.
const MOST_PAIRS: usize = 16;

pub(super) struct Initiator<'a, M: Messenger> {
    pub(super) messenger: &'a mut M,
    pub(super) options: &'a Options,
    pub(crate) began: f64,
    /// Measurements that were left out with the reason, one line each.
    pub(super) left_out: Vec<String>,
}

impl<M: Messenger> Initiator<'_, M> {
    /// Remaining seconds of a share of the budget.
    pub(super) fn left(&mut self, part: f64) -> f64 {
        self.began + part * self.options.budget - self.messenger.seconds()
    }

    /// Measures the latencies between the first ranks of all hosts, by indices of hosts.
    pub(crate) fn latencies(&mut self, place: &RankPlaces) -> Vec<(usize, usize, f64)> {
        let first = |host: usize| place.hosts[host].ranks[0];
        let rounds: Vec<Vec<Pair>> = tournament(place.hosts.len())
            .into_iter()
            .flat_map(|round| cut(round, self.options.at_a_time))
            .collect();
        // If only some may measure at a time, all others wait for them.
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
                 as having no link; give a longer --time-limit"
            ));
        }
        found
    }

    /// Measures pLogP parameters in clusters, on hosts and between clusters.
    pub(crate) fn links(
        &mut self,
        place: &RankPlaces,
        partition: &Partition,
        measured: &mut Measured,
    ) {
        let mut rounds = inside(place, partition, self.options.at_a_time);
        rounds.extend(between(place, partition, self.options.at_a_time));
        let lacking = rounds.into_iter().map(|round| measured.lacking(round));
        let rounds: Vec<_> = lacking.filter(|(ranks, _)| !ranks.is_empty()).collect();
        let count = rounds.len();
        let share = if self.options.ways { LINK_SHARE } else { 1.0 };
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

    /// Measures methods of transfer on all measured links.
    pub(crate) fn ways(
        &mut self,
        place: &RankPlaces,
        partition: &Partition,
        measured: &mut Measured,
    ) {
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

    /// Measures the bandwidth in bytes per second of 1, 2, 4, ... simultaneous pairs (item 23).
    pub(crate) fn together(&mut self, place: &RankPlaces, partition: &Partition) -> Vec<Parallel> {
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
                        "several pairs at once {place}: there was no time for it; give a longer \
                         --time-limit"
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
fn inside(
    place: &RankPlaces,
    partition: &Partition,
    at_a_time: usize,
) -> Vec<(Vec<Pair>, LinkSubject)> {
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
            (pairs.collect(), LinkSubject::Inside(kinds.collect()))
        })
        .collect()
}

/// Rounds of pairs between clusters, first in one direction, then in the other: answers queued
/// behind the data of another pair would be late.
fn between(
    place: &RankPlaces,
    partition: &Partition,
    at_a_time: usize,
) -> Vec<(Vec<Pair>, LinkSubject)> {
    let leader = |cluster: Cluster| place.hosts[partition.clusters[cluster][0]].ranks[0];
    let mut rounds = Vec::new();
    for round in tournament(partition.clusters.len()) {
        for part in cut(round, at_a_time) {
            let back = part.iter().map(|&(a, b)| (b, a)).collect();
            for ways in [part, back] {
                let pairs = ways.iter().map(|&(a, b)| (leader(a), leader(b)));
                rounds.push((pairs.collect(), LinkSubject::Between(ways)));
            }
        }
    }
    rounds
}
