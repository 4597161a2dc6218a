//! `treepie show`: what is in a file, as text or picture.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use treepie_core::affinity::formats::Format as MatrixFormat;
use treepie_core::files::configuration::Settings;
use treepie_core::files::grid::Grid;
use treepie_core::files::placement::PlacementFile;
use treepie_core::files::platform::PlatformFile;
use treepie_core::files::profile::Profile;
use treepie_core::files::{AnyFile, read_any};
use treepie_core::topology::Topology;

use super::Outcome;
use super::options::MatrixChoice;
use crate::error::CommandError;
use crate::input::occupancy::leaf_of_rank;
use crate::input::topology::{self, in_words};
use crate::input::traffic::{Input, parts_in, profile_of_placement};
use crate::output;
use crate::picture::{Format, Panel, Picture, write_drawing};
use crate::report::before_after::BeforeAfter;
use crate::report::levels::{Situation, crossings};
use crate::report::matrix::MatrixSummary;
use crate::report::summary::Summary;
use crate::report::{placement, platform};

/// Show a profile, placement, topology, configuration or matrix
#[derive(Debug, Args)]
pub struct Arguments {
    /// File to show; also a topology as `treepie map --topology` takes it
    file: String,
    /// Draw it as SVG
    #[arg(long, value_name = "OUT", conflicts_with = "png")]
    svg: Option<PathBuf>,
    /// Draw it as PNG
    #[arg(long, value_name = "OUT")]
    png: Option<PathBuf>,
    /// Profile of a placement, if it is not where the placement says
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    choice: MatrixChoice,
}

/// Shows whatever it is.
pub fn run(arguments: &Arguments) -> Outcome {
    let path = Path::new(&arguments.file);
    if path.is_dir() {
        return profile(arguments, path, parts_in(path)?);
    }
    if MatrixFormat::of_path(path).is_some() {
        return matrix(arguments, path);
    }
    if topology::is_described(&arguments.file) {
        return tree(arguments, &topology::read(&arguments.file)?);
    }
    match read_any(path)? {
        AnyFile::Profile(found) => profile(arguments, path, *found),
        AnyFile::Placement(found) => placement(arguments, path, &found),
        AnyFile::Topology(found) => tree(arguments, &found),
        AnyFile::Configuration(found) => configuration(arguments, &found),
        AnyFile::Platform(found) => platform(arguments, &found),
        AnyFile::Grid(found) => grid(arguments, &found),
    }
}

