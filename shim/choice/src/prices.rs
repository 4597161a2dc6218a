//! Predicted times of algorithms on a network.

use crate::choice::{Choice, Considered, Unpredicted};
use crate::class::Class;
use crate::native::Native;
use crate::policy::{
    ALIKE, MIN_BYTES_BETWEEN_NEAR, MIN_GAIN_RATIO, MIN_GAIN_RATIO_BETWEEN_NEAR, MOST_BY_TREE,
    MOST_CONFIRMED, MOST_READ_IN_SEGMENTS,
};
use std::borrow::Cow;
use std::sync::Arc;
use treepie_base::{Cluster, List};
use treepie_collective::algorithms::{Cut, Describe, Price, costs};
use treepie_collective::network::MessageCosts;
use treepie_collective::read::cost::{OneByOne, Reading};
use treepie_collective::read::estimate::{CostInput, Size};
use treepie_collective::read::simulate::{Options, simulate};
use treepie_collective::{Algorithm, Amount, Clusters, Network, Problem, Uniform};

/// Prices on a platform: the same for all calls.
#[derive(Debug, Clone)]
pub(crate) struct Prices {
    pub(crate) network: Arc<Network>,
    pub(crate) sizes: List<Cluster, Size>,
    /// Eager limit in bytes.
    pub(crate) eager: u64,
    /// Costs of the segments that are tried, from small to large.
    pub(crate) segments: Vec<MessageCosts>,
    /// MPI whose own collectives compete.
    pub(crate) native: Option<Native>,
}

impl Prices {
    /// Fastest algorithm; `None` if no algorithm's time is known.
    pub(crate) fn predicted(&self, class: Class, clusters: &Clusters) -> Option<Choice> {
        let costs = MessageCosts::new(&self.network, class.bytes);
        let call = Uniform {
            operation: class.operation,
            bytes: class.bytes,
            root: class.root,
        };
        let input = self.input(&call, class.ordered, clusters, &costs);
        let mut considered = self.candidates(&input);
        let enough = self.enough(class.bytes, clusters);
        if !clusters.are_far() && enough > 0.0 {
            confirm(&mut considered, &input);
        }
        let native = self.native.as_ref();
        let native = native.map(|native| native.seconds(&call, class.ordered));
        best_of(considered, native, enough)
    }

    /// Ratio to the native collective's time that a plan must reach to replace it; 0 if none does:
    /// for short calls between near hosts, and in the memory of one host, where time is spent in
    /// programs more than on links.
    pub(crate) fn enough(&self, bytes: u64, clusters: &Clusters) -> f64 {
        match clusters.are_far() {
            true => MIN_GAIN_RATIO,
            false if self.network.is_in_memory() || bytes < MIN_BYTES_BETWEEN_NEAR => 0.0,
            false => MIN_GAIN_RATIO_BETWEEN_NEAR,
        }
    }

    /// Algorithms that the choice considers for a call, each with its best segments.
    pub(crate) fn candidates(&self, input: &CostInput) -> Vec<Considered> {
        // With one cluster, there is only one tree.
        let is_one = input.clusters.count() == 1 && !self.network.is_in_memory();
        let is_distinct =
            |algorithm: &&Algorithm| algorithm.is_by_rank() || algorithm.tree.is_some();
        let is_by_rounds = are_many_near(&self.network);
        Algorithm::of(input.operation)
            .filter(|algorithm| algorithm.keeps_order() || !input.ordered)
            .filter(|algorithm| !is_one || is_distinct(algorithm))
            .filter_map(|algorithm| {
                if is_by_rounds {
                    return self.in_lockstep(algorithm, input);
                }
                let best = self.with_best_segment(algorithm, input);
                best.or_else(|| self.described(algorithm, input))
                    .or_else(|| self.in_lockstep(algorithm, input))
            })
            .filter(|considered| considered.seconds.is_finite())
            .collect()
    }

