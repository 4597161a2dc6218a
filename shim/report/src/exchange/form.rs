//! Formats in which a profile is exported to other tools, by the endings of files.

use std::io::{self, Write};
use std::path::Path;

use treepie_launch::error::CommandError;
use treepie_profile::Profile;

use super::{csv, graph, metrics, parquet, rows, trace};
use crate::input::choice::MatrixChoice;

/// A format of the contents of a profile, for other tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExchangeFormat {
    /// Messages as a long table with commas.
    Table,
    /// Calls as a long table with commas.
    Calls,
    /// Messages as a long table in Parquet.
    TableParquet,
    /// Calls as a long table in Parquet.
    CallsParquet,
    /// Ranks and their sends as GraphML.
    GraphMl,
    /// Ranks and their sends as GEXF.
    Gexf,
    /// Phases and times in Chrome's trace format.
    Trace,
    /// Sums as OpenMetrics text.
    Metrics,
}

/// File endings, the longer first: `.calls.parquet` must not be read as `.parquet`.
const ENDINGS: [(&str, ExchangeFormat); 8] = [
    (".calls.parquet", ExchangeFormat::CallsParquet),
    (".parquet", ExchangeFormat::TableParquet),
    (".calls.csv", ExchangeFormat::Calls),
    (".table.csv", ExchangeFormat::Table),
    (".graphml", ExchangeFormat::GraphMl),
    (".gexf", ExchangeFormat::Gexf),
    (".trace.json", ExchangeFormat::Trace),
    (".prom", ExchangeFormat::Metrics),
];

/// Checks whether a file of this name is to have Chrome's trace format.
pub fn is_trace(path: &Path) -> bool {
    ExchangeFormat::from_path(path) == Some(ExchangeFormat::Trace)
}

/// Inputs of graphs in addition to a profile.
#[derive(Debug, Default)]
pub struct Extras {
    /// The host and the core of each rank in a placement; empty without one.
    pub placed: Vec<(String, String)>,
}

impl ExchangeFormat {
    /// The format of a file with this name, if it has one of these endings.
    pub fn from_path(path: &Path) -> Option<ExchangeFormat> {
        let name = path.file_name()?.to_string_lossy();
        let mut all = ENDINGS.iter();
        all.find(|(ending, _)| name.ends_with(ending))
            .map(|(_, form)| *form)
    }

    /// True if it can show a placement.
    pub fn is_graph(self) -> bool {
        matches!(self, ExchangeFormat::GraphMl | ExchangeFormat::Gexf)
    }

    /// Formats the text or bytes of the file.
    ///
    /// # Errors
    /// The profile at `path` lacks the times or phases: usage.
    pub fn to_bytes(
        self,
        path: &Path,
        profile: &Profile,
        choice: &MatrixChoice,
        extras: &Extras,
    ) -> Result<Vec<u8>, CommandError> {
        let lacks = |what: &str, remedy: &str| {
            let place = path.display();
            CommandError::usage(format!("{place}: has no {what}; {remedy}"))
        };
        let calls = || {
            let remedy = "take it with `treepie profile --times`";
            rows::calls(profile, choice).ok_or_else(|| lacks("times", remedy))
        };
        let mut out = Vec::new();
        let written: io::Result<()> = match self {
            ExchangeFormat::Table => csv::write(&rows::messages(profile, choice), &mut out),
            ExchangeFormat::TableParquet => {
                parquet::write(&rows::messages(profile, choice), &mut out)
            }
            ExchangeFormat::Calls => csv::write(&calls()?, &mut out),
            ExchangeFormat::CallsParquet => parquet::write(&calls()?, &mut out),
            ExchangeFormat::GraphMl => graph::graphml(profile, choice, extras, &mut out),
            ExchangeFormat::Gexf => graph::gexf(profile, choice, extras, &mut out),
            ExchangeFormat::Metrics => metrics::write(profile, choice, &mut out),
            ExchangeFormat::Trace => {
                let remedy = "take it with `treepie profile --times` or `--phase-interval TIME`";
                let made = trace::trace(profile).ok_or_else(|| lacks("phases or times", remedy))?;
                writeln!(out, "{made}")
            }
        };
        written.map_err(|error| CommandError::failed(format!("{}: {error}", path.display())))?;
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_of_two_parts_come_before_their_last_part() {
        let form = |name: &str| ExchangeFormat::from_path(Path::new(name));
        assert_eq!(form("a.calls.parquet"), Some(ExchangeFormat::CallsParquet));
        assert_eq!(form("a.parquet"), Some(ExchangeFormat::TableParquet));
        assert_eq!(form("a.table.csv"), Some(ExchangeFormat::Table));
        assert_eq!(form("a.csv"), None);
        assert_eq!(form("a.json"), None);
    }
}
