//! Pyxis, which is part of `srun`: the container has the variables that Slurm exports, and options
//! of `srun` bind directories. The program that makes the container, enroot, does not get them.

use std::ffi::OsString;

use super::bound::Bound;
use crate::environment::{PRELOAD, Payload};

/// Options that put a step into a container, and the variables that do the same.
const CONTAINERS: [(&str, &str); 2] = [
    ("--container-image", "PYXIS_CONTAINER_IMAGE"),
    ("--container-name", "PYXIS_CONTAINER_NAME"),
];

/// Whether a step with these options runs in a container of pyxis.
pub(super) fn is_used(options: &[OsString]) -> bool {
    CONTAINERS.iter().any(|(option, variable)| {
        place_of(option, options).is_some() || std::env::var_os(variable).is_some()
    })
}

/// Adds a payload to the options of `srun`, which passes on the variables itself.
pub(super) fn enter(words: &mut Vec<OsString>, end: usize, payload: &Payload, bound: &[Bound]) {
    let mounts: Vec<OsString> = bound.iter().map(Bound::joined).collect();
    let library = payload.library.as_ref().map(|_| PRELOAD.into());
    let names = payload.variables.settings.keys().map(OsString::from);
    let names: Vec<OsString> = library.into_iter().chain(names).collect();
    let mut end = end;
    for (option, variable, values) in [
        ("--container-mounts", "PYXIS_CONTAINER_MOUNTS", mounts),
        ("--container-env", "PYXIS_CONTAINER_ENV", names),
    ] {
        if values.is_empty() {
            continue;
        }
        let values = values.join(",".as_ref());
        match place_of(option, &words[..end]) {
            Some(place) => {
                words[place].push(",");
                words[place].push(values);
            }
            None => {
                // An option makes the variable void.
                let mut word = OsString::from(format!("{option}="));
                if let Some(own) = std::env::var_os(variable).filter(|own| !own.is_empty()) {
                    word.push(own);
                    word.push(",");
                }
                word.push(values);
                words.insert(0, word);
                end += 1;
            }
        }
    }
}

/// The word that has the value of an option: `--option=VALUE`, or the one behind `--option`.
fn place_of(option: &str, words: &[OsString]) -> Option<usize> {
    words.iter().enumerate().find_map(|(place, word)| {
        let rest = word.to_str()?.strip_prefix(option)?;
        match rest {
            "" => words.get(place + 1).map(|_| place + 1),
            _ => rest.starts_with('=').then_some(place),
        }
    })
}
