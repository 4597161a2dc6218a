//! `treepie history`: the stored results of each application.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use clap::Args;
use serde::Serialize;
use treepie_guard::learning::Arm;
use treepie_launch::error::CommandError;
use treepie_report::experience::{PlatformSummary, Summary};
use treepie_report::picture::{Axis, Chart, Format, Series, Style, write_drawing};
use treepie_report::units;

use crate::commands::learning::store::{Application, StoreChoice, applications, nothing_of};
use crate::commands::outcome::Outcome;
use crate::output;

/// Show what was tried with each application, the results, and the present choice
#[derive(Debug, Args)]
pub struct Arguments {
    /// Name of the program, or the beginning of its key
    #[arg(value_name = "APP")]
    application: Option<String>,
    /// Draw the seconds of all runs of one application, as .svg or .png
    #[arg(long, value_name = "FILE")]
    pub(crate) picture: Option<PathBuf>,
    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    store: StoreChoice,
}

/// Prints all applications, or those with a given name.
pub fn run(arguments: &Arguments) -> Outcome {
    let store = arguments.store.store()?;
    let name = arguments.application.as_deref();
    let found = applications(&store, name);
    if let Some(picture) = &arguments.picture {
        draw(picture, &found)?;
    }
    // Platforms do not belong to an application.
    let platforms: Vec<PlatformSummary> = match name {
        Some(_) => Vec::new(),
        None => store
            .platforms(SystemTime::now())
            .iter()
            .map(PlatformSummary::new)
            .collect(),
    };
    let summaries: Vec<&Summary> = found.iter().map(|learnt| &learnt.summary).collect();
    if arguments.json {
        let all: Vec<Entry<'_>> = summaries
            .into_iter()
            .map(Entry::Application)
            .chain(platforms.iter().map(Entry::Platform))
            .collect();
        output::print_json(&all)?;
        return Ok(ExitCode::SUCCESS);
    }
    if found.is_empty() && platforms.is_empty() {
        let nothing = nothing_of(store.path(), name);
        return match name {
            Some(_) => Err(CommandError::failed(nothing)),
            None => output::print(&(nothing + "\n")).map(|()| ExitCode::SUCCESS),
        };
    }
    let texts = summaries.iter().map(|summary| summary.text());
    let texts: Vec<String> = texts
        .chain(platforms.iter().map(PlatformSummary::text))
        .collect();
    output::print(&texts.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// An entry of the store.
#[derive(Serialize)]
#[serde(untagged)]
enum Entry<'a> {
    Application(&'a Summary),
    Platform(&'a PlatformSummary),
}

/// Draws the seconds of all runs of an application, by arm.
fn draw(path: &Path, found: &[Application]) -> Result<(), CommandError> {
    let [learnt] = found else {
        return Err(CommandError::usage(format!(
            "--picture {}: shows one application, and {} were found; name it, by its key where \
             several have a name",
            path.display(),
            found.len()
        )));
    };
    let runs = learnt.experience.runs.iter().enumerate();
    let runs: Vec<_> = runs
        .filter_map(|(at, run)| Some((at as f64 + 1.0, run.arm, run.seconds()?)))
        .collect();
    let curves = [Arm::Plain, Arm::Permute, Arm::Bind]
        .into_iter()
        .enumerate();
    let curves = curves.map(|(colour, arm)| Series {
        name: arm.in_words().to_owned(),
        points: runs
            .iter()
            .filter(|(_, of, _)| *of == arm)
            .map(|(at, _, seconds)| (*at, *seconds))
            .collect(),
        style: Style::Points,
        colour,
    });
    let chart = Chart {
        title: learnt.summary.title(),
        across: Axis {
            name: "run",
            logarithmic: false,
            mark: units::count,
        },
        upwards: Axis {
            name: "from MPI_Init to MPI_Finalize",
            logarithmic: false,
            mark: units::seconds,
        },
        series: curves.filter(|curve| !curve.points.is_empty()).collect(),
    };
    write_drawing(&chart, Format::from_path(path)?, path)
}
