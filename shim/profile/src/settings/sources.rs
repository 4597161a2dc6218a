//! Sources of settings, a file and variables, and the way by which settings go on to other
//! processes.

use std::path::Path;

use treepie_base::FileError;
use treepie_base::printable::one_line;

use super::choices::{GuardMode, Mode};
use super::error::SettingsError;
use super::output::DEFAULT_OUTPUT;
use super::table::{self, SETTINGS, Settings};
use super::variables::{OF_COMMAND, PREFIX, known_variables, variable_of};
use super::{contradictions, document};
use crate::site::SitePolicy;

impl Settings {
    /// The settings of a site's policy, over them those of a configuration file, given as its name
    /// and text, and over both those of variables. What the site has locked, it alone sets.
    /// `variable` answers the value of one, if it is set. A variable with an empty value counts as
    /// not set.
    ///
    /// # Errors
    /// A file or value that is wrong, or settings that do not go together.
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
        // A variable says what to replay instead of what the file says.
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
    /// No such setting, or a text that it does not take.
    pub fn check_text(name: &str, text: &str) -> Result<(), String> {
        let setting = table::of_name(name)?;
        (setting.set)(&mut Settings::default(), text)
    }

    /// The settings that the text of a configuration file holds, one by one:
    /// whether they go together is known when the variables are.
    ///
    /// # Errors
    /// Text that is no configuration, an unknown setting, a wrong value.
    pub fn from_text(path: &Path, text: &str) -> Result<Settings, FileError> {
        let mut settings = Settings::default();
        document::read(path, text)?.apply(&mut settings, |_| true);
        Ok(settings)
    }

    /// The settings that differ from the defaults, as variables and values: what
    /// a launcher has to hand to its processes.
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

    /// Whether plans must be measured to be quicker before they replace collectives: so it is
    /// where a job learns, unless a setting says otherwise.
    pub fn guard(&self) -> GuardMode {
        self.guard.unwrap_or(match self.mode {
            Mode::Auto => GuardMode::On,
            Mode::Off | Mode::Profile | Mode::Replay => GuardMode::Off,
        })
    }

    /// Name of the profile's file, placeholders included.
    pub fn output_template(&self) -> &str {
        self.output.as_deref().unwrap_or(DEFAULT_OUTPUT)
    }
}

/// The variables among `names` that start like ours and mean nothing: most
/// likely typing errors, which would otherwise go unnoticed.
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
