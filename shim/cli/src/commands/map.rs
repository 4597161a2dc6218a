//! `treepie map`: where each rank belongs, and what that is expected to gain.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use clap::Args;
use serde::Serialize;
use treepie_core::affinity::Matrix;
use treepie_core::files::placement::{Costs, LevelTraffic, PlacementFile};
use treepie_core::placement::{Options, Outcome as Placed, Strategy, permutation, place};
use treepie_core::topology::Topology;

use super::Outcome;
use super::options::MatrixChoice;
use crate::error::CommandError;
use crate::input::occupancy::leaf_of_rank;
use crate::input::topology::{HELP, beside, in_words};
use crate::input::traffic::Input;
use crate::output::{self, Working};
use crate::picture::{Format, Picture};
use crate::report::before_after::BeforeAfter;
use crate::report::levels::{self, Crossing, Situation, crossings};
use crate::report::words::some;

/// Compute which rank belongs on which core
#[derive(Debug, Args)]
pub struct Arguments {
    /// Profile, or a matrix (.mtx, .txt, .csv, ...)
    profile: PathBuf,
    #[arg(long, short, value_name = "TOPOLOGY", help = HELP)]
    topology: Option<String>,
    /// How: best, treematch, packed, round-robin, identity
    #[arg(long, short, default_value = "best", value_parser = str::parse::<Strategy>)]
    strategy: Strategy,
    /// Placement to write [default: PROFILE with the ending .placement.yaml]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Draw the matrix before and after, side by side, as .svg or .png
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// Seed of random choices; the same seed gives the same placement
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    choice: MatrixChoice,
}

/// The answer for programs.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    ranks: usize,
    cores: usize,
    assignment: &'a [usize],
    levels: &'a [Crossing],
    cost: Cost,
    strategy: String,
    seconds: f64,
    output: String,
}

/// What the placement was chosen by.
#[derive(Debug, Serialize)]
struct Cost {
    identity: f64,
    placement: f64,
    objective: String,
}

