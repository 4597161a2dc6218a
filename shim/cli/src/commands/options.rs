//! Options of several subcommands, with one name and one meaning.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf, absolute};
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use treepie_base::{text, time};
use treepie_launch::error::{CommandError, Subject};
use treepie_profile::settings::{CONFIG_VARIABLE, LogLevel, Settings, variable_of};

use crate::output;

/// Form of the answer on standard output.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct Printing {
    /// Print the answer as JSON; of a job, after its own output
    #[arg(long)]
    pub json: bool,
    /// Print no answer
    #[arg(long, short)]
    pub quiet: bool,
}

impl Printing {
    /// Prints an answer: as JSON, in words, or not at all.
    ///
    /// # Errors
    /// A standard output that cannot be written.
    pub fn answer<T: Serialize>(
        self,
        json: impl FnOnce() -> T,
        words: impl FnOnce() -> String,
    ) -> Result<(), CommandError> {
        match (self.json, self.quiet) {
            (true, _) => output::print_json(&json()),
            (false, true) => Ok(()),
            (false, false) => output::print(&words()),
        }
    }

    /// Whether lines about a job are printed while it runs.
    pub fn speaks(self) -> bool {
        !self.json && !self.quiet
    }
}

/// Seed of random choices.
#[derive(Debug, Clone, Copy, Args)]
pub struct Seed {
    /// Seed of random choices: the same one gives the same answer
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
}

/// Settings of the library.
#[derive(Debug, Clone, Default, Args)]
pub struct RunSettings {
    /// Configuration file with settings for the library
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Any setting of the library, such as guard=on; may be repeated. `treepie help variables` has
    /// a list
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,
    /// End the job before it starts if a file does not fit it
    #[arg(long)]
    pub strict: bool,
    /// Detail of the library's messages: off, error, warn, info, debug
    #[arg(long, value_name = "LEVEL", value_parser = str::parse::<LogLevel>)]
    pub log: Option<LogLevel>,
}

impl RunSettings {
    /// The variables of these settings, and of those of the subcommand.
    ///
    /// # Errors
    /// Settings that are wrong or do not go together: the ranks would all stop at them, so the job
    /// is not even started.
    pub fn variables(
        &self,
        own: impl IntoIterator<Item = (&'static str, OsString)>,
    ) -> Result<Vec<(String, OsString)>, CommandError> {
        let own = own.into_iter();
        let mut variables: Vec<_> = own.map(|(name, value)| (name.to_owned(), value)).collect();
        if let Some(config) = &self.config {
            variables.push((CONFIG_VARIABLE.to_owned(), absolute_path(config)?.into()));
        }
        if self.strict {
            variables.push((variable_of("strict"), "true".into()));
        }
        if let Some(level) = self.log {
            variables.push((variable_of("log"), level.to_string().into()));
        }
        let own: HashMap<&str, &OsString> = variables
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| (&**name, value))
            .collect();
        let mut set = Vec::new();
        for (name, value) in self.set_variables()? {
            if let Some(other) = own.get(&*name) {
                return Err(CommandError::usage(format!(
                    "--set: this command sets {name} itself, to `{}`; leave it out, or use the \
                     option for it",
                    other.display()
                )));
            }
            set.push((name, value));
        }
        variables.extend(set);
        check(&variables).map_err(|error| of_option(error, &variables).about(Subject::Setting))?;
        Ok(variables)
    }

    /// The variables of `--set`. Files are named from the root, because ranks may start in another
    /// directory.
    ///
    /// # Errors
    /// A current directory that is gone.
    pub fn set_variables(&self) -> Result<Vec<(String, OsString)>, CommandError> {
        let of_pair = |(name, value): &(String, String)| {
            let value = match Settings::names_file(name) {
                true => absolute_path(Path::new(value))?.into(),
                false => value.into(),
            };
            Ok((variable_of(name), value))
        };
        self.set.iter().map(of_pair).collect()
    }

    /// The value that `--set` gives a setting.
    pub fn value(&self, name: &str) -> Option<&str> {
        let last = self.set.iter().rfind(|(set, _)| set == name);
        last.map(|(_, value)| &**value)
    }
}

/// A setting and its value.
pub fn assignment(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| "write NAME=VALUE, such as output=app.profile.yaml".to_owned())?;
    Settings::check_text(name, value)?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Error of a setting that an option gives, in the name of the option.
fn of_option(error: CommandError, variables: &[(String, OsString)]) -> CommandError {
    let text = error.to_string();
    let option = variables.iter().find_map(|(name, _)| {
        let problem = text.strip_prefix(name.as_str())?.strip_prefix(": ")?;
        let name = name
            .strip_prefix("TREEPIE_")?
            .to_lowercase()
            .replace('_', "-");
        Some(format!("--{name}: {problem}"))
    });
    option.map_or(error, CommandError::usage)
}

/// Reads the settings like the library.
fn check(variables: &[(String, OsString)]) -> Result<(), CommandError> {
    let value = |variable: &str| {
        let own = variables.iter().rfind(|(name, _)| *name == variable);
        let value = own.map(|(_, value)| value.clone());
        value
            .or_else(|| std::env::var_os(variable))?
            .into_string()
            .ok()
    };
    let config = value(CONFIG_VARIABLE).filter(|path| !path.is_empty());
    let text = match &config {
        Some(path) => Some(text::read_file(Path::new(path))?),
        None => None,
    };
    let yaml = config.as_deref().map(Path::new).zip(text.as_deref());
    Settings::from_sources(None, yaml, value)
        .map_err(|error| CommandError::usage(error.to_string()))?;
    Ok(())
}

/// Makes a path absolute, because ranks may start in another directory.
///
/// # Errors
/// The path is empty, or the current directory does not exist any more.
pub fn absolute_path(path: &Path) -> Result<PathBuf, CommandError> {
    absolute(path).map_err(|error| CommandError::usage(format!("{}: {error}", path.display())))
}

/// Parses a least difference, in per cent of the time.
pub fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches(['%', ' ']).parse().ok();
    let number = number.filter(|number| (0.0..50.0).contains(number));
    number.ok_or_else(|| format!("`{text}` is no percentage from 0 to 50"))
}

/// A length of time above 0.
pub fn positive(text: &str) -> Result<Duration, String> {
    let time = time::parse(text)?;
    match time.is_zero() {
        true => Err(format!(
            "`{text}` is no time above 0; write one such as 60s or 10min"
        )),
        false => Ok(time),
    }
}

/// Seconds of a length of time.
pub fn seconds(text: &str) -> Result<f64, String> {
    time::parse(text).map(|time| time.as_secs_f64())
}

/// Checks the directory of a file before the job starts: otherwise it may run for hours before the
/// file of `option` cannot be written.
pub fn require_directory(output: &Path, option: &str) -> Result<(), CommandError> {
    let directory = output.parent().unwrap_or(Path::new("/"));
    let has_placeholder = directory.to_string_lossy().contains('%');
    if has_placeholder || directory.is_dir() {
        return Ok(());
    }
    Err(CommandError::usage(format!(
        "{}: there is no directory {}; make it first, or choose another {option}",
        output.display(),
        directory.display()
    )))
}
