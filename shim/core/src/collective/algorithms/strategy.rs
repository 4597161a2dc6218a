//! The strategies by name: which collectives they serve, and their generators.

use crate::collective::Operation;
use crate::collective::algorithms::{Between, Direction, STRATEGIES};
use crate::collective::read::estimate::Scene;
use crate::collective::{Amount, Builder, Clusters, Flow, Network, Plan, Problem};

/// Writes what one rank does for a problem.
pub(in crate::collective) type Generate = fn(&Problem, usize, &mut Builder);

/// A tree between clusters: senders before their receivers.
pub(in crate::collective) type Edges<'a> = &'a [(usize, usize)];

/// Seconds that it takes, about, for an operation, along the edges of its tree.
pub(in crate::collective) type Estimate = fn(&Scene, Operation, Edges) -> f64;

/// A way to do a collective.
#[derive(Debug)]
pub struct Strategy {
    /// What users call it. Names are unique for each operation.
    pub name: &'static str,
    /// The collectives that it can do.
    pub operations: &'static [Operation],
    /// Whether operands stay in the order of ranks, combined in a way that does
    /// not depend on clusters, where [`Problem::ordered`] asks for it.
    pub keeps_order: bool,
    /// Whether it comes into question only where operands must stay in order: those that know
    /// clusters are better elsewhere.
    pub(in crate::collective) only_ordered: bool,
    /// More ranks than this it does not serve.
    pub most_ranks: usize,
    pub(in crate::collective) generate: Generate,
    /// Whether the tree between clusters is all that sets it apart from others for the operation.
    pub(in crate::collective) is_tree: bool,
    /// The tree between clusters, where there is one.
    pub(in crate::collective) tree: Option<(Between, Direction)>,
    /// `None` for what is never the best on a grid.
    pub(in crate::collective) estimate: Option<Estimate>,
}

impl Strategy {
    /// Along a tree between clusters.
    pub(in crate::collective) const fn along(self, between: Between, direction: Direction) -> Self {
        Strategy {
            is_tree: true,
            tree: Some((between, direction)),
            ..self
        }
    }

    /// Not only along its tree.
    pub(in crate::collective) const fn in_its_way(self) -> Self {
        Strategy {
            is_tree: false,
            ..self
        }
    }

    /// The tree between so many clusters, where there is one.
    pub(in crate::collective) fn tree_for(&self, clusters: usize) -> Option<(Between, Direction)> {
        let tree = self.tree;
        tree.map(|(between, direction)| (between.for_clusters(clusters), direction))
    }

    /// For operands in order, with what tells how long it takes.
    pub(in crate::collective) const fn for_order(self, estimate: Estimate) -> Self {
        Strategy {
            only_ordered: true,
            ..self.estimated(estimate)
        }
    }

    /// With what tells how long it takes.
    pub(in crate::collective) const fn estimated(self, estimate: Estimate) -> Self {
        Strategy {
            estimate: Some(estimate),
            ..self
        }
    }

    /// All strategies for an operation.
    pub fn of(operation: Operation) -> impl Iterator<Item = &'static Strategy> {
        STRATEGIES
            .iter()
            .filter(move |strategy| strategy.operations.contains(&operation))
    }

    /// The strategy of this name for an operation; `grid-` in front of it may be left
    /// out where no other has the rest.
    pub fn find(operation: Operation, name: &str) -> Option<&'static Strategy> {
        let called = |wanted: &str| Strategy::of(operation).find(|known| known.name == wanted);
        called(name).or_else(|| called(&format!("grid-{name}")))
    }

    /// Whether the strategy can solve the problem as it is asked.
    pub fn serves(&self, problem: &Problem) -> bool {
        self.operations.contains(&problem.operation)
            && (self.keeps_order || !problem.ordered)
            && problem.ranks() <= self.most_ranks
    }

    /// What `rank` does, in messages that go as `flow` says (larger where a message
    /// would fall into thousands).
    pub fn plan(&self, problem: &Problem, rank: usize, flow: impl Into<Flow>) -> Plan {
        let flow = flow.into();
        let mut builder = Builder::new(Flow {
            in_flight: flow.in_flight.or_else(|| Some(problem.in_flight())),
            ..flow
        });
        (self.generate)(problem, rank, &mut builder);
        builder.finish()
    }
}

/// A call that all ranks make alike: what predictions, simulations and exports are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Uniform {
    /// Which collective.
    pub operation: Operation,
    /// Bytes of the message, or of one rank's block.
    pub bytes: u64,
    /// The root, 0 where there is none.
    pub root: usize,
}

impl Strategy {
    /// The plans of all ranks for a call, in units of a byte.
    pub fn plans(
        &self,
        call: &Uniform,
        network: Option<&Network>,
        clusters: &Clusters,
        segment: u64,
    ) -> Vec<Plan> {
        let amount = Amount::Each(call.bytes);
        let problem = Problem {
            operation: call.operation,
            root: call.root,
            amount: &amount,
            clusters,
            ordered: false,
            network,
            unit_bytes: 1,
        };
        (0..clusters.ranks())
            .map(|rank| self.plan(&problem, rank, segment))
            .collect()
    }
}
