//! Result of a search: as a file, as text, as JSON, as a picture.

use std::path::Path;
use std::time::SystemTime;

use serde::Serialize;
use treepie_core::affinity::Matrix;
use treepie_core::files::placement::{Costs, LevelTraffic, PlacementFile};
use treepie_core::placement::objective::Objective;
use treepie_core::placement::{Outcome as Placed, Strategy, permutation};

use super::{Arguments, Job};
use crate::error::CommandError;
use crate::input::topology::describe;
use crate::picture::Picture;
use crate::report::before_after::BeforeAfter;
use crate::report::gain::Gain;
use crate::report::levels::{self, Crossing, Situation, crossings};
use crate::report::units;
use crate::report::words::{file_name, pluralize};

/// The answer for programs.
#[derive(Debug, Serialize)]
pub struct Answer<'a> {
    ranks: usize,
    cores: usize,
    assignment: &'a [usize],
    levels: &'a [Crossing],
    cost: Cost,
    strategy: String,
    seconds: f64,
    objectives: &'a Gain,
    output: String,
}

/// Criteria of the choice.
#[derive(Debug, Serialize)]
struct Cost {
    identity: f64,
    placement: f64,
    objective: String,
}

/// All that was found out.
pub struct Found<'a> {
    arguments: &'a Arguments,
    job: Job,
    placed: Placed,
    seconds: f64,
    bytes: Matrix,
    before: Vec<usize>,
    leaf_of_process: Vec<usize>,
    crossings: Vec<Crossing>,
    gain: Gain,
}

impl<'a> Found<'a> {
    /// Compares a placement with where the ranks are.
    ///
    /// # Errors
    /// None after they were placed.
    pub fn new(
        arguments: &'a Arguments,
        job: Job,
        placed: Placed,
        seconds: f64,
    ) -> Result<Self, CommandError> {
        let bytes = job.input.bytes(&arguments.choice)?;
        let before = job.before(&arguments.how, &bytes)?;
        let after = &placed.placement.leaf_of_rank;
        let of = |leaf_of_rank| Situation {
            matrix: &bytes,
            leaf_of_rank,
        };
        let alone = !arguments.limits.share_cores() && !arguments.how.strategy.balances_loads();
        let bounded = alone.then_some(&job.usable);
        Ok(Found {
            crossings: crossings(&job.topology, of(&before), of(after)),
            gain: Gain::new(&job.topology, bounded, of(&before), of(after)),
            leaf_of_process: launched_on(job.leaf_of_process.as_deref(), after),
            arguments,
            job,
            placed,
            seconds,
            bytes,
            before,
        })
    }

    fn assignment(&self) -> &[usize] {
        &self.placed.placement.leaf_of_rank
    }

    /// Before and after.
    pub fn picture(&self) -> Result<Picture, CommandError> {
        let of = |leaf_of_rank| Situation {
            matrix: &self.bytes,
            leaf_of_rank,
        };
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
            unit: self.job.input.bytes_unit(),
        };
        picture.pair(of(&self.before), of(self.assignment()), &self.crossings)
    }

    /// The placement to write.
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
        Ok(PlacementFile {
            producer: producer(),
            date: treepie_core::files::date(SystemTime::now()),
            profile: Some(file_name(&self.arguments.profile)),
            ranks: self.assignment().len(),
            strategy: self.placed.strategy.to_string(),
            costs: Some(Costs {
                before: self.gain.sum.identity,
                after: self.gain.sum.placement,
            }),
            bytes_by_level: levels.collect(),
            topology: topology.clone(),
            assignment: self.assignment().to_vec(),
            leaf_of_process: self.leaf_of_process.clone(),
            permutation: permutation(self.assignment(), &self.leaf_of_process)?,
        })
    }

    /// The answer for programs; `output` is the file that was written.
    pub fn answer(&self, output: &Path) -> Answer<'_> {
        let metric = self.arguments.choice.metric();
        Answer {
            ranks: self.job.input.ranks(),
            cores: self.job.topology.leaf_count(),
            assignment: self.assignment(),
            levels: &self.crossings,
            cost: Cost {
                identity: self.placed.identity_cost,
                placement: self.placed.cost,
                objective: match self.arguments.how.objective {
                    Objective::Sum => format!("DistComm of {metric}"),
                    objective => format!("{objective} of {metric}"),
                },
            },
            strategy: self.placed.strategy.to_string(),
            seconds: self.seconds,
            objectives: &self.gain,
            output: output.display().to_string(),
        }
    }

    /// A screenful for people.
    pub fn text(&self, output: &Path) -> String {
        let unit = self.job.input.bytes_unit();
        let costs = (self.gain.sum.identity, self.gain.sum.placement);
        let table = levels::table(&self.crossings, unit, ("before", "after"), costs).text();
        let mut text = self.heading() + &table + "\n" + &self.gain.text(unit);
        text += &self.loads_text();
        text += &format!("\n{}: written; {}\n", output.display(), self.advice(output));
        text
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
        let chosen = self.placed.strategy;
        text += &match self.arguments.how.strategy {
            Strategy::Best => format!("  strategy: {chosen}, the best of those tried"),
            _ => format!("  strategy: {chosen}"),
        };
        text += &match self.arguments.how.objective {
            Objective::Sum => "\n\n".to_owned(),
            objective => format!(", for the objective {objective}\n\n"),
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
        let most = |leaf_of_rank: &[usize]| {
            let mut sums = vec![0.0; self.job.topology.leaf_count()];
            for (&leaf, load) in leaf_of_rank.iter().zip(loads) {
                sums[leaf] += load;
            }
            sums.into_iter().fold(0.0, f64::max)
        };
        let pairs = self.before.iter().zip(self.assignment());
        let moved = pairs.filter(|(before, after)| before != after).count();
        format!(
            "  load of a core: {} on average; the most {} before, {} after; {} of {} move\n",
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
        let started = match elsewhere {
            true => "start the processes on the cores that it lists as leaf_of_process and ",
            false => "",
        };
        format!(
            "{started}apply it with `treepie replay {} -- ...`",
            output.display()
        )
    }
}

/// The core of each process: where they are, if the placement uses the same
/// cores; else the cores that it uses, in order.
fn launched_on(now: Option<&[usize]>, assignment: &[usize]) -> Vec<usize> {
    let mut used = assignment.to_vec();
    used.sort_unstable();
    let same = now.filter(|now| {
        let mut now = now.to_vec();
        now.sort_unstable();
        now == used
    });
    same.map_or(used, <[usize]>::to_vec)
}

/// Name of this program in files.
fn producer() -> String {
    format!("treepie {}", env!("CARGO_PKG_VERSION"))
}
