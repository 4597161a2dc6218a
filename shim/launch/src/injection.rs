//! Methods by which launchers pass variables to the ranks.
//!
//! The launcher itself is not changed: it is not preloaded, and its own options stay in order after
//! the added ones.

mod handed_on;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

use super::environment::{PRELOAD, Payload};
use super::family::{Family, Launcher};
use super::{container, program};
use crate::error::CommandError;

/// A job that is ready to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// The file to start.
    pub program: PathBuf,
    /// Its name as the user wrote it, which becomes its argument 0.
    pub name: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Variables of the launcher itself.
    pub environment: Vec<(String, OsString)>,
}

impl Invocation {
    /// The job as the user wrote it.
    pub fn plain(launcher: &Launcher, command: &[OsString]) -> Self {
        Invocation {
            program: launcher.path.clone(),
            name: command.first().cloned().unwrap_or_default(),
            arguments: command.get(1..).unwrap_or_default().to_vec(),
            environment: Vec::new(),
        }
    }
}

impl fmt::Display for Invocation {
    /// Formats the invocation as a shell command.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.environment {
            write!(out, "{name}={} ", quoted(value))?;
        }
        write!(out, "{}", quoted(&self.name))?;
        for argument in &self.arguments {
            write!(out, " {}", quoted(argument))?;
        }
        Ok(())
    }
}

/// Quotes a word for a shell.
fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let plain = |c: char| c.is_alphanumeric() || "-_./:=,+@%^".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.into_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Adds a payload to a job's command line: for the launcher to pass on, or for the run-time of the
/// containers in which the programs run.
///
/// # Errors
/// The launcher cannot pass on a value, or a directory cannot be bound into a container.
pub fn inject(
    launcher: &Launcher,
    payload: &Payload,
    command: &[OsString],
) -> Result<Invocation, CommandError> {
    let contained = container::load(launcher.family, payload, command)?;
    let (command, payload) = match &contained {
        Some((command, left)) => (command.as_slice(), left),
        None => (command, payload),
    };
    let mut invocation = Invocation::plain(launcher, command);
    let environment = &mut invocation.environment;
    let arguments = invocation.arguments;
    invocation.arguments = match launcher.family {
        Family::OpenMpi => with_x_options(payload, &arguments),
        Family::Hydra => with_genv_options(payload, &arguments),
        Family::Slurm => with_export(payload, &arguments, environment)?,
        Family::Flux => handed_on::with_env_rules(payload, &arguments),
        Family::Pals => {
            let names = handed_on::set(payload, environment);
            handed_on::listed_for_pals(&names, &arguments)
        }
        Family::ParaStation => {
            let names = handed_on::set(payload, environment);
            environment.extend(handed_on::listed_for_parastation(&names));
            arguments
        }
        Family::Plain => {
            environment.extend(payload.all());
            arguments
        }
    };
    Ok(invocation)
}

/// `NAME=VALUE`.
fn assignment(name: &str, value: &OsStr) -> OsString {
    let mut text = OsString::from(name);
    text.push("=");
    text.push(value);
    text
}

/// The programs of a job that starts several, separated by `:`, with their options. Without a
/// launcher, and for Flux, `:` is an ordinary word.
pub fn programs(family: Family, arguments: &[OsString]) -> impl Iterator<Item = &[OsString]> {
    let one = matches!(family, Family::Plain | Family::Flux);
    arguments.split(move |argument| !one && argument == ":")
}

/// Open MPI: `-x NAME=VALUE` for each of the job's programs, because it applies to one program
/// only. Of two for the same name the last applies, so that a user's own `-x LD_PRELOAD=...` is
/// extended in place.
fn with_x_options(payload: &Payload, arguments: &[OsString]) -> Vec<OsString> {
    let mut line: Vec<OsString> = Vec::new();
    for (place, program) in programs(Family::OpenMpi, arguments).enumerate() {
        if place > 0 {
            line.push(":".into());
        }
        let mut options = program.to_vec();
        let end = program::position(Family::OpenMpi, program).unwrap_or(program.len());
        let mut preload_is_set = false;
        for at in 1..end {
            if !matches!(options[at - 1].to_str(), Some("-x" | "--x")) {
                continue;
            }
            let Some(named) = options[at]
                .to_str()
                .and_then(|text| text.strip_prefix(PRELOAD))
            else {
                continue;
            };
            let given = match named.strip_prefix('=') {
                Some(value) => Some(OsStr::new(value)),
                None if named.is_empty() => None,
                None => continue,
            };
            if let Some(preload) = payload.preload(given) {
                options[at] = assignment(PRELOAD, &preload);
                preload_is_set = true;
            }
        }
        if !preload_is_set && let Some(preload) = payload.preload(None) {
            line.extend(["-x".into(), assignment(PRELOAD, &preload)]);
        }
        for (name, value) in &payload.variables.settings {
            line.extend(["-x".into(), assignment(name, value)]);
        }
        line.append(&mut options);
    }
    line
}

