//! Files on machines and settings: trees, grids, platforms, networks, tunings.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use serde_json::json;
use treepie_launch::error::CommandError;
use treepie_native::tuning::file::TuningFile;
use treepie_platform::file::PlatformFile;
use treepie_platform::grid::Grid;
use treepie_profile::any::{AnyFile, read_any};
use treepie_profile::experience::{ExperienceFile, Key};
use treepie_profile::settings::Settings;
use treepie_profile::site::SitePolicy;
use treepie_report::html;
use treepie_report::input::machine::JobHosts;
use treepie_report::input::traffic::USUAL_MESSAGE;
use treepie_report::picture::Unit;
use treepie_report::words::file_name;
use treepie_report::{
    experience, grid, input, network, network_picture, placement, platform, platform_picture,
    tuning,
};
use treepie_topology::Topology;
use treepie_topology::networks::Site;
use treepie_traffic::formats::Format as MatrixFormat;

use crate::commands::outcome::Outcome;
use crate::commands::show::arguments::Arguments;
use crate::commands::show::draw::{Shown, draw, no_picture};
use crate::commands::show::job::described_tree;

/// Contents of a file of a store: one run, or several merged ones.
pub(crate) fn experience(arguments: &Arguments, path: &Path, file: &ExperienceFile) -> Outcome {
    draw(arguments, || Err(no_picture(arguments, "experience")))?;
    let directory = path.parent().map(file_name).unwrap_or_default();
    let key = Key::from_name(&directory).unwrap_or_default();
    // The summary shows the knowledge at the start of the last of its runs.
    let last = file.experience.runs.iter().map(|run| run.began).max();
    let summary = experience::Summary::new(
        key,
        &file.application,
        &file.experience,
        &file.guards,
        last.unwrap_or(0),
    );
    arguments.printing.answer(|| &summary, || summary.text())?;
    Ok(ExitCode::SUCCESS)
}

/// A topology under the given network, or with the given distances.
pub(crate) fn whole_tree(arguments: &Arguments) -> Outcome {
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

pub(crate) fn tree(arguments: &Arguments, topology: &Topology) -> Outcome {
    draw(arguments, || {
        Ok(Shown::Tree(html::bare_tree(&arguments.file, topology)))
    })?;
    let levels = topology.levels().iter();
    let names: Vec<&str> = levels.map(|level| level.name.as_str()).collect();
    let json = || {
        json!({
            "cores": topology.leaf_count(),
            "levels": names,
            "arities": topology.arities(),
            "distances": topology.level_distances(),
            "forbidden": topology.leaf_count() - topology.allowed_leaves().len(),
        })
    };
    let words = || placement::topology_text(&arguments.file, topology);
    arguments.printing.answer(json, words)?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn grid(arguments: &Arguments, found: &Grid) -> Outcome {
    draw(arguments, || Err(no_picture(arguments, "grid")))?;
    let words = || grid::grid_text(&arguments.file, found);
    arguments
        .printing
        .answer(|| grid::grid_json(found), words)?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn platform(arguments: &Arguments, found: &PlatformFile) -> Outcome {
    draw(arguments, || {
        let drawing = platform_picture::drawing(&arguments.file, &found.platform);
        Ok(Shown::Platform(drawing))
    })?;
    let words = || platform::text(&arguments.file, found);
    arguments.printing.answer(|| platform::json(found), words)?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn network_file(arguments: &Arguments, site: &Site) -> Outcome {
    if let Some(found) = input::network::tree(site) {
        return tree(arguments, found);
    }
    draw(arguments, || {
        let title = format!("{}: {}", arguments.file, site.network().describe());
        let bare = network_picture::picture(title, site.network(), &[], Unit::Bytes);
        Ok(Shown::Fabric(bare))
    })?;
    let words = || network::site_text(&arguments.file, site);
    arguments.printing.answer(|| network::json(site), words)?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn tuning(arguments: &Arguments, found: &TuningFile) -> Outcome {
    draw(arguments, || Ok(Shown::Chart(tuning::chart(&found.body))))?;
    let words = || tuning::text(&arguments.file, found);
    arguments.printing.answer(|| tuning::json(found), words)?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn configuration(arguments: &Arguments, settings: &Settings) -> Outcome {
    draw(arguments, || Err(no_picture(arguments, "configuration")))?;
    let variables = settings.to_variables();
    let words = || {
        let lines = variables.iter();
        let lines = lines.map(|(name, value)| format!("  {name}={value}\n"));
        let head = format!(
            "{}: configuration; what differs from the defaults:\n",
            arguments.file
        );
        head + &lines.collect::<String>()
    };
    let json = || variables.iter().cloned().collect::<BTreeMap<_, _>>();
    arguments.printing.answer(json, words)?;
    Ok(ExitCode::SUCCESS)
}

/// The policy of a site.
pub(crate) fn site(arguments: &Arguments, policy: &SitePolicy) -> Outcome {
    draw(arguments, || Err(no_picture(arguments, "site")))?;
    let words = || format!("{}: a site's policy:\n{policy}", arguments.file);
    arguments.printing.answer(|| policy, words)?;
    Ok(ExitCode::SUCCESS)
}
