//! `treepie run`: a job that gets faster from run to run, if possible.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;

use clap::Args;
use treepie_base::note;
use treepie_guard::learning::End;
use treepie_launch;
use treepie_launch::error::CommandError;
use treepie_launch::family::Launcher;
use treepie_launch::injection::Invocation;
use treepie_profile::experience::{ExperienceFile, Key, Store};
use treepie_profile::settings::RUN_VARIABLE;
use treepie_report::experience::{RunSummary, Summary, now};

use crate::commands::hang::HangChoice;
use crate::commands::learning::store::{StoreChoice, opened};
use crate::commands::options::{Printing, RunSettings};
use crate::commands::outcome::Outcome;
use crate::output;

/// Run a job, and learn from run to run how it is fastest
#[derive(Debug, Args)]
#[command(override_usage = "treepie run [OPTIONS] -- mpirun -np 16 ./app ...")]
pub struct Arguments {
    #[command(flatten)]
    store: StoreChoice,
    #[command(flatten)]
    pub(crate) printing: Printing,
    #[command(flatten)]
    hang: HangChoice,
    #[command(flatten)]
    settings: RunSettings,
    /// The usual command line of the job
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// Settings of other modes that a shell may have.
const TAKEN_BACK: [&str; 3] = ["TREEPIE_PLACEMENT", "TREEPIE_PERMUTATION", "TREEPIE_OUTPUT"];

/// Runs the job; its status is returned. Failures of learning are reported, and do not affect the
/// job.
pub fn run(arguments: &Arguments) -> Outcome {
    let setting = arguments.store.setting()?;
    let watched = arguments.hang.watched();
    let number = watched.number;
    let mut own: Vec<(&str, OsString)> = vec![
        ("TREEPIE_MODE", "auto".into()),
        ("TREEPIE_STORE", setting.clone().into()),
        (RUN_VARIABLE, format!("{number:016x}").into()),
    ];
    own.extend(watched.variables());
    own.extend(TAKEN_BACK.map(|name| (name, OsString::new())));
    let variables = arguments.settings.variables(own)?;
    let invocation = match treepie_launch::prepare(&arguments.command, &variables) {
        Ok(invocation) => invocation,
        Err(error) => {
            let launcher = Launcher::detect(&arguments.command)?;
            note!("{error}; the job runs as it would without treepie");
            Invocation::plain(&launcher, &arguments.command)
        }
    };
    let status = watched.run(&invocation)?;
    if let Err(error) = tell(arguments, &opened(&setting), number, status) {
        note!("{error}");
    }
    Ok(ExitCode::from(status))
}

/// Reports the result of the run with this number, and the present knowledge. A failed run is
/// stored as failed.
fn tell(arguments: &Arguments, store: &Store, number: u64, status: u8) -> Result<(), CommandError> {
    let found = store.named(&format!("-{number:016x}"));
    if found.is_empty() && !arguments.printing.quiet {
        note!(
            "nothing was learnt of this run: no MPI program in it reached MPI_Finalize, or \
             the store can't be written (--log info says why)"
        );
    }
    for (key, path) in found {
        if status != 0 {
            failed(store, key, &path)?;
        }
        let known = store.read(key, SystemTime::now());
        let name = path.file_stem().and_then(|stem| stem.to_str());
        let summary = Summary::new(
            key,
            &known.application,
            &known.experience,
            &known.guards,
            now(),
        );
        let runs = &known.experience.runs;
        let Some(run) = runs.iter().find(|run| Some(run.name.as_str()) == name) else {
            continue;
        };
        let this = RunSummary::new(run);
        if arguments.printing.json {
            let both = serde_json::json!({ "run": this, "application": summary });
            output::print_json(&both)?;
        } else if !arguments.printing.quiet {
            note!("{}", summary.after(run));
        }
    }
    Ok(())
}

/// Stores that a run failed: its configuration may be the reason.
fn failed(store: &Store, key: Key, path: &Path) -> Result<(), CommandError> {
    let mut file = ExperienceFile::read(path)?;
    let Some(run) = file.experience.runs.first_mut() else {
        return Ok(());
    };
    run.end = End::Failed;
    let name = run.name.clone();
    Ok(store.write(key, &name, &file)?)
}
