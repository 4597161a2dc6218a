//! A job's command line with the payload in its containers.

use std::ffi::OsString;

use super::container_command::ContainerCommand;
use super::{bound, options, pyxis};
use crate::environment::Payload;
use crate::error::CommandError;
use crate::family::Family;
use crate::{injection, program};

/// The container of one program: its run-time's words behind the launcher's options, or pyxis.
enum Container {
    Runtime { at: usize, place: ContainerCommand },
    Pyxis { end: usize },
}

/// The container of a program, given the launcher's options and the program's words.
fn container(family: Family, words: &[OsString]) -> Option<Container> {
    let at = program::position(family, words);
    if let Some(at) = at
        && let Some(place) = ContainerCommand::new(&words[at..])
    {
        return Some(Container::Runtime { at, place });
    }
    let end = at.unwrap_or(words.len());
    let is_pyxis = family == Family::Slurm && pyxis::is_used(&words[..end]);
    is_pyxis.then_some(Container::Pyxis { end })
}

/// The words of each program of a job, with the launcher's options for it; the launcher's own name
/// is not among them, unless there is no launcher.
pub(super) fn programs(family: Family, command: &[OsString]) -> Vec<&[OsString]> {
    let words = match family {
        Family::Plain => command,
        _ => command.get(1..).unwrap_or_default(),
    };
    injection::programs(family, words).collect()
}

/// The run-time's words of the first program that runs in a container, with their meaning.
pub(super) fn first(
    family: Family,
    command: &[OsString],
) -> Option<(&[OsString], ContainerCommand)> {
    let mut programs = programs(family, command).into_iter();
    programs.find_map(|words| match container(family, words)? {
        Container::Runtime { at, place } => Some((&words[at..], place)),
        Container::Pyxis { .. } => None,
    })
}

/// The name of the run-time that makes a job's containers.
pub fn runtime_of_job(family: Family, command: &[OsString]) -> Option<&'static str> {
    let mut programs = programs(family, command).into_iter();
    programs.find_map(|words| match container(family, words)? {
        Container::Runtime { place, .. } => Some(place.runtime.name),
        Container::Pyxis { .. } => Some(PYXIS),
    })
}

const PYXIS: &str = "pyxis";

/// The command line of a job whose programs run in containers, and the part of the payload that the
/// launcher has to pass on; `None` if none of them does.
///
/// # Errors
/// Only some of the programs run in a container, a directory cannot be bound, or a list of programs
/// runs under pyxis.
pub(crate) fn load(
    family: Family,
    payload: &Payload,
    command: &[OsString],
) -> Result<Option<(Vec<OsString>, Payload)>, CommandError> {
    let programs = programs(family, command);
    let containers: Vec<Option<Container>> = programs
        .iter()
        .map(|words| container(family, words))
        .collect();
    if containers.iter().all(Option::is_none) {
        return Ok(None);
    }
    let bound = bound::directories(payload)?;
    let mut line = match family {
        Family::Plain => Vec::new(),
        _ => command[..1].to_vec(),
    };
    let mut left = Payload::default();
    for (number, (words, container)) in programs.into_iter().zip(containers).enumerate() {
        if number > 0 {
            line.push(":".into());
        }
        let mut words = words.to_vec();
        match container {
            Some(Container::Runtime { at, place }) => {
                let mut own = words.split_off(at);
                left = options::enter(&mut own, &place, payload, &bound);
                words.append(&mut own);
            }
            Some(Container::Pyxis { end }) => {
                pyxis::enter(&mut words, end, payload, &bound)?;
                left = Payload {
                    library: None,
                    ..payload.clone()
                };
            }
            None => {
                return Err(CommandError::usage(
                    "some programs of this job run in containers and some do not: the launcher \
                     cannot give them different variables; start them all in containers, or none",
                ));
            }
        }
        line.append(&mut words);
    }
    Ok(Some((line, left)))
}
