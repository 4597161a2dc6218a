//! A job: the processes that would be started, and whether the library would be loaded into its
//! programs.

use std::ffi::OsString;
use std::path::Path;

use treepie_launch::binary::{self, Program};
use treepie_launch::family::{Family, Launcher};
use treepie_launch::{self, container, injection, library, program, python, reach, search};
use treepie_profile::site::SitePolicy;

use crate::commands::doctor::finding::Report;

/// Examines a job without starting it.
pub fn look(report: &mut Report, command: &[OsString]) {
    let launcher = match Launcher::detect(command) {
        Ok(launcher) => launcher,
        Err(error) => return report.error("job", &error),
    };
    match treepie_launch::shown(command, &[("TREEPIE_MODE", "profile".into())]) {
        Ok(invocation) => report.good("job", invocation.to_string()),
        // A missing library has been reported already.
        Err(_) if library::find().is_err() => {}
        Err(error) => report.error("job", &error),
    }
    if let Some(runtime) = container::runtime_of_job(launcher.family, command) {
        return in_container(report, runtime, command);
    }
    let words = match launcher.family {
        Family::Plain => command,
        _ => &command[1..],
    };
    for words in injection::programs(launcher.family, words) {
        let Some(place) = program::position(launcher.family, words) else {
            report.problem(
                "program",
                "the launcher is given no program",
                "write it after its options",
            );
            continue;
        };
        match search::executable(&words[place]) {
            Some(path) => one_program(report, &launcher, &path),
            None => report.problem(
                "program",
                format!("{}: no such program", words[place].display()),
                "check its name and PATH, or write its whole path",
            ),
        }
    }
}

/// Reports whether the library can be loaded in a job's containers, whose programs are not visible
/// from here.
fn in_container(report: &mut Report, runtime: &str, command: &[OsString]) {
    match treepie_launch::obstacle_in_container(command) {
        Ok(Some((image, obstacle))) => report.error("container", &format!("{image} {obstacle}")),
        // Errors have been reported already.
        _ => report.note(
            "container",
            format!("{runtime} runs the program, and nothing was found that keeps the library out"),
        ),
    }
}

/// Checks that the library can be loaded into a program, and that its MPI is the launcher's.
fn one_program(report: &mut Report, launcher: &Launcher, path: &Path) {
    let name = path.display();
    let library = library::find().unwrap_or_default();
    if let Some(obstacle) = reach::obstacle(path, &library) {
        return report.error("program", &format!("{name} {obstacle}"));
    }
    if let Ok(Some(policy)) = SitePolicy::of_machine() {
        let verdict = policy.on_program(&[path]);
        report.note("site", format!("{name}: by the site's policy {verdict}"));
    }
    match binary::kind(path) {
        None => report.problem(
            "program",
            format!("{name} cannot be read"),
            "check its permissions",
        ),
        Some(Program::Static) => report.problem(
            "program",
            format!("{name} is linked statically: nothing can be preloaded into it"),
            "link it dynamically",
        ),
        Some(Program::Script(interpreter)) => match python::behind(&interpreter) {
            Some(python) => check_python(report, launcher, path, &python),
            None => report.note(
                "program",
                format!("{name} is a script for {interpreter}: whether it uses MPI shows when it runs"),
            ),
        },
        Some(Program::Other) => report.note(
            "program",
            format!("{name} is neither a program nor a script of a known kind"),
        ),
        Some(Program::Dynamic) if python::is_one(path) => check_python(report, launcher, path, path),
        Some(Program::Dynamic) => match binary::mpi_of(path) {
            Some((mpi, family)) => fitting(report, launcher, path, &mpi, family),
            None => report.note(
                "program",
                format!(
                    "{name} is linked to no MPI; it is counted if it loads one while it runs, as Python does"
                ),
            ),
        },
    }
}

fn check_python(report: &mut Report, launcher: &Launcher, program: &Path, python: &Path) {
    match python::mpi_of(python) {
        Some((mpi, family)) => fitting(report, launcher, program, &mpi, family),
        None => report.note(
            "program",
            format!(
                "{}: {} has no mpi4py whose MPI is known; it is counted if it loads one while it runs",
                program.display(),
                python.display()
            ),
        ),
    }
}

/// Compares the MPI of a program with that of its launcher.
fn fitting(report: &mut Report, launcher: &Launcher, path: &Path, mpi: &Path, family: Family) {
    let name = path.display();
    match reach::other_mpi(launcher, mpi, family) {
        Some(told) => report.problem("program", format!("{name} {told}"), reach::OTHER_MPI_REMEDY),
        None => report.good(
            "program",
            format!("{name} uses {} ({family})", mpi.display()),
        ),
    }
}
