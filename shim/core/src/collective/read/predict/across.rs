//! Strategies over several clusters: two phases with every order of sends, and
//! trees by rank beside them.

use super::ranks::{Links, Passage, Tree, pipeline, simulate};
use super::{Collective, Prediction, Question, Shape, inside};
use crate::collective::read::models::Form;
use crate::collective::read::models::broadcast::Broadcast;
use crate::platform::Platform;
use crate::platform::orders::{Accounting, Costs, Order, Schedule, optimum};

/// More segments than this are not tried: the curve is flat by then.
const MOST_SEGMENTS: u64 = 128;

/// All strategies. Without links between clusters there is nothing to order, so
/// there are at least two clusters.
pub(super) fn all(platform: &Platform, shape: &Shape<'_>, question: &Question) -> Vec<Prediction> {
    let across = Across::of(platform, shape, question);
    let mut predictions = match question.collective {
        Collective::Bcast | Collective::Reduce | Collective::Allreduce | Collective::Barrier => {
            across.rooted()
        }
        Collective::Scatter | Collective::Gather => across.grouped(),
        Collective::Allgather | Collective::Alltoall => across.exchange(),
    };
    if question.ranks.is_none_or(|ranks| ranks == platform.ranks()) {
        predictions.extend(across.by_rank());
    }
    predictions
}

/// A question on a platform of several clusters.
pub(super) struct Across<'a> {
    platform: &'a Platform,
    shape: &'a Shape<'a>,
    question: &'a Question,
    /// The root's cluster.
    pub(super) root: usize,
}

impl<'a> Across<'a> {
    pub(super) fn of(platform: &'a Platform, shape: &'a Shape<'a>, question: &'a Question) -> Self {
        let cluster_of = platform.cluster_of_rank();
        Across {
            platform,
            shape,
            question,
            root: cluster_of.get(question.root).copied().unwrap_or(0),
        }
    }

    fn clusters(&self) -> usize {
        self.shape.clusters.len()
    }

    /// Costs of `bytes(from, to)` between coordinators.
    pub(super) fn costs(
        &self,
        bytes: impl Fn(usize, usize) -> u64,
        inside: Vec<f64>,
    ) -> Option<Costs> {
        let clusters = self.clusters();
        let mut gap = vec![0.0; clusters * clusters];
        let mut latency = gap.clone();
        for from in 0..clusters {
            for to in (0..clusters).filter(|&to| to != from) {
                let link = self.platform.between(from, to);
                let bytes = bytes(from, to);
                gap[from * clusters + to] = link.gap(bytes);
                latency[from * clusters + to] = link.latency() + link.handshake(bytes);
            }
        }
        Costs::new(gap, latency, inside).ok()
    }

    /// The best strategy in every cluster for `collective`.
    pub(super) fn inside(&self, collective: Collective, bytes: u64) -> Vec<Prediction> {
        let question = Question {
            collective,
            bytes,
            ..*self.question
        };
        let clusters = self.shape.clusters.iter();
        clusters
            .map(|cluster| inside::best(cluster, &question))
            .collect()
    }

