//! Files on machines and settings: trees, grids, platforms, networks, tunings.

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
use treepie_report::input::plan::Simulated;
use treepie_report::input::traffic::USUAL_MESSAGE;
use treepie_report::picture::{Format, Unit, write_drawing};
use treepie_report::words::file_name;
use treepie_report::{self, experience, grid, placement, plan, platform, platform_picture};
use treepie_topology::Topology;
use treepie_topology::networks::Site;
use treepie_traffic::formats::Format as MatrixFormat;

use crate::commands::outcome::Outcome;
use crate::commands::show::arguments::Arguments;
use crate::commands::show::draw::{Shown, draw, no_picture};
use crate::commands::show::job::described_tree;
use crate::output;

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
    if arguments.json {
        output::print_json(&summary)?
    } else {
        output::print(&summary.text())?
    }
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

pub(crate) fn grid(arguments: &Arguments, found: &Grid) -> Outcome {
    draw(arguments, || Err(no_picture(arguments, "grid")))?;
    if arguments.json {
        output::print_json(&grid::grid_json(found))?
    } else {
        output::print(&grid::grid_text(&arguments.file, found))?
    }
    Ok(ExitCode::SUCCESS)
}

/// A plan on a platform: the steps of each rank in time.
pub(crate) fn simulated(arguments: &Arguments, plan: &Simulated) -> Outcome {
    draw(arguments, || Ok(Shown::Gantt(plan::gantt(plan))))?;
    if arguments.json {
        output::print_json(&plan::json(plan))?
    } else {
        output::print(&plan::text(&arguments.file, plan))?
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn platform(arguments: &Arguments, found: &PlatformFile) -> Outcome {
    if let Some(plan) = arguments.plan.on(&found.platform)? {
        return simulated(arguments, &plan);
    }
    let pictures = [(&arguments.svg, Format::Svg), (&arguments.png, Format::Png)];
    for (path, format) in pictures {
        if let Some(path) = path {
            let drawing = platform_picture::drawing(&arguments.file, &found.platform);
            write_drawing(&drawing, format, path)?;
        }
    }
    if arguments.json {
        output::print_json(&platform::json(found))?
    } else {
        output::print(&platform::text(&arguments.file, found))?
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn network_file(arguments: &Arguments, site: &Site) -> Outcome {
    if let Some(found) = treepie_report::input::network::tree(site) {
        return tree(arguments, found);
    }
    draw(arguments, || {
        let title = format!("{}: {}", arguments.file, site.network().describe());
        let bare =
            treepie_report::network_picture::picture(title, site.network(), &[], Unit::Bytes);
        Ok(Shown::Fabric(bare))
    })?;
    if arguments.json {
        output::print_json(&treepie_report::network::json(site))?
    } else {
        output::print(&treepie_report::network::site_text(&arguments.file, site))?
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn tuning(arguments: &Arguments, found: &TuningFile) -> Outcome {
    draw(arguments, || {
        Ok(Shown::Chart(treepie_report::tuning::chart(&found.body)))
    })?;
    if arguments.json {
        output::print_json(&treepie_report::tuning::json(found))?
    } else {
        output::print(&treepie_report::tuning::text(&arguments.file, found))?
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn configuration(arguments: &Arguments, settings: &Settings) -> Outcome {
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

/// The policy of a site.
pub(crate) fn site(arguments: &Arguments, policy: &SitePolicy) -> Outcome {
    draw(arguments, || Err(no_picture(arguments, "site")))?;
    match arguments.json {
        true => output::print_json(policy)?,
        false => output::print(&format!("{}: a site's policy:\n{policy}", arguments.file))?,
    }
    Ok(ExitCode::SUCCESS)
}
