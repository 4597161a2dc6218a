//! Options that several subcommands have, with one name and one meaning.

use std::ffi::OsString;
use std::path::{Path, PathBuf, absolute};

use clap::Args;
use treepie_core::affinity::{Layer, Metric};
use treepie_core::files::FileError;
use treepie_core::files::configuration::{CONFIG_VARIABLE, LogLevel, Settings};

use crate::error::CommandError;

/// Settings of the library that hold for every kind of run.
#[derive(Debug, Args)]
pub struct RunSettings {
    /// Configuration file with settings for the library
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// End the job before it starts when a file does not fit it
    #[arg(long)]
    pub strict: bool,
    /// How much the library says: off, error, warn, info, debug
    #[arg(long, value_name = "LEVEL", value_parser = str::parse::<LogLevel>)]
    pub log: Option<LogLevel>,
    /// Do not say what the job did after it has ended
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
    let value = |wanted: &str| {
        let own = variables.iter().find(|(name, _)| *name == wanted);
        let value = own.map(|(_, value)| value.clone());
        value
            .or_else(|| std::env::var_os(wanted))?
            .into_string()
            .ok()
    };
    let config = value(CONFIG_VARIABLE).filter(|path| !path.is_empty());
    let text = match &config {
        Some(path) => Some(std::fs::read_to_string(path).map_err(|error| {
            CommandError::usage(format!(
                "{path}: cannot be read: {error}; give a configuration file"
            ))
        })?),
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

/// Which numbers of a profile make the matrix.
#[derive(Debug, Args)]
pub struct MatrixChoice {
    /// What counts: size (bytes), msg (messages), avg (bytes a message)
    #[arg(long, value_name = "METRIC", default_value = "size", value_parser = str::parse::<Metric>)]
    pub metric: Metric,
    /// Which traffic counts: point-to-point, collectives, one-sided,
    /// neighbourhood; may be repeated, all if it is not given
    #[arg(long = "layer", value_name = "LAYER", value_parser = str::parse::<Layer>)]
    pub layers: Vec<Layer>,
}

impl MatrixChoice {
    /// The layers that were asked for.
    pub fn layers(&self) -> &[Layer] {
        if self.layers.is_empty() {
            &Layer::ALL
        } else {
            &self.layers
        }
    }
}

/// The file cannot be used, and the command line names it: usage.
pub fn as_usage(error: FileError) -> CommandError {
    CommandError::usage(error.to_string())
}
