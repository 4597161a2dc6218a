//! Selection of the output by the kind of the file.

use std::path::Path;

use treepie_profile::any::{AnyFile, read_any};
use treepie_report::input::traffic::parts_in;
use treepie_traffic::formats::Format as MatrixFormat;

use crate::commands::order;
use crate::commands::outcome::Outcome;
use crate::commands::show::arguments::Arguments;
use crate::commands::show::draw::{draw, no_picture};
use crate::commands::show::files::{
    configuration, experience, grid, network_file, platform, site, tree, tuning, whole_tree,
};
use crate::commands::show::job::{described_tree, matrix, placement, profile};

/// Shows a file of any kind.
pub fn run(arguments: &Arguments) -> Outcome {
    let path = Path::new(&arguments.file);
    if arguments.above.is_given() && !is_of_job(arguments) {
        return whole_tree(arguments);
    }
    if order::is_one(path) {
        draw(arguments, || Err(no_picture(arguments, "order")))?;
        return order::show(path, arguments.printing);
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
    match read_any(path)? {
        AnyFile::Profile(found) => profile(arguments, path, *found),
        AnyFile::Placement(found) => placement(arguments, path, &found),
        AnyFile::Topology(found) => tree(arguments, &found),
        AnyFile::Configuration(found) => configuration(arguments, &found),
        AnyFile::Site(found) => site(arguments, &found),
        AnyFile::Platform(found) => platform(arguments, &found),
        AnyFile::Grid(found) => grid(arguments, &found),
        AnyFile::Experience(found) => experience(arguments, path, &found),
        AnyFile::Tuning(found) => tuning(arguments, &found),
        AnyFile::Network(found) => network_file(arguments, &found),
    }
}

/// True if a profile or a placement is shown on a network, or a profile with a platform.
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