/// Hydra: `-genv NAME VALUE` once, for all programs. A user's own `LD_PRELOAD`, for all (`-genv`)
/// or for one program (`-env`), is extended in place.
fn with_genv_options(payload: &Payload, arguments: &[OsString]) -> Vec<OsString> {
    let mut rest: Vec<OsString> = Vec::new();
    let mut preload_is_set = false;
    for (place, program) in programs(Family::Hydra, arguments).enumerate() {
        if place > 0 {
            rest.push(":".into());
        }
        let start = rest.len();
        rest.extend_from_slice(program);
        let end = program::position(Family::Hydra, program).unwrap_or(program.len());
        for at in (start + 2)..(start + end) {
            let option = rest[at - 2]
                .to_str()
                .map(|text| text.trim_start_matches('-'));
            let for_all = option == Some("genv");
            if (for_all || option == Some("env"))
                && rest[at - 1] == PRELOAD
                && let Some(preload) = payload.preload(Some(&rest[at]))
            {
                rest[at] = preload;
                preload_is_set |= for_all;
            }
        }
    }
    let mut line: Vec<OsString> = Vec::new();
    if !preload_is_set && let Some(preload) = payload.preload(None) {
        line.extend(["-genv".into(), PRELOAD.into(), preload]);
    }
    for (name, value) in &payload.variables.settings {
        line.extend(["-genv".into(), name.into(), value.clone()]);
    }
    line.append(&mut rest);
    line
}

/// Slurm: one `--export=ALL,NAME=VALUE,...`, merged with the user's own if there is one. A value
/// with a comma would end there, so that it is set in the environment of `srun` and exported by its
/// name.
fn with_export(
    payload: &Payload,
    arguments: &[OsString],
    environment: &mut Vec<(String, OsString)>,
) -> Result<Vec<OsString>, CommandError> {
    let mut line: Vec<OsString> = Vec::new();
    let mut exports = Vec::new();
    for (name, value) in &payload.variables.settings {
        if value.as_encoded_bytes().contains(&b',') {
            environment.push((name.clone(), value.clone()));
            exports.push(OsString::from(name));
        } else {
            exports.push(assignment(name, value));
        }
    }
    for (place, program) in programs(Family::Slurm, arguments).enumerate() {
        if place > 0 {
            line.push(":".into());
        }
        let mut options = program.to_vec();
        let own = take_export(&mut options).or_else(|| std::env::var_os("SLURM_EXPORT_ENV"));
        let (kept, given) = split_export(own.as_deref());
        let preload = payload.preload(given.as_deref());
        if let Some(preload) = &preload
            && preload.as_encoded_bytes().contains(&b',')
        {
            return Err(CommandError::usage(format!(
                "{}: Slurm cannot pass on {PRELOAD} with a comma in it; install treepie in a directory without one",
                preload.display()
            )));
        }
        // The user's own value stays where there is no library to add.
        let preload = preload.or(given);
        let mut export = OsString::from("--export=");
        let own_parts = kept.iter().cloned();
        let parts = own_parts
            .chain(preload.map(|value| assignment(PRELOAD, &value)))
            .chain(exports.iter().cloned());
        for (at, part) in parts.enumerate() {
            if at > 0 {
                export.push(",");
            }
            export.push(part);
        }
        line.push(export);
        line.append(&mut options);
    }
    Ok(line)
}

/// Removes `--export=LIST` or `--export LIST` from one program's options.
fn take_export(options: &mut Vec<OsString>) -> Option<OsString> {
    let end = program::position(Family::Slurm, options).unwrap_or(options.len());
    let at = options[..end].iter().position(|option| {
        option
            .to_str()
            .is_some_and(|text| text == "--export" || text.starts_with("--export="))
    })?;
    let option = options.remove(at);
    match option
        .to_str()
        .and_then(|text| text.strip_prefix("--export="))
    {
        Some(list) => Some(list.into()),
        None if at < options.len() => Some(options.remove(at)),
        None => None,
    }
}

/// A user's list without its `LD_PRELOAD`, and the value of the latter. Without a list everything
/// is exported; `NONE` becomes the empty list.
fn split_export(own: Option<&OsStr>) -> (Vec<OsString>, Option<OsString>) {
    let text = own.map_or("ALL".into(), OsStr::to_string_lossy);
    let mut preload = None;
    let mut kept = Vec::new();
    for part in text
        .split(',')
        .filter(|part| !part.is_empty() && *part != "NONE")
    {
        match part
            .strip_prefix(PRELOAD)
            .and_then(|rest| rest.strip_prefix('='))
        {
            Some(value) => preload = Some(OsString::from(value)),
            None => kept.push(OsString::from(part)),
        }
    }
    (kept, preload)
}

#[cfg(test)]
mod tests;
