//! Pyxis, which is part of `srun`: the container has the variables that Slurm exports, and options
//! of `srun` bind directories. The program that makes the container, enroot, does not get them.
//!
//! A trial of the container before the job would be a step of the job. Instead, each task begins
//! with a shell in the container, which preloads the library only if `/bin/true` runs with it.
//! Pyxis itself starts each container with `sh`, so that every image has one.

use std::ffi::OsString;
use std::path::Path;

use super::bound::Bound;
use crate::environment::Payload;
use crate::error::CommandError;

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

/// Preloads `$0` into a program, behind what is preloaded already. Both dynamic linkers name a
/// library that they cannot load.
const START: &str = r#"preload=${LD_PRELOAD:+$LD_PRELOAD:}$0
case $(LD_PRELOAD=$preload /bin/true 2>&1) in
*"$0"*) [ "${SLURM_PROCID:-0}" != 0 ] || echo "$1" >&2; $2 ;;
*) export LD_PRELOAD="$preload" ;;
esac
shift 2
exec "$@""#;

const NOT_LOADED: &str = "treepie: the container cannot load libtreepie.so, because it has musl as \
                          its C library, or a glibc that is too old; use an image with glibc, \
                          such as one of Debian, Ubuntu or Rocky";

/// Adds a payload to the words of `srun`, which passes on the settings itself; its options end at
/// `end`.
///
/// # Errors
/// The program is a list of programs.
pub(super) fn enter(
    words: &mut Vec<OsString>,
    end: usize,
    payload: &Payload,
    bound: &[Bound],
) -> Result<(), CommandError> {
    let is_list = |word: &OsString| word == "--multi-prog";
    if words[..end].iter().any(is_list) {
        return Err(CommandError::usage(
            "srun --multi-prog: the library cannot be loaded into a list of programs that run in \
             containers; start them on one command line, with `:` between them",
        ));
    }
    if let Some(library) = &payload.library
        && end < words.len()
    {
        words.splice(end..end, start(library, payload.is_strict()));
    }
    pass(words, end, payload, bound);
    Ok(())
}

/// The words that start a program in the container, with the library if it can be loaded.
fn start(library: &Path, is_strict: bool) -> [OsString; 6] {
    let (message, otherwise) = match is_strict {
        true => (NOT_LOADED.to_owned(), "exit 2"),
        false => (
            format!("{NOT_LOADED}; the job runs without treepie"),
            "true",
        ),
    };
    [
        "/bin/sh".into(),
        "-c".into(),
        START.into(),
        library.into(),
        message.into(),
        otherwise.into(),
    ]
}

/// Adds the options for directories and settings.
fn pass(words: &mut Vec<OsString>, mut end: usize, payload: &Payload, bound: &[Bound]) {
    let mounts: Vec<OsString> = bound.iter().map(Bound::joined).collect();
    let names = payload.variables.settings.keys();
    let names: Vec<OsString> = names.map(OsString::from).collect();
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
