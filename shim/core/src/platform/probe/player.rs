//! What every rank does: tell where it is, then what rank 0 asks for.

use super::super::{Mismatch, Platform, PlatformError};
use super::request::mirror;
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

/// Does what rank 0 asks for, until there is nothing more. All answers of a text of
/// orders go back together: meanwhile rank 0 may be a partner, and hears no answers.
fn obey(messenger: &mut impl Messenger) {
    while let Some(orders) = Order::of_lines(&messenger.hear(0)) {
        let answers = perform_all(messenger, &orders);
        if !answers.is_empty() {
            messenger.tell(0, &answers.join("\n"));
        }
    }
}

/// Does these orders; the answers of those where this rank measures.
pub(super) fn perform_all(messenger: &mut impl Messenger, orders: &[Order]) -> Vec<String> {
    let answers = orders.iter().filter_map(|order| perform(messenger, order));
    answers.collect()
}

/// Does one task; the measuring side has an answer.
fn perform(messenger: &mut impl Messenger, order: &Order) -> Option<String> {
    let partner = order.partner;
    if !order.measures {
        mirror(messenger, partner);
        return None;
    }
    Some(match order.task {
        Task::Latency => format!("{:e}", measure::latency(messenger, partner)),
        Task::Link {
            seconds,
            largest,
            ref also,
        } => link_text(measure::link(messenger, partner, seconds, largest, also).as_ref()),
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
