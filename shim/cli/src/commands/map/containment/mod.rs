//! Options of the containment report, and the report.

mod machine;
mod sets;

use std::path::{Path, PathBuf};

use clap::Args;
use treepie_base::{list, size, write_atomically};
use treepie_resilience::containment::{
    ContainmentError, Division, Domains, Failures, Logging, Plan, Question, trade_offs,
};

pub use self::machine::Machine;
use self::sets::RedundancyOptions;
use super::Found;
use crate::commands::options::time;
use treepie_launch::error::CommandError;
use treepie_report::containment::{Report, Situation};
use treepie_report::input::numbers;

/// Options of the report on groups that roll back together.
#[derive(Debug, Args)]
#[command(next_help_heading = "Containment of failures")]
pub struct ContainmentOptions {
    /// Report what rollback recovery in groups of ranks would cost: bytes logged, ranks rolled
    /// back, memory, interval and loss, by the number of groups. No checkpoint is made
    #[arg(long, conflicts_with_all = ["collectives", "quiet"])]
    containment: bool,
    /// Only these groups: their number, the numbers of consecutive ranks in them (4,4,8), or a
    /// file with the group of each rank
    #[arg(long, value_name = "GROUPS", requires = "containment")]
    groups: Option<String>,
    /// What fails at once: a level of the topology, or a file with lines of a host and its domain
    /// [default: host]
    #[arg(long, value_name = "LEVEL|FILE", requires = "containment")]
    domain: Option<String>,
    /// Mean time between failures of one domain, such as 90d or 5y
    #[arg(long, value_name = "TIME", default_value = "5y", value_parser = time, requires = "containment")]
    mtbf: f64,
    /// Time of a checkpoint
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = time, requires = "containment")]
    checkpoint_time: f64,
    /// Time of a restart
    #[arg(long, value_name = "TIME", default_value = "120s", value_parser = time, requires = "containment")]
    restart_time: f64,
    /// Time between checkpoints [default: Daly's]
    #[arg(long, value_name = "TIME", value_parser = time, requires = "containment")]
    interval: Option<f64>,
    /// Time of the run [default: that of a profile taken with --times]
    #[arg(long, value_name = "TIME", value_parser = time, requires = "containment")]
    run_time: Option<f64>,
    /// Memory of a rank for its log, such as 2GiB: what needs more is not recommended
    #[arg(long, value_name = "SIZE", value_parser = memory, requires = "containment")]
    log_memory: Option<f64>,
    /// Write the group of each rank, one a line, of the groups of --groups, or else of those that
    /// lose least if others can go on
    #[arg(long, value_name = "FILE", requires = "containment")]
    groups_out: Option<PathBuf>,
    #[command(flatten)]
    redundancy: RedundancyOptions,
}

impl ContainmentOptions {
    /// Whether the report is wanted.
    pub fn is_given(&self) -> bool {
        self.containment
    }

    /// The files that are written, by option.
    pub fn outputs(&self) -> [(&'static str, Option<&Path>); 3] {
        let [dealt, config] = self.redundancy.outputs();
        [("--groups-out", self.groups_out.as_deref()), dealt, config]
    }

    /// The report on the placement that was found; writes the files that were asked for.
    ///
    /// # Errors
    /// A question without an answer; a file that cannot be read or written.
    pub fn report<'a>(
        &self,
        machine: &'a Machine,
        found: &Found,
    ) -> Result<Report<'a>, CommandError> {
        let choice = &found.arguments.choice;
        let run_time = self.run_time.or_else(|| found.job.input.run_time(choice));
        if self.log_memory.is_some() && run_time.is_none() {
            return Err(CommandError::usage(
                "--log-memory: the profile has no times, and logs grow with time: give --run-time",
            ));
        }
        let messages = found.job.input.messages(choice)?;
        let plan = self.plan(found.bytes.order())?;
        let divide = |leaves: &[usize]| {
            let domains = machine.failing.domains(leaves);
            let levels: Vec<Domains> = machine
                .above
                .iter()
                .map(|kind| kind.domains(leaves))
                .collect();
            let failures = Failures::new(
                self.mtbf,
                domains.count(),
                self.checkpoint_time,
                self.restart_time,
            )?;
            let divisions = trade_offs(&Question {
                bytes: &found.bytes,
                messages: messages.as_ref(),
                domains: &domains,
                levels: &levels,
                failures,
                run_time,
                interval: self.interval,
                log_memory: self.log_memory,
                plan: &plan,
            })?;
            Ok(Situation {
                domains: domains.count(),
                failures,
                divisions,
            })
        };
        let divide = |leaves| divide(leaves).map_err(refused);
        let (before, after) = (&found.before[..], found.assignment());
        let placed = divide(after)?;
        let as_launched = (before != after).then(|| divide(before)).transpose()?;
        let redundancy = self
            .redundancy
            .report(machine, found, placed.failures.daly())?;
        if let Some(path) = &self.groups_out {
            write_groups(path, &placed.divisions)?;
        }
        Ok(Report {
            domain: &machine.failing.name,
            inside_hosts: machine.fails_inside_hosts(),
            domain_mtbf: self.mtbf,
            run_time,
            unit: found.job.input.bytes_unit(),
            as_launched,
            logging: run_time.map(|time| Logging::new(&found.bytes, time, placed.failures)),
            as_placed: placed,
            redundancy,
        })
    }

    fn plan(&self, ranks: usize) -> Result<Plan, CommandError> {
        let Some(text) = &self.groups else {
            return Ok(Plan::Series);
        };
        let sizes = match list::parse(text) {
            Ok(numbers) => numbers,
            Err(_) if Path::new(text).is_file() => {
                let groups = numbers::cores_of_ranks(Path::new(text))?;
                return Ok(Plan::Given(
                    Domains::from_labels(&groups).of_rank().to_vec(),
                ));
            }
            Err(error) => {
                return Err(CommandError::usage(format!(
                    "--groups {text}: is no file, and {error}"
                )));
            }
        };
        if let [count] = sizes[..] {
            return Ok(Plan::Count(count));
        }
        let sum = sizes
            .iter()
            .fold(0_usize, |sum, &size| sum.saturating_add(size));
        if sum != ranks || sizes.contains(&0) {
            return Err(CommandError::usage(format!(
                "--groups {text}: these are {sum} ranks of {ranks}: give sizes above 0 that add up"
            )));
        }
        let groups = sizes.into_iter().enumerate();
        let groups = groups.flat_map(|(group, size)| std::iter::repeat_n(group, size));
        Ok(Plan::Given(groups.collect()))
    }
}

/// A refusal in the words of the options.
fn refused(error: ContainmentError) -> CommandError {
    match error {
        ContainmentError::TooManyGroups { .. } => CommandError::usage(format!("--groups: {error}")),
        _ => CommandError::failed(format!("--containment: {error}")),
    }
}

fn write_groups(path: &Path, divisions: &[Division]) -> Result<(), CommandError> {
    let least = divisions.iter().find(|one| one.others_go_on.least_loss);
    let Some(chosen) = least.or(divisions.last()) else {
        return Ok(());
    };
    let lines = chosen
        .group_of_rank
        .iter()
        .map(|group| format!("{group}\n"));
    let text: String = lines.collect();
    Ok(write_atomically(path, |out| {
        out.write_all(text.as_bytes())
    })?)
}

/// Bytes above 0.
fn memory(text: &str) -> Result<f64, String> {
    let bytes = size(text).filter(|&bytes| bytes > 0);
    let bytes = bytes.ok_or_else(|| "write a size such as 512MiB or 2GiB".to_owned())?;
    Ok(bytes as f64)
}
