//! Options of several subcommands, with one name and one meaning.

use std::ffi::OsString;
use std::path::{Path, PathBuf, absolute};

use clap::Args;
use treepie_base::{FileError, text};
use treepie_launch::error::CommandError;
use treepie_profile::settings::{CONFIG_VARIABLE, LogLevel, Settings};
use treepie_report::units::YEAR;

/// Settings of the library that apply to every kind of run.
#[derive(Debug, Args)]
pub struct RunSettings {
    /// Configuration file with settings for the library
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// End the job before it starts if a file does not fit it
    #[arg(long)]
    pub strict: bool,
    /// Detail of the library's messages: off, error, warn, info, debug
    #[arg(long, value_name = "LEVEL", value_parser = str::parse::<LogLevel>)]
    pub log: Option<LogLevel>,
    /// Print no summary
    #[arg(long, short)]
    pub quiet: bool,
}

impl RunSettings {
    /// The variables of these settings, and of those of the subcommand.
    ///
    /// # Errors
    /// Settings are wrong or inconsistent: all ranks would stop at them, so that the job is not
    /// started.
    pub fn variables(
        &self,
        own: impl IntoIterator<Item = (&'static str, OsString)>,
    ) -> Result<Vec<(&'static str, OsString)>, CommandError> {
        let mut variables: Vec<(&'static str, OsString)> = own.into_iter().collect();
        if let Some(config) = &self.config {
            variables.push((CONFIG_VARIABLE, absolute_path(config)?.into()));
        }
        if self.strict {
            variables.push(("TREEPIE_STRICT", "true".into()));
        }
        if let Some(level) = self.log {
            variables.push(("TREEPIE_LOG", level.to_string().into()));
        }
        check(&variables)?;
        Ok(variables)
    }
}

/// Reads the settings like the library.
fn check(variables: &[(&'static str, OsString)]) -> Result<(), CommandError> {
    let value = |variable: &str| {
        let own = variables.iter().find(|(name, _)| *name == variable);
        let value = own.map(|(_, value)| value.clone());
        value
            .or_else(|| std::env::var_os(variable))?
            .into_string()
            .ok()
    };
    let config = value(CONFIG_VARIABLE).filter(|path| !path.is_empty());
    let text = match &config {
        Some(path) => {
            let text = text::read_file(Path::new(path));
            Some(text.map_err(|error| CommandError::usage(error.to_string()))?)
        }
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

/// Converts the error of a file that cannot be used and is named on the command line: usage.
pub fn as_usage(error: FileError) -> CommandError {
    CommandError::usage(error.to_string())
}

/// Parses a least difference, in per cent of the time.
pub fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches(['%', ' ']).parse().ok();
    let number = number.filter(|number| (0.0..50.0).contains(number));
    number.ok_or_else(|| format!("`{text}` is no percentage from 0 to 50"))
}

/// Parses a positive number of seconds, at most about thirty years.
pub fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok();
    let number = number.filter(|number: &f64| *number > 0.0 && *number <= 1e9);
    number.ok_or_else(|| format!("`{text}` is no number of seconds above 0, and at most 1e9"))
}

/// Parses a number of seconds, which may be 0.
pub fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(0.0) => Ok(0.0),
        _ => positive(text),
    }
}

/// Seconds of `90`, `60s`, `10min`, `2h`, `90d`, `5y`.
pub fn time(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let end = text
        .find(|c: char| c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let scale = match unit {
        "" | "s" => Some(1.0),
        "min" => Some(60.0),
        "h" => Some(3_600.0),
        "d" => Some(86_400.0),
        "y" => Some(YEAR),
        _ => None,
    };
    let value = number.trim().parse::<f64>().ok().zip(scale);
    let value = value.map(|(number, scale)| number * scale);
    value
        .filter(|value| value.is_finite() && *value >= 0.0)
        .ok_or_else(|| "write a time such as 60s, 10min, 2h, 90d or 5y".to_owned())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_and_are_not_negative() {
        for (text, seconds) in [
            ("90", Some(90.0)),
            ("60s", Some(60.0)),
            ("10 min", Some(600.0)),
            ("2h", Some(7_200.0)),
            ("1.5d", Some(129_600.0)),
            ("5y", Some(5.0 * YEAR)),
            ("0", Some(0.0)),
            ("-1s", None),
            ("inf", None),
            ("nan", None),
            ("5 weeks", None),
            ("", None),
        ] {
            assert_eq!(time(text).ok(), seconds, "{text}");
        }
    }
}
