//! Trees as stages of a pipeline.
//!
//! Segments flow through the levels of a cluster one after the other. A tree is therefore described
//! by the time of the first segment and the period between two (the pipelined models of thesis
//! table 6.2): for short messages, the tree that reaches all ranks first is the fastest; for long
//! ones, a tree whose ranks have few children.

use crate::algorithms::trees::{Shape, postal_rounds};
use crate::network::costs::MessageCost;
use crate::network::links::{Distance, Network, Overhead};
use crate::operation::Operation;
use crate::problem::Problem;
use crate::steps::Steps;

/// Directions of segments in a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flows {
    /// From the root.
    Down,
    /// To the root, reduced.
    Up,
    /// To the root, reduced, and back: ranks forward both at the same time.
    UpAndDown,
}

impl Flows {
    /// Directions of a collective's segments.
    pub fn of(operation: Operation) -> Self {
        match operation {
            Operation::Allreduce => Flows::UpAndDown,
            operation if operation.reduces() => Flows::Up,
            _ => Flows::Down,
        }
    }
}

/// Messages that pass through a tree one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream {
    /// Bytes of each message.
    pub bytes: u64,
    /// Number of messages.
    pub messages: u64,
    /// Their directions.
    pub flows: Flows,
}

impl Stream {
    /// Stream of `length` units, in the segments into which `steps` cuts messages of `whole` units.
    pub fn of(problem: &Problem, steps: &dyn Steps, whole: u64, length: u64) -> Self {
        let segment = steps.segment(whole).min(whole).max(1);
        Stream {
            bytes: segment.saturating_mul(problem.unit_bytes),
            messages: length.div_ceil(segment).max(1),
            flows: Flows::of(problem.operation),
        }
    }
}

/// A stage of a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Stage {
    /// Seconds until the first segment has passed.
    pub first: f64,
    /// Seconds between two segments.
    pub period: f64,
    /// Seconds between two segments of one direction only.
    pub one_way: f64,
    /// Seconds that a segment occupies the network card of the rank that sends, or receives, all
    /// segments.
    pub card: f64,
}

impl Stage {
    /// Stage that consists of this one, followed by `next`.
    pub(crate) fn then(self, next: Stage) -> Stage {
        Stage {
            first: self.first + next.first,
            period: self.period.max(next.period),
            one_way: self.one_way.max(next.one_way),
            card: self.card + next.card,
        }
    }

    /// Seconds for this number of segments.
    pub(crate) fn seconds(self, segments: f64) -> f64 {
        self.first + (segments - 1.0).max(0.0) * self.period
    }
}

/// Message between two ranks of a group.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hop {
    cost: MessageCost,
    flows: Flows,
    /// True if it passes a network card.
    is_on_card: bool,
    /// Seconds of a rank's work for each of its children.
    of_child: f64,
    /// Seconds of a rank's work for its parent.
    of_parent: f64,
    /// Seconds of a reduction.
    reduction: f64,
}

impl Hop {
    pub(super) fn new(network: &Network, from: usize, to: usize, stream: Stream) -> Self {
        let bytes = stream.bytes;
        let work = |by| network.occupied(from, to, bytes, by);
        let (send, receive) = (work(Overhead::Send), work(Overhead::Receive));
        let reduction = match stream.flows {
            Flows::Down => 0.0,
            Flows::Up | Flows::UpAndDown => network.computing.seconds(bytes),
        };
        let (of_child, of_parent) = match stream.flows {
            Flows::Down => (send, receive),
            Flows::Up => (receive + reduction, send),
            Flows::UpAndDown => (send + receive + reduction, send + receive),
        };
        Hop {
            cost: MessageCost::on(network.link(from, to), bytes),
            flows: stream.flows,
            is_on_card: network.distance(from, to) != Distance::Host,
            of_child,
            of_parent,
            reduction,
        }
    }

