//! `Reduce` in which every cluster but the root's reduces a part: the broadcast's exchange
//! ([`super::broadcast::exchange`]), backwards.
//!
//! Each cluster sends the parts of others to them, and the sum that it has reduced to the root: the
//! root's link carries the message once. For the first two latencies nothing is reduced yet;
//! meanwhile all send a few segments directly to the root. Each cluster sends only as many parts as
//! leave capacity on its link for its results, and no more before the results of earlier ones have
//! left. A few more are permitted if ranks make progress on the plan only now and then: results are
//! late there.
//!
//! ```text
//!   cluster b's link:  | c0 d0 s0 | c1 d1 s1 | c2 d2 b0 | c3 d3 b1 | ... | b2 | b3 |
//!                        parts to c and d, direct to a; then b's own parts, reduced, to a
//! ```

use std::collections::VecDeque;

use crate::algorithms::by_cluster::broadcast::leaders;
use crate::algorithms::by_cluster::inside::inside;
use crate::algorithms::by_cluster::stage::Stream;
use crate::algorithms::trees;
use crate::algorithms::trees::{Neighbours, Slots};
use crate::plan::range::Range;
use crate::problem::Problem;
use crate::steps::Steps;

/// Maximum number of rounds by which results may lag behind.
const MOST_LAG: usize = 200;

/// Segments of the same round of all ranks.
struct Round {
    /// One segment for each of the other clusters to reduce: the cluster's index and the segment,
    /// in the order of service of this cluster.
    parted: Vec<(usize, Range)>,
    /// Segment that all send to the root.
    direct: Option<Range>,
}

impl Round {
    fn segments(&self) -> impl Iterator<Item = Range> {
        let parted = self.parted.iter().map(|&(_, segment)| segment);
        parted.chain(self.direct)
    }
}

/// The message in rounds.
struct Rounds {
    rounds: Vec<Round>,
    /// Number of rounds by which results follow parts: the rounds in one latency.
    lag: usize,
    longest: u64,
    /// Number of segments.
    segments: usize,
}

impl Rounds {
    /// Rounds in the order of the cluster that serves `first` of the others first, so that not all
    /// send to the same one at the same time.
    fn new(steps: &dyn Steps, data: Range, others: usize, first: usize) -> Self {
        let direct = match others {
            0 | 1 => data.length,
            far => (steps.in_flight() / far as u64).min(data.length),
        };
        let exchanged = data.part(0, data.length - direct);
        let direct = data.part(exchanged.length, direct);
        let parted: Vec<Range> = steps.segments_for(exchanged, others).collect();
        let direct: Vec<Range> = steps.segments(direct).collect();
        let (lag, segments) = (direct.len(), parted.len() + direct.len());
        let all = parted.iter().chain(&direct);
        let longest = all.map(|segment| segment.length).max().unwrap_or(0);
        let mut direct = direct.into_iter();
        let mut rounds: Vec<Round> = parted
            .chunks(others.max(1))
            .map(|segments| {
                let next = |step: usize| (first + step) % segments.len();
                let parted = (0..segments.len()).map(|step| (next(step), segments[next(step)]));
                Round {
                    parted: parted.collect(),
                    direct: direct.next(),
                }
            })
            .collect();
        rounds.extend(direct.map(|segment| Round {
            parted: Vec::new(),
            direct: Some(segment),
        }));
        Rounds {
            rounds,
            lag: lag.clamp(1, MOST_LAG),
            longest,
            segments,
        }
    }

    fn segments(&self) -> impl Iterator<Item = Range> {
        self.rounds.iter().flat_map(Round::segments)
    }

    /// Scratch buffer for the segments that `sources` ranks send.
    fn slots(&self, steps: &mut dyn Steps, sources: usize) -> Slots {
        Slots::for_segments(steps, self.longest, self.segments * sources)
    }
}

/// `Reduce`.
pub fn exchange(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let own = Range::input(0, problem.block(rank));
    let stream = Stream::of(problem, steps, own.length, own.length);
    let local = inside(problem, rank, stream);
    let leaders = leaders(problem);
    let others = &leaders[1..];
    let leader = problem.leader(problem.clusters.of(rank));
    let place = others.iter().position(|&other| other == leader);
    let first = place.map_or(0, |place| place + 1);
    let rounds = Rounds::new(steps, own, others.len(), first);
    if rank == problem.root {
        return collect(steps, &local, others, &rounds);
    }
    match local.parent {
        None => contribute(steps, rank, &local, &leaders, &rounds),
        Some(parent) => {
            let mut slots = rounds.slots(steps, local.children.len());
            for segment in rounds.segments() {
                let sum = trees::reduce_segment(steps, &local, &mut slots, segment);
                steps.send_segment(parent, sum);
            }
        }
    }
}

