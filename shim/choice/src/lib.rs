//! The choice of a plan: the quickest of all strategies and the native collective, by their
//! estimated times.
//!
//! ```text
//!   operation, bytes, root --> every strategy's time, with its best size of segments
//!                              the native collective's, by the algorithm it usually takes
//!                          --> the least: a strategy and a size, or the native one
//! ```
//!
//! All ranks of a communicator come to the same choice when they have the same platform:
//! nothing else is looked at. Without a platform, rules take the place of times.
//!
//! [`predict`] simulates what the choice only estimates; [`measured`] reads times to compare with.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))] // a test may panic

mod candidate;
mod choice;
mod foresee;
pub mod measured;
mod native;
pub mod predict;
mod rules;
mod sizes;
mod started;
#[cfg(test)]
mod tests;
pub mod uneven;
mod unknown;

use std::collections::HashMap;
use std::sync::Arc;

pub use treepie_collective::algorithms::{Describe, Price, costs};
use treepie_collective::network::MessageCosts;
pub use treepie_collective::read::cost::{OneByOne, Reading};
use treepie_collective::read::estimate::{self, CostInput, Size};
use treepie_collective::{Algorithm, Amount, Clusters, Network, Operation, Problem, Uniform};
use treepie_native::Family;

pub use candidate::{Candidate, Challenger};
pub use choice::Choice;
pub(crate) use choice::Considered;
use choice::Unpredicted;
pub use foresee::are_bytes_known;
use native::Native;
pub use rules::{between_clusters, segment};
use sizes::{USUAL_EAGER_LIMIT, segments};
pub use started::{Form, Progress, direct};

/// Blocks that come to no more bytes are collected into one message.
const MOST_TOGETHER: u64 = 4 << 10;

/// A plan must be this much quicker than the native collective to take its place:
/// the native one is known less well.
const WORTH: f64 = 0.97;

/// Of plans that differ by less, the first in the table, which is the simplest, is taken.
const ALIKE: f64 = 0.995;

/// At most this many choices are remembered; a program that changes its root all the time has more.
const MOST_CHOICES: usize = 1024;

/// Stands for bytes that not all ranks know.
const UNKNOWN: u64 = u64::MAX;

/// Calls that get the same choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Class {
    operation: Operation,
    /// The size of the class, which the choice is made for.
    bytes: u64,
    root: usize,
    ordered: bool,
    form: Form,
}

impl Class {
    /// Why no time is known, where none is.
    fn unpredicted(&self) -> Unpredicted {
        match self.bytes {
            UNKNOWN => Unpredicted::UnknownSizes,
            _ => Unpredicted::NoPlatform,
        }
    }
}

/// Bytes as the sizes of calls that are chosen for alike: four to a power of two.
pub fn size_class(bytes: u64) -> u64 {
    match bytes {
        0..=8 => bytes,
        _ => {
            let step = 1u64 << (bytes.ilog2() - 2);
            bytes.div_ceil(step).saturating_mul(step)
        }
    }
}

/// Chooses for the collectives of one communicator, and remembers its choices.
#[derive(Debug, Clone)]
pub struct Chooser {
    known: Option<Known>,
    /// The eager limit: messages of up to so many bytes go at once.
    eager: u64,
    chosen: HashMap<Class, Arc<Choice>>,
}

/// The platform: the same for all calls.
#[derive(Debug, Clone)]
struct Known {
    network: Arc<Network>,
    sizes: Vec<Size>,
    /// Costs of the segments that are tried, from small to large.
    segments: Vec<MessageCosts>,
    /// The MPI whose own collectives are to be beaten.
    native: Option<Native>,
}

impl Chooser {
    /// Chooses on this network, by rules where there is none. `native` is the MPI whose own
    /// collectives are to be beaten; `None` where they are out of the question.
    pub fn new(network: Option<Arc<Network>>, clusters: &Clusters, native: Option<Family>) -> Self {
        let usual = native.map_or(USUAL_EAGER_LIMIT, Family::usual_eager_limit);
        let seen = network.as_ref().map(|network| network.eager_limit());
        // A network that shows no limit was measured to have none among its sizes.
        let eager = seen.map_or(usual, |seen| seen.unwrap_or(USUAL_EAGER_LIMIT));
        let are_near = |network: &Network| !clusters.are_far() && !network.is_in_memory();
        let known = network.map(|network| Known {
            segments: segments(eager, are_near(&network))
                .into_iter()
                .map(|bytes| MessageCosts::new(&network, bytes))
                .collect(),
            sizes: estimate::sizes(&network, clusters),
            native: native
                .map(|native| Native::new(network.clone(), native).with_topology(clusters)),
            network,
        });
        Chooser {
            known,
            eager,
            chosen: HashMap::new(),
        }
    }

