//! `treepie report`: a page about a job, to read in a browser or send around.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use treepie_launch::error::CommandError;
use treepie_report::html::{self, Sources};
use treepie_report::input::choice::MatrixChoice;
use treepie_report::input::plan::PlanChoice;
use treepie_report::input::topology::HELP;

use crate::commands::options::Printing;
use crate::commands::outcome::Outcome;

/// Write a report about a job: one HTML file, to read in a browser or send around
#[derive(Debug, Args)]
pub struct Arguments {
    /// Files about the job: a profile or a placement, and a profile taken in its replay, a
    /// platform, a topology, a network
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Page to write
    #[arg(long, short, value_name = "FILE", default_value = "treepie.html")]
    output: PathBuf,
    #[arg(long, short, value_name = "TOPOLOGY", help = HELP)]
    topology: Option<String>,
    /// Network above the nodes, as `treepie map --network` takes it
    #[arg(long, value_name = "NETWORK")]
    network: Option<String>,
    #[command(flatten)]
    printing: Printing,
    #[command(flatten)]
    plan: PlanChoice,
    #[command(flatten)]
    choice: MatrixChoice,
}

/// Writes it.
pub fn run(arguments: &Arguments) -> Outcome {
    let (machine, network) = (&arguments.topology, &arguments.network);
    let sources = Sources::read(&arguments.files, machine.as_deref(), network.as_deref())?;
    let plan = match (&sources.platform, &arguments.plan.plan) {
        (Some((_, file)), _) => arguments.plan.on(&file.platform)?,
        (None, Some(words)) => {
            return Err(CommandError::usage(format!(
                "--plan {words}: there is no platform among the files; name one"
            )));
        }
        (None, None) => None,
    };
    let text = html::report(&sources, plan.as_ref(), &arguments.choice)?;
    let written = html::write(&text, &arguments.output)?;
    let json = || json!({ "output": arguments.output, "bytes": text.len() });
    arguments.printing.answer(json, || written)?;
    Ok(ExitCode::SUCCESS)
}
