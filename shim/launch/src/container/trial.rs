//! A trial of a job's container with the library. A library for another C library ends the job, so
//! that the trial precedes it.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use super::container_command::ContainerCommand;
use super::{bound, load, options};
use crate::environment::Payload;
use crate::family::Family;
use crate::{search, timed};

/// Time limit of a container to start and end.
const LIMIT: Duration = Duration::from_secs(30);

/// A program that every image has.
const PROGRAM: &str = "/bin/true";

/// Reason why the library does not work in a container. The text follows the name of the image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obstacle {
    /// Another C library.
    Musl,
    /// A C library older than the one that the library was built with.
    OlderLibrary,
    /// No file at the library's path.
    NotBound(PathBuf),
    /// The dynamic linker's own line.
    NotLoaded(String),
}

impl fmt::Display for Obstacle {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Obstacle::Musl => out.write_str(
                "has musl as its C library, which cannot load libtreepie.so; use an image with \
                 glibc, such as one of Debian, Ubuntu or Rocky",
            ),
            Obstacle::OlderLibrary => out.write_str(
                "has an older C library than libtreepie.so was built with; install the build of \
                 `scripts/build --portable`, which needs glibc 2.17",
            ),
            Obstacle::NotBound(path) => write!(
                out,
                "does not have {}; bind that directory when the container is started",
                path.display()
            ),
            Obstacle::NotLoaded(line) => write!(
                out,
                "cannot load libtreepie.so ({line}); use another image, or the build of \
                 `scripts/build --portable`"
            ),
        }
    }
}

/// The image of a job's container and the obstacle in it, found by starting `/bin/true` in it with
/// the library. A trial that fails for other reasons, as for a missing run-time, finds none.
pub fn obstacle(
    family: Family,
    command: &[OsString],
    payload: &Payload,
) -> Option<(String, Obstacle)> {
    let library = payload.library.as_deref()?;
    let (words, place) = load::first(family, command)?;
    let answer = timed::answer_of(trial(words, &place, payload)?, LIMIT);
    let answer = answer.ok()??;
    let text = String::from_utf8_lossy(&[answer.output, answer.errors].concat()).into_owned();
    let folder = library.parent().unwrap_or(library).to_owned();
    let found = understood(&text, folder)?;
    Some((place.image(words), found))
}

/// The command of a trial; `None` if the run-time is not on this host.
fn trial(words: &[OsString], place: &ContainerCommand, payload: &Payload) -> Option<Command> {
    let end = place.before_program(words);
    let mut line = words[..end].to_vec();
    let mut place = *place;
    if place.binds {
        let added = place.runtime.trial;
        line.splice(place.end..place.end, added.iter().map(OsString::from));
        place.end += added.len();
        if let (Some(at), Some(start)) = (place.subcommand, place.runtime.starts.first()) {
            line[at] = start.into();
        }
    }
    line.push(PROGRAM.into());
    let bound = bound::directories(payload).ok()?;
    let left = options::enter(&mut line, &place, payload, &bound);
    let mut command = Command::new(search::executable(&line[0])?);
    command.args(&line[1..]).envs(left.variables.settings);
    Some(command)
}

/// The obstacle that the output of a dynamic linker of either C library reports.
fn understood(text: &str, folder: PathBuf) -> Option<Obstacle> {
    let line = |mark: &str| text.lines().find(|line| line.contains(mark));
    // Of musl.
    if ["Error loading shared library", "Error relocating"]
        .iter()
        .any(|mark| line(mark).is_some())
    {
        return Some(Obstacle::Musl);
    }
    if let Some(found) = line("cannot be preloaded") {
        return Some(match found.contains("cannot open shared object file") {
            true => Obstacle::NotBound(folder),
            false => Obstacle::NotLoaded(found.trim().to_owned()),
        });
    }
    if line("version `GLIBC_").is_some() {
        return Some(Obstacle::OlderLibrary);
    }
    let other = [
        "error while loading shared libraries",
        "symbol lookup error",
    ];
    let found = other.iter().find_map(|mark| line(mark))?;
    Some(Obstacle::NotLoaded(found.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_dynamic_linkers_say_what_is_wrong() {
        let folder = PathBuf::from("/opt/treepie/lib");
        for (text, expected) in [
            ("", None),
            ("Error: no such image", None),
            (
                "Error loading shared library ld-linux-x86-64.so.2: No such file or directory \
                 (needed by /l/libtreepie.so)\nError relocating /l/libtreepie.so: dlvsym: symbol \
                 not found",
                Some(Obstacle::Musl),
            ),
            (
                "ERROR: ld.so: object '/l/libtreepie.so' from LD_PRELOAD cannot be preloaded \
                 (cannot open shared object file): ignored.",
                Some(Obstacle::NotBound(folder.clone())),
            ),
            (
                "ERROR: ld.so: object '/l/libtreepie.so' from LD_PRELOAD cannot be preloaded \
                 (wrong ELF class: ELFCLASS64): ignored.",
                Some(Obstacle::NotLoaded(
                    "ERROR: ld.so: object '/l/libtreepie.so' from LD_PRELOAD cannot be preloaded \
                     (wrong ELF class: ELFCLASS64): ignored."
                        .into(),
                )),
            ),
            (
                "/bin/true: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found \
                 (required by /l/libtreepie.so)",
                Some(Obstacle::OlderLibrary),
            ),
        ] {
            assert_eq!(understood(text, folder.clone()), expected, "{text}");
        }
    }
}