    /// Algorithm between hosts that is considered by its description.
    fn described(&self, algorithm: &'static Algorithm, whole: &CostInput) -> Option<Considered> {
        let amount = Amount::Each(whole.bytes);
        let cut = algorithm.candidate.cut(whole.clusters)?;
        let call = problem(whole, &amount);
        let are_many = whole.clusters.ranks() > MOST_READ_IN_SEGMENTS;
        let is_slow_to_read = are_many && call.has_empty_blocks();
        if self.network.is_in_memory() || is_slow_to_read || !algorithm.serves(&call) {
            return None;
        }
        Some(match cut {
            Cut::Segments => self.priced(algorithm, Price::Read, whole),
            Cut::Whole => Considered {
                algorithm,
                segment: whole.segment.bytes.max(1),
                seconds: simulated(algorithm, whole, MOST_STEPS)
                    .unwrap_or_else(|| by_description(algorithm, whole)),
            },
        })
    }

    /// Algorithm between near hosts whose ranks send alike.
    fn in_lockstep(&self, algorithm: &'static Algorithm, whole: &CostInput) -> Option<Considered> {
        let amount = Amount::Each(whole.bytes);
        let is_between_near = self.network.is_near() && !self.network.is_in_memory();
        let call = problem(whole, &amount);
        let is_alike = is_between_near && algorithm.has_rounds() && !call.has_empty_blocks();
        if !is_alike || !algorithm.serves(&call) {
            return None;
        }
        let (call, reading) = reading(whole);
        Some(Considered {
            algorithm,
            segment: whole.segment.bytes.max(1),
            seconds: reading.lockstep(algorithm, &call),
        })
    }

    /// Inputs of a call whose messages are not cut.
    pub(crate) fn input<'a>(
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
            largest: call.bytes.max(self.eager),
            edges: &[],
        }
    }

    /// Algorithm with its best segments; `None` if its time is not known.
    pub(crate) fn with_best_segment(
        &self,
        algorithm: &'static Algorithm,
        whole: &CostInput,
    ) -> Option<Considered> {
        let price = match self.network.is_in_memory() {
            true => in_memory(algorithm, whole)?,
            false => algorithm.candidate.price(whole.ordered)?,
        };
        Some(self.priced(algorithm, price, whole))
    }

    /// Algorithm at this price with its best segments.
    pub(crate) fn priced(
        &self,
        algorithm: &'static Algorithm,
        price: Price,
        whole: &CostInput,
    ) -> Considered {
        let edges = algorithm.tree.map_or(Vec::new(), |(between, direction)| {
            let root = whole.clusters.of(whole.root);
            let fans = |cluster: Cluster| Cow::Borrowed(&self.sizes[cluster].fans[..]);
            let costs = || costs(&self.network, whole.segment, fans, direction);
            between.edges(whole.clusters.count(), root, costs)
        });
        let input = CostInput {
            edges: &edges,
            ..*whole
        };
        let seconds = |input: &CostInput| match price {
            Price::Estimated(estimate) => estimate(input),
            Price::Read => by_description(algorithm, input),
        };
        let is_read = matches!(price, Price::Read);
        if is_read && whole.clusters.ranks() > MOST_READ_IN_SEGMENTS {
            return Considered {
                algorithm,
                segment: whole.segment.bytes.max(1),
                seconds: seconds(&input),
            };
        }
        let (segment, seconds) = self.best_size(&input, seconds);
        Considered {
            algorithm,
            segment,
            seconds,
        }
    }
}

/// True if the ranks are on more near hosts than trees are considered for: only algorithms in
/// rounds are.
pub(crate) fn are_many_near(network: &Network) -> bool {
    network.is_near() && !network.is_in_memory() && network.clusters() > MOST_BY_TREE
}