/// Steps of a leader outside the root's cluster.
fn contribute(
    steps: &mut dyn Steps,
    rank: usize,
    local: &Neighbours,
    leaders: &[usize],
    rounds: &Rounds,
) {
    let (root, others) = (leaders[0], &leaders[1..]);
    let mut inside = rounds.slots(steps, local.children.len());
    let mut coming = rounds.slots(steps, others.len());
    let mut kept = Slots::for_segments(steps, rounds.longest, rounds.lag + 2);
    let mut own: VecDeque<Range> = VecDeque::new();
    let mut results: VecDeque<u32> = VecDeque::new();
    let late = steps.flow().late;
    for turn in 0..rounds.rounds.len() + rounds.lag {
        let awaited = match results.len() > late {
            true => results.pop_front(),
            false => None,
        };
        if let Some(round) = rounds.rounds.get(turn) {
            for &(which, segment) in &round.parted {
                let other = others[which];
                let sum = trees::reduce_segment(steps, local, &mut inside, segment);
                if other != rank {
                    steps.send_segment_after(other, sum, awaited);
                    continue;
                }
                // The buffer of the operands from inside is used again before the others' arrive.
                own.push_back(match sum == segment {
                    true => sum,
                    false => {
                        let place = kept.next(sum.length);
                        steps.copy(sum, place);
                        place
                    }
                });
            }
            if let Some(segment) = round.direct {
                let sum = trees::reduce_segment(steps, local, &mut inside, segment);
                steps.send_segment(root, sum);
            }
        }
        if turn < rounds.lag {
            continue;
        }
        if let Some(mut sum) = own.pop_front() {
            for &other in others.iter().filter(|&&other| other != rank) {
                let incoming = coming.next(sum.length);
                steps.receive_segment(other, incoming);
                steps.reduce(sum, incoming);
                sum = incoming;
            }
            steps.send_segment(root, sum);
            results.extend(steps.last_step());
        }
    }
}

/// Steps of the root: its own cluster's sum is made in the result's buffer, and the sums of others
/// are added to it.
fn collect(steps: &mut dyn Steps, local: &Neighbours, others: &[usize], rounds: &Rounds) {
    let mut inside = rounds.slots(steps, local.children.len());
    let mut coming = rounds.slots(steps, others.len());
    let add = |steps: &mut dyn Steps, slots: &mut Slots, from, segment: Range| {
        let incoming = slots.next(segment.length);
        steps.receive_segment(from, incoming);
        steps.reduce(incoming, Range::output(segment.start, segment.length));
    };
    for segment in rounds.segments() {
        steps.copy(segment, Range::output(segment.start, segment.length));
        for &child in local.children.iter().rev() {
            add(steps, &mut inside, child, segment);
        }
    }
    for segment in rounds.rounds.iter().filter_map(|round| round.direct) {
        for &other in others {
            add(steps, &mut coming, other, segment);
        }
    }
    for round in &rounds.rounds {
        for &(which, segment) in &round.parted {
            add(steps, &mut coming, others[which], segment);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::algorithms::algorithm::Algorithm;
    use crate::clusters::Clusters;
    use crate::operation::Operation;
    use crate::plan::step::{Action, Plan};
    use crate::problem::{Amount, Problem};
    use crate::steps::Flow;

    /// Number of messages that a plan sends before the first receive.
    fn sent_at_once(plan: &Plan) -> usize {
        let mut waits: Vec<bool> = Vec::new();
        for step in plan.steps() {
            let receives = matches!(step.action, Action::Receive { .. });
            let needs = plan.needs(step).iter();
            waits.push(receives || needs.copied().any(|need| waits[need as usize]));
        }
        let sends = |step: usize| matches!(plan.steps()[step].action, Action::Send { .. });
        (0..waits.len())
            .filter(|&step| sends(step) && !waits[step])
            .count()
    }

    #[test]
    fn in_a_started_reduction_parts_wait_for_fewer_results() {
        let problem = Problem {
            operation: Operation::Reduce,
            root: 0,
            amount: &Amount::Each(300),
            clusters: &Clusters::new(&[0, 1, 2, 3]),
            ordered: false,
            network: None,
            unit_bytes: 1,
        };
        let exchange = Algorithm::find(Operation::Reduce, "grid-exchange").unwrap();
        let flow = Flow {
            in_flight: Some(12),
            ..Flow::from(1)
        };
        let sent =
            [flow, flow.started()].map(|flow| sent_at_once(&exchange.plan(&problem, 1, flow)));
        // For each of two other ranks.
        assert_eq!(sent[1], sent[0] + 2 * flow.started().late);
    }
}