    /// One message from the root, or to it, which takes the same way back:
    /// MagPIe's strategy, every order with the best strategies inside, and the
    /// best order of all where there are few clusters.
    fn rooted(&self) -> Vec<Prediction> {
        let question = self.question;
        let bytes = match question.collective {
            Collective::Barrier => 0,
            _ => question.bytes,
        };
        let legs: &[Collective] = match question.collective {
            Collective::Bcast => &[Collective::Bcast],
            Collective::Reduce => &[Collective::Reduce],
            Collective::Allreduce => &[Collective::Reduce, Collective::Bcast],
            _ => &[Collective::Bcast, Collective::Bcast],
        };
        let mut legs_costs = Vec::new();
        for &leg in legs {
            let inside = self.inside(leg, bytes);
            let seconds = inside.iter().map(|best| best.seconds).collect();
            let Some(costs) = self.costs(|_, _| bytes, seconds) else {
                return Vec::new();
            };
            // A coordinator that reduces computes after each message it gets.
            let computing = match leg {
                Collective::Reduce => question.computing.seconds(bytes),
                _ => 0.0,
            };
            legs_costs.push((costs, inside, computing));
        }
        let names = legs_costs.last().map(|(_, inside, _)| names_of(inside));
        let total = |schedule_of: &dyn Fn(&Costs) -> Option<Schedule>| -> Option<f64> {
            legs_costs
                .iter()
                .map(|(costs, _, computing)| {
                    let span = schedule_of(costs)?.makespan(costs, Accounting::AfterSends);
                    Some(span + computing * (self.clusters() - 1) as f64)
                })
                .sum()
        };
        let with_inside = |strategy: String, seconds: f64| Prediction {
            inside: names.clone(),
            ..Prediction::new(strategy, seconds)
        };
        let mut predictions = Vec::new();
        if question.collective == Collective::Bcast {
            predictions.extend(self.magpie(bytes));
        }
        for order in Order::ALL {
            if let Some(seconds) = total(&|costs| Some(order.schedule(costs, self.root))) {
                predictions.push(with_inside(order.to_string(), seconds));
            }
        }
        let best = total(&|costs| optimum(costs, self.root, Accounting::AfterSends));
        predictions.extend(best.map(|seconds| with_inside("exhaustive".into(), seconds)));
        predictions
    }

