//! Formats in which a profile is exported to other tools, by the endings of files.

use std::io::{self, Write};
use std::path::Path;

use treepie_launch::error::CommandError;
use treepie_profile::Profile;

use super::{csv, graph, metrics, parquet, rows, trace};
use crate::input::choice::MatrixChoice;

/// A format of the contents of a profile, for other tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exchange {
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
const ENDINGS: [(&str, Exchange); 8] = [
    (".calls.parquet", Exchange::CallsParquet),
    (".parquet", Exchange::TableParquet),
    (".calls.csv", Exchange::Calls),
    (".table.csv", Exchange::Table),
    (".graphml", Exchange::GraphMl),
    (".gexf", Exchange::Gexf),
    (".trace.json", Exchange::Trace),
    (".prom", Exchange::Metrics),
];

/// Checks whether a file of this name is to have Chrome's trace format.
pub fn is_trace(path: &Path) -> bool {
    Exchange::from_path(path) == Some(Exchange::Trace)
}

/// Inputs of graphs in addition to a profile.
#[derive(Debug, Default)]
pub struct Extras {
    /// The host and the core of each rank in a placement; empty without one.
    pub placed: Vec<(String, String)>,
}

impl Exchange {
    /// The format of a file with this name, if it has one of these endings.
    pub fn from_path(path: &Path) -> Option<Exchange> {
        let name = path.file_name()?.to_string_lossy();
        let mut all = ENDINGS.iter();
        all.find(|(ending, _)| name.ends_with(ending))
            .map(|(_, form)| *form)
    }

    /// True if it can show a placement.
    pub fn is_graph(self) -> bool {
        matches!(self, Exchange::GraphMl | Exchange::Gexf)
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
            Exchange::Table => csv::write(&rows::messages(profile, choice), &mut out),
            Exchange::TableParquet => parquet::write(&rows::messages(profile, choice), &mut out),
            Exchange::Calls => csv::write(&calls()?, &mut out),
            Exchange::CallsParquet => parquet::write(&calls()?, &mut out),
            Exchange::GraphMl => graph::graphml(profile, choice, extras, &mut out),
            Exchange::Gexf => graph::gexf(profile, choice, extras, &mut out),
            Exchange::Metrics => metrics::write(profile, choice, &mut out),
            Exchange::Trace => {
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
        let form = |name: &str| Exchange::from_path(Path::new(name));
        assert_eq!(form("a.calls.parquet"), Some(Exchange::CallsParquet));
        assert_eq!(form("a.parquet"), Some(Exchange::TableParquet));
        assert_eq!(form("a.table.csv"), Some(Exchange::Table));
        assert_eq!(form("a.csv"), None);
        assert_eq!(form("a.json"), None);
    }
}