    /// Stage of a tree.
    pub(super) fn stage(&self, tree: &Tree) -> Stage {
        let gap = self.cost.gap;
        // Segments from a parent pass the same side of the card as those from children.
        let busiest = match self.flows {
            Flows::Down | Flows::Up => tree.degree,
            Flows::UpAndDown => tree.degree.max(tree.inner_degree + 1.0),
        };
        Stage {
            first: tree.gaps * gap.max(self.of_child)
                + tree.depth * (self.cost.latency + self.reduction),
            period: (busiest * gap).max(tree.degree * self.of_child + self.of_parent),
            one_way: tree.degree * gap,
            card: match self.is_on_card {
                true => tree.degree * gap,
                false => 0.0,
            },
        }
    }
}

/// Counts that determine the time of a tree of some shape.
pub(super) struct Tree {
    shape: Shape,
    /// Maximum number of children of a rank.
    degree: f64,
    /// Maximum number of children of a rank that has a parent.
    inner_degree: f64,
    /// Gaps and latencies until the last rank has a message.
    gaps: f64,
    depth: f64,
}

impl Tree {
    /// Tree of any shape, evaluated place by place: the sends until the last place has a message,
    /// and the edges on its path, are counted separately.
    pub(super) fn walked(shape: Shape, count: usize) -> Tree {
        let (mut degree, mut inner_degree) = (0, 0);
        let (mut gaps, mut depths) = (vec![0_u32; count], vec![0_u32; count]);
        let mut reached = vec![0];
        while let Some(place) = reached.pop() {
            let mut children = 0;
            shape.visit(count, place, |child| {
                children += 1;
                gaps[child] = gaps[place] + children;
                depths[child] = depths[place] + 1;
                reached.push(child);
            });
            degree = degree.max(children);
            if place > 0 {
                inner_degree = inner_degree.max(children);
            }
        }
        let most = |counts: Vec<u32>| f64::from(counts.into_iter().max().unwrap_or(0));
        Tree {
            shape,
            degree: f64::from(degree),
            inner_degree: f64::from(inner_degree),
            gaps: most(gaps),
            depth: most(depths),
        }
    }
}

/// Candidate shapes of a group of several ranks, in order of preference.
fn trees(count: usize, hop: &Hop) -> impl Iterator<Item = Tree> {
    let all = (count - 1) as f64;
    let rounds = f64::from(count.next_power_of_two().trailing_zeros());
    let levels = f64::from(count.ilog2());
    let tree = |shape, degree: f64, inner_degree: f64, gaps: f64, depth: f64| Tree {
        shape,
        degree,
        inner_degree,
        gaps,
        depth,
    };
    // Chains behind a binomial core.
    let octopus = move |degree: u32| {
        let (core, arms) = (1 << degree, f64::from(degree));
        let behind = count.saturating_sub(core).div_ceil(core) as f64;
        (core < count).then_some(tree(
            Shape::Octopus(degree),
            arms + 1.0,
            arms,
            arms + behind,
            arms + behind,
        ))
    };
    // Number of sends after which a message has arrived, counted from its own start.
    let delivery = 1.0 + hop.cost.latency / hop.cost.gap.max(f64::MIN_POSITIVE);
    let lambda = delivery.round().clamp(1.0, count as f64) as u32;
    let sends = postal_rounds(count, lambda) as f64;
    let degree = sends - f64::from(lambda) + 1.0;
    let generations = (sends / f64::from(lambda)).floor().max(1.0);
    let few = [octopus(1), octopus(2), octopus(3)];
    [
        tree(Shape::Flat, all, 0.0, all, 1.0),
        tree(Shape::Binomial, rounds, rounds - 1.0, rounds, rounds),
        tree(Shape::Chain, 1.0, 1.0, all, all),
        tree(Shape::Binary, 2.0, 2.0, 2.0 * levels, levels),
    ]
    .into_iter()
    .chain(few.into_iter().flatten())
    .chain([tree(
        Shape::Lambda(lambda),
        degree,
        (degree - 1.0).max(0.0),
        sends - generations * f64::from(lambda - 1),
        generations,
    )])
}

/// Factor by which a shape must be faster than a simpler one.
const WORTH_ANOTHER_SHAPE: f64 = 0.97;

