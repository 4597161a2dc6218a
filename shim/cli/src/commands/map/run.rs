//! Steps of `treepie map`: place, write, report.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use treepie_base::check_writable;
use treepie_launch::error::CommandError;
use treepie_report::input::topology::beside;
use treepie_report::input::traffic::Input;
use treepie_report::picture::{Format, write_drawing};

use crate::commands::map::arguments::Arguments;
use crate::commands::map::containment::machine::Machine;
use crate::commands::map::job::Job;
use crate::commands::map::result::MapResult;
use crate::commands::options::absolute_path;
use crate::commands::outcome::Outcome;

/// Computes, writes, and reports.
pub fn run(arguments: &Arguments) -> Outcome {
    for picture in arguments.picture.iter().chain(&arguments.links) {
        Format::from_path(picture)?;
    }
    let output = match &arguments.output {
        Some(path) => path.clone(),
        None => beside(&arguments.profile, "placement"),
    };
    check_outputs(arguments, &output)?;
    let input = Input::read(&arguments.profile, &arguments.choice)?;
    let job = Job::new(arguments, input)?;
    let machine = if arguments.containment.is_given() {
        Some(Machine::new(&arguments.containment, &job.topology)?)
    } else {
        None
    };
    let start = Instant::now();
    let mut placed = job.place(arguments)?;
    let near = arguments.near.seat(arguments, &job, &mut placed)?;
    let seconds = start.elapsed().as_secs_f64();
    let found = MapResult::new(arguments, job, placed, near, seconds)?;
    let report = machine.as_ref();
    let report = report.map(|machine| arguments.containment.report(machine, &found));
    let report = report.transpose()?;
    found.file()?.write(&output)?;
    match (&arguments.picture, &report) {
        (Some(path), Some(report)) => {
            write_drawing(&report.chart(), Format::from_path(path)?, path)?;
        }
        (Some(path), None) => found.picture()?.write(path)?,
        (None, _) => (),
    }
    if let Some(path) = &arguments.links {
        write_drawing(&found.links()?, Format::from_path(path)?, path)?;
    }
    // The verdict on the placement stays the last line.
    let words = report.as_ref().map(|report| report.text());
    let words = || words.unwrap_or_default() + &found.text(&output);
    let json = || found.answer(&output, report);
    arguments.printing.answer(json, words)?;
    Ok(ExitCode::SUCCESS)
}

/// Refuses files that cannot all be written, before any work.
pub(crate) fn check_outputs(arguments: &Arguments, output: &Path) -> Result<(), CommandError> {
    let own = [
        ("--output", Some(output)),
        ("--picture", arguments.picture.as_deref()),
        ("--network-picture", arguments.links.as_deref()),
    ];
    let named = own.into_iter().chain(arguments.containment.outputs());
    let mut known = vec![("the profile", real(&arguments.profile)?)];
    for (option, path) in named.filter_map(|(option, path)| Some((option, path?))) {
        check_writable(path)?;
        let file = real(path)?;
        let is_shared = path.metadata().is_ok_and(|data| !data.is_file());
        if let (Some((other, _)), false) = (known.iter().find(|one| one.1 == file), is_shared) {
            return Err(CommandError::usage(format!(
                "{option} {}: is {other}, too; name another file",
                path.display()
            )));
        }
        known.push((option, file));
    }
    Ok(())
}

/// The path of a file without links; the file may not exist yet.
pub(crate) fn real(path: &Path) -> Result<PathBuf, CommandError> {
    match path.canonicalize() {
        Ok(path) => Ok(path),
        Err(_) => absolute_path(path),
    }
}
