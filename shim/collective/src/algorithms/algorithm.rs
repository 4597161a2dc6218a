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

/// Writes the steps of the ranks of a call.
#[derive(Debug, Clone, Copy)]
pub enum Describe {
    /// Of each rank by itself.
    ByRank(fn(&Problem, usize, &mut dyn Steps)),
    /// Of all ranks by one schedule.
    Scheduled(fn(&Problem) -> Schedule, Effort),
}

/// Time that a schedule of all ranks takes to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Heuristics.
    Low,
    /// The best of all schedules in some sense: O(P^4).
    High,
}

/// Structure of a communicator that an algorithm looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Ranks alone.
    Flat,
    /// Clusters: those whose names start with `grid-`.
    Grid,
}

/// Estimates the seconds of an algorithm from the loads of links.
pub(crate) type Estimate = fn(&CostInput) -> f64;

/// What the choice knows of an algorithm's time.
#[derive(Debug, Clone, Copy)]
pub enum Price {
    /// An estimate.
    Estimated(Estimate),
    /// Its description, which is read.
    Read,
}

/// Whether the choice considers an algorithm.
#[derive(Debug, Clone, Copy)]
pub enum Candidate {
    /// Never: others are better on a grid.
    Never,
    /// Wherever it serves.
    Always(Price),
    /// Only where operands must stay in order: elsewhere those that look at clusters are better.
    ForOrder(Price),
    /// Of few ranks, by its description: reading it of many takes too long.
    OfFew(Cut),
}

/// Messages in which an algorithm is considered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// Whole ones.
    Whole,
    /// Segments of several sizes.
    Segments,
}

/// Largest number of ranks that are few.
const FEW: usize = 128;

impl Candidate {
    /// The messages in which it is considered because ranks are so few.
    pub fn of_few(self, ranks: usize) -> Option<Cut> {
        match self {
            Candidate::OfFew(cut) if ranks <= FEW => Some(cut),
            _ => None,
        }
    }

    /// Its price for calls that keep the order of operands or do not.
    pub fn price(self, ordered: bool) -> Option<Price> {
        match self {
            Candidate::Always(price) => Some(price),
            Candidate::ForOrder(price) if ordered => Some(price),
            _ => None,
        }
    }
}

/// Ranks that send alike: one of them is read for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alike {
    /// None do.
    None,
    /// Each as the one so many before it, to ranks as much further, round the communicator.
    Every(usize),
    /// A power of two of ranks: each as rank 0, to the ranks whose numbers differ in the same bits.
    Flipped,
}

impl Alike {
    /// How many of so many ranks are read: the first ones.
    pub fn read(self, ranks: usize) -> usize {
        match self {
            Alike::None => ranks,
            Alike::Every(period) => period.min(ranks),
            Alike::Flipped => 1,
        }
    }

    /// The rank that `peer` is for `rank`, in what is read for it and others, of so many ranks.
    pub fn peer(self, rank: usize, peer: usize, ranks: usize) -> usize {
        match self {
            Alike::None => peer,
            Alike::Every(period) => (peer + rank - rank % period) % ranks,
            Alike::Flipped => peer ^ rank,
        }
    }

    /// The peer that stands for rank `actual` in what is read for `rank`: the inverse of
    /// [`Alike::peer`].
    pub(crate) fn read_as(self, rank: usize, actual: usize, ranks: usize) -> usize {
        match self {
            Alike::None => actual,
            Alike::Every(period) => (actual + ranks - (rank - rank % period)) % ranks,
            Alike::Flipped => actual ^ rank,
        }
    }
}

/// A number that an algorithm is made with, which a user may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its least value.
    pub least: u32,
    /// Its largest value.
    pub most: u32,
    /// The value that it has where none is asked for.
    pub usual: u32,
}

