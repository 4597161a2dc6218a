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
use crate::commands::options::Printing;
use crate::commands::outcome::Outcome;

/// Show what was tried with each application, the results, and the present choice
#[derive(Debug, Args)]
pub struct Arguments {
    /// Name of the program, or the beginning of its key
    #[arg(value_name = "APP")]
    application: Option<String>,
    /// Draw the seconds of all runs of one application into this file: .svg or .png
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) printing: Printing,
    #[command(flatten)]
    store: StoreChoice,
}

/// Prints all applications, or those with a given name.
pub fn run(arguments: &Arguments) -> Outcome {
    let store = arguments.store.store()?;
    let name = arguments.application.as_deref();
    let found = applications(&store, name);
    if let Some(picture) = &arguments.output {
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
    let is_nothing = found.is_empty() && platforms.is_empty();
    if is_nothing && name.is_some() && !arguments.printing.json {
        return Err(CommandError::failed(nothing_of(store.path(), name)));
    }
    let json = || {
        let applications = summaries.iter().copied().map(Entry::Application);
        let all = applications.chain(platforms.iter().map(Entry::Platform));
        all.collect::<Vec<Entry<'_>>>()
    };
    let words = || {
        let applications = summaries.iter().map(|summary| summary.text());
        let all = applications.chain(platforms.iter().map(PlatformSummary::text));
        match is_nothing {
            true => nothing_of(store.path(), name) + "\n",
            false => all.collect::<Vec<String>>().join("\n"),
        }
    };
    arguments.printing.answer(json, words)?;
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
            "-o {}: shows one application, and {} were found; name it, by its key where \
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
