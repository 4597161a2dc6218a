//! `treepie profile`: run the job, save its profile.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use treepie_base::note;
use treepie_base::printable::lines;
use treepie_launch::error::CommandError;
use treepie_launch::family::{Family, Launcher};
use treepie_launch::written::{Watch, is_ours};
use treepie_launch::{self, binary, container, program, search};
use treepie_profile::settings::DEFAULT_OUTPUT;
use treepie_profile::{Profile, partial_profiles};
use treepie_report::summary::Summary;

use super::hang::HangChoice;
use super::options::{Printing, RunSettings, absolute_path, positive};
use super::order::RecordChoice;
use crate::commands::options::require_directory;
use crate::commands::outcome::Outcome;
use crate::output;

/// Run a job, and save the traffic between its ranks
#[derive(Debug, Args)]
#[command(override_usage = "treepie profile [OPTIONS] -- mpirun -np 16 ./app ...")]
pub struct Arguments {
    /// Profile to write; %n number of ranks, %j job id, %p process id
    #[arg(long, short, value_name = "FILE", default_value = DEFAULT_OUTPUT)]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) printing: Printing,
    /// Also time the calls: the time of each rank in each kind of call
    #[arg(long)]
    times: bool,
    /// Divide the run into phases of this length; without it, MPI_Pcontrol(LEVEL) of the program
    /// marks phases
    #[arg(long, value_name = "TIME", value_parser = positive)]
    phase_interval: Option<Duration>,
    /// Save the counts at this interval, so that no more is lost if the job is killed
    #[arg(long, value_name = "TIME", value_parser = positive)]
    save_every: Option<Duration>,
    #[command(flatten)]
    order: RecordChoice,
    #[command(flatten)]
    hang: HangChoice,
    #[command(flatten)]
    pub(crate) settings: RunSettings,
    /// The usual command line of the job
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// Runs the job. Its status is returned; 1 if it succeeded and left no profile.
pub fn run(arguments: &Arguments) -> Outcome {
    let template = absolute_path(&arguments.output)?;
    let mut own: Vec<(&str, OsString)> = vec![
        ("TREEPIE_MODE", "profile".into()),
        ("TREEPIE_OUTPUT", template.clone().into()),
    ];
    if arguments.times {
        own.push(("TREEPIE_TIMES", "true".into()));
    }
    let intervals = [
        ("TREEPIE_PHASE_INTERVAL", arguments.phase_interval),
        ("TREEPIE_SAVE_EVERY", arguments.save_every),
    ];
    for (variable, interval) in intervals {
        let text = interval.map(|time| time.as_secs_f64().to_string());
        own.extend(text.map(|text| (variable, text.into())));
    }
    own.extend(arguments.order.variables()?);
    let watched = arguments.hang.watched();
    own.extend(watched.variables());
    let variables = arguments.settings.variables(own)?;
    require_directory(&template, "--output")?;
    let invocation = treepie_launch::prepare(&arguments.command, &variables)?;
    let profiles = Profiles::before(&template);
    let order = arguments.order.before();
    let status = watched.run(&invocation)?;
    let (written, merged) = profiles.after();
    let reported = merged.and_then(|()| report(&written, arguments.printing));
    after_the_job(reported, status)?;
    let ordered = arguments.order.after(order, arguments.printing.quiet);
    after_the_job(ordered, status)?;
    if written.is_empty() && status == 0 {
        return Err(CommandError::failed(format!(
            "{}: no profile was written: {}",
            arguments.output.display(),
            likely_reason(&arguments.command)
        )));
    }
    Ok(ExitCode::from(status))
}

/// The profiles that a job writes, complete or partial.
pub struct Profiles {
    whole: Watch,
    partial: Watch,
}

impl Profiles {
    /// Records the existing files before the job starts.
    pub fn before(template: &Path) -> Self {
        Profiles {
            whole: Watch::new(template),
            partial: Watch::new(&partial_profiles::directory_of(template)),
        }
    }