/// How a collective is done.
#[derive(Debug)]
pub struct Algorithm {
    /// Its name, unique for each operation.
    pub name: &'static str,
    /// Ranks alone, or their clusters.
    pub scope: Scope,
    /// Names of other libraries and versions that are accepted.
    pub aliases: &'static [&'static str],
    /// The collectives that it can do.
    pub operations: &'static [Operation],
    /// What it needs of a call.
    pub requires: &'static [Requirement],
    /// Its description: the steps of a rank.
    pub describe: Describe,
    /// Which ranks send alike where blocks are equal.
    pub(crate) alike: Alike,
    /// Its parameter, if it has one.
    pub parameter: Option<Parameter>,
    /// Whether it goes along trees inside clusters, whose shapes can be asked for.
    pub has_trees_inside: bool,
    /// The tree between clusters, where there is one.
    pub tree: Option<(Between, Direction)>,
    /// Its price, where `auto` considers it.
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
    /// Whether it looks at ranks alone, not at clusters.
    pub fn is_by_rank(&self) -> bool {
        self.scope == Scope::Flat
    }

    /// Whether its schedules of many ranks take long to make.
    pub fn is_slow_to_schedule(&self) -> bool {
        matches!(self.describe, Describe::Scheduled(_, Effort::High))
    }

    /// Whether it serves so many ranks, as far as their number decides.
    pub fn allows(&self, ranks: usize) -> bool {
        self.requires
            .iter()
            .all(|requirement| requirement.allows(ranks))
    }

    /// Whether the leaders of clusters have to be told sizes that MPI tells some ranks alone.
    pub fn needs_leaders(&self) -> bool {
        self.requires.contains(&Requirement::ToldSizes)
    }

    /// The first of its requirements that a call does not meet.
    pub fn unmet(&self, problem: &Problem) -> Option<Requirement> {
        let mut required = self.requires.iter().copied();
        required.find(|requirement| !requirement.is_met(problem))
    }

    /// Whether it can do the call.
    pub fn serves(&self, problem: &Problem) -> bool {
        self.operations.contains(&problem.operation) && self.unmet(problem).is_none()
    }

    /// Whether operands stay in the order of ranks, combined in a way that does not depend on
    /// clusters, where [`Problem::ordered`] asks for it.
    pub fn keeps_order(&self) -> bool {
        !self.requires.contains(&Requirement::Commutative)
    }

    /// Which ranks send alike in this call.
    pub fn alike(&self, problem: &Problem) -> Alike {
        let ranks = problem.ranks();
        let equal_blocks = match problem.amount {
            Amount::Each(units) => {
                problem.operation.unit() != Unit::Message || units.is_multiple_of(ranks as u64)
            }
            _ => false,
        };
        match self.alike {
            Alike::Flipped if !ranks.is_power_of_two() => Alike::None,
            alike if equal_blocks => alike,
            _ => Alike::None,
        }
    }

    /// The description of a call, for all its ranks.
    pub fn describe<'a>(&self, problem: &'a Problem<'a>) -> Description<'a> {
        match self.describe {
            Describe::ByRank(describe) => Description::ByRank(problem, describe),
            Describe::Scheduled(schedule, _) => Description::Scheduled(problem, schedule(problem)),
        }
    }

    /// The plan of `rank`, whose messages flow as `flow` says (in larger segments where a message
    /// would fall into thousands). For several ranks of one call, [`Algorithm::describe`] it once.
    pub fn plan(&self, problem: &Problem, rank: usize, flow: impl Into<Flow>) -> Plan {
        self.describe(problem).plan(rank, flow)
    }

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
        self.describe(&problem).plans(segment)
    }
}

/// The description of a call by an algorithm, with what is made once for all ranks.
#[derive(Debug)]
pub enum Description<'a> {
    /// Of each rank by itself.
    ByRank(&'a Problem<'a>, fn(&Problem, usize, &mut dyn Steps)),
    /// By a schedule of all ranks.
    Scheduled(&'a Problem<'a>, Schedule),
}

impl Description<'_> {
    /// The steps of `rank`, read by `steps`.
    pub fn read(&self, rank: usize, steps: &mut dyn Steps) {
        match self {
            Description::ByRank(problem, describe) => describe(problem, rank, steps),
            Description::Scheduled(problem, schedule) => {
                scheduled::exchange(problem, schedule, rank, steps);
            }
        }
    }

    /// The plan of `rank`, whose messages flow as `flow` says.
    pub fn plan(&self, rank: usize, flow: impl Into<Flow>) -> Plan {
        let flow = self.problem().flow(flow.into());
        Builder::plan(flow, |steps| self.read(rank, steps))
    }

    /// Number of steps of a rank's plan, about: copies of what is in its place already count.
    pub fn steps(&self, rank: usize, flow: impl Into<Flow>) -> usize {
        Counted::of(self, self.problem().flow(flow.into()), rank).steps
    }

    /// The plans of all ranks, each of which knows what all know.
    pub fn plans(&self, flow: impl Into<Flow>) -> Vec<Plan> {
        let flow = flow.into();
        (0..self.problem().ranks())
            .map(|rank| self.plan(rank, flow))
            .collect()
    }

    /// The call.
    pub fn problem(&self) -> &Problem<'_> {
        match self {
            Description::ByRank(problem, _) | Description::Scheduled(problem, _) => problem,
        }
    }
}
