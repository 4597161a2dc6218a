//! Arguments of `treepie prove`, and both arms.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use treepie_base::proof::Limits;
use treepie_launch::error::CommandError;
use treepie_profile::settings::Apply;

use crate::commands::answer::RequestedOutputs;
use crate::commands::options::{RunSettings, percent, positive};
use crate::commands::outcome::Outcome;
use crate::commands::prove::arm::Arm;
use crate::commands::prove::series::Series;

/// Run a job in two ways, until one is proven faster
#[derive(Debug, Args)]
#[command(override_usage = "treepie prove [OPTIONS] [FILE] -- mpirun -np 16 ./app ...")]
pub struct Arguments {
    /// Placement or profile to replay, like `treepie replay`
    #[arg(value_name = "FILE", required_unless_present_any = ["collectives", "permutation"])]
    pub(crate) file: Option<PathBuf>,
    /// New rank of each process of the launcher, such as 2,0,1, instead of a file
    #[arg(long, value_name = "RANKS", conflicts_with = "file")]
    permutation: Option<String>,
    /// Algorithms that replace the MPI's collectives: auto, or operations with their algorithms
    #[arg(long, value_name = "CHOICE")]
    collectives: Option<String>,
    /// Platform for which the algorithms are chosen
    #[arg(long, value_name = "FILE")]
    platform: Option<PathBuf>,
    /// Method of applying the placement: permute, bind, both [default: the setting `apply`]
    #[arg(long, value_name = "HOW", value_parser = str::parse::<Apply>)]
    apply: Option<Apply>,
    /// Reference: plain, or a placement or profile, applied by the setting `apply`
    #[arg(long, value_name = "FILE", default_value = "plain")]
    pub(crate) against: PathBuf,
    /// Maximum number of runs of each way
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,
    /// Start no run after SECONDS
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    time: Option<f64>,
    /// Least difference that counts, in per cent; smaller ones are treated as none
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = percent)]
    pub(crate) difference: f64,
    /// Seed of the order inside each pair [default: from the clock, and printed]
    #[arg(long)]
    seed: Option<u64>,
    /// Draw the seconds of all runs, as .svg or .png
    #[arg(long, value_name = "FILE")]
    pub(crate) picture: Option<PathBuf>,
    /// Write a report in one HTML file, to view in a browser or to send to others
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Print the answer as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) settings: RunSettings,
    /// The usual command line of the job; its output is compared and not shown
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

impl Arguments {
    fn limits(&self) -> Limits {
        Limits {
            difference: self.difference / 100.0,
            pairs: self.runs as usize,
        }
    }

    /// Both arms: the reference, and the compared one.
    fn arms(&self) -> Result<[Arm; 2], CommandError> {
        let baseline = if self.against.as_os_str() == "plain" {
            Arm::plain()
        } else {
            Arm::replay(Some(&self.against))?
        };
        let mut candidate = Arm::replay(self.file.as_deref())?;
        if let Some(permutation) = &self.permutation {
            candidate.name = format!("permutation {permutation}");
            candidate.set("TREEPIE_PERMUTATION", permutation);
        }
        if let Some(choice) = &self.collectives {
            candidate.name += &format!(", collectives {choice}");
            candidate.set("TREEPIE_COLLECTIVES", choice);
        }
        if let Some(platform) = &self.platform {
            candidate.set_path("TREEPIE_PLATFORM", platform)?;
        }
        if let Some(apply) = self.apply {
            candidate.name += &format!(", {apply}");
            candidate.set("TREEPIE_APPLY", &apply.to_string());
        }
        if candidate.name == baseline.name {
            candidate.name += ", again";
        }
        Ok([baseline, candidate])
    }
}

/// Runs the job until the verdict. Any verdict is a success; a job that fails in itself is an
/// error.
pub fn run(arguments: &Arguments) -> Outcome {
    let wanted = RequestedOutputs {
        picture: arguments.picture.as_deref(),
        html: arguments.html.as_deref(),
        json: arguments.json,
    };
    wanted.check()?;
    let arms = arguments.arms()?;
    let seed = arguments.seed.unwrap_or_else(seed_of_the_clock);
    let series = Series::new(arms, arguments.limits(), seed);
    let comparison = series.run(
        &arguments.command,
        &arguments.settings,
        arguments.time.map(Duration::from_secs_f64),
    )?;
    wanted.give(&comparison)?;
    Ok(ExitCode::SUCCESS)
}

fn seed_of_the_clock() -> u64 {
    let since = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
    since.as_nanos() as u64 % 1_000_000
}