    /// The same for ranks that have a topology, which these clusters know.
    pub fn with_topology(mut self, clusters: &Clusters) -> Self {
        if let Some(known) = &mut self.known {
            let native = known.native.take();
            known.native = native.map(|native| native.with_topology(clusters));
        }
        self.chosen.clear();
        self
    }

    /// The same where messages of up to `limit` bytes are known to go at once, and no network
    /// says it better.
    pub fn with_eager_limit(mut self, limit: u64) -> Self {
        if self.known.is_none() {
            self.eager = limit;
        }
        self
    }

    /// The same where Open MPI's HAN does the native collectives, as it does by default in
    /// Open MPI 5.
    pub fn with_han(mut self) -> Self {
        if let Some(known) = &mut self.known {
            known.native = known.native.take().map(Native::with_han);
        }
        self
    }

    /// The largest message that plans send here at once, in bytes.
    pub fn eager_limit(&self) -> u64 {
        self.eager
    }

    /// The largest message, in bytes, that `strategy` should send for a call: the best on the
    /// network, or else by rule.
    pub fn segment(
        &self,
        strategy: &'static Algorithm,
        call: &Uniform,
        clusters: &Clusters,
    ) -> u64 {
        let estimated = self.known.as_ref().filter(|_| clusters.are_far());
        let estimated = estimated.and_then(|known| {
            let costs = known.whole(call.operation, call.bytes, clusters);
            known.with_best_segment(strategy, &known.input(call, false, clusters, &costs))
        });
        match estimated {
            Some(plan) => plan.segment,
            None => rules::segment(call.operation, call.bytes, self.eager),
        }
    }

    /// The choice for `operation`. `bytes` are those of the message, or of one rank's
    /// block (the mean, where they differ and all ranks know it); `None` where not all
    /// ranks know. `ordered` says that operands must stay in the order of ranks.
    /// `clusters` are those that the chooser was made with. Between near hosts of one cluster, and
    /// in the memory of one host, the native collective is chosen, and what was considered is to be
    /// measured; what has to keep its order is by rule.
    pub fn choose(
        &mut self,
        operation: Operation,
        bytes: Option<u64>,
        root: usize,
        ordered: bool,
        clusters: &Clusters,
    ) -> Arc<Choice> {
        let class = Class {
            operation,
            bytes: bytes.map_or(UNKNOWN, size_class),
            root,
            ordered,
            form: Form::Blocking,
        };
        if let Some(choice) = self.chosen.get(&class) {
            return choice.clone();
        }
        let is_in_memory = |known: &Known| known.network.is_in_memory();
        let is_tried = clusters.count() > 1 || self.known.as_ref().is_some_and(is_in_memory);
        let is_predicted = clusters.are_far() || is_tried && !ordered;
        let predicted = match (&self.known, bytes) {
            (Some(known), Some(_)) if is_predicted => known.predicted(class, clusters),
            (Some(known), None) if clusters.are_far() => {
                known.aggregated(class, clusters, self.eager)
            }
            _ => None,
        };
        self.remember(
            class,
            predicted.unwrap_or_else(|| by_rule(class, self.eager)),
        )
    }

    fn remember(&mut self, class: Class, choice: Choice) -> Arc<Choice> {
        let choice = Arc::new(choice);
        if self.chosen.len() >= MOST_CHOICES {
            self.chosen.clear();
        }
        self.chosen.insert(class, choice.clone());
        choice
    }
}

/// What the rules say of a class, whichever of its calls comes first: ranks remember different
/// calls.
fn by_rule(class: Class, eager: u64) -> Choice {
    let bytes = Some(class.bytes).filter(|&bytes| bytes != UNKNOWN);
    let chosen = rules::between_clusters(class.operation, bytes, class.ordered, eager);
    Choice {
        strategy: chosen.and_then(|(name, _)| Algorithm::find(class.operation, name)),
        segment: chosen.map_or(0, |(_, segment)| segment),
        seconds: None,
        unpredicted: class.unpredicted(),
        considered: Vec::new(),
        native: None,
    }
}

impl Known {
    /// The quickest; `None` where no strategy's time is known.
    fn predicted(&self, class: Class, clusters: &Clusters) -> Option<Choice> {
        let costs = self.whole(class.operation, class.bytes, clusters);
        let call = Uniform {
            operation: class.operation,
            bytes: class.bytes,
            root: class.root,
        };
        let input = self.input(&call, class.ordered, clusters, &costs);
        let considered = self.candidates(&input);
        let native = self.native.as_ref();
        let native = native.map(|native| native.seconds(&call, class.ordered));
        best_of(considered, native, clusters)
    }

    /// The strategies that the choice considers for a call, each with its best segments.
    fn candidates(&self, input: &CostInput) -> Vec<Considered> {
        Algorithm::of(input.operation)
            .filter(|strategy| strategy.keeps_order() || !input.ordered)
            .filter_map(|strategy| self.with_best_segment(strategy, input))
            .collect()
    }