    /// Flat between clusters, binomial inside (item 50).
    fn magpie(&self, bytes: u64) -> Option<Prediction> {
        let binomial = |cluster: &super::ClusterShape<'_>| {
            let phases = cluster.phases().into_iter();
            phases
                .map(|(processes, link)| {
                    let group = inside::group(processes, link, self.question.form);
                    Broadcast::Binomial.seconds(group, bytes, bytes)
                })
                .sum()
        };
        let inside = self.shape.clusters.iter().map(binomial).collect();
        let costs = self.costs(|_, _| bytes, inside)?;
        let span = Order::Flat
            .schedule(&costs, self.root)
            .makespan(&costs, Accounting::AfterSends);
        Some(Prediction {
            inside: Some("binomial".into()),
            ..Prediction::new("magpie", span)
        })
    }

    /// One block for each cluster from the root's (items 66 to 69), its own
    /// cluster last; gather is the same backwards.
    fn grouped(&self) -> Vec<Prediction> {
        let block = |to: usize| {
            let ranks = self.shape.clusters[to].ranks as u64;
            ranks.saturating_mul(self.question.bytes)
        };
        let inside = self.inside(Collective::Scatter, self.question.bytes);
        let names = names_of(&inside);
        let seconds = inside.iter().map(|best| best.seconds).collect();
        let Some(costs) = self.costs(|_, to| block(to), seconds) else {
            return Vec::new();
        };
        let remote: Vec<usize> = (0..self.clusters()).filter(|&k| k != self.root).collect();
        let tail = |to: usize| costs.latency(self.root, to) + costs.inside(to);
        let whole = |to: usize| costs.gap(self.root, to) + tail(to);
        let by = |key: &dyn Fn(usize) -> f64| {
            let mut order = remote.clone();
            order.sort_by(|&one, &other| key(other).total_cmp(&key(one)));
            order
        };
        [
            ("two-level", remote.clone()),
            ("slowest-cluster-first", by(&whole)),
            ("latest-tail-first", by(&tail)),
        ]
        .into_iter()
        .filter_map(|(name, order)| {
            let sends: Vec<(usize, usize)> = order.iter().map(|&to| (self.root, to)).collect();
            let schedule = Schedule::of(&costs, self.root, &sends)?;
            let span = schedule.makespan(&costs, Accounting::AfterSends);
            Some(Prediction {
                inside: Some(names.clone()),
                ..Prediction::new(name, span)
            })
        })
        .collect()
    }

    /// Everyone to everyone: gathered at coordinators, which exchange, and
    /// spread again; and directly. The thesis has no contention model between
    /// clusters (5.2), so these are bounds of senders that send one at a time.
    fn exchange(&self) -> Vec<Prediction> {
        let bytes = self.question.bytes;
        let sizes: Vec<u64> = self.shape.clusters.iter().map(|c| c.ranks as u64).collect();
        let all: u64 = sizes.iter().sum();
        let is_allgather = self.question.collective == Collective::Allgather;
        let (collected, spread, spreading) = match is_allgather {
            true => (bytes, all.saturating_mul(bytes), Collective::Bcast),
            false => (
                all.saturating_mul(bytes),
                all.saturating_mul(bytes),
                Collective::Scatter,
            ),
        };
        let between = |from: usize, to: usize| match is_allgather {
            true => sizes[from].saturating_mul(bytes),
            false => sizes[from].saturating_mul(sizes[to]).saturating_mul(bytes),
        };
        let slowest =
            |inside: Vec<Prediction>| inside.iter().map(|p| p.seconds).fold(0.0, f64::max);
        let collect = slowest(self.inside(Collective::Gather, collected));
        let spreading = slowest(self.inside(spreading, spread));
        let exchange = self.one_port(|_, _| 1, between, |_| 0.0);
        // A rank's own port, or the link that the ranks of its cluster share.
        let port = self.one_port(
            |_, to| sizes[to],
            |_, _| bytes,
            |cluster| self.own_exchange(cluster, bytes),
        );
        let link = self.one_port(|from, to| sizes[from] * sizes[to], |_, _| bytes, |_| 0.0);
        let direct = port.max(link);
        vec![
            Prediction::new("two-level", collect + exchange + spreading),
            Prediction::new("direct", direct),
        ]
    }

    /// What one rank of a cluster needs for the messages to its own others.
    fn own_exchange(&self, cluster: usize, bytes: u64) -> f64 {
        let shape = &self.shape.clusters[cluster];
        let link = shape.within.or(shape.on_host);
        link.map_or(0.0, |link| (shape.ranks - 1) as f64 * link.gap(bytes))
    }

    /// The busiest sender or receiver, one message at a time, of `messages(from, to)`
    /// messages of `bytes(from, to)` to every other cluster, beside its `own`.
    fn one_port(
        &self,
        messages: impl Fn(usize, usize) -> u64,
        bytes: impl Fn(usize, usize) -> u64,
        own: impl Fn(usize) -> f64,
    ) -> f64 {
        let mut busiest: f64 = 0.0;
        let mut farthest: f64 = 0.0;
        for here in 0..self.clusters() {
            let (mut sends, mut receives) = (own(here), own(here));
            for there in (0..self.clusters()).filter(|&there| there != here) {
                let (out, back) = (
                    self.platform.between(here, there),
                    self.platform.between(there, here),
                );
                sends += messages(here, there) as f64 * out.gap(bytes(here, there));
                receives += messages(there, here) as f64 * back.gap(bytes(there, here));
                let size = bytes(here, there);
                farthest = farthest.max(out.latency() + out.handshake(size));
            }
            busiest = busiest.max(sends).max(receives);
        }
        busiest + farthest
    }

    /// What a library does that goes by rank alone.
    fn by_rank(&self) -> Vec<Prediction> {
        let question = self.question;
        let (ranks, root, bytes) = (self.platform.ranks(), question.root, question.bytes);
        let links = Links::of(self.platform);
        let down = |tree: &Tree, bytes| simulate(tree, |a, b| links.passage(a, b, bytes));
        let binomial = Tree::binomial(ranks, root);
        // A rank that combines what it gets is occupied meanwhile.
        let up = || {
            let computing = question.computing.seconds(bytes);
            simulate(&binomial, |a, b| {
                let passage = links.passage(a, b, bytes);
                Passage {
                    gap: passage.gap + computing,
                    ..passage
                }
            })
        };
        let named = |name: &str, seconds: f64| Prediction::new(format!("rank-{name}"), seconds);
        let neighbours =
            |bytes| links.round((0..ranks).map(|rank| (rank, (rank + 1) % ranks)), bytes);
        let steps = (ranks - 1) as f64;
        match question.collective {
            Collective::Bcast => vec![
                named("flat", down(&Tree::flat(ranks, root), bytes)),
                named("binomial", down(&binomial, bytes)),
                chain(&links, ranks, question),
            ],
            Collective::Reduce => vec![named("binomial", up())],
            Collective::Allreduce => vec![
                named("binomial", up() + down(&binomial, bytes)),
                named("recursive-doubling", doubling(&links, ranks, |_| bytes)),
                named(
                    "ring",
                    2.0 * steps * neighbours(bytes.div_ceil(ranks as u64)),
                ),
            ],
            Collective::Barrier => vec![
                named("binomial", 2.0 * down(&binomial, 0)),
                named("recursive-doubling", doubling(&links, ranks, |_| 0)),
            ],
            Collective::Scatter | Collective::Gather => {
                let blocks = binomial.below();
                let scattered = simulate(&binomial, |a, b| {
                    links.passage(a, b, blocks[b].saturating_mul(bytes))
                });
                vec![
                    named("flat", down(&Tree::flat(ranks, root), bytes)),
                    named("binomial", scattered),
                ]
            }
            Collective::Allgather => vec![
                named("ring", steps * neighbours(bytes)),
                named(
                    "recursive-doubling",
                    doubling(&links, ranks, |round| bytes.saturating_mul(1 << round)),
                ),
            ],
            Collective::Alltoall => Vec::new(),
        }
    }
}