/// Shape for `count` ranks, whose segments follow each other by at least `least_period` seconds.
pub(super) fn fastest(
    count: usize,
    hop: &Hop,
    stream: Stream,
    least_period: f64,
) -> (Shape, Stage) {
    if count < 2 {
        return (Shape::Flat, Stage::default());
    }
    let further = (stream.messages - 1) as f64;
    let seconds = |stage: &Stage| stage.first + further * stage.period.max(least_period);
    let all = trees(count, hop).map(|tree| (tree.shape, hop.stage(&tree)));
    let better = |best: (Shape, Stage), other: (Shape, Stage)| {
        if seconds(&other.1) < WORTH_ANOTHER_SHAPE * seconds(&best.1) {
            other
        } else {
            best
        }
    };
    all.reduce(better)
        .unwrap_or((Shape::Flat, Stage::default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hop(gap: f64, latency: f64) -> Hop {
        Hop {
            cost: MessageCost { gap, latency },
            flows: Flows::Down,
            is_on_card: true,
            of_child: 0.0,
            of_parent: 0.0,
            reduction: 0.0,
        }
    }

    fn shape(count: usize, hop: Hop, messages: u64) -> Shape {
        let stream = Stream {
            bytes: 1,
            messages,
            flows: Flows::Down,
        };
        fastest(count, &hop, stream, 0.0).0
    }

    #[test]
    fn short_messages_take_the_tree_that_reaches_all_soonest() {
        // Sending to all ranks takes less than a second latency.
        assert_eq!(shape(8, hop(1.0, 20.0), 1), Shape::Flat);
        assert_eq!(shape(64, hop(1.0, 0.0), 1), Shape::Binomial);
        assert_eq!(shape(64, hop(1.0, 4.0), 1), Shape::Lambda(5));
    }

    #[test]
    fn long_messages_take_a_chain_and_those_between_a_tree_of_few_children() {
        assert_eq!(shape(30, hop(1.0, 1.0), 1000), Shape::Chain);
        let between = shape(30, hop(1.0, 1.0), 8);
        assert!(
            matches!(between, Shape::Binary | Shape::Octopus(_)),
            "{between:?}"
        );
    }

    #[test]
    fn segments_that_come_slowly_are_not_worth_a_chain() {
        let stream = Stream {
            bytes: 1,
            messages: 1000,
            flows: Flows::Down,
        };
        let hop = hop(1.0, 1.0);
        assert_eq!(fastest(40, &hop, stream, 20.0).0, Shape::Binomial);
    }

    /// The closed forms against the arrival of each segment at each place.
    #[test]
    fn stages_are_never_shorter_than_their_trees_and_at_most_twice_as_long() {
        for (gap, latency) in [(1.0, 0.0), (1.0, 1.0), (1.0, 7.0)] {
            let hop = hop(gap, latency);
            for count in 2..70 {
                for tree in trees(count, &hop) {
                    let (shape, stage) = (tree.shape, hop.stage(&tree));
                    let (first, period) = walked(shape, count, gap, latency);
                    assert!(first <= stage.first + 1e-9, "{shape:?} of {count}: {first}");
                    assert!(
                        stage.first <= 2.0 * first,
                        "{shape:?} of {count}: {stage:?}"
                    );
                    assert!(period <= stage.period, "{shape:?} of {count}: {period}");
                }
            }
        }
    }

    /// Time until the first segment is everywhere, and the gaps of the busiest place, in seconds.
    fn walked(shape: Shape, count: usize, gap: f64, latency: f64) -> (f64, f64) {
        let mut arrival = vec![None; count];
        arrival[0] = Some(0.0);
        let mut busiest = 0;
        while arrival.iter().any(Option::is_none) {
            for place in 0..count {
                let Some(here) = arrival[place] else {
                    continue;
                };
                let mut sends = 0;
                shape.visit(count, place, |child| {
                    sends += 1;
                    arrival[child] = Some(here + f64::from(sends) * gap + latency);
                });
                busiest = busiest.max(sends);
            }
        }
        let last = arrival.into_iter().flatten().fold(0.0, f64::max);
        (last, f64::from(busiest) * gap)
    }
}
