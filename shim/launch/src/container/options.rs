//! The payload in the words of a run-time.

use std::ffi::{OsStr, OsString};

use super::bound::{Bound, is_bound_by_user};
use super::container_command::ContainerCommand;
use super::table::{Binding, Passing};
use crate::environment::{PRELOAD, Payload, Variables, compose_preload};

/// Adds a payload to a run-time's words. Returns the part that the launcher has to pass on:
/// variables of the run-time itself.
pub(super) fn enter(
    words: &mut Vec<OsString>,
    place: &ContainerCommand,
    payload: &Payload,
    bound: &[Bound],
) -> Payload {
    let options = &mut words[place.options..place.end];
    let mut inside = Vec::from_iter(payload.variables.settings.clone());
    inside.extend(preload(options, place, payload).map(|value| (PRELOAD.to_owned(), value)));
    let mut added = Vec::new();
    if place.binds {
        added.extend(bindings(options, place, bound));
    }
    let mut outside = Variables::default();
    for (name, value) in inside {
        match place.runtime.passing {
            Passing::Prefixed(prefix) => {
                outside.settings.insert(format!("{prefix}{name}"), value);
            }
            Passing::Assigned(option) => added.push(assigned(&format!("{option}={name}"), &value)),
            Passing::Named(option) => added.extend([option.into(), name.into(), value]),
        }
    }
    let at = match place.runtime.binding {
        Binding::Joined(_) => place.options,
        Binding::Ordered(..) => place.end,
    };
    words.splice(at..at, added);
    Payload {
        variables: outside,
        ..Payload::default()
    }
}

fn assigned(name: &str, value: &OsStr) -> OsString {
    let mut word = OsString::from(name);
    word.push("=");
    word.push(value);
    word
}

/// Options that bind directories, except those that the user binds.
fn bindings(options: &[OsString], place: &ContainerCommand, bound: &[Bound]) -> Vec<OsString> {
    let mut added = Vec::new();
    match place.runtime.binding {
        Binding::Joined(option) => {
            added.extend(replaced(options, place, option));
            let own = bound
                .iter()
                .filter(|one| !is_bound_by_user(&one.path, options));
            added.extend(own.map(|one| assigned(option, &one.joined())));
        }
        Binding::Ordered(written, read) => {
            for one in bound {
                let option = if one.is_read_only { read } else { written };
                let path = one.path.as_os_str();
                added.extend([OsString::from(option), path.to_owned(), path.to_owned()]);
            }
        }
    }
    added
}

/// The user's bindings in a variable, which an option on the command line overrides.
fn replaced(options: &[OsString], place: &ContainerCommand, option: &str) -> Option<OsString> {
    let short = |word: &str| word.starts_with("-V");
    let mut words = options.iter().map(|word| word.to_string_lossy());
    if words.any(|word| word.starts_with(option) || short(&word)) {
        return None;
    }
    let mut variables = place.runtime.replaced.iter();
    let value = variables.find_map(std::env::var_os);
    value.map(|value| assigned(option, &value))
}

/// `LD_PRELOAD` in the container; `None` if the user's own option was extended in place.
fn preload(
    options: &mut [OsString],
    place: &ContainerCommand,
    payload: &Payload,
) -> Option<OsString> {
    let library = payload.library.as_deref()?;
    let inherited = payload.variables.preload.clone();
    let inherited = inherited.filter(|_| place.runtime.inherits);
    let existing = match place.runtime.passing {
        Passing::Named(option) => {
            let named = |two: &[OsString]| two[0] == option && two[1] == PRELOAD;
            let own = options.windows(2).rposition(named);
            own.and_then(|at| options.get(at + 2).cloned())
                .or(inherited)
        }
        Passing::Prefixed(_) | Passing::Assigned(_)
            if complete(options, &|own| compose_preload(Some(own), library)) =>
        {
            return None;
        }
        Passing::Prefixed(prefix) => std::env::var_os(format!("{prefix}{PRELOAD}")).or(inherited),
        Passing::Assigned(_) => inherited,
    };
    Some(compose_preload(existing.as_deref(), library))
}

/// Extends `LD_PRELOAD=...` in the options: a word of its own, after `--env=` or `-e`, or in a list
/// with commas. Returns whether there was one.
fn complete(options: &mut [OsString], with: &dyn Fn(&OsStr) -> OsString) -> bool {
    let name = format!("{PRELOAD}=");
    let mut is_there = false;
    for word in options {
        let Some(text) = word.to_str() else { continue };
        let begins = |start: &usize| {
            let before = &text[..*start];
            matches!(before, "" | "-e" | "--env=") || before.ends_with(',')
        };
        let Some(start) = text.find(&name).filter(begins) else {
            continue;
        };
        let (before, value) = text.split_at(start + name.len());
        let (value, rest) = value.split_at(value.find(',').unwrap_or(value.len()));
        let mut completed = OsString::from(before);
        completed.push(with(OsStr::new(value)));
        completed.push(rest);
        *word = completed;
        is_there = true;
    }
    is_there
}
