//! Verdict on the computed placement.

use treepie_base::{Leaf, Rank, Slice};
use treepie_placement::Outcome as Placed;
use treepie_placement::objective::Objective;
use treepie_report::change::Change;
use treepie_report::gain::Gain;
use treepie_report::levels::{Crossing, Situation};
use treepie_report::near::NearNetwork;
use treepie_report::verdict::{Evidence, Verdict, all_alike, on_several_nodes};
use treepie_traffic::Metric;

use crate::commands::map::arguments::Arguments;
use crate::commands::map::job::Job;

/// Situations before and after, and their comparison.
pub struct Compared<'a> {
    /// Ranks on their leaves without the placement.
    pub before: Situation<'a>,
    /// Ranks on their leaves with it.
    pub after: Situation<'a>,
    /// Traffic by level.
    pub crossings: &'a [Crossing],
    /// Criteria of both.
    pub gain: &'a Gain,
    /// Distance from network interfaces, if ranks were placed by it.
    pub near: Option<&'a NearNetwork>,
}

/// The verdict on a placement of `job`.
pub fn verdict(arguments: &Arguments, job: &Job, placed: &Placed, compared: &Compared) -> Verdict {
    let Compared {
        before,
        after,
        crossings,
        gain,
        near,
    } = *compared;
    let balances = arguments.how.strategy.balances_loads();
    let loads = job.loads.as_ref().filter(|_| balances);
    let several = |s: Situation| on_several_nodes(&job.topology, s.leaf_of_rank);
    let evidence = Evidence {
        what: &match loads {
            Some(_) => "the load of the most loaded core".to_owned(),
            None if job.network.is_some() => on_network(job.objective),
            None => what(job.objective),
        },
        change: match loads {
            Some(loads) => Change {
                identity: most_loaded(before.leaf_of_rank, loads),
                placement: most_loaded(after.leaf_of_rank, loads),
            },
            // Replaced collectives send different bytes before and after.
            None if job.replaced.is_some() => gain.sum,
            None => Change {
                identity: placed.identity_cost,
                placement: placed.cost,
            },
        },
        bound: gain
            .lower_bound
            .filter(|_| minimizes_hop_bytes(arguments, job)),
        crossings,
        network: gain.network.as_ref().map(|network| network.in_words()),
        near: near.and_then(NearNetwork::in_words),
        several_nodes: several(before) || several(after),
        all_alike: all_alike(after.matrix),
        time_in_mpi: job.input.time_in_mpi(),
        sent: job.input.sent(),
    };
    evidence.verdict()
}

/// The largest load of a core, if each rank has one of `loads`.
pub fn most_loaded(leaf_of_rank: &Slice<Rank, Leaf>, loads: &Slice<Rank, f64>) -> f64 {
    let cores = leaf_of_rank.iter().max().map_or(0, |last| last.0 + 1);
    let mut sums = vec![0.0; cores];
    for (leaf, load) in leaf_of_rank.iter().zip(loads) {
        sums[leaf.0] += load;
    }
    sums.into_iter().fold(0.0, f64::max)
}

/// Name of an objective, in words.
pub fn what(objective: Objective) -> String {
    match objective {
        Objective::Sum => "DistComm".to_owned(),
        objective => objective.to_string(),
    }
}

/// Name of an objective on a network that is not a tree.
fn on_network(objective: Objective) -> String {
    match objective {
        Objective::Sum => "bytes x links".to_owned(),
        Objective::Congestion => "the most loaded link".to_owned(),
        Objective::Mixture => "the mixture of bytes x links and the most loaded link".to_owned(),
        objective => objective.to_string(),
    }
}

/// True if the bound applies to the minimized objective.
fn minimizes_hop_bytes(arguments: &Arguments, job: &Job) -> bool {
    job.objective == Objective::Sum && arguments.choice.metric() == Metric::Size
}
