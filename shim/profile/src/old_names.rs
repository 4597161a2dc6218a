//! Public names that changed: the old one is accepted for one version, with a warning.
//!
//! Keys of files that Treepie writes itself are no settings: readers take the old key as a
//! `serde(alias)` without a warning, and the file has the new one as soon as it is written again.

use std::ffi::OsString;
use std::fmt;

/// Place where a name is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// A setting: a key of a configuration file, or a variable.
    Setting,
    /// A value of this setting.
    Value(&'static str),
    /// An option of this subcommand.
    OptionOf(&'static str),
}

/// Scope, old name, new name, and the version that brought the new one.
const RENAMED: &[(Scope, &str, &str, &str)] = &[
    (Scope::Setting, "window", "phase_interval", "0.2"),
    (Scope::Value("collectives"), "host", "native", "0.2"),
    (Scope::Value("reorder"), "host", "native", "0.2"),
    (
        Scope::OptionOf("profile"),
        "--window",
        "--phase-interval",
        "0.2",
    ),
    (Scope::OptionOf("predict"), "--host", "--native", "0.2"),
    (
        Scope::OptionOf("predict"),
        "--strategy",
        "--algorithm",
        "0.2",
    ),
];

/// An old name that was used. Its text is a warning of one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OldName {
    /// The name as it was written.
    pub written: String,
    /// The name to write.
    pub new: String,
    /// The version that brought the new name, and is the last to accept the old one.
    pub since: &'static str,
}

impl OldName {
    pub(super) fn new(
        written: impl Into<String>,
        new: impl Into<String>,
        since: &'static str,
    ) -> Self {
        OldName {
            written: written.into(),
            new: new.into(),
            since,
        }
    }
}

impl fmt::Display for OldName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{}: an old name, which treepie {} is the last to accept; write {}",
            self.written, self.since, self.new
        )
    }
}

/// The new name of `old` and the version that brought it; `None` where `old` is no old name.
pub(super) fn renamed(scope: Scope, old: &str) -> Option<(&'static str, &'static str)> {
    let mut names = RENAMED.iter();
    let found = names.find(|(at, name, ..)| *at == scope && *name == old);
    found.map(|&(_, _, new, since)| (new, since))
}

/// The old names of a setting, and the version of each that brought the new one.
pub(super) fn of_setting(new: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let names = RENAMED
        .iter()
        .filter(move |(at, _, name, _)| *at == Scope::Setting && *name == new);
    names.map(|&(_, old, _, since)| (old, since))
}

/// The command line with the new names of its subcommand's options, and the old names that were
/// found. What stands behind `--` is the job's.
pub fn in_command_line(mut words: Vec<OsString>) -> (Vec<OsString>, Vec<OldName>) {
    let mut found = Vec::new();
    let subcommand = words.get(1).cloned().unwrap_or_default();
    let options = words.iter_mut().skip(2).take_while(|word| *word != "--");
    for option in options {
        let Some(text) = option.to_str() else {
            continue;
        };
        let (name, value) = text.split_at(text.find('=').unwrap_or(text.len()));
        let of_subcommand = |at: Scope| matches!(at, Scope::OptionOf(sub) if subcommand == sub);
        let mut names = RENAMED.iter();
        if let Some((_, _, new, since)) =
            names.find(|(at, old, ..)| of_subcommand(*at) && *old == name)
        {
            found.push(OldName::new(name, *new, since));
            *option = format!("{new}{value}").into();
        }
    }
    (words, found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_options_become_new_ones_up_to_the_job() {
        let line = "treepie profile --window=5 -- mpirun --window 3 ./app";
        let words = line.split(' ').map(OsString::from).collect();
        let (words, found) = in_command_line(words);
        let line: Vec<_> = words.iter().filter_map(|word| word.to_str()).collect();
        assert_eq!(
            line[2..],
            [
                "--phase-interval=5",
                "--",
                "mpirun",
                "--window",
                "3",
                "./app"
            ]
        );
        assert_eq!(
            found[0].to_string(),
            "--window: an old name, which treepie 0.2 is the last to accept; write --phase-interval"
        );
    }

    #[test]
    fn an_option_of_another_subcommand_keeps_its_name() {
        let words: Vec<_> = ["treepie", "map", "--strategy", "best"]
            .map(OsString::from)
            .into();
        assert_eq!(in_command_line(words.clone()), (words, Vec::new()));
    }
}
