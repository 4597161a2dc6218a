//! Result of a search: as a file, as text, as JSON, as a picture.

use std::path::Path;

use serde::Serialize;
use treepie_base::{Header, Leaf, List, Process, Rank, Slice};
use treepie_launch::error::CommandError;
use treepie_placement::file::{Costs, LevelTraffic, PlacementFile, StoredPlacement};
use treepie_placement::objective::Objective;
use treepie_placement::objective::link_traffic;
use treepie_placement::{Outcome as Placed, Strategy, permutation};
use treepie_report::before_after::BeforeAfter;
use treepie_report::containment::Report;
use treepie_report::gain::Gain;
use treepie_report::input::topology::describe;
use treepie_report::levels::{self, Crossing, Situation, crossings};
use treepie_report::near::NearNetwork;
use treepie_report::network::NetworkGain;
use treepie_report::picture::{Fabric, Picture};
use treepie_report::verdict::Verdict;
use treepie_report::words::{file_name, pluralize};
use treepie_report::{network_picture, units};
use treepie_topology::networks::Loads;
use treepie_traffic::Matrix;

use super::local_order::Ordered;
use super::near::Near;
use super::seat::Seat;
use super::worth::{Compared, most_loaded, verdict, what};
use crate::commands::map::arguments::Arguments;
use crate::commands::map::job::Job;

/// The answer as JSON.
#[derive(Debug, Serialize)]
pub struct Answer<'a> {
    ranks: usize,
    cores: usize,
    assignment: &'a Slice<Rank, Leaf>,
    levels: &'a [Crossing],
    cost: Cost,
    strategy: String,
    seconds: f64,
    objectives: &'a Gain,
    collectives: Option<String>,
    verdict: &'a Verdict,
    output: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    rank_0_kept: Option<&'a Seat>,
    #[serde(skip_serializing_if = "Option::is_none")]
    local_order: Option<&'a Ordered>,
    #[serde(skip_serializing_if = "Option::is_none")]
    near_network: Option<&'a NearNetwork>,
    #[serde(skip_serializing_if = "Option::is_none")]
    containment: Option<Report<'a>>,
}

/// Values of the objective.
#[derive(Debug, Serialize)]
struct Cost {
    identity: f64,
    placement: f64,
    objective: String,
}

/// All results of the search.
pub struct MapResult<'a> {
    pub(super) arguments: &'a Arguments,
    pub(super) job: Job,
    placed: Placed,
    seconds: f64,
    pub(super) bytes: Matrix,
    /// Bytes before, if they differ: plans that replace collectives depend on the location of
    /// ranks.
    bytes_before: Option<Matrix>,
    /// Replaced collectives, in words.
    collectives: Option<String>,
    pub(super) before: List<Rank, Leaf>,
    leaf_of_process: List<Process, Leaf>,
    crossings: Vec<Crossing>,
    gain: Gain,
    near: Near,
    near_network: Option<NearNetwork>,
    /// Cost of keeping rank 0 on process 0, if any.
    seat: Option<Seat>,
    /// Cost of the order of ranks on nodes, where it is asked for.
    ordered: Option<Ordered>,
    verdict: Verdict,
}

impl<'a> MapResult<'a> {
    /// Compares a placement with the present location of the ranks.
    ///
    /// # Errors
    /// None after a successful placement.
    pub fn new(
        arguments: &'a Arguments,
        job: Job,
        mut placed: Placed,
        near: Near,
        seconds: f64,
    ) -> Result<Self, CommandError> {
        let choice = &arguments.choice;
        let mut bytes = job.input.bytes(choice)?;
        let before = job.before(&arguments.how, &bytes)?;
        let leaf_of_rank = &mut placed.placement.leaf_of_rank;
        let ordered = arguments.order.order(&job, &bytes, leaf_of_rank)?;
        let after = &placed.placement.leaf_of_rank;
        let (mut bytes_before, mut collectives) = (None, None);
        if let Some(replaced) = &job.replaced {
            let at = |leaves: &Slice<Rank, Leaf>| replaced.input(&job.input, &job.topology, leaves);
            bytes_before = Some(at(&before)?.bytes(choice)?);
            let foreseen = at(after)?;
            bytes = foreseen.bytes(choice)?;
            collectives = Some(replaced.text(&foreseen));
        }
        let first = Situation {
            matrix: bytes_before.as_ref().unwrap_or(&bytes),
            leaf_of_rank: &before,
        };
        let second = Situation {
            matrix: &bytes,
            leaf_of_rank: after,
        };
        let alone = !arguments.limits.share_cores() && !arguments.how.strategy.balances_loads();
        // The bound may take longer than the placement; and it applies to ranks whose traffic does
        // not depend on their location.
        let wanted = alone && !arguments.printing.quiet && job.replaced.is_none();
        let bounded = wanted.then_some(&job.usable);
        let crossings = crossings(&job.topology, first, second);
        let on_network = job.network.as_ref();
        let bounded_tree = bounded.filter(|_| on_network.is_none());
        let mut gain = Gain::new(&job.topology, bounded_tree, first, second);
        if let Some(nodes) = on_network {
            let network = NetworkGain::new(&job.topology, nodes, bounded, first, second);
            gain = gain.on_network(network);
        }
        let near_network = near.report(&job.topology, first, second);
        let leaf_of_process = launched_on(job.leaf_of_process.as_deref(), after);
        let new_rank = permutation(after, &leaf_of_process)?;
        let seat = Seat::new(&job, &bytes, &leaf_of_process, new_rank);
        let compared = Compared {
            before: first,
            after: second,
            crossings: &crossings,
            gain: &gain,
            near: near_network.as_ref(),
        };
        Ok(MapResult {
            verdict: verdict(arguments, &job, &placed, &compared),
            near,
            near_network,
            seat,
            ordered,
            crossings,
            gain,
            leaf_of_process,
            arguments,
            job,
            placed,
            seconds,
            bytes,
            bytes_before,
            collectives,
            before,
        })
    }