/// Simulates the fastest algorithm, until one that was simulated is the fastest.
fn confirm(considered: &mut [Considered], whole: &CostInput) {
    let mut confirmed: Vec<&Algorithm> = Vec::new();
    while confirmed.len() < MOST_CONFIRMED {
        let best = considered.iter_mut();
        let best = best.min_by(|one, other| one.seconds.total_cmp(&other.seconds));
        let Some(best) = best.filter(|best| !confirmed.contains(&best.algorithm)) else {
            return;
        };
        let cut = CostInput {
            largest: best.segment,
            ..*whole
        };
        if let Some(seconds) = simulated(best.algorithm, &cut, MOST_STEPS_TO_CONFIRM) {
            best.seconds = seconds;
        }
        confirmed.push(best.algorithm);
    }
}

/// Fastest of the considered algorithms, or the native collective, if it takes `native` seconds
/// and no algorithm less than `enough` of that; `None` if no time is known.
pub(crate) fn best_of(
    considered: Vec<Considered>,
    native: Option<f64>,
    enough: f64,
) -> Option<Choice> {
    let simplest = |best: Considered, other: &Considered| match other.seconds {
        seconds if seconds < ALIKE * best.seconds => *other,
        _ => best,
    };
    let best = considered
        .first()
        .map(|first| considered.iter().fold(*first, simplest));
    let beats =
        |best: &Considered| native.map_or(enough > 0.0, |native| best.seconds < enough * native);
    if best.is_none() && native.is_none() {
        return None;
    }
    let best = best.filter(beats);
    Some(Choice {
        algorithm: best.map(|best| best.algorithm),
        segment: best.map_or(0, |best| best.segment),
        seconds: best.map_or(native, |best| Some(best.seconds)),
        unpredicted: Unpredicted::default(),
        considered,
        native,
    })
}

/// Price of an algorithm in the memory of one host, where algorithms by rank compete with others;
/// `None` if it does not serve the call. Those that use clusters differ from them only if there are
/// several.
pub(crate) fn in_memory(algorithm: &Algorithm, input: &CostInput) -> Option<Price> {
    let comes_into_question = match algorithm.describe {
        Describe::ByRank(_) => algorithm.is_by_rank() || input.clusters.count() > 1,
        Describe::Scheduled(..) => false,
    };
    let amount = Amount::Each(input.bytes);
    (comes_into_question && algorithm.serves(&problem(input, &amount))).then_some(Price::Read)
}

/// Problem of the call for algorithms.
fn problem<'a>(input: &CostInput<'a>, amount: &'a Amount) -> Problem<'a> {
    Problem {
        operation: input.operation,
        root: input.root,
        amount,
        clusters: input.clusters,
        ordered: input.ordered,
        network: Some(input.network),
        unit_bytes: 1,
    }
}

/// Maximum number of steps of all ranks' plans to be simulated, which takes a millisecond.
const MOST_STEPS: usize = 1500;

/// Maximum number of steps for an algorithm that is about to be chosen.
const MOST_STEPS_TO_CONFIRM: usize = 8 * MOST_STEPS;

/// Seconds of an algorithm in the simulation; `None` if its plans are long.
fn simulated(algorithm: &Algorithm, input: &CostInput, most_steps: usize) -> Option<f64> {
    let amount = Amount::Each(input.bytes);
    let problem = problem(input, &amount);
    let description = algorithm.describe(&problem);
    let steps = description.steps(0, input.largest.max(1));
    if steps * problem.ranks() > most_steps {
        return None;
    }
    let plans = description.plans(input.largest.max(1));
    let outcome = simulate(input.network, &plans, 1, Options::default());
    outcome.ok().map(|outcome| outcome.seconds)
}

/// Seconds of an algorithm by its description, in segments.
pub(crate) fn by_description(algorithm: &Algorithm, input: &CostInput) -> f64 {
    let (call, reading) = reading(input);
    reading.times(algorithm, &call).end
}

/// The call of these inputs, and the parameters of a reading of its description.
fn reading<'a>(input: &CostInput<'a>) -> (Uniform, Reading<'a>) {
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
    (call, reading)
}
