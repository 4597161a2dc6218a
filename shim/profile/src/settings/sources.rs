//! Sources of settings, a file and variables, and their transfer to other processes.

use std::path::Path;

use treepie_base::FileError;
use treepie_base::printable::one_line;

use super::choices::{GuardMode, Mode};
use super::error::SettingsError;
use super::form::FILE;
use super::output::DEFAULT_OUTPUT;
use super::table::{self, SETTINGS, Settings};
use super::variables::{OF_COMMAND, PREFIX, known_variables, variable_of};
use super::{contradictions, document};
use crate::site::SitePolicy;

impl Settings {
    /// Returns the settings of a site's policy, overridden by those of a configuration file, given
    /// as its name and text, and these by those of variables. Settings that the site has locked
    /// come from it alone. `variable` returns the value of one, if it is set. A variable with an
    /// empty value counts as not set.
    ///
    /// # Errors
    /// A file or value that is invalid, or settings that contradict each other.
    pub fn from_sources(
        site: Option<&SitePolicy>,
        yaml: Option<(&Path, &str)>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Settings, SettingsError> {
        let mut settings = Settings::default();
        if let Some(site) = site {
            site.settings().apply(&mut settings, |_| true);
        }
        let is_free = |name: &str| !site.is_some_and(|site| site.locks(name));
        if let Some((path, text)) = yaml {
            document::read(path, text)?.apply(&mut settings, is_free);
        }
        let value_of = |name: &str| {
            let value = variable(&variable_of(name)).filter(|value| !value.is_empty());
            value.filter(|_| is_free(name))
        };
        // A variable that names the file to replay overrides the one in the file.
        match (value_of("placement"), value_of("permutation")) {
            (Some(_), None) => settings.permutation = None,
            (None, Some(_)) => settings.placement = None,
            _ => {}
        }
        for setting in SETTINGS {
            let name = setting.name;
            if let Some(value) = value_of(name) {
                (setting.set)(&mut settings, &value).map_err(|problem| {
                    SettingsError::Variable {
                        variable: variable_of(name),
                        problem: one_line(&problem),
                    }
                })?;
            }
        }
        contradictions::refuse(&settings)?;
        Ok(settings)
    }

    /// Checks the text of one setting, by its name.
    ///
    /// # Errors
    /// No such setting, or a text that is invalid for it.
    pub fn check_text(name: &str, text: &str) -> Result<(), String> {
        let setting = table::of_name(name)?;
        (setting.set)(&mut Settings::default(), text)
    }

    /// Whether the setting of this name takes the name of a file.
    pub fn names_file(name: &str) -> bool {
        table::of_name(name).is_ok_and(|setting| (setting.values)() == FILE)
    }

    /// Parses the settings in the text of a configuration file, one by one: contradictions can only
    /// be detected when the variables are known.
    ///
    /// # Errors
    /// Text that is not a configuration, an unknown setting, an invalid value.
    pub fn from_text(path: &Path, text: &str) -> Result<Settings, FileError> {
        let mut settings = Settings::default();
        document::read(path, text)?.apply(&mut settings, |_| true);
        Ok(settings)
    }

    /// Returns the settings that differ from the defaults, as variables and values, which a
    /// launcher must pass to its processes.
    pub fn to_variables(&self) -> Vec<(String, String)> {
        let usual = Settings::default();
        SETTINGS
            .iter()
            .filter_map(|setting| {
                let value = (setting.print)(self)?;
                let differs = (setting.print)(&usual).as_ref() != Some(&value);
                differs.then(|| (variable_of(setting.name), value))
            })
            .collect()
    }

    /// Returns the mode of the guard, which decides whether plans must be measured to be faster
    /// before they replace collectives: on if a job learns, unless a setting states otherwise.
    pub fn guard(&self) -> GuardMode {
        self.guard.unwrap_or(match self.mode {
            Mode::Auto => GuardMode::On,
            Mode::Off | Mode::Profile | Mode::Replay => GuardMode::Off,
        })
    }

    /// Returns the name of the profile's file, including placeholders.
    pub fn output_template(&self) -> &str {
        self.output.as_deref().unwrap_or(DEFAULT_OUTPUT)
    }
}

/// Returns the variables among `names` that have treepie's prefix and no meaning: most likely
/// typing errors, which would otherwise go unnoticed.
pub fn unknown_variables<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<SettingsError> {
    let known = known_variables();
    names
        .into_iter()
        .filter(|name| name.starts_with(PREFIX) && !OF_COMMAND.contains(name))
        .filter(|name| !known.iter().any(|known| known == name))
        .map(|name| SettingsError::UnknownVariable {
            variable: one_line(name),
        })
        .collect()
}
