//! Choice among all algorithms, by their estimated times.

use crate::choice::Choice;
use crate::class::{Class, UNKNOWN, class_bytes};
use crate::form::Form;
use crate::native::Native;
use crate::policy::MOST_CHOICES;
use crate::prices::Prices;
use crate::rules;
use crate::sizes::{USUAL_EAGER_LIMIT, segments};
use std::collections::HashMap;
use std::sync::Arc;
use treepie_collective::network::MessageCosts;
use treepie_collective::read::estimate;
use treepie_collective::{Algorithm, Clusters, Network, Operation, Uniform};
use treepie_native::{Family, Selector};

/// Chooses for the collectives of one communicator, and caches its choices.
#[derive(Debug, Clone)]
pub struct Chooser {
    pub(crate) known: Option<Prices>,
    /// Eager limit in bytes.
    pub(crate) eager: u64,
    pub(crate) chosen: HashMap<Class, Arc<Choice>>,
}

impl Chooser {
    /// Chooser for this network, by rules if there is none. `native` is the MPI whose own
    /// collectives compete; `None` if they are excluded.
    pub fn new(network: Option<Arc<Network>>, clusters: &Clusters, native: Option<Family>) -> Self {
        let usual = native.map_or(USUAL_EAGER_LIMIT, Family::usual_eager_limit);
        let seen = network.as_ref().map(|network| network.eager_limit());
        // A network without a limit was measured to have none among its sizes.
        let eager = seen.map_or(usual, |seen| seen.unwrap_or(USUAL_EAGER_LIMIT));
        let are_near = |network: &Network| !clusters.are_far() && !network.is_in_memory();
        let known = network.map(|network| Prices {
            segments: segments(eager, are_near(&network))
                .into_iter()
                .map(|bytes| MessageCosts::new(&network, bytes))
                .collect(),
            sizes: estimate::sizes(&network, clusters),
            eager,
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

    /// Applies the topology of the ranks, and the shapes of trees that the user set, from these
    /// clusters.
    pub fn with_topology(mut self, clusters: &Clusters) -> Self {
        if let Some(known) = &mut self.known {
            known.sizes = estimate::sizes(&known.network, clusters);
            let native = known.native.take();
            known.native = native.map(|native| native.with_topology(clusters));
        }
        self.chosen.clear();
        self
    }

    /// Sets the eager limit to `limit` bytes, unless a network has a measured one.
    pub fn with_eager_limit(mut self, limit: u64) -> Self {
        if self.known.is_none() {
            self.eager = limit;
        }
        self
    }

    /// Assumes that Open MPI's HAN executes the native collectives, as it does by default in Open
    /// MPI 5.
    pub fn with_han(mut self) -> Self {
        if let Some(known) = &mut self.known {
            known.native = known.native.take().map(Native::with_han);
        }
        self
    }

    /// Assumes that the native collectives follow the decision tables of a version.
    pub fn with_selector(mut self, selector: Selector) -> Self {
        if let Some(known) = &mut self.known {
            let native = known.native.take();
            known.native = native.map(|native| native.with_selector(selector));
        }
        self
    }

    /// Eager limit of plans in bytes.
    pub fn eager_limit(&self) -> u64 {
        self.eager
    }

    /// Best largest message of `algorithm` for a call, in bytes: by estimates on the network, or
    /// else by rule.
    pub fn segment(
        &self,
        algorithm: &'static Algorithm,
        call: &Uniform,
        clusters: &Clusters,
    ) -> u64 {
        let estimated = self.known.as_ref().filter(|_| clusters.are_far());
        let estimated = estimated.and_then(|known| {
            let costs = MessageCosts::new(&known.network, call.bytes);
            known.with_best_segment(algorithm, &known.input(call, false, clusters, &costs))
        });
        match estimated {
            Some(plan) => plan.segment,
            None => rules::segment(call.operation, call.bytes, self.eager),
        }
    }

    /// True if calls of `bytes` bytes are left to the native collective, whatever is predicted.
    /// Their [choice](Self::choose) would only price what is not chosen.
    pub fn is_left_to_native(&self, bytes: u64, clusters: &Clusters) -> bool {
        let known = self.known.as_ref();
        known.is_some_and(|known| known.enough(class_bytes(bytes), clusters) == 0.0)
    }

    /// Choice for `operation`. `bytes` are those of the message, or of one rank's block (the mean,
    /// if they differ and all ranks know it); `None` if not all ranks know them. `ordered` requires
    /// that operands stay in the order of ranks. `clusters` are those with which the chooser was
    /// made. Between near hosts of one cluster, and in the memory of one host, the native
    /// collective is chosen, and the considered algorithms remain to be measured; ordered
    /// operations there are chosen by rule.
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
            bytes: bytes.map_or(UNKNOWN, class_bytes),
            root,
            ordered,
            form: Form::Blocking,
        };
        if let Some(choice) = self.chosen.get(&class) {
            return choice.clone();
        }
        let is_predicted = clusters.are_far() || !ordered;
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

    pub(crate) fn remember(&mut self, class: Class, choice: Choice) -> Arc<Choice> {
        let choice = Arc::new(choice);
        if self.chosen.len() >= MOST_CHOICES {
            self.chosen.clear();
        }
        self.chosen.insert(class, choice.clone());
        choice
    }
}

/// Choice by rule for a class, independent of the call that comes first: ranks cache different
/// calls.
fn by_rule(class: Class, eager: u64) -> Choice {
    let bytes = Some(class.bytes).filter(|&bytes| bytes != UNKNOWN);
    let chosen = rules::between_clusters(class.operation, bytes, class.ordered, eager);
    Choice {
        algorithm: chosen.map(|(algorithm, _)| algorithm),
        segment: chosen.map_or(0, |(_, segment)| segment),
        seconds: None,
        unpredicted: class.unpredicted(),
        considered: Vec::new(),
        native: None,
    }
}
