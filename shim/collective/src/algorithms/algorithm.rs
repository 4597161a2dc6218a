//! A line of the table: an algorithm with its names, operations, requirements and description.

use crate::algorithms::by_cluster::between::{Between, Direction};
use crate::algorithms::by_rank::scheduled;
use crate::algorithms::by_rank::scheduled::Schedule;
use crate::algorithms::requirement::Requirement;
use crate::clusters::Clusters;
use crate::network::links::Network;
use crate::operation::{Operation, Unit};
use crate::plan::builder::Builder;
use crate::plan::counted::Counted;
use crate::plan::step::Plan;
use crate::problem::Uniform;
use crate::problem::{Amount, Problem};
use crate::read::estimate::input::CostInput;
use crate::steps::{Flow, Steps};

/// Function that writes the steps of the ranks of a call.
#[derive(Debug, Clone, Copy)]
pub enum Describe {
    /// For one rank, independently of the others.
    ByRank(fn(&Problem, usize, &mut dyn Steps)),
    /// For all ranks, from one schedule.
    Scheduled(fn(&Problem) -> Schedule, Effort),
}

/// Cost of computing a schedule of all ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Heuristics.
    Low,
    /// Optimal schedules by some objective: O(P^4).
    High,
}

/// Structure of a communicator that an algorithm uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Ranks only.
    Flat,
    /// Clusters: those whose names start with `grid-`.
    Grid,
}

/// Estimates the seconds of an algorithm from the loads of links.
pub(crate) type Estimate = fn(&CostInput) -> f64;

/// Source of an algorithm's time in the choice.
#[derive(Debug, Clone, Copy)]
pub enum Price {
    /// An estimate.
    Estimated(Estimate),
    /// A reading of its description.
    Read,
}

/// Conditions under which the choice considers an algorithm.
#[derive(Debug, Clone, Copy)]
pub enum Candidate {
    /// Never: other algorithms are better on a grid.
    Never,
    /// Always, if its requirements are met.
    Always(Price),
    /// Only if operands must stay in order: otherwise algorithms that use clusters are better.
    ForOrder(Price),
    /// For few ranks, by its description, which takes too long to read for many.
    OfFew(Cut),
    /// With whole messages, by its description.
    Whole,
}

/// Message segmentation with which an algorithm is considered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// Whole messages.
    Whole,
    /// Segments of several sizes.
    Segments,
}

/// Largest number of ranks for [`Candidate::OfFew`].
const FEW: usize = 128;

impl Candidate {
    /// Segmentation with which it is considered for the ranks of these clusters, by its
    /// description; `None` if it is considered in another way, or not at all.
    pub fn cut(self, clusters: &Clusters) -> Option<Cut> {
        let are_few = clusters.ranks() <= FEW;
        match self {
            Candidate::OfFew(cut) if are_few => Some(cut),
            Candidate::Whole if are_few || clusters.are_far() => Some(Cut::Whole),
            _ => None,
        }
    }

    /// Source of its time for calls that keep the order of operands (`ordered`) or do not.
    pub fn price(self, ordered: bool) -> Option<Price> {
        match self {
            Candidate::Always(price) => Some(price),
            Candidate::ForOrder(price) if ordered => Some(price),
            _ => None,
        }
    }
}

/// Symmetry between ranks: one rank is read for all that send alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symmetry {
    /// No ranks send alike.
    None,
    /// Each rank sends as the rank this many before it, with all peers shifted by the same number,
    /// modulo the number of ranks.
    Every(usize),
    /// The number of ranks is a power of two: each rank sends as rank 0, to the ranks whose numbers
    /// differ from its own in the same bits.
    Flipped,
}

impl Symmetry {
    /// Number of ranks to read, of `ranks`: the first ones.
    pub fn read(self, ranks: usize) -> usize {
        match self {
            Symmetry::None => ranks,
            Symmetry::Every(period) => period.min(ranks),
            Symmetry::Flipped => 1,
        }
    }

    /// Peer of `rank` that corresponds to `peer` of the rank that is read in its place.
    pub fn peer(self, rank: usize, peer: usize, ranks: usize) -> usize {
        match self {
            Symmetry::None => peer,
            Symmetry::Every(period) => (peer + rank - rank % period) % ranks,
            Symmetry::Flipped => peer ^ rank,
        }
    }

    /// Peer, in the reading for `rank`, that corresponds to rank `actual`: the inverse of
    /// [`Symmetry::peer`].
    pub(crate) fn read_as(self, rank: usize, actual: usize, ranks: usize) -> usize {
        match self {
            Symmetry::None => actual,
            Symmetry::Every(period) => (actual + ranks - (rank - rank % period)) % ranks,
            Symmetry::Flipped => actual ^ rank,
        }
    }
}

/// Numeric parameter of an algorithm, which a user may set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Name.
    pub name: &'static str,
    /// Least value.
    pub least: u32,
    /// Largest value.
    pub most: u32,
    /// Default value.
    pub usual: u32,
}

/// Algorithm of a collective.
#[derive(Debug)]
pub struct Algorithm {
    /// Name, unique for each operation.
    pub name: &'static str,
    /// Structure that it uses: ranks only, or their clusters.
    pub scope: Scope,
    /// Names of other libraries and versions that are accepted.
    pub aliases: &'static [&'static str],
    /// Collectives that it implements.
    pub operations: &'static [Operation],
    /// Requirements that a call must meet.
    pub requires: &'static [Requirement],
    /// Description: the steps of a rank.
    pub describe: Describe,
    /// Symmetry between ranks if blocks are equal.
    pub(crate) alike: Symmetry,
    /// Its parameter, if it has one.
    pub parameter: Option<Parameter>,
    /// True if it uses trees inside clusters, whose shapes can be set.
    pub has_trees_inside: bool,
    /// Tree between clusters, if there is one.
    pub tree: Option<(Between, Direction)>,
    /// Conditions under which `auto` considers it.
    pub candidate: Candidate,
}

