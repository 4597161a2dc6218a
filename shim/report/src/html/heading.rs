//! Title, facts and origin of the page.

use super::sources::Sources;
use crate::summary::Summary;
use crate::words::{file_name, pluralize};

/// The application's command.
pub fn title(summary: &Summary) -> String {
    match summary.command.as_str() {
        "" => summary.file.clone(),
        command => command.to_owned(),
    }
}

/// `16 ranks on mygale, Open MPI v4.1.4, 2026-11-21T04:03:48Z`.
pub(crate) fn facts_line(summary: &Summary) -> String {
    let hosts = match &summary.hosts[..] {
        [host] => host.name.clone(),
        hosts => pluralize(hosts.len(), "host"),
    };
    let ranks = pluralize(summary.ranks, "rank");
    format!("{ranks} on {hosts}, {}, {}", summary.mpi, summary.date)
}

/// Origin of the figures, for a reader who did not make the page.
pub(crate) fn method(sources: &Sources) -> &'static str {
    match (&sources.placement, &sources.after) {
        (None, None) => {
            "A library preloaded into the unmodified program counted the messages that each rank \
             sent; those inside the MPI's collectives are modelled."
        }
        (Some(_), None) => {
            "A library preloaded into the unmodified program counted the messages of each rank. From \
             these, a placement was computed: ranks that exchange much data are close together."
        }
        (_, Some(_)) => {
            "A library preloaded into the unmodified program counted the messages of each rank in two \
             runs. In the second, ranks that exchange much data were placed close together."
        }
    }
}

/// Program and sources of the page.
pub(crate) fn footer(origin: &str) -> String {
    format!("treepie {}, from {origin}", env!("CARGO_PKG_VERSION"))
}

/// Names of the files from which a report is made.
pub fn files_of(sources: &Sources) -> String {
    let mut files = vec![file_name(&sources.before.0)];
    files.extend(sources.after.as_ref().map(|(path, _)| file_name(path)));
    files.extend(sources.placement.as_ref().map(|(path, _)| file_name(path)));
    files.extend(sources.platform.as_ref().map(|(path, _)| file_name(path)));
    files.join(", ")
}

/// Capitalizes the beginning of a sentence.
pub(crate) fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}