/// Computes, writes, and tells.
pub fn run(arguments: &Arguments) -> Outcome {
    if let Some(picture) = &arguments.picture {
        Format::of(picture)?;
    }
    let input = Input::read(&arguments.profile, &arguments.choice)?;
    let topology = input.topology(arguments.topology.as_deref())?;
    let leaf_of_process = input.leaf_of_process(&topology)?;
    let current = leaf_of_rank(&leaf_of_process, &input.process_of_rank());
    let start = Instant::now();
    let placed = compute(arguments, &input, &topology, &leaf_of_process, &current)?;
    let seconds = start.elapsed().as_secs_f64();
    let bytes = input.bytes(&arguments.choice);
    let found = Found::new(topology, leaf_of_process, current, placed, bytes);
    let output = match &arguments.output {
        Some(path) => path.clone(),
        None => beside(&arguments.profile, "placement"),
    };
    found.file(&arguments.profile)?.write(&output)?;
    if let Some(path) = &arguments.picture {
        found.picture(arguments, &input)?.write(path)?;
    }
    if arguments.json {
        output::print_json(&found.answer(&input, arguments, seconds, &output))?;
    } else {
        output::print(&found.text(&input, arguments, &output))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Places the ranks on the cores where processes run: a replay gives them other
/// ranks, and leaves them where they are.
fn compute(
    arguments: &Arguments,
    input: &Input,
    topology: &Topology,
    leaf_of_process: &[usize],
    current: &[usize],
) -> Result<Placed, CommandError> {
    let matrix = input.matrix(&arguments.choice);
    let in_use = topology.clone().allowing_only(leaf_of_process)?;
    let options = Options {
        current: Some(current),
        seed: arguments.seed,
        ..Options::default()
    };
    let _working = Working::on(&format!("placing {}", some(input.ranks(), "rank")));
    Ok(place(arguments.strategy, &matrix, &in_use, &options)?)
}

/// All that was found out.
struct Found {
    topology: Topology,
    leaf_of_process: Vec<usize>,
    current: Vec<usize>,
    placed: Placed,
    bytes: Matrix,
    crossings: Vec<Crossing>,
    costs: (f64, f64),
}

impl Found {
    fn new(
        topology: Topology,
        leaf_of_process: Vec<usize>,
        current: Vec<usize>,
        placed: Placed,
        bytes: Matrix,
    ) -> Self {
        let mut found = Found {
            topology,
            leaf_of_process,
            current,
            placed,
            bytes,
            crossings: Vec::new(),
            costs: (0.0, 0.0),
        };
        let (before, after) = found.situations();
        let costs = (
            before.dist_comm(&found.topology),
            after.dist_comm(&found.topology),
        );
        found.crossings = crossings(&found.topology, before, after);
        found.costs = costs;
        found
    }

    fn situations(&self) -> (Situation<'_>, Situation<'_>) {
        let of = |leaf_of_rank| Situation {
            matrix: &self.bytes,
            leaf_of_rank,
        };
        (of(&self.current), of(self.assignment()))
    }

    fn picture(&self, arguments: &Arguments, input: &Input) -> Result<Picture, CommandError> {
        let (before, after) = self.situations();
        let picture = BeforeAfter {
            title: format!(
                "{} on {}",
                file_name(&arguments.profile),
                in_words(&self.topology)
            ),
            names: (
                "before".to_owned(),
                format!("after ({})", self.placed.strategy),
            ),
            topology: &self.topology,
            unit: input.bytes_unit(),
        };
        picture.of(before, after, &self.crossings)
    }

    fn assignment(&self) -> &[usize] {
        &self.placed.placement.leaf_of_rank
    }

    fn file(&self, profile: &Path) -> Result<PlacementFile, CommandError> {
        let parent_name = |depth: usize| match depth.checked_sub(1) {
            None => "root".to_owned(),
            Some(above) => self.topology.levels()[above].name.clone(),
        };
        let levels = self
            .crossings
            .iter()
            .enumerate()
            .map(|(depth, crossing)| LevelTraffic {
                level: parent_name(depth),
                before: crossing.bytes_before,
                after: crossing.bytes_after,
            });
        Ok(PlacementFile {
            producer: producer(),
            date: now(),
            profile: Some(file_name(profile)),
            ranks: self.assignment().len(),
            strategy: self.placed.strategy.to_string(),
            costs: Some(Costs {
                before: self.costs.0,
                after: self.costs.1,
            }),
            bytes_by_level: levels.collect(),
            topology: self.topology.clone(),
            assignment: self.assignment().to_vec(),
            leaf_of_process: self.leaf_of_process.clone(),
            permutation: permutation(self.assignment(), &self.leaf_of_process)?,
        })
    }

    fn answer<'a>(
        &'a self,
        input: &Input,
        arguments: &Arguments,
        seconds: f64,
        output: &Path,
    ) -> Answer<'a> {
        Answer {
            ranks: input.ranks(),
            cores: self.topology.leaf_count(),
            assignment: self.assignment(),
            levels: &self.crossings,
            cost: Cost {
                identity: self.placed.identity_cost,
                placement: self.placed.cost,
                objective: format!("DistComm of {}", arguments.choice.metric()),
            },
            strategy: self.placed.strategy.to_string(),
            seconds,
            output: output.display().to_string(),
        }
    }

    fn text(&self, input: &Input, arguments: &Arguments, output: &Path) -> String {
        let mut text = format!(
            "{}: {} on {}\n",
            arguments.profile.display(),
            some(input.ranks(), "rank"),
            in_words(&self.topology)
        );
        let cores = self.topology.leaf_count();
        if input.ranks() < cores {
            text += &format!(
                "  on the {} of {cores} cores where processes run\n",
                input.ranks()
            );
        }
        let chosen = self.placed.strategy;
        text += &match arguments.strategy {
            Strategy::Best => format!("  strategy: {chosen}, the best of those tried\n\n"),
            _ => format!("  strategy: {chosen}\n\n"),
        };
        let headings = ("before", "after");
        text += &levels::table(&self.crossings, input.bytes_unit(), headings, self.costs);
        let advice = match self.placed.strategy {
            Strategy::Identity => {
                "no better placement was found: the ranks are well where they are".to_owned()
            }
            _ => format!("apply it with `treepie replay {} -- ...`", output.display()),
        };
        text + &format!("\n{}: written; {advice}\n", output.display())
    }
}

/// What this program calls itself in files.
pub fn producer() -> String {
    format!("treepie {}", env!("CARGO_PKG_VERSION"))
}

/// Now, as files state it.
fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    treepie_core::files::date(since.map_or(0, |time| time.as_secs()))
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
