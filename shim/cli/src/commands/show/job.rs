//! Profiles, matrices and placements of a job.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;
use treepie_launch::error::CommandError;
use treepie_placement::file::PlacementFile;
use treepie_platform::file::PlatformFile;
use treepie_profile::Profile;
use treepie_report::html::{self, OnMachine, Sources};
use treepie_report::input::topology;
use treepie_report::input::traffic::Input;
use treepie_report::layers::LayerSummary;
use treepie_report::matrix::MatrixSummary;
use treepie_report::picture::{Picture, Unit};
use treepie_report::summary::Summary;
use treepie_report::windows::judge;
use treepie_report::words::file_name;
use treepie_report::{self, placement};
use treepie_topology::{Topology, formats};
use treepie_traffic::formats::Format as MatrixFormat;

use crate::commands::outcome::Outcome;
use crate::commands::show::arguments::{Arguments, Draw};
use crate::commands::show::draw::{Shown, draw};
use crate::output;

pub(crate) fn profile(arguments: &Arguments, path: &Path, profile: Profile) -> Outcome {
    let mut summary = Summary::new(path, &profile, arguments.choice.model);
    if let Some(file) = &arguments.above.platform {
        let platform = PlatformFile::read(file)?.platform;
        let judgement = judge(&profile, &file.display().to_string(), &platform);
        let refused = |mismatch| CommandError::failed(format!("{}: {mismatch}", file.display()));
        summary.one_sided = Some(judgement.map_err(refused)?);
    }
    let input = Input::from_profile(path, profile, &arguments.choice)?;
    draw(arguments, || heat_map(arguments, path, &input))?;
    if arguments.json {
        output::print_json(&summary)?
    } else {
        let network = network_gain(arguments, path)?.unwrap_or_default();
        output::print(&(summary.text() + &network))?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn matrix(arguments: &Arguments, path: &Path) -> Outcome {
    let input = Input::read(path, &arguments.choice)?;
    let matrix = input.matrix(&arguments.choice)?;
    draw(arguments, || heat_map(arguments, path, &input))?;
    let layers = input.layers();
    let chosen = layers.into_iter().filter_map(|(layer, traffic)| {
        let chosen = arguments.choice.layers().contains(&layer) && !traffic.is_none();
        chosen.then(|| LayerSummary::counted(layer, traffic))
    });
    let summary = MatrixSummary::new(&matrix, chosen.collect());
    if arguments.json {
        output::print_json(&summary)?
    } else {
        let unit = input.unit(&arguments.choice);
        output::print(&summary.text(&arguments.file, unit))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A matrix in the order of the ranks.
pub(crate) fn heat_map(
    arguments: &Arguments,
    path: &Path,
    input: &Input,
) -> Result<Shown, CommandError> {
    if let Some(Draw::Tree | Draw::Links) = arguments.draw {
        return machine_picture(arguments, path);
    }
    let (choice, title) = (&arguments.choice, file_name(path));
    let matrix = input.matrix(choice)?;
    let picture = Picture::by_rank(title, input.unit(choice), choice.describe(), matrix);
    Ok(Shown::HeatMap(picture))
}

pub(crate) fn placement(arguments: &Arguments, path: &Path, file: &PlacementFile) -> Outcome {
    draw(arguments, || machine_picture(arguments, path))?;
    if arguments.json {
        output::print_json(&placement::json(file))?
    } else {
        let network = network_gain(arguments, path)?.unwrap_or_default();
        output::print(&(placement::text(&arguments.file, file) + &network))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The matrix in the order of the cores, or the tree of the machine.
pub(crate) fn machine_picture(arguments: &Arguments, path: &Path) -> Result<Shown, CommandError> {
    let machine = on_machine(arguments, path)?;
    match arguments.draw {
        Some(Draw::Tree) => Ok(Shown::Tree(html::tree(&machine))),
        Some(Draw::Links) => html::links(&machine).map(Shown::Fabric).ok_or_else(|| {
            CommandError::usage(
                "--draw links: draws a network; name one, as in --network torus:8x8x8",
            )
        }),
        _ => html::heat_maps(&machine)
            .map(Shown::HeatMap)
            .map_err(CommandError::failed),
    }
}

/// The job on its machine, and on its network if one is given.
pub(crate) fn on_machine(arguments: &Arguments, path: &Path) -> Result<OnMachine, CommandError> {
    let mut files = vec![path.to_owned()];
    files.extend(arguments.profile.clone());
    let network = arguments.above.network.as_deref();
    let sources = Sources::read(&files, arguments.topology.as_deref(), network)?;
    OnMachine::new(&sources, &arguments.choice)
}

/// Load of the network by a job, if a network is given.
pub(crate) fn network_gain(
    arguments: &Arguments,
    path: &Path,
) -> Result<Option<String>, CommandError> {
    if arguments.above.network.is_none() {
        return Ok(None);
    }
    let machine = on_machine(arguments, path)?;
    let gain = machine.on_network();
    Ok(gain.map(|gain| match machine.after {
        Some(_) => format!("\n{}", gain.text(Unit::Bytes)),
        None => format!(
            "\n{}  {}\n",
            gain.single_table(Unit::Bytes).text(),
            gain.place()
        ),
    }))
}

/// The tree of a description other than a file of Treepie: arities, an hwloc description, or
/// Slurm's text.
pub(crate) fn described_tree(file: &str) -> Result<Option<Topology>, CommandError> {
    let path = Path::new(file);
    if topology::is_described(file) {
        return topology::read(file).map(Some);
    }
    // Slurm's text may be in a file with the ending of a matrix of all numbers.
    let other = MatrixFormat::from_path(path).is_some_and(|f| f != MatrixFormat::DenseText);
    if !other && formats::is_of_slurm(path) {
        let site = formats::read(path, None)?;
        Ok(treepie_report::input::network::tree(&site).cloned())
    } else {
        Ok(None)
    }
}

/// The HTML report of all files.
pub(crate) fn html_report(arguments: &Arguments, output: &Path) -> Outcome {
    let mut files = vec![PathBuf::from(&arguments.file)];
    files.extend(arguments.more.iter().chain(&arguments.profile).cloned());
    let network = arguments.above.network.as_deref();
    let sources = Sources::read(&files, arguments.topology.as_deref(), network)?;
    let platform = sources.platform.as_ref();
    let plan = match (platform, &arguments.plan.plan) {
        (Some((_, file)), _) => arguments.plan.on(&file.platform)?,
        (None, Some(words)) => {
            return Err(CommandError::usage(format!(
                "--plan {words}: there is no platform among the files; name one"
            )));
        }
        (None, None) => None,
    };
    let text = html::report(&sources, plan.as_ref(), &arguments.choice)?;
    let written = html::write(&text, output)?;
    if arguments.json {
        output::print_json(&json!({ "output": output, "bytes": text.len() }))?
    } else {
        output::print(&written)?
    }
    Ok(ExitCode::SUCCESS)
}
