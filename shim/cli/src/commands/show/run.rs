//! `treepie show`: what is in a file, as text or picture.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde_json::json;
use treepie_native::tuning::file::TuningFile;
use treepie_placement::file::PlacementFile;
use treepie_platform::file::PlatformFile;
use treepie_platform::grid::Grid;
use treepie_profile::Profile;
use treepie_profile::any::{AnyFile, read_any};
use treepie_profile::experience::{ExperienceFile, Key};
use treepie_profile::settings::Settings;
use treepie_topology::networks::Site;
use treepie_topology::{Topology, formats};
use treepie_traffic::formats::Format as MatrixFormat;

use super::Outcome;
use super::order;
use crate::output;
use treepie_launch::error::CommandError;
use treepie_report::html::{self, OnMachine, Sources};
use treepie_report::input::choice::MatrixChoice;
use treepie_report::input::machine::{Above, JobHosts};
use treepie_report::input::plan::{PlanChoice, Simulated};
use treepie_report::input::topology::{self, HELP};
use treepie_report::input::traffic::{Input, USUAL_MESSAGE, parts_in};
use treepie_report::matrix::MatrixSummary;
use treepie_report::picture::{
    Chart, Fabric, Format, Gantt, MachineTree, Picture, Unit, write_drawing,
};
use treepie_report::summary::{LayerSummary, Summary};
use treepie_report::windows::judge;
use treepie_report::words::file_name;
use treepie_report::{self, experience, placement, plan, platform};

/// Show a profile, placement, topology, network, configuration, experience, tuning, order or matrix
#[derive(Debug, Args)]
pub struct Arguments {
    /// File to show; also a topology as `treepie map --topology` takes it
    file: String,
    /// For --html, further files about the same job: a placement, a profile taken in
    /// its replay, a platform, a topology, a network
    #[arg(value_name = "MORE")]
    more: Vec<PathBuf>,
    /// Write a report in one HTML file, to read in a browser or send around
    #[arg(long, value_name = "OUT", conflicts_with_all = ["svg", "png"])]
    html: Option<PathBuf>,
    #[arg(long, short, value_name = "TOPOLOGY", help = HELP)]
    topology: Option<String>,
    /// Draw it as SVG
    #[arg(long, value_name = "OUT", conflicts_with = "png")]
    svg: Option<PathBuf>,
    /// Draw it as PNG
    #[arg(long, value_name = "OUT")]
    png: Option<PathBuf>,
    /// The drawing [default: the heat map; of a topology, its tree]
    #[arg(long, value_name = "WHAT", value_enum)]
    draw: Option<Draw>,
    /// Profile of a placement, if it is not at the path in the placement
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    plan: PlanChoice,
    #[command(flatten)]
    choice: MatrixChoice,
    #[command(flatten)]
    above: Above,
}

/// Contents of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Draw {
    /// Traffic between ranks, as a matrix
    HeatMap,
    /// The tree of the machine, with what goes over its links
    Tree,
    /// The links of the network that --network names, with what goes over them
    Links,
}

/// A picture of a file.
enum Shown {
    HeatMap(Picture),
    Tree(MachineTree),
    Gantt(Gantt),
    Chart(Chart),
    Fabric(Fabric),
}

/// Shows a file of any kind.
pub fn run(arguments: &Arguments) -> Outcome {
    if let Some(output) = &arguments.html {
        return html_report(arguments, output);
    }
    if let Some(more) = arguments.more.first() {
        return Err(CommandError::usage(format!(
            "{}: only --html takes several files; show one at a time, and name the profile of a \
             placement with --profile",
            more.display()
        )));
    }
    let path = Path::new(&arguments.file);
    if arguments.above.is_given() && !is_of_job(arguments) {
        return whole_tree(arguments);
    }
    if order::is_one(path) {
        draw(arguments, || Err(no_picture(arguments, "order")))?;
        return order::show(path, arguments.json);
    }
    if path.is_dir() {
        return profile(arguments, path, parts_in(path)?);
    }
    if let Some(found) = described_tree(&arguments.file)? {
        return tree(arguments, &found);
    }
    if treepie_report::input::network::is_one(&arguments.file) {
        let site = treepie_report::input::network::read(&arguments.file)?;
        return network_file(arguments, &site);
    }
    if MatrixFormat::from_path(path).is_some() {
        return matrix(arguments, path);
    }
    let found = read_any(path)?;
    if let (Some(words), false) = (&arguments.plan.plan, matches!(found, AnyFile::Platform(_))) {
        return Err(CommandError::usage(format!(
            "--plan {words}: {} is no platform, and a plan runs on one; name a platform file",
            arguments.file
        )));
    }
    match found {
        AnyFile::Profile(found) => profile(arguments, path, *found),
        AnyFile::Placement(found) => placement(arguments, path, &found),
        AnyFile::Topology(found) => tree(arguments, &found),
        AnyFile::Configuration(found) => configuration(arguments, &found),
        AnyFile::Platform(found) => platform(arguments, &found),
        AnyFile::Grid(found) => grid(arguments, &found),
        AnyFile::Experience(found) => experience(arguments, path, &found),
        AnyFile::Tuning(found) => tuning(arguments, &found),
        AnyFile::Network(found) => network_file(arguments, &found),
    }
}