    pub(super) fn assignment(&self) -> &Slice<Rank, Leaf> {
        &self.placed.placement.leaf_of_rank
    }

    /// Draws before and after.
    pub fn picture(&self) -> Result<Picture, CommandError> {
        let of = |matrix, leaf_of_rank| Situation {
            matrix,
            leaf_of_rank,
        };
        let first = self.bytes_before.as_ref().unwrap_or(&self.bytes);
        let topology = &self.job.topology;
        let picture = BeforeAfter {
            title: format!(
                "{} on {}",
                file_name(&self.arguments.profile),
                describe(topology)
            ),
            names: (
                "before".to_owned(),
                format!("after ({})", self.placed.strategy),
            ),
            topology,
            network: self.job.network.as_ref(),
            unit: self.job.input.bytes_unit(),
        };
        let (first, second) = (of(first, &self.before), of(&self.bytes, self.assignment()));
        picture.pair(first, second, &self.crossings)
    }

    /// Draws the links of the network before and after.
    ///
    /// # Errors
    /// The machine has no network.
    pub fn links(&self) -> Result<Fabric, CommandError> {
        let Some(nodes) = &self.job.network else {
            return Err(CommandError::usage(
                "--network-picture draws a network; name one with --topology or --network, as in \
                 --network torus:8x8x8"
                    .to_owned(),
            ));
        };
        let topology = &self.job.topology;
        let loads = |matrix: &Matrix, leaf_of_rank: &Slice<Rank, Leaf>| {
            let traffic = link_traffic(matrix, topology, nodes, leaf_of_rank);
            Loads::new(nodes.network(), traffic)
        };
        let first = self.bytes_before.as_ref().unwrap_or(&self.bytes);
        let before = loads(first, &self.before);
        let after = loads(&self.bytes, self.assignment());
        let network = nodes.network();
        let title = format!(
            "{} on a {}",
            file_name(&self.arguments.profile),
            network.describe()
        );
        let both = [("before", &before), ("after", &after)];
        Ok(network_picture::picture(
            title,
            network,
            &both,
            self.job.input.bytes_unit(),
        ))
    }

    /// Builds the placement file.
    pub fn file(&self) -> Result<PlacementFile, CommandError> {
        let topology = &self.job.topology;
        let parent_name = |depth: usize| match depth.checked_sub(1) {
            None => "root".to_owned(),
            Some(above) => topology.levels()[above].name.clone(),
        };
        let crossings = self.crossings.iter().enumerate();
        let levels = crossings.map(|(depth, crossing)| LevelTraffic {
            level: parent_name(depth),
            before: crossing.bytes_before,
            after: crossing.bytes_after,
        });
        let body = StoredPlacement {
            profile: Some(file_name(&self.arguments.profile)),
            ranks: self.assignment().len(),
            strategy: self.placed.strategy.to_string(),
            costs: Some(Costs {
                before: self.gain.sum.identity,
                after: self.gain.sum.placement,
            }),
            bytes_by_level: levels.collect(),
            topology: topology.clone(),
            assignment: self.assignment().to_owned(),
            leaf_of_process: self.leaf_of_process.clone(),
            permutation: permutation(self.assignment(), &self.leaf_of_process)?,
        };
        let header = Header::now(producer());
        Ok(PlacementFile { header, body })
    }

    /// Builds the placement file with other leaves of the ranks, which together are the same
    /// leaves.
    pub fn file_with(&self, assignment: List<Rank, Leaf>) -> Result<PlacementFile, CommandError> {
        let mut file = self.file()?;
        file.body = StoredPlacement {
            costs: None,
            bytes_by_level: Vec::new(),
            permutation: permutation(&assignment, &self.leaf_of_process)?,
            assignment,
            ..file.body
        };
        Ok(file)
    }

