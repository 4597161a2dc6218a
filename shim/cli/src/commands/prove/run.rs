//! Arguments of `treepie prove`, and both arms.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use treepie_base::proof::Limits;
use treepie_launch::error::CommandError;
use treepie_profile::settings::Apply;
use treepie_report::proof::{Comparison, groups};

use crate::commands::options::{Printing, RunSettings, Seed, percent, positive};
use crate::commands::outcome::Outcome;
use crate::commands::prove::answer::RequestedOutputs;
use crate::commands::prove::arm::Arm;
use crate::commands::prove::series::Series;

/// Prove that one way to run a job is faster, by runs in both ways
#[derive(Debug, Args)]
#[command(
    override_usage = "treepie prove [OPTIONS] [FILE] -- mpirun -np 16 ./app ...
       treepie prove [OPTIONS] PROFILE... --against PROFILE..."
)]
pub struct Arguments {
    /// Placement or profile to replay, as for `treepie replay`; without a job, profiles of runs in
    /// this way, taken with --times
    #[arg(value_name = "FILE", required_unless_present_any = ["set", "permutation"])]
    files: Vec<PathBuf>,
    /// Baseline: plain, or a placement or profile, applied as the setting `apply` says; without a
    /// job, profiles of runs in that way
    #[arg(long, value_name = "FILE", num_args = 1.., default_value = PLAIN)]
    against: Vec<PathBuf>,
    /// New rank of each process of the launcher, such as 2,0,1, instead of a file
    #[arg(
        long,
        value_name = "RANKS",
        conflicts_with = "files",
        requires = "command"
    )]
    permutation: Option<String>,
    /// Method of applying the placement: permute, bind, both [default: the setting `apply`]
    #[arg(long, value_name = "HOW", value_parser = str::parse::<Apply>, requires = "command")]
    apply: Option<Apply>,
    /// Maximum number of runs of each way
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,
    /// Start no run after this time
    #[arg(long, value_name = "TIME", value_parser = positive, requires = "command")]
    time_limit: Option<Duration>,
    /// Least difference that counts, in per cent; smaller ones are treated as none
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = percent)]
    difference: f64,
    #[command(flatten)]
    seed: Seed,
    /// Write this file, by its ending: the seconds of all runs as .svg or .png, a report as .html;
    /// may be repeated
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) printing: Printing,
    #[command(flatten)]
    settings: RunSettings,
    /// The usual command line of the job; its output is compared and not shown
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// Baseline of a job as it is.
const PLAIN: &str = "plain";

impl Arguments {
    fn limits(&self) -> Limits {
        Limits {
            difference: self.difference / 100.0,
            pairs: self.runs as usize,
        }
    }

    /// Both arms: the reference, and the compared one.
    fn arms(&self) -> Result<[Arm; 2], CommandError> {
        let baseline = one(&self.against, "--against")?;
        let baseline = match baseline {
            Some(file) if file.as_os_str() != PLAIN => Arm::replay(Some(file))?,
            _ => Arm::plain(),
        };
        let mut candidate = Arm::replay(one(&self.files, "FILE")?)?;
        if let Some(permutation) = &self.permutation {
            candidate.name = format!("permutation {permutation}");
            candidate.set("TREEPIE_PERMUTATION", permutation);
        }
        if let Some(apply) = self.apply {
            candidate.name += &format!(", {apply}");
            candidate.set("TREEPIE_APPLY", &apply.to_string());
        }
        for (name, value) in &self.settings.set {
            candidate.name += &format!(", {name} {value}");
        }
        candidate.set = self.settings.set.clone();
        if candidate.name == baseline.name {
            candidate.name += ", again";
        }
        Ok([baseline, candidate])
    }
}

/// The file of a way to run a job.
fn one<'a>(files: &'a [PathBuf], option: &str) -> Result<Option<&'a Path>, CommandError> {
    match files {
        [] => Ok(None),
        [file] => Ok(Some(file)),
        [_, other, ..] => Err(CommandError::usage(format!(
            "{option} {}: a job is run with one file in each way; give profiles of several runs \
             without a job",
            other.display()
        ))),
    }
}

/// Runs the job until the verdict, or judges runs that others started. Success, whatever the
/// verdict is; a job that fails without Treepie is an error.
pub fn run(arguments: &Arguments) -> Outcome {
    let wanted = RequestedOutputs {
        files: &arguments.output,
        printing: arguments.printing,
    };
    wanted.check()?;
    let comparison = match arguments.command.is_empty() {
        true => of_profiles(arguments)?,
        false => of_job(arguments)?,
    };
    wanted.give(&comparison)?;
    Ok(ExitCode::SUCCESS)
}

fn of_profiles(arguments: &Arguments) -> Result<Comparison, CommandError> {
    let Arguments { files, against, .. } = arguments;
    if files.is_empty() || matches!(&against[..], [one] if one.as_os_str() == PLAIN) {
        return Err(CommandError::usage(
            "no job: write it after --, such as `treepie prove FILE -- mpirun -np 16 ./app`, or \
             give profiles of runs in both ways: `treepie prove PROFILE... --against PROFILE...`",
        ));
    }
    groups::compare(against, files, arguments.difference / 100.0)
}

fn of_job(arguments: &Arguments) -> Result<Comparison, CommandError> {
    let seed = arguments.seed.seed.unwrap_or_else(seed_of_the_clock);
    let series = Series::new(arguments.arms()?, arguments.limits(), seed);
    let settings = &arguments.settings;
    series.run(&arguments.command, settings, arguments.time_limit)
}

fn seed_of_the_clock() -> u64 {
    let since = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
    since.as_nanos() as u64 % 1_000_000
}