    /// Costs of a message that is not cut. Small blocks of a cluster that are collected for all,
    /// or for another cluster, go on together, as one message.
    fn whole(&self, operation: Operation, bytes: u64, clusters: &Clusters) -> MessageCosts {
        let members = (0..clusters.count()).map(|c| clusters.members(c).len() as u64);
        let members = members.max().unwrap_or(1);
        let together = match operation {
            Operation::Allgather | Operation::Allgatherv => bytes.saturating_mul(members),
            // A block from each to each of another cluster.
            Operation::Alltoall => bytes.saturating_mul(members * members),
            _ => bytes,
        };
        let size = match together <= MOST_TOGETHER {
            true => together,
            false => bytes,
        };
        MessageCosts::new(&self.network, size)
    }

    /// A call whose messages are not cut.
    fn input<'a>(
        &'a self,
        call: &Uniform,
        ordered: bool,
        clusters: &'a Clusters,
        segment: &'a MessageCosts,
    ) -> CostInput<'a> {
        CostInput {
            network: &self.network,
            clusters,
            sizes: &self.sizes,
            operation: call.operation,
            bytes: call.bytes,
            root: match call.operation.has_root() {
                true => call.root,
                false => clusters.leader(self.network.centre()),
            },
            ordered,
            segment,
            edges: &[],
        }
    }

    /// A strategy with the segments that suit it best; `None` where its time is not known.
    fn with_best_segment(
        &self,
        strategy: &'static Algorithm,
        whole: &CostInput,
    ) -> Option<Considered> {
        let price = match self.network.is_in_memory() {
            true => in_memory(strategy, whole)?,
            false => strategy.candidate.price(whole.ordered)?,
        };
        Some(self.priced(strategy, price, whole))
    }

    /// A strategy at this price with the segments that suit it best.
    fn priced(&self, strategy: &'static Algorithm, price: Price, whole: &CostInput) -> Considered {
        let edges = strategy.tree.map_or(Vec::new(), |(between, direction)| {
            let root = whole.clusters.of(whole.root);
            let costs = || costs(whole.segment, whole.clusters, direction);
            between.edges(whole.clusters.count(), root, costs)
        });
        let input = CostInput {
            edges: &edges,
            ..*whole
        };
        let seconds = |input: &CostInput| match price {
            Price::Estimated(estimate) => estimate(input),
            Price::Read => by_description(strategy, input),
        };
        let (segment, seconds) = self.best_size(&input, seconds);
        Considered {
            strategy,
            segment,
            seconds,
        }
    }
}

/// The quickest of what was considered, or the native collective, where that takes so many seconds;
/// `None` where no strategy's time is known.
fn best_of(
    considered: Vec<Considered>,
    native: Option<f64>,
    clusters: &Clusters,
) -> Option<Choice> {
    let simplest = |best: Considered, other: &Considered| match other.seconds {
        seconds if seconds < ALIKE * best.seconds => *other,
        _ => best,
    };
    let best = considered.iter().fold(*considered.first()?, simplest);
    let beats = native.is_none_or(|native| best.seconds < WORTH * native) && clusters.are_far();
    Some(Choice {
        strategy: beats.then_some(best.strategy),
        segment: best.segment,
        seconds: match beats {
            true => Some(best.seconds),
            false => native,
        },
        unpredicted: Unpredicted::default(),
        considered,
        native,
    })
}

/// The price of a strategy in the memory of one host, where those by rank are as good as others;
/// `None` where it does not serve the call. Those that look at clusters differ from them where
/// there are several.
fn in_memory(strategy: &Algorithm, input: &CostInput) -> Option<Price> {
    let comes_into_question = match strategy.describe {
        Describe::ByRank(_) => strategy.is_by_rank() || input.clusters.count() > 1,
        Describe::Scheduled(_) => false,
    };
    let problem = Problem {
        operation: input.operation,
        root: input.root,
        amount: &Amount::Each(input.bytes),
        clusters: input.clusters,
        ordered: input.ordered,
        network: Some(input.network),
        unit_bytes: 1,
    };
    (comes_into_question && strategy.serves(&problem)).then_some(Price::Read)
}

/// Seconds of a strategy by its description, in segments.
fn by_description(strategy: &Algorithm, input: &CostInput) -> f64 {
    let call = Uniform {
        operation: input.operation,
        bytes: input.bytes,
        root: input.root,
    };
    let reading = Reading {
        network: input.network,
        clusters: Some(input.clusters),
        ordered: input.ordered,
        flow: input.segment.bytes.max(1).into(),
        one_by_one: OneByOne::Sends,
    };
    reading.times(strategy, &call).end
}