    /// The answer as JSON; `output` is the written file.
    pub fn answer(&self, output: &Path, containment: Option<Report<'a>>) -> Answer<'_> {
        let metric = self.arguments.choice.metric();
        Answer {
            ranks: self.job.input.ranks(),
            cores: self.job.topology.leaf_count(),
            assignment: self.assignment(),
            levels: &self.crossings,
            cost: Cost {
                identity: self.placed.identity_cost,
                placement: self.placed.cost,
                objective: format!("{} of {metric}", what(self.job.objective)),
            },
            strategy: self.placed.strategy.to_string(),
            seconds: self.seconds,
            objectives: &self.gain,
            collectives: self
                .collectives
                .as_deref()
                .map(|text| text.trim().to_owned()),
            verdict: &self.verdict,
            output: output.display().to_string(),
            rank_0_kept: self.seat.as_ref(),
            local_order: self.ordered.as_ref(),
            near_network: self.near_network.as_ref(),
            containment,
        }
    }

    /// Formats one screen of text.
    pub fn text(&self, output: &Path) -> String {
        let unit = self.job.input.bytes_unit();
        let costs = (self.gain.sum.identity, self.gain.sum.placement);
        // A network has its own distances and its own table.
        let costs = self.gain.network.is_none().then_some(costs);
        let table = levels::table(&self.crossings, unit, ("before", "after"), costs).text();
        let mut text = self.heading() + &table + "\n" + &self.gain.text(unit);
        text += &self.near.text();
        text += &self.seat.as_ref().map_or(String::new(), Seat::text);
        text += &self.ordered.as_ref().map_or(String::new(), Ordered::text);
        text += &self.loads_text();
        text += &format!("\n{}: written; {}\n", output.display(), self.advice(output));
        text + &format!("verdict: {}\n", self.verdict)
    }

    fn heading(&self) -> String {
        let ranks = self.job.input.ranks();
        let topology = &self.job.topology;
        let mut text = format!(
            "{}: {} on {}\n",
            self.arguments.profile.display(),
            pluralize(ranks, "rank"),
            describe(topology)
        );
        let (cores, usable) = (
            topology.leaf_count(),
            self.job.usable.allowed_leaves().len(),
        );
        if usable < cores {
            text += &format!("  on the {usable} of {cores} cores where processes run\n");
        }
        text += self.collectives.as_deref().unwrap_or_default();
        let chosen = self.placed.strategy;
        text += &match self.arguments.how.strategy {
            Strategy::Best => format!("  strategy: {chosen}, the best of those tried"),
            _ => format!("  strategy: {chosen}"),
        };
        text += &match (self.job.objective, self.arguments.how.objective) {
            (Objective::Sum, _) => "\n\n".to_owned(),
            (objective, Some(_)) => format!(", for the objective {objective}\n\n"),
            // A default objective is explained.
            (objective, None) => format!(
                ", for the objective {objective}, the best guess of the time;\n  \
                 `--objective sum` is for bytes x links alone\n\n"
            ),
        };
        text
    }

    /// Effect of a balancer on the loads.
    fn loads_text(&self) -> String {
        let Some(loads) = &self.job.loads else {
            return String::new();
        };
        let cores = self.job.usable.allowed_leaves().len();
        let mean = loads.iter().sum::<f64>() / cores.max(1) as f64;
        let most = |leaf_of_rank: &Slice<Rank, Leaf>| most_loaded(leaf_of_rank, loads);
        let pairs = self.before.iter().zip(self.assignment());
        let moved = pairs.filter(|(before, after)| before != after).count();
        format!(
            "  load of a core{}: {} on average; the most {} before, {} after; {} of {} move\n",
            if self.job.loads_are_measured {
                " (seconds outside MPI)"
            } else {
                ""
            },
            units::count(mean),
            units::count(most(&self.before)),
            units::count(most(self.assignment())),
            units::count(moved as f64),
            pluralize(loads.len(), "rank"),
        )
    }

    fn advice(&self, output: &Path) -> String {
        if self.before == self.assignment() {
            return "no better placement was found: the ranks are well where they are".to_owned();
        }
        let elsewhere = self
            .job
            .leaf_of_process
            .as_ref()
            .is_some_and(|leaves| *leaves != self.leaf_of_process);
        let started = if elsewhere {
            "start the processes on the cores that it lists as leaf_of_process and "
        } else {
            ""
        };
        format!(
            "{started}apply it with `treepie replay {} -- ...`",
            output.display()
        )
    }
}

/// The core of each process: the present ones, if the placement uses the same cores; else the cores
/// that it uses, in order.
pub(super) fn launched_on(
    now: Option<&Slice<Process, Leaf>>,
    assignment: &Slice<Rank, Leaf>,
) -> List<Process, Leaf> {
    let mut used = assignment.raw.to_vec();
    used.sort_unstable();
    let same = now.filter(|now| {
        let mut now = now.raw.to_vec();
        now.sort_unstable();
        now == used
    });
    same.map_or(used.into(), Slice::to_owned)
}

/// Name of this program in files.
fn producer() -> String {
    format!("treepie {}", env!("CARGO_PKG_VERSION"))
}
