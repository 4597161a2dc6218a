//! Variables for the ranks of a job.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use treepie_profile::settings::{is_on, variable_of};

use crate::error::CommandError;

/// The variable of the dynamic linker that loads a library before those of a program.
pub const PRELOAD: &str = "LD_PRELOAD";

/// The variable with the location of the library, only for the command: no rank needs it.
pub const LIBRARY: &str = treepie_profile::settings::LIBRARY_VARIABLE;

/// The settings of the library, as `TREEPIE_` variables, and the user's own preloaded libraries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Variables {
    /// Values by name, `TREEPIE_` names only.
    pub settings: BTreeMap<String, OsString>,
    /// The `LD_PRELOAD` of the user's environment.
    pub preload: Option<OsString>,
}

/// The library, its settings and directories, for the ranks of a job.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Payload {
    /// The library to preload; none where only directories are needed.
    pub library: Option<PathBuf>,
    /// Its settings.
    pub variables: Variables,
    /// Paths that ranks read or write beside those that settings name.
    pub directories: Vec<PathBuf>,
}

impl Payload {
    /// A library and its settings.
    pub fn new(library: PathBuf, variables: Variables) -> Self {
        Payload {
            library: Some(library),
            variables,
            directories: Vec::new(),
        }
    }

    /// `LD_PRELOAD` with the library in it, behind what a command line says or else the user's
    /// environment.
    pub(crate) fn preload(&self, given: Option<&OsStr>) -> Option<OsString> {
        let library = self.library.as_deref()?;
        let existing = given.or(self.variables.preload.as_deref());
        Some(compose_preload(existing, library))
    }

    /// Whether a job is to end before it starts where something that was asked for cannot be done.
    pub(crate) fn is_strict(&self) -> bool {
        let value = self.variables.settings.get(&variable_of("strict"));
        value.and_then(|value| value.to_str()).is_some_and(is_on)
    }

    /// The variables that a launcher hands on: `LD_PRELOAD` and the settings.
    pub(crate) fn all(&self) -> impl Iterator<Item = (String, OsString)> {
        let preload = self.preload(None).map(|value| (PRELOAD.to_owned(), value));
        let settings = self.variables.settings.clone();
        preload.into_iter().chain(settings)
    }
}

impl Variables {
    /// Collects the user's own `TREEPIE_` variables, which a launcher may not pass on to other
    /// hosts, and the values set by this command, which override them.
    ///
    /// # Errors
    /// A value contains a line break, which no launcher passes on.
    pub fn collect(
        environment: impl IntoIterator<Item = (OsString, OsString)>,
        settings: &[(impl AsRef<str>, OsString)],
    ) -> Result<Self, CommandError> {
        let mut variables = Variables::default();
        for (name, value) in environment {
            match name.into_string() {
                Ok(name) if name == PRELOAD => variables.preload = Some(value),
                Ok(name) if name.starts_with("TREEPIE_") && name != LIBRARY => {
                    variables.settings.insert(name, value);
                }
                _ => {}
            }
        }
        for (name, value) in settings {
            let name = name.as_ref();
            // An empty value removes one that the user has set; there may be none.
            if !value.is_empty() || variables.settings.contains_key(name) {
                variables.settings.insert(name.to_owned(), value.clone());
            }
        }
        for (name, value) in &variables.settings {
            if value.as_encoded_bytes().contains(&b'\n') {
                return Err(CommandError::usage(format!(
                    "{name}: its value contains a line break, which launchers do not pass on; choose another"
                )));
            }
        }
        Ok(variables)
    }
}

/// Adds the library to `LD_PRELOAD`. It goes last: tools that were there before get the
/// application's calls first, and the library gets theirs, so that all of them use the same rank
/// numbers.
pub(crate) fn compose_preload(existing: Option<&OsStr>, library: &Path) -> OsString {
    let existing = existing.unwrap_or_default();
    let present = existing
        .as_encoded_bytes()
        .split(|byte| *byte == b':' || *byte == b' ')
        .any(|entry| entry == library.as_os_str().as_encoded_bytes());
    let mut value = existing.to_owned();
    if present {
        return value;
    }
    if !value.is_empty() {
        value.push(":");
    }
    value.push(library);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        let owned = pairs
            .iter()
            .map(|(name, value)| (name.into(), value.into()));
        owned.collect()
    }

    #[test]
    fn the_command_overrides_the_user_and_other_variables_stay_out() {
        let environment = of(&[
            ("HOME", "/home/user"),
            ("TREEPIE_LOG", "debug"),
            ("TREEPIE_MODE", "off"),
            ("TREEPIE_LIBRARY", "/opt/libtreepie.so"),
            ("LD_PRELOAD", "libother.so"),
        ]);
        let found = Variables::collect(environment, &[("TREEPIE_MODE", "profile".into())]);
        let expected = Variables {
            settings: BTreeMap::from([
                ("TREEPIE_LOG".to_owned(), "debug".into()),
                ("TREEPIE_MODE".to_owned(), "profile".into()),
            ]),
            preload: Some("libother.so".into()),
        };
        assert_eq!(found.ok(), Some(expected));
    }

    #[test]
    fn an_empty_setting_takes_back_what_the_user_has_set_and_is_else_not_passed() {
        let environment = of(&[("TREEPIE_PERMUTATION", "1,0")]);
        let settings = [
            ("TREEPIE_PERMUTATION", OsString::new()),
            ("TREEPIE_PLACEMENT", OsString::new()),
        ];
        let found = Variables::collect(environment, &settings).unwrap_or_default();
        assert_eq!(
            found.settings,
            BTreeMap::from([("TREEPIE_PERMUTATION".to_owned(), OsString::new())])
        );
    }

    #[test]
    fn a_value_with_a_line_break_is_refused() {
        let found = Variables::collect([], &[("TREEPIE_OUTPUT", "a\nb".into())]);
        assert!(found.is_err_and(|error| error.to_string().starts_with("TREEPIE_OUTPUT: ")));
    }

    #[test]
    fn preloading_keeps_what_was_preloaded_and_adds_the_library_once() {
        let library = Path::new("/lib/libtreepie.so");
        let composed = |existing: &str| {
            compose_preload(Some(OsStr::new(existing)), library)
                .into_string()
                .ok()
        };
        assert_eq!(compose_preload(None, library), "/lib/libtreepie.so");
        assert_eq!(composed(""), Some("/lib/libtreepie.so".into()));
        assert_eq!(
            composed("a.so b.so"),
            Some("a.so b.so:/lib/libtreepie.so".into())
        );
        assert_eq!(
            composed("a.so:/lib/libtreepie.so"),
            Some("a.so:/lib/libtreepie.so".into())
        );
    }
}
