//! Launchers that pass on their own environment, all of it or the listed variables; and Flux, which
//! has rules for it.

use std::ffi::{OsStr, OsString};

use super::super::environment::{PRELOAD, Payload};
use super::super::family::Family;
use super::super::program;

/// Flux: `--env=NAME=VALUE` after the user's own rules, since rules apply in order. In a value `$`
/// begins a variable, and `$$` is a literal `$`.
pub(super) fn with_env_rules(payload: &Payload, arguments: &[OsString]) -> Vec<OsString> {
    let end = program::position(Family::Flux, arguments).unwrap_or(arguments.len());
    let own = arguments[..end].iter().rev().find_map(|word| {
        let text = word.to_str()?;
        let rule = text.strip_prefix("--env=").unwrap_or(text);
        rule.strip_prefix(PRELOAD)?.strip_prefix('=')
    });
    let preload = payload.preload(own.map(OsStr::new));
    let rule = |name: &str, value: &OsStr| {
        OsString::from(format!(
            "--env={name}={}",
            value.to_string_lossy().replace('$', "$$")
        ))
    };
    let mut line = arguments[..end].to_vec();
    line.extend(preload.map(|value| rule(PRELOAD, &value)));
    let settings = payload.variables.settings.iter();
    line.extend(settings.map(|(name, value)| rule(name, value)));
    line.extend_from_slice(&arguments[end..]);
    line
}

/// PALS passes on the environment of its `mpiexec`, unless `--envnone` or `--envlist` is given;
/// then our names are added to the list. The form of `--env` differs between its versions.
pub(super) fn listed_for_pals(names: &str, arguments: &[OsString]) -> Vec<OsString> {
    let end = program::position(Family::Pals, arguments).unwrap_or(arguments.len());
    let mut line = arguments.to_vec();
    let is = |word: &OsString, name: &str| {
        word.to_str()
            .is_some_and(|text| text.trim_start_matches('-') == name && text.starts_with('-'))
    };
    let list = line[..end].iter().position(|word| is(word, "envlist"));
    if names.is_empty() {
        return line;
    }
    if let Some(value) = list.and_then(|at| line[..end].get_mut(at + 1)) {
        value.push(",");
        value.push(names);
    } else if let Some(word) = line[..end].iter_mut().find(|word| {
        word.to_str()
            .is_some_and(|text| text.trim_start_matches('-').starts_with("envlist="))
    }) {
        word.push(",");
        word.push(names);
    } else if line[..end].iter().any(|word| is(word, "envnone")) {
        line.splice(0..0, ["--envlist".into(), names.into()]);
    }
    line
}

/// ParaStation passes on a few variables, including `LD_PRELOAD`, and those in `PSI_EXPORTS`.
pub(super) fn listed_for_parastation(names: &str) -> Option<(String, OsString)> {
    if names.is_empty() {
        return None;
    }
    let mut exports = std::env::var_os(EXPORTS).unwrap_or_default();
    if !exports.is_empty() {
        exports.push(",");
    }
    exports.push(names);
    Some((EXPORTS.to_owned(), exports))
}

/// Variables that ParaStation exports in addition to its own list.
const EXPORTS: &str = "PSI_EXPORTS";

/// Sets all variables for the launcher, and lists their names.
pub(super) fn set(payload: &Payload, environment: &mut Vec<(String, OsString)>) -> String {
    environment.extend(payload.all());
    let names: Vec<&str> = environment.iter().map(|(name, _)| name.as_str()).collect();
    names.join(",")
}
