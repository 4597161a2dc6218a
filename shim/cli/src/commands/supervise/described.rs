//! Words for commands, hosts and ends of attempts.

use std::ffi::OsString;

use treepie_launch::watched::Watched;
use treepie_resilience::supervision::{End, Host, Progress};

pub(crate) fn as_typed(command: &[OsString]) -> String {
    let words = command.iter().map(|word| word.to_string_lossy());
    words.collect::<Vec<_>>().join(" ")
}

pub(crate) fn listed(hosts: &[Host]) -> String {
    let names = hosts
        .iter()
        .map(|host| format!("{}:{}", host.name, host.slots));
    names.collect::<Vec<_>>().join(", ")
}

pub(crate) fn in_words(end: &End, watched: &Watched, progress: Progress) -> String {
    let Watched { status, took, .. } = watched;
    let progress = match (end, progress) {
        (End::Finished, _) | (_, Progress::Unknown) => "",
        (_, Progress::Made) => "; there is a new checkpoint",
        (_, Progress::None) => "; there is no new checkpoint",
    };
    let seconds = took.as_secs_f64();
    format!("ended after {seconds:.1} s with status {status}: {end}{progress}")
}
