//! Options that several subcommands have, with one name and one meaning.

use std::ffi::OsString;
use std::path::{Path, PathBuf, absolute};
use std::str::FromStr;

use clap::Args;
use treepie_base::{FileError, UnknownName, text};
use treepie_native::traffic::Model;
use treepie_profile::settings::{CONFIG_VARIABLE, LogLevel, Settings};
use treepie_traffic::{Layer, Metric};

use crate::error::CommandError;
use crate::report::units::YEAR;

/// Settings of the library that hold for every kind of run.
#[derive(Debug, Args)]
pub struct RunSettings {
    /// Configuration file with settings for the library
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// End the job before it starts when a file does not fit it
    #[arg(long)]
    pub strict: bool,
    /// Detail of the library's messages: off, error, warn, info, debug
    #[arg(long, value_name = "LEVEL", value_parser = str::parse::<LogLevel>)]
    pub log: Option<LogLevel>,
    /// Print no summary after the job has ended
    #[arg(long, short)]
    pub quiet: bool,
}

impl RunSettings {
    /// The variables of these settings, and of those of the subcommand.
    ///
    /// # Errors
    /// Settings that are wrong or do not go together: the ranks would all stop
    /// at them, so the job is not even started.
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

/// Reads the settings as the library will.
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
    Settings::from_sources(yaml, value).map_err(|error| CommandError::usage(error.to_string()))?;
    Ok(())
}

/// The path from the root, because ranks may start in another directory.
///
/// # Errors
/// An empty path; a current directory that is gone.
pub fn absolute_path(path: &Path) -> Result<PathBuf, CommandError> {
    absolute(path).map_err(|error| CommandError::usage(format!("{}: {error}", path.display())))
}

/// A layer, or all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayerChoice {
    /// Whatever caused it.
    All,
    /// By one kind of call.
    One(Layer),
}

impl FromStr for LayerChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim().eq_ignore_ascii_case("all") {
            return Ok(LayerChoice::All);
        }
        let layer = text.parse().map(LayerChoice::One);
        layer.map_err(|unknown: UnknownName| format!("{unknown}, all"))
    }
}

/// Selection of the numbers of a profile that make the matrix.
#[derive(Debug, Default, Args)]
pub struct MatrixChoice {
    /// Metric: size (bytes), msg (messages), avg (bytes a message) [default: size]
    #[arg(long, value_name = "METRIC", value_parser = str::parse::<Metric>)]
    metric: Option<Metric>,
    /// Kinds of traffic that count: p2p (or point-to-point), collectives, one-sided, neighbourhood,
    /// all; several with commas or by repeating it [default: all]
    #[arg(long = "layer", value_name = "LAYER", value_delimiter = ',', value_parser = str::parse::<LayerChoice>)]
    layers: Vec<LayerChoice>,
    /// Model of the messages of collectives: open-mpi or mpich (what these usually do), logical
    /// (root to all, all to all), or an algorithm such as binomial, ring, recursive-doubling
    /// [default: the job's MPI]
    #[arg(long, value_name = "MODEL", value_parser = str::parse::<Model>)]
    pub model: Option<Model>,
    /// Only one phase of the run, by its name
    #[arg(long, value_name = "PHASE")]
    pub phase: Option<String>,
}

impl MatrixChoice {
    /// The metric that was requested, or bytes.
    pub fn metric(&self) -> Metric {
        self.metric.unwrap_or(Metric::Size)
    }

    /// The layers that were requested.
    pub fn layers(&self) -> Vec<Layer> {
        let chosen = |layer: &Layer| self.layers.contains(&LayerChoice::One(*layer));
        match self.layers.is_empty() || self.layers.contains(&LayerChoice::All) {
            true => Layer::ALL.to_vec(),
            false => Layer::ALL.iter().copied().filter(chosen).collect(),
        }
    }

    /// The layers that were requested, and of which phase, in words.
    pub fn describe(&self) -> String {
        let layers = self.layers();
        let mut words = match layers.len() == Layer::ALL.len() {
            true => "all traffic".to_owned(),
            false => layers
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(" and "),
        };
        if let Some(phase) = &self.phase {
            words += &format!(", phase {phase}");
        }
        words
    }

    /// Refuses what `file` does not have, because it is `kind`.
    ///
    /// # Errors
    /// One of these options was given: usage.
    pub fn require_none(
        &self,
        file: &Path,
        kind: &str,
        options: &[&str],
    ) -> Result<(), CommandError> {
        let given = [
            ("--metric", self.metric.is_some()),
            ("--layer", !self.layers.is_empty()),
            ("--model", self.model.is_some()),
            ("--phase", self.phase.is_some()),
        ];
        let wrong = given
            .into_iter()
            .find(|(option, given)| *given && options.contains(option));
        match wrong {
            None => Ok(()),
            Some((option, _)) => Err(CommandError::usage(format!(
                "{}: is {kind}, so there is nothing for {option} to choose; leave it out, or give a \
                 profile",
                file.display()
            ))),
        }
    }
}

/// The file cannot be used, and the command line names it: usage.
pub fn as_usage(error: FileError) -> CommandError {
    CommandError::usage(error.to_string())
}

/// A number of bytes with K, M or G for powers of 1024.
pub fn size(text: &str) -> Result<u64, String> {
    treepie_base::size(text)
        .ok_or_else(|| format!("`{text}` is no size; write bytes, such as 64, 16K or 1M"))
}

/// A difference that matters, in per cent of the time.
pub fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches(['%', ' ']).parse().ok();
    let number = number.filter(|number| (0.0..50.0).contains(number));
    number.ok_or_else(|| format!("`{text}` is no percentage from 0 to 50"))
}

/// A number of seconds above 0, and at most some thirty years.
pub fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok();
    let number = number.filter(|number: &f64| *number > 0.0 && *number <= 1e9);
    number.ok_or_else(|| format!("`{text}` is no number of seconds above 0, and at most 1e9"))
}

/// A number of seconds, which may be 0.
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
