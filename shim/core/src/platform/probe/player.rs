//! What every rank does: tell where it is, then what rank 0 asks for.

use super::super::{Mismatch, Platform, PlatformError};
use super::task::{Order, Task, link_text};
use super::{Identity, Messenger, Options, Report, conductor, measure};

/// Measures the platform. All ranks of the job call this at the same time, with
/// the same options; rank 0 gets the report.
///
/// # Errors
/// On rank 0, answers that make no platform.
pub fn probe(
    messenger: &mut impl Messenger,
    identity: &Identity,
    options: &Options,
) -> Result<Option<Report>, PlatformError> {
    if messenger.rank() == 0 {
        return conductor::conduct(messenger, identity, options).map(Some);
    }
    messenger.tell(0, &identity_text(identity));
    obey(messenger);
    Ok(None)
}

/// Whether a platform is that of this job: a few latencies between its clusters,
/// measured now, are within a `factor` of its own. All ranks call this at the same
/// time with the same platform, one that knows the job's ranks
/// ([`Platform::for_job`]); rank 0 gets the answer.
pub fn check(
    messenger: &mut impl Messenger,
    platform: &Platform,
    factor: f64,
) -> Option<Result<(), Mismatch>> {
    if messenger.rank() == 0 {
        return Some(conductor::compare(messenger, platform, factor));
    }
    obey(messenger);
    None
}

/// Does what rank 0 asks for, until there is nothing more.
fn obey(messenger: &mut impl Messenger) {
    while let Order::Do {
        task,
        partner,
        measures,
    } = Order::parse(&messenger.hear(0))
    {
        if let Some(answer) = perform(messenger, task, partner, measures) {
            messenger.tell(0, &answer);
        }
    }
}

/// Does one task; the measuring side has an answer.
pub(super) fn perform(
    messenger: &mut impl Messenger,
    task: Task,
    partner: usize,
    measures: bool,
) -> Option<String> {
    if !measures {
        measure::mirror(messenger, partner);
        return None;
    }
    Some(match task {
        Task::Latency => format!("{:e}", measure::latency(messenger, partner)),
        Task::Link { seconds, largest } => {
            link_text(measure::link(messenger, partner, seconds, largest).as_ref())
        }
        Task::Stream { bytes, count } => {
            format!("{:e}", measure::stream(messenger, partner, bytes, count))
        }
    })
}

/// A host's name has no line end, so the text can be taken apart again.
pub(super) fn identity_text(identity: &Identity) -> String {
    let number = |place: Option<usize>| place.map_or("-".into(), |number| number.to_string());
    let (socket, core) = (number(identity.socket), number(identity.core));
    format!("{socket} {core}\n{}", identity.host.replace('\n', " "))
}

pub(super) fn identity_of(text: &str) -> Identity {
    let (place, host) = text.split_once('\n').unwrap_or(("- -", text));
    let (socket, core) = place.split_once(' ').unwrap_or(("-", "-"));
    Identity {
        host: host.to_owned(),
        socket: socket.parse().ok(),
        core: core.parse().ok(),
    }
}