/// Whether a profile or a placement is shown on a network, or a profile by a platform.
fn is_of_job(arguments: &Arguments) -> bool {
    let path = Path::new(&arguments.file);
    let above = &arguments.above;
    let by_platform = above.platform.is_some() && above.distances.is_none();
    if !(above.network.is_some() || by_platform) || above.coordinates.is_some() {
        return false;
    }
    let is_matrix = MatrixFormat::from_path(path).is_some();
    let is_job = |file| match file {
        AnyFile::Profile(_) => true,
        AnyFile::Placement(_) => !by_platform,
        _ => false,
    };
    path.is_dir() || !is_matrix && read_any(path).is_ok_and(is_job)
}

/// What a file of a store says: that is one run, or several that were merged.
fn experience(arguments: &Arguments, path: &Path, file: &ExperienceFile) -> Outcome {
    draw(arguments, || Err(no_picture(arguments, "experience")))?;
    let directory = path.parent().map(file_name).unwrap_or_default();
    let key = Key::from_name(&directory).unwrap_or_default();
    // What was known when the last of its runs began.
    let last = file.experience.runs.iter().map(|run| run.began).max();
    let summary = experience::Summary::new(
        key,
        &file.application,
        &file.experience,
        &file.guards,
        last.unwrap_or(0),
    );
    match arguments.json {
        true => output::print_json(&summary)?,
        false => output::print(&summary.text())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The HTML report of all files.
fn html_report(arguments: &Arguments, output: &Path) -> Outcome {
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
    match arguments.json {
        true => output::print_json(&json!({ "output": output, "bytes": text.len() }))?,
        false => output::print(&written)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn profile(arguments: &Arguments, path: &Path, profile: Profile) -> Outcome {
    let mut summary = Summary::new(path, &profile, arguments.choice.model);
    if let Some(file) = &arguments.above.platform {
        let platform = PlatformFile::read(file)?.platform;
        let judgement = judge(&profile, &file.display().to_string(), &platform);
        let refused = |mismatch| CommandError::failed(format!("{}: {mismatch}", file.display()));
        summary.one_sided = Some(judgement.map_err(refused)?);
    }
    let input = Input::from_profile(path, profile, &arguments.choice)?;
    draw(arguments, || heat_map(arguments, path, &input))?;
    match arguments.json {
        true => output::print_json(&summary)?,
        false => {
            let network = network_gain(arguments, path)?.unwrap_or_default();
            output::print(&(summary.text() + &network))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn matrix(arguments: &Arguments, path: &Path) -> Outcome {
    let input = Input::read(path, &arguments.choice)?;
    let matrix = input.matrix(&arguments.choice)?;
    draw(arguments, || heat_map(arguments, path, &input))?;
    let layers = input.layers();
    let chosen = layers.into_iter().filter_map(|(layer, traffic)| {
        let chosen = arguments.choice.layers().contains(&layer) && !traffic.is_none();
        chosen.then(|| LayerSummary::counted(layer, traffic))
    });
    let summary = MatrixSummary::new(&matrix, chosen.collect());
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
fn heat_map(arguments: &Arguments, path: &Path, input: &Input) -> Result<Shown, CommandError> {
    if let Some(Draw::Tree | Draw::Links) = arguments.draw {
        return machine_picture(arguments, path);
    }
    let (choice, title) = (&arguments.choice, file_name(path));
    let matrix = input.matrix(choice)?;
    let picture = Picture::by_rank(title, input.unit(choice), choice.describe(), matrix);
    Ok(Shown::HeatMap(picture))
}

fn placement(arguments: &Arguments, path: &Path, file: &PlacementFile) -> Outcome {
    draw(arguments, || machine_picture(arguments, path))?;
    match arguments.json {
        true => output::print_json(&placement::json(file))?,
        false => {
            let network = network_gain(arguments, path)?.unwrap_or_default();
            output::print(&(placement::text(&arguments.file, file) + &network))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The matrix in the order of the cores, or the tree of the machine.
fn machine_picture(arguments: &Arguments, path: &Path) -> Result<Shown, CommandError> {
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

/// The job on its machine, and on its network if one is named.
fn on_machine(arguments: &Arguments, path: &Path) -> Result<OnMachine, CommandError> {
    let mut files = vec![path.to_owned()];
    files.extend(arguments.profile.clone());
    let network = arguments.above.network.as_deref();
    let sources = Sources::read(&files, arguments.topology.as_deref(), network)?;
    OnMachine::new(&sources, &arguments.choice)
}

/// What the network makes of a job, if one is named.
fn network_gain(arguments: &Arguments, path: &Path) -> Result<Option<String>, CommandError> {
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

/// The tree that is written otherwise than in a file of treepie: arities, an hwloc description, or
/// Slurm's text.
fn described_tree(file: &str) -> Result<Option<Topology>, CommandError> {
    let path = Path::new(file);
    if topology::is_described(file) {
        return topology::read(file).map(Some);
    }
    // Slurm's text may be in a file that ends as a matrix of all numbers does.
    let other = MatrixFormat::from_path(path).is_some_and(|f| f != MatrixFormat::DenseText);
    match !other && formats::is_of_slurm(path) {
        true => {
            let site = formats::read(path, None)?;
            Ok(treepie_report::input::network::tree(&site).cloned())
        }
        false => Ok(None),
    }
}

/// A topology under the network, or with the distances, that were named.
fn whole_tree(arguments: &Arguments) -> Outcome {
    let file = &arguments.file;
    let path = Path::new(file);
    let other = |kind| {
        let problem = "--network, --platform and --distances belong to a topology";
        CommandError::usage(format!("{file}: is a {kind}; {problem}"))
    };
    let nodes = match described_tree(file)? {
        Some(found) => found,
        None if MatrixFormat::from_path(path).is_some() => return Err(other("matrix".to_owned())),
        None => match read_any(path)? {
            AnyFile::Topology(found) => *found,
            found => return Err(other(found.kind().to_string())),
        },
    };
    let topology = arguments
        .above
        .over(nodes, JobHosts::default(), USUAL_MESSAGE)?;
    tree(arguments, &topology)
}

fn tree(arguments: &Arguments, topology: &Topology) -> Outcome {
    draw(arguments, || {
        Ok(Shown::Tree(html::bare_tree(&arguments.file, topology)))
    })?;
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

/// A plan on a platform: the steps of each rank in time.
fn simulated(arguments: &Arguments, plan: &Simulated) -> Outcome {
    draw(arguments, || Ok(Shown::Gantt(plan::gantt(plan))))?;
    match arguments.json {
        true => output::print_json(&plan::json(plan))?,
        false => output::print(&plan::text(&arguments.file, plan))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn platform(arguments: &Arguments, found: &PlatformFile) -> Outcome {
    if let Some(plan) = arguments.plan.on(&found.platform)? {
        return simulated(arguments, &plan);
    }
    let pictures = [(&arguments.svg, Format::Svg), (&arguments.png, Format::Png)];
    for (path, format) in pictures {
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

fn network_file(arguments: &Arguments, site: &Site) -> Outcome {
    if let Some(found) = treepie_report::input::network::tree(site) {
        return tree(arguments, found);
    }
    draw(arguments, || {
        let title = format!("{}: {}", arguments.file, site.network().describe());
        let bare =
            treepie_report::network_picture::picture(title, site.network(), &[], Unit::Bytes);
        Ok(Shown::Fabric(bare))
    })?;
    match arguments.json {
        true => output::print_json(&treepie_report::network::json(site))?,
        false => output::print(&treepie_report::network::site_text(&arguments.file, site))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn tuning(arguments: &Arguments, found: &TuningFile) -> Outcome {
    draw(arguments, || {
        Ok(Shown::Chart(treepie_report::tuning::chart(&found.body)))
    })?;
    match arguments.json {
        true => output::print_json(&treepie_report::tuning::json(found))?,
        false => output::print(&treepie_report::tuning::text(&arguments.file, found))?,
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

/// Draws a picture on request.
fn draw(
    arguments: &Arguments,
    picture: impl FnOnce() -> Result<Shown, CommandError>,
) -> Result<(), CommandError> {
    let pictures = [(&arguments.svg, Format::Svg), (&arguments.png, Format::Png)];
    for (path, format) in pictures {
        if let Some(path) = path {
            return match picture()? {
                Shown::HeatMap(picture) => picture.write_as(format, path),
                Shown::Tree(tree) => write_drawing(&tree, format, path),
                Shown::Gantt(chart) => write_drawing(&chart, format, path),
                Shown::Chart(chart) => write_drawing(&chart, format, path),
                Shown::Fabric(fabric) => write_drawing(&fabric, format, path),
            };
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
