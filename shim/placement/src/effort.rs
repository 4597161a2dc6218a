//! Effort of the search.

use strum::{Display, IntoStaticStr, VariantArray};

use crate::coarsen::graph::Graph;
use crate::initial::bisect::Trials;
use crate::refine::schedule::Schedule;
use treepie_base::from_name;

/// Amount of work for a placement. Work is counted in steps, not in seconds, so that the result
/// depends on the input and the seed alone.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Display, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum Effort {
    /// A few milliseconds for hundreds of ranks.
    Fast,
    /// Some ten milliseconds for hundreds of ranks, seconds for tens of thousands.
    #[default]
    Normal,
    /// About twenty times the work of `Normal`.
    Strong,
}

impl Effort {
    /// All efforts, from the least.
    pub const ALL: &'static [Effort] = Self::VARIANTS;

    /// Effort of bisections.
    pub(crate) fn trials(self) -> Trials {
        match self {
            Effort::Fast => Trials {
                growths: 4,
                runs: 1,
                passes: 3,
            },
            Effort::Normal => Trials {
                growths: 4,
                runs: 1,
                passes: 4,
            },
            Effort::Strong => Trials {
                growths: 8,
                runs: 8,
                passes: 8,
            },
        }
    }

    /// Largest number of ranks for which the groupings of TreeMatch are tried, too.
    pub(crate) fn grouped_ranks(self) -> usize {
        match self {
            Effort::Fast => 0,
            Effort::Normal => 128,
            Effort::Strong => 4096,
        }
    }

    /// Maximum number of final passes of swaps over all ranks.
    pub(crate) fn passes(self) -> usize {
        match self {
            Effort::Fast => 1,
            Effort::Normal => 3,
            Effort::Strong => 20,
        }
    }

    /// Maximum number of rounds of swaps that relieve the most loaded links.
    pub(crate) fn congestion_rounds(self) -> usize {
        match self {
            Effort::Fast => 10,
            Effort::Normal => 100,
            Effort::Strong => 2000,
        }
    }

    /// Number of swaps that annealing on a network tries for each vertex; it decreases with the
    /// ranks so that the work grows slowly.
    pub(crate) fn network_sweeps(self, graph: &Graph, ranks: usize) -> f64 {
        let ranks = ranks.max(1) as f64;
        let degree = graph.entries() as f64 / ranks;
        let for_few = match self {
            Effort::Fast => 250.0,
            Effort::Normal => 2200.0,
            Effort::Strong => 40_000.0,
        };
        // More ranks do not fit into caches, and the time is to stay within seconds.
        let fewer = libm::pow(512.0 / ranks.max(512.0), 0.4);
        let many = libm::pow(4096.0 / ranks.max(4096.0), 0.6);
        for_few * fewer * many * 10.0 / (2.0 + degree.max(2.0))
    }

    /// Annealing schedules for a block of a graph of `ranks` ranks in total with `neighbours`
    /// neighbours on average: a cool one, which keeps the shape that bisection found, and hot ones,
    /// which search for another.
    pub(crate) fn schedules(self, ranks: usize, neighbours: f64) -> Vec<Schedule> {
        // An accepted move takes time in proportion to the neighbours, and with more ranks there is
        // less time for each.
        let fewer = libm::pow(768.0 / ranks.max(768) as f64, 0.36);
        let share = 2.0 * fewer / (1.0 + neighbours / 32.0);
        // With few ranks there is time for several attempts instead of one long attempt.
        let attempts = (512 / ranks.max(1)).clamp(1, 4);
        let share = if attempts > 1 { share / 2.0 } else { share };
        let sweeps = |most: f64| (most * share).floor() + 20.0;
        let cool = |most| Schedule {
            sweeps: sweeps(most),
            hot: 0.2,
            cold: 0.05,
        };
        let hot = |most| Schedule {
            sweeps: sweeps(most),
            hot: 0.8,
            cold: 0.06,
        };
        let (first, second) = match self {
            Effort::Fast => return vec![cool(150.0)],
            Effort::Normal => (cool(1000.0), hot(8000.0)),
            Effort::Strong => (cool(10_000.0), hot(100_000.0)),
        };
        let hot = std::iter::repeat_n(second, attempts);
        std::iter::once(first).chain(hot).collect()
    }
}

from_name!(Effort, "effort");
