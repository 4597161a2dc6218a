//! Report on groups that roll back together.

use std::path::Path;

use treepie_base::{Leaf, Rank, Slice, list, write_atomically};
use treepie_launch::error::CommandError;
use treepie_report::containment::{Report, Situation};
use treepie_report::input::numbers;
use treepie_resilience::containment::{
    Division, Domains, Failures, Logging, Plan, Question, trade_offs,
};

use crate::commands::map::containment::error::refused;
use crate::commands::map::containment::machine::Machine;
use crate::commands::map::containment::options::ContainmentOptions;
use crate::commands::map::result::MapResult;

impl ContainmentOptions {
    /// True if the report is requested.
    pub fn is_given(&self) -> bool {
        self.containment
    }

    /// The files to write, by option.
    pub fn outputs(&self) -> [(&'static str, Option<&Path>); 3] {
        let [dealt, config] = self.redundancy.outputs();
        [
            ("--groups-output", self.groups_output.as_deref()),
            dealt,
            config,
        ]
    }

    /// Reports on the computed placement, and writes the requested files.
    ///
    /// # Errors
    /// The question has no answer, or a file cannot be read or written.
    pub fn report<'a>(
        &self,
        machine: &'a Machine,
        found: &MapResult,
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
        let divide = |leaves: &Slice<Rank, Leaf>| {
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
        let (before, after) = (&*found.before, found.assignment());
        let placed = divide(after)?;
        let as_launched = (before != after).then(|| divide(before)).transpose()?;
        let redundancy = self
            .redundancy
            .report(machine, found, placed.failures.daly())?;
        if let Some(path) = &self.groups_output {
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
                    Domains::from_labels(&groups.raw).of_rank().to_vec(),
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
