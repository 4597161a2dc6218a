//! The responder, on every rank: sends its identity, then serves the requests of rank 0.

use super::super::{Mismatch, Platform, PlatformError};
use super::request::echo;
use super::task::{Answer, Order, Task};
use super::{
    Identity, Messenger, Options, Report, exchange, initiator, measure, receive_value, send_value,
    ways,
};

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
        return initiator::measure_all(messenger, identity, options).map(Some);
    }
    send_value(messenger, 0, identity);
    serve(messenger);
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
        return Some(initiator::compare(messenger, platform, factor));
    }
    serve(messenger);
    None
}

/// Runs the orders of rank 0, until there is nothing more. All answers to some orders go back
/// together: meanwhile rank 0 may be a partner, and receives no answers.
fn serve(messenger: &mut impl Messenger) {
    let orders =
        |messenger: &mut _| receive_value(messenger, 0).filter(|all: &Vec<Order>| !all.is_empty());
    while let Some(orders) = orders(messenger) {
        let answers = perform_all(messenger, &orders);
        if !answers.is_empty() {
            send_value(messenger, 0, &answers);
        }
    }
}

/// Does these orders; the answers of those where this rank measures.
pub(super) fn perform_all(messenger: &mut impl Messenger, orders: &[Order]) -> Vec<Answer> {
    let answers = orders.iter().filter_map(|order| perform(messenger, order));
    answers.collect()
}

/// Does one task; the measuring side has an answer.
fn perform(messenger: &mut impl Messenger, order: &Order) -> Option<Answer> {
    let partner = order.partner;
    if !order.measures {
        echo(messenger, partner);
        return None;
    }
    Some(match order.task {
        Task::Latency => Answer::Seconds(measure::latency(messenger, partner)),
        Task::Link {
            seconds,
            largest,
            ref also,
        } => Answer::of_link(measure::link(messenger, partner, seconds, largest, also).as_ref()),
        Task::Ways { seconds } => {
            Answer::Ways(ways::ways(messenger, partner, seconds).map(Box::new))
        }
        Task::Stream { bytes, count } => {
            Answer::Seconds(measure::stream(messenger, partner, bytes, count))
        }
        Task::Exchange {
            ref members,
            bytes,
            times,
        } => Answer::Times(exchange::times(messenger, members, bytes, times)),
    })
}
