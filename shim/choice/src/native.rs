//! Time of the native collective: the algorithms of its decision table, by their descriptions.

use std::sync::Arc;

use treepie_collective::read::cost::{OneByOne, Reading, Times};
use treepie_collective::{Algorithm, Clusters, Network, Uniform};
use treepie_native::{BetweenHosts, Criteria, Family, NativeAlgorithm, Selector};

/// Native MPI on a network.
#[derive(Debug, Clone)]
pub(super) struct Native {
    network: Arc<Network>,
    selector: Selector,
    /// One rank of each host, if Open MPI's HAN executes the collectives.
    han: Option<Arc<Network>>,
    /// Ranks in the view of an MPI: in one cluster, with their topology.
    ranks: Clusters,
}

impl Native {
    pub fn new(network: Arc<Network>, family: Family) -> Self {
        Native {
            ranks: Clusters::one(network.ranks()),
            network,
            selector: family.into(),
            han: None,
        }
    }

    /// Sets the topology of the ranks.
    pub fn with_topology(self, clusters: &Clusters) -> Self {
        Native {
            ranks: clusters.as_one(),
            ..self
        }
    }

    /// Sets the decision tables of a version.
    pub fn with_selector(self, selector: Selector) -> Self {
        Native { selector, ..self }
    }

    /// Enables HAN if it applies: on several hosts with the same number of ranks, above one.
    pub fn with_han(self) -> Self {
        Native {
            han: self.network.one_of_each_host().map(Arc::new),
            ..self
        }
    }

    /// Seconds of a call. HAN does not execute reductions that keep an order.
    pub fn seconds(&self, call: &Uniform, ordered: bool) -> f64 {
        let is_han = !ordered && !call.operation.is_among_neighbours();
        let leaders = self.han.as_deref().filter(|_| is_han);
        let by_han = leaders.and_then(|leaders| self.han_seconds(leaders, call));
        by_han.unwrap_or_else(|| self.usual(&self.network, call, ordered).end)
    }

    /// Seconds of a call that is started, and completed later.
    pub(crate) fn started_seconds(&self, call: &Uniform) -> f64 {
        let (operation, ranks) = (call.operation, self.network.ranks());
        let name = self
            .selector
            .family
            .started_algorithm(operation, ranks, call.bytes);
        self.named(&self.network, (call, false), name).end
    }

    fn han_seconds(&self, leaders: &Network, call: &Uniform) -> Option<f64> {
        let (hosts, all) = (leaders.ranks(), self.network.ranks());
        let between = Uniform {
            root: self.network.host_of()[call.root],
            ..*call
        };
        let han = self.selector.between_hosts(&between, hosts, all / hosts)?;
        let seconds = |part: &BetweenHosts| {
            let named = part.algorithm;
            let named = named.and_then(|name| Algorithm::find(part.call.operation, name));
            let taken = match named {
                Some(algorithm) => self.by(leaders, algorithm, &part.call),
                None => self.usual(leaders, &part.call, false),
            };
            match part.goes_on_when_left {
                true => taken.left,
                false => taken.end,
            }
        };
        let first: f64 = han.first.iter().map(seconds).sum();
        if han.further == 0 {
            return Some(first);
        }
        let each = han.each.iter().map(seconds).fold(0.0, f64::max);
        Some(first + han.further as f64 * each)
    }

    /// Times of the algorithm that the MPI usually takes; infinite if it is not modelled.
    fn usual(&self, network: &Network, call: &Uniform, ordered: bool) -> Times {
        let usual = self.selector.algorithm(&Criteria {
            operation: call.operation,
            ranks: network.ranks(),
            bytes: call.bytes,
            is_disjoint: network.hosts() == network.ranks(),
            is_ordered: ordered,
        });
        self.named(network, (call, ordered), usual)
    }

    /// Times of the algorithm of this name.
    fn named(&self, network: &Network, (call, ordered): (&Uniform, bool), name: &str) -> Times {
        let ranks = network.ranks();
        match self.selector.family.by_name(call.operation, name, ranks) {
            Some(NativeAlgorithm::By(algorithm)) => self.by(network, algorithm, call),
            Some(NativeAlgorithm::Composed(parts)) => {
                let part = |part| self.usual(network, &call.part(part, ranks), ordered);
                let [first, second] = parts.map(part);
                Times {
                    end: first.end + second.end,
                    left: first.end + second.left,
                    busiest: first.busiest + second.busiest,
                }
            }
            None => Times::NEVER,
        }
    }

    fn by(&self, network: &Network, algorithm: &Algorithm, call: &Uniform) -> Times {
        let reading = Reading {
            network,
            clusters: (call.operation.is_among_neighbours()).then_some(&self.ranks),
            ordered: false,
            flow: self
                .selector
                .family
                .segments(call.operation, algorithm.name),
            one_by_one: match self
                .selector
                .family
                .exchanges_in_turn(call.operation, call.bytes)
            {
                true => OneByOne::Exchanges,
                false => OneByOne::Sends,
            },
        };
        reading.times(algorithm, call)
    }
}
