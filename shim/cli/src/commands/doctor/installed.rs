//! Treepie's own parts, and the restrictions of this machine.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use treepie_launch::environment::PRELOAD;
use treepie_launch::{allocation, binary, library, search, surroundings};
use treepie_profile::settings::DISABLE_VARIABLE;
use treepie_profile::site::{SITE_FILE, SitePolicy};
use treepie_report::input::topology::{self, describe};

use crate::commands::doctor::finding::Report;
use crate::commands::hosts::are_sorted_as_text;

/// Libraries that the library may need because every process has them; any other would be loaded
/// with it.
const RUN_TIME: [&str; 7] = [
    "libc.so",
    "libgcc_s.so",
    "libm.so",
    "libdl.so",
    "libpthread.so",
    "librt.so",
    "ld-linux",
];

/// Examines the library, its companion, the machine, and the output directories.
pub fn look(report: &mut Report) {
    match library::find() {
        Ok(path) => own_library(report, &path),
        Err(error) => report.error("library", &error),
    }
    match topology::from_this_machine() {
        Ok(machine) => report.good("machine", describe(&machine)),
        Err(error) => report.error("machine", &error),
    }
    switches(report);
    order_of_hosts(report);
    cores(report);
    directory(report);
    shared_memory(report);
    if let Some(value) = std::env::var_os(PRELOAD).filter(|value| !value.is_empty()) {
        report.note(
            "preloaded",
            format!("{PRELOAD} is set already, and stays: {}", value.display()),
        );
    }
}

/// Examines the library, the libraries that it links to, and its companion.
fn own_library(report: &mut Report, path: &Path) {
    let name = path.display();
    let again = "build it again with scripts/build";
    match binary::needed(path) {
        None => report.problem("library", format!("{name} is no shared library"), again),
        Some(needed) => match foreign(&needed) {
            foreign if foreign.is_empty() => {
                report.good(
                    "library",
                    format!("{name}, which needs only the C run-time"),
                );
                preloading(report, path);
            }
            foreign => report.problem(
                "library",
                format!(
                    "{name} needs {}, which it would bring into every job",
                    foreign.join(", ")
                ),
                again,
            ),
        },
    }
    let companion = path.with_file_name(library::COMPANION);
    match binary::needed(&companion) {
        Some(_) => report.good("companion", companion.display().to_string()),
        None => report.note(
            "companion",
            format!(
                "{} is missing: jobs cannot look at their machine; build it with scripts/build",
                companion.display()
            ),
        ),
    }
}

/// Checks that the linker loads the library, which it does not do from a file system without
/// execute permission, for example: it then prints a message and continues without it.
fn preloading(report: &mut Report, library: &Path) {
    let Some(program) = search::executable("true".as_ref()) else {
        return;
    };
    let tried = Command::new(program)
        .env(PRELOAD, library)
        .stdin(Stdio::null())
        .output();
    match tried {
        Ok(output) if output.status.success() && output.stderr.is_empty() => {
            report.good("preloading", "the linker takes the library into a program");
        }
        Ok(output) => {
            let stderr = String::from_utf8_lossy(&output.stderr);
            report.problem(
                "preloading",
                stderr
                    .lines()
                    .next()
                    .unwrap_or("a preloaded program fails")
                    .to_owned(),
                "install treepie where files can be read and executed by all",
            );
        }
        Err(error) => report.error("preloading", &error),
    }
}

/// Examines the switches outside the settings: the one that turns everything off, and the site's
/// policy.
fn switches(report: &mut Report) {
    if surroundings::is_disabled() {
        report.problem(
            "switch",
            format!("{DISABLE_VARIABLE} is set: the library does nothing"),
            "unset it",
        );
    }
    match SitePolicy::of_machine() {
        Ok(None) => {}
        Ok(Some(_)) => report.good(
            "site",
            format!("`treepie show {SITE_FILE}` prints the policy"),
        ),
        Err(error) => report.problem(
            "site",
            format!("{error}; the policy is left out"),
            "ask this site's support",
        ),
    }
}

/// The order of the allocation's hosts, by which ranks are numbered.
fn order_of_hosts(report: &mut Report) {
    let hosts = allocation::of_scheduler().unwrap_or_default();
    let names: Vec<String> = hosts.into_iter().map(|host| host.name).collect();
    if are_sorted_as_text(&names) {
        report.note(
            "hosts",
            "the allocation's hosts are sorted as text, node10 before node2: neighbours in rank are \
             far apart; `treepie hosts` puts them into an order for the network",
        );
    }
}

/// The cores that this shell and its children may use.
fn cores(report: &mut Report) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut lines = status.lines();
    match lines.find_map(|line| line.strip_prefix("Cpus_allowed_list:")) {
        Some(list) => report.good("cores", format!("processors {} may be used", list.trim())),
        None => report.note(
            "cores",
            "the system does not state the allowed cores: nothing is bound here",
        ),
    }
}

/// Default directory of profiles.
fn directory(report: &mut Report) {
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    match tempfile::tempfile_in(&here) {
        Ok(_) => report.good("directory", format!("{} can be written", here.display())),
        Err(error) => report.problem(
            "directory",
            format!("{} cannot be written ({})", here.display(), error.kind()),
            "name another with --output",
        ),
    }
}

/// Shared memory, which every MPI needs on a host.
fn shared_memory(report: &mut Report) {
    let place = Path::new("/dev/shm");
    match tempfile::tempfile_in(place) {
        Ok(_) => report.good("memory", "/dev/shm can be written"),
        Err(error) => report.note(
            "memory",
            format!(
                "/dev/shm cannot be written ({}): most MPIs need it to start; mount it",
                error.kind()
            ),
        ),
    }
}

/// The libraries that do not belong to the C run-time.
fn foreign(needed: &[String]) -> Vec<&str> {
    let is_run_time = |name: &&String| RUN_TIME.iter().any(|known| name.starts_with(known));
    let foreign = needed.iter().filter(|name| !is_run_time(name));
    foreign.map(String::as_str).collect()
}