/// The names of what is best inside, each once.
fn names_of(inside: &[Prediction]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for best in inside {
        if best.strategy != "none" && !names.contains(&best.strategy.as_str()) {
            names.push(&best.strategy);
        }
    }
    names.join(" and ")
}

/// In round k everyone exchanges `bytes(k)` with rank xor 2^k; each round waits
/// for its slowest pair.
fn doubling(links: &Links<'_>, ranks: usize, bytes: impl Fn(u32) -> u64) -> f64 {
    let rounds = ranks.next_power_of_two().trailing_zeros();
    (0..rounds)
        .map(|round| {
            let pairs = (0..ranks).map(|rank| (rank, rank ^ (1 << round)));
            links.round(pairs.filter(|&(_, partner)| partner < ranks), bytes(round))
        })
        .sum()
}

/// A chain by rank with the segment size that is asked for, or the best of 1, 1/2,
/// 1/4, ... of the message; in the thesis's reading, 16 KiB (6.3).
fn chain(links: &Links<'_>, ranks: usize, question: &Question) -> Prediction {
    const THESIS_SEGMENT: u64 = 16 << 10;
    const WORTH: f64 = 0.03;
    let (bytes, root) = (question.bytes, question.root);
    let parts = (0..=MOST_SEGMENTS.ilog2()).map(|power| bytes.div_ceil(1 << power));
    let sizes: Vec<u64> = match (question.segment, question.form) {
        (Some(segment), _) => vec![segment],
        (None, Form::Thesis) => vec![THESIS_SEGMENT],
        (None, Form::Corrected) => parts.collect(),
    };
    let mut best = Prediction::new("rank-pipeline", f64::INFINITY);
    for segment in sizes {
        let segment = segment.clamp(1, bytes.max(1));
        let hops = (0..ranks - 1).map(|hop| {
            let at = |step: usize| (root + hop + step) % ranks;
            links.passage(at(0), at(1), segment)
        });
        let seconds = pipeline(hops, bytes, segment);
        // Longest first: more messages must be worth it.
        if seconds < (1.0 - WORTH) * best.seconds {
            best.seconds = seconds;
            best.segment = Some(segment);
        }
    }
    best
}
