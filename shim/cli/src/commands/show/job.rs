//! Profiles, matrices and placements of a job.

use std::path::Path;
use std::process::ExitCode;

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
    let network = network_gain(arguments, path)?.unwrap_or_default();
    arguments
        .printing
        .answer(|| &summary, || summary.text() + &network)?;
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
    let words = || summary.text(&arguments.file, input.unit(&arguments.choice));
    arguments.printing.answer(|| &summary, words)?;
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
    let network = network_gain(arguments, path)?.unwrap_or_default();
    let words = || placement::text(&arguments.file, file) + &network;
    arguments.printing.answer(|| placement::json(file), words)?;
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
