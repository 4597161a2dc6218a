//! Position of a run-time's options, of its image and of the program on a command line.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::table::{RUNTIMES, Runtime};
use crate::search;

/// Meaning of the words of a run-time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ContainerCommand {
    /// The run-time.
    pub(super) runtime: &'static Runtime,
    /// The subcommand, where there is one.
    pub(super) subcommand: Option<usize>,
    /// The first word at which options of the container may stand.
    pub(super) options: usize,
    /// The first word that is none of them: the image, the program, or `--`.
    pub(super) end: usize,
    /// Whether directories can be bound.
    pub(super) binds: bool,
}

impl ContainerCommand {
    /// Analyses words of which the first is the name of a run-time; `None` if they start no
    /// container.
    pub(super) fn new(words: &[OsString]) -> Option<ContainerCommand> {
        let runtime = runtime(words.first()?)?;
        let subcommand = (!runtime.starts.is_empty()).then(|| runtime.subcommand(words));
        let subcommand = match subcommand {
            Some(None) => return None,
            Some(found) => found,
            None => None,
        };
        let options = subcommand.unwrap_or(0) + 1;
        Some(ContainerCommand {
            runtime,
            subcommand,
            options,
            end: runtime.end_of_options(words, options),
            binds: subcommand
                .is_none_or(|place| !runtime.enters.iter().any(|e| words[place] == *e)),
        })
    }

    /// Number of words up to the program: those of the run-time, with the image.
    pub(super) fn before_program(&self, words: &[OsString]) -> usize {
        let separator = usize::from(words.get(self.end).is_some_and(|word| word == "--"));
        let image = usize::from(self.runtime.has_image);
        words.len().min(self.end + separator + image)
    }

    /// The image, or the name of the run-time where it is not on the line.
    pub(super) fn image(&self, words: &[OsString]) -> String {
        let image = words.get(self.end).filter(|_| self.runtime.has_image);
        image.map_or_else(
            || format!("the container of {}", self.runtime.name),
            |image| image.display().to_string(),
        )
    }
}

/// Whether a word starts a run-time of containers, if it is installed.
pub(crate) fn is_runtime(word: &OsStr) -> bool {
    runtime(word).is_some()
}

/// The run-time that a word starts: by the name of the file that it leads to, since Apptainer
/// is installed as `singularity` too, or by its own.
fn runtime(word: &OsStr) -> Option<&'static Runtime> {
    let of_file = |path: &Path| {
        let name = path.file_name()?.to_str()?;
        RUNTIMES.iter().find(|row| row.files.contains(&name))
    };
    let own = of_file(Path::new(word))?;
    let installed = search::executable(word).and_then(|path| path.canonicalize().ok());
    Some(installed.and_then(|path| of_file(&path)).unwrap_or(own))
}

impl Runtime {
    /// Place of the word that says what to do, which options may precede.
    fn subcommand(&self, words: &[OsString]) -> Option<usize> {
        let is_known = |word: &OsString| {
            let known = self.starts.iter().chain(self.enters);
            known.clone().any(|known| word == known)
        };
        words.iter().position(is_known)
    }

    /// The first word from `start` on that is neither an option nor the value of one.
    fn end_of_options(&self, words: &[OsString], start: usize) -> usize {
        let mut place = start;
        while let Some(word) = words.get(place) {
            let text = word.to_string_lossy();
            match text.strip_prefix('-') {
                None | Some("-") => break,
                Some("") => break,
                Some(option) => place += 1 + self.values_behind(option),
            }
        }
        place.min(words.len())
    }

    /// Number of words behind an option that belong to it; the option without its first dash.
    fn values_behind(&self, option: &str) -> usize {
        let listed = |name: &str| {
            let mut groups = self.values.iter();
            groups.find(|(_, names)| names.contains(&name))
        };
        let values = |name: &str| listed(name).map_or(1, |&(values, _)| values);
        if option.contains('=') {
            return 0;
        }
        if let Some(name) = option.strip_prefix('-') {
            return values(name);
        }
        // Letters without a value come together, and one with a value has it behind it, `-v/a:/b`.
        let mut buffer = [0; 4];
        let mut letters = option.char_indices();
        let last = letters.find(|(_, letter)| values(letter.encode_utf8(&mut buffer)) > 0);
        match last {
            Some((at, letter)) if at + letter.len_utf8() == option.len() => 1,
            _ => 0,
        }
    }
}