    /// The profiles written since, including those merged from partial profiles, and the error that
    /// stopped this.
    pub fn after(&self) -> (Vec<PathBuf>, Result<(), CommandError>) {
        let mut written = self.whole.written();
        let merged = self.partial.written().iter().try_for_each(|directory| {
            written.extend(merge(directory)?);
            Ok(())
        });
        (written, merged)
    }
}

/// Reports a failure of this command after the end of the job. A job that failed itself keeps its
/// status, and this failure is only printed.
///
/// # Errors
/// The failure, if the job succeeded.
pub fn after_the_job(ours: Result<(), CommandError>, status: u8) -> Result<(), CommandError> {
    match ours {
        Err(error) if status != 0 => {
            note!("{error}");
            Ok(())
        }
        ours => ours,
    }
}

/// The profile of the partial profiles in a directory, written to `output`, which replaces them.
pub fn merged(directory: &Path, output: &Path) -> Result<Profile, CommandError> {
    let profile = partial_profiles::read_directory(directory)?.profile;
    profile.write(output)?;
    partial_profiles::remove_directory(directory);
    Ok(profile)
}

/// Builds a profile from the partial profiles in `directory` of a job that ended abnormally, and
/// reports the ranks without one. They are then removed.
fn merge(directory: &Path) -> Result<Option<PathBuf>, CommandError> {
    let name = directory.as_os_str().as_encoded_bytes();
    let Some(name) = name.strip_suffix(b".parts") else {
        return Ok(None);
    };
    if !is_ours(directory) {
        return Ok(None);
    }
    let output = PathBuf::from(OsStr::from_bytes(name));
    let profile = merged(directory, &output)?;
    let note = profile
        .notes
        .last()
        .filter(|_| !profile.missing_ranks.is_empty());
    note!(
        "{}: the job did not reach MPI_Finalize; {}",
        as_seen_from_here(&output).display(),
        note.map_or("put together from what all ranks left", String::as_str)
    );
    Ok(Some(output))
}

/// Reports the written files: as text on standard error, where it does not mix with the output of
/// the job, as JSON on standard output.
pub fn report(written: &[PathBuf], printing: Printing) -> Result<(), CommandError> {
    for path in written {
        let profile = Profile::read(path)?;
        let summary = Summary::new(as_seen_from_here(path), &profile, None);
        if printing.json {
            output::print_json(&summary)?;
        } else if !printing.quiet {
            eprint!("{}", lines(&summary.short_text()));
        }
    }
    Ok(())
}

/// The path relative to the current directory.
fn as_seen_from_here(path: &Path) -> &Path {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path)
}

/// Likely reason why a job that succeeded left no profile.
fn likely_reason(command: &[OsString]) -> String {
    let unknown = "the program never called MPI_Init, or never reached MPI_Finalize; \
                   `treepie doctor -- ...` with the same command shows more";
    let Ok(launcher) = Launcher::detect(command) else {
        return unknown.to_owned();
    };
    if let Some(runtime) = container::runtime_of_job(launcher.family, command) {
        return format!(
            "in its container, which {runtime} makes, the program never called MPI_Init, or the \
             directory of the profile is not there; `treepie doctor -- ...` shows more"
        );
    }
    let words = match launcher.family {
        Family::Plain => command,
        _ => &command[1..],
    };
    let place = program::position(launcher.family, words);
    let Some(path) = place.and_then(|place| search::executable(&words[place])) else {
        return unknown.to_owned();
    };
    let name = path.display();
    match binary::kind(&path) {
        Some(binary::Program::Static) => {
            format!(
                "{name} is linked statically, so nothing can be preloaded into it; link it dynamically"
            )
        }
        Some(binary::Program::Dynamic) if binary::mpi_of(&path).is_none() => {
            format!(
                "{name} is linked to no MPI library: \
                 it is no MPI program, or runs a script that never called MPI_Init"
            )
        }
        _ => unknown.to_owned(),
    }
}