fn profile(arguments: &Arguments, path: &Path, profile: Profile) -> Outcome {
    let summary = Summary::new(path, &profile, arguments.choice.model);
    let input = Input::of_profile(path, profile, &arguments.choice)?;
    draw(arguments, || heat_map(arguments, path, &input))?;
    match arguments.json {
        true => output::print_json(&summary)?,
        false => output::print(&summary.text())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn matrix(arguments: &Arguments, path: &Path) -> Outcome {
    let input = Input::read(path, &arguments.choice)?;
    let matrix = input.matrix(&arguments.choice)?;
    draw(arguments, || heat_map(arguments, path, &input))?;
    let summary = MatrixSummary::new(&matrix);
    match arguments.json {
        true => output::print_json(&summary)?,
        false => {
            let unit = input.unit(&arguments.choice);
            output::print(&summary.text(&arguments.file, unit))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A matrix in the order of the ranks.
fn heat_map(arguments: &Arguments, path: &Path, input: &Input) -> Result<Picture, CommandError> {
    Ok(Picture {
        title: path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        axis: "rank".to_owned(),
        unit: input.unit(&arguments.choice),
        panels: vec![Panel {
            title: arguments.choice.in_words(),
            captions: Vec::new(),
            matrix: input.matrix(&arguments.choice)?,
            blocks: Vec::new(),
        }],
    })
}

fn placement(arguments: &Arguments, path: &Path, file: &PlacementFile) -> Outcome {
    draw(arguments, || placement_picture(arguments, path, file))?;
    match arguments.json {
        true => output::print_json(&placement::json(file))?,
        false => output::print(&placement::text(&arguments.file, file))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The placement's matrix before and after, with the blocks of its machine.
fn placement_picture(
    arguments: &Arguments,
    path: &Path,
    file: &PlacementFile,
) -> Result<Picture, CommandError> {
    let recorded = file
        .profile
        .as_deref()
        .and_then(|name| profile_of_placement(path, name));
    let source = arguments.profile.clone().or(recorded).ok_or_else(|| {
        CommandError::usage(format!(
            "{}: its profile is not beside it, and a picture needs it; name it with --profile",
            arguments.file
        ))
    })?;
    let input = Input::read(&source, &arguments.choice)?;
    if input.ranks() != file.ranks {
        return Err(CommandError::failed(format!(
            "{}: has {} ranks and {} has {}; name the right profile with --profile",
            source.display(),
            input.ranks(),
            arguments.file,
            file.ranks
        )));
    }
    let bytes = input.bytes(&arguments.choice)?;
    let current = leaf_of_rank(&file.leaf_of_process, &input.process_of_rank());
    let before = Situation {
        matrix: &bytes,
        leaf_of_rank: &current,
    };
    let after = Situation {
        matrix: &bytes,
        leaf_of_rank: &file.assignment,
    };
    let crossings = crossings(&file.topology, before, after);
    let picture = BeforeAfter {
        title: format!("{} on {}", source.display(), in_words(&file.topology)),
        names: ("before".to_owned(), format!("after ({})", file.strategy)),
        topology: &file.topology,
        unit: input.bytes_unit(),
    };
    picture.of(before, after, &crossings)
}

fn tree(arguments: &Arguments, topology: &Topology) -> Outcome {
    draw(arguments, || Err(no_picture(arguments, "topology")))?;
    if arguments.json {
        let names: Vec<&str> = topology.levels().iter().map(|l| l.name.as_str()).collect();
        output::print_json(&json!({
            "cores": topology.leaf_count(),
            "levels": names,
            "arities": topology.arities(),
            "distances": topology.level_distances(),
            "forbidden": topology.leaf_count() - topology.allowed_leaves().len(),
        }))?;
    } else {
        output::print(&placement::topology_text(&arguments.file, topology))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn grid(arguments: &Arguments, found: &Grid) -> Outcome {
    draw(arguments, || Err(no_picture(arguments, "grid")))?;
    match arguments.json {
        true => output::print_json(&platform::grid_json(found))?,
        false => output::print(&platform::grid_text(&arguments.file, found))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn platform(arguments: &Arguments, found: &PlatformFile) -> Outcome {
    let wanted = [(&arguments.svg, Format::Svg), (&arguments.png, Format::Png)];
    for (path, format) in wanted {
        if let Some(path) = path {
            let drawing = platform::drawing(&arguments.file, &found.platform);
            write_drawing(&drawing, format, path)?;
        }
    }
    match arguments.json {
        true => output::print_json(&platform::json(found))?,
        false => output::print(&platform::text(&arguments.file, found))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn configuration(arguments: &Arguments, settings: &Settings) -> Outcome {
    draw(arguments, || Err(no_picture(arguments, "configuration")))?;
    let variables = settings.to_variables();
    if arguments.json {
        let settings: serde_json::Map<_, _> = variables
            .into_iter()
            .map(|(name, value)| (name, value.into()))
            .collect();
        output::print_json(&settings)?;
    } else {
        let mut text = format!(
            "{}: configuration; what differs from the defaults:\n",
            arguments.file
        );
        for (name, value) in variables {
            text += &format!("  {name}={value}\n");
        }
        output::print(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Draws if a picture was asked for.
fn draw(
    arguments: &Arguments,
    picture: impl FnOnce() -> Result<Picture, CommandError>,
) -> Result<(), CommandError> {
    let wanted = [(&arguments.svg, Format::Svg), (&arguments.png, Format::Png)];
    for (path, format) in wanted {
        if let Some(path) = path {
            return picture()?.write_as(format, path);
        }
    }
    Ok(())
}

fn no_picture(arguments: &Arguments, kind: &str) -> CommandError {
    CommandError::usage(format!(
        "{}: a {kind} has no picture; draw a profile, a placement or a matrix",
        arguments.file
    ))
}