/// Identity: each algorithm is one row of the table.
impl PartialEq for Algorithm {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Algorithm {}

impl Algorithm {
    /// True if it uses ranks only, not clusters.
    pub fn is_by_rank(&self) -> bool {
        self.scope == Scope::Flat
    }

    /// True if its schedules of many ranks take long to compute.
    pub fn is_slow_to_schedule(&self) -> bool {
        matches!(self.describe, Describe::Scheduled(_, Effort::High))
    }

    /// True if all ranks send alike, in rounds, or do so after a message is spread, or before it is
    /// collected.
    pub fn has_rounds(&self) -> bool {
        let is_of_message = self.operations[0].unit() == Unit::Message;
        let is_whole = matches!(
            self.candidate,
            Candidate::OfFew(Cut::Whole) | Candidate::Whole
        );
        let after_message = is_of_message && is_whole;
        self.alike != Symmetry::None || after_message
    }

    /// True if its requirements permit this number of ranks.
    pub fn allows(&self, ranks: usize) -> bool {
        self.requires
            .iter()
            .all(|requirement| requirement.allows(ranks))
    }

    /// True if the leaders of clusters need sizes that MPI gives to some ranks only.
    pub fn needs_leaders(&self) -> bool {
        self.requires.contains(&Requirement::ToldSizes)
    }

    /// First of its requirements that a call does not meet.
    pub fn unmet(&self, problem: &Problem) -> Option<Requirement> {
        let mut required = self.requires.iter().copied();
        required.find(|requirement| !requirement.is_met(problem))
    }

    /// True if it can execute the call.
    pub fn serves(&self, problem: &Problem) -> bool {
        self.operations.contains(&problem.operation) && self.unmet(problem).is_none()
    }

    /// True if operands stay in the order of ranks, combined independently of clusters, if
    /// [`Problem::ordered`] is set.
    pub fn keeps_order(&self) -> bool {
        !self.requires.contains(&Requirement::Commutative)
    }

    /// Symmetry between ranks in this call.
    pub fn alike(&self, problem: &Problem) -> Symmetry {
        let ranks = problem.ranks();
        let equal_blocks = match problem.amount {
            Amount::Each(units) => {
                problem.operation.unit() != Unit::Message || units.is_multiple_of(ranks as u64)
            }
            _ => false,
        };
        match self.alike {
            Symmetry::Flipped if !ranks.is_power_of_two() => Symmetry::None,
            alike if equal_blocks => alike,
            _ => Symmetry::None,
        }
    }

    /// Description of a call, for all its ranks.
    pub fn describe<'a>(&self, problem: &'a Problem<'a>) -> Description<'a> {
        match self.describe {
            Describe::ByRank(describe) => Description::ByRank(problem, describe),
            Describe::Scheduled(schedule, _) => Description::Scheduled(problem, schedule(problem)),
        }
    }

    /// Plan of `rank`, with messages segmented by `flow` (in larger segments if a message would be
    /// cut into thousands). For several ranks of one call, use [`Algorithm::describe`] once.
    pub fn plan(&self, problem: &Problem, rank: usize, flow: impl Into<Flow>) -> Plan {
        self.describe(problem).plan(rank, flow)
    }

    /// Plans of all ranks for a call, in units of a byte.
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
        self.describe(&problem).plans(segment)
    }
}

/// Description of a call by an algorithm, with the data computed once for all ranks.
#[derive(Debug)]
pub enum Description<'a> {
    /// Each rank independently.
    ByRank(&'a Problem<'a>, fn(&Problem, usize, &mut dyn Steps)),
    /// All ranks by one schedule.
    Scheduled(&'a Problem<'a>, Schedule),
}

impl Description<'_> {
    /// Writes the steps of `rank` to `steps`.
    pub fn read(&self, rank: usize, steps: &mut dyn Steps) {
        match self {
            Description::ByRank(problem, describe) => describe(problem, rank, steps),
            Description::Scheduled(problem, schedule) => {
                scheduled::exchange(problem, schedule, rank, steps);
            }
        }
    }

    /// Plan of `rank`, with messages segmented by `flow`.
    pub fn plan(&self, rank: usize, flow: impl Into<Flow>) -> Plan {
        let flow = self.problem().flow(flow.into());
        Builder::plan(flow, |steps| self.read(rank, steps))
    }

    /// Approximate number of steps of a rank's plan, including copies of data that is already in
    /// place.
    pub fn steps(&self, rank: usize, flow: impl Into<Flow>) -> usize {
        Counted::of(self, self.problem().flow(flow.into()), rank).steps
    }

    /// Plans of all ranks; each rank has the values that all ranks share.
    pub fn plans(&self, flow: impl Into<Flow>) -> Vec<Plan> {
        let flow = flow.into();
        (0..self.problem().ranks())
            .map(|rank| self.plan(rank, flow))
            .collect()
    }

    /// The call that is described.
    pub fn problem(&self) -> &Problem<'_> {
        match self {
            Description::ByRank(problem, _) | Description::Scheduled(problem, _) => problem,
        }
    }
}
