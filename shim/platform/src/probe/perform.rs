//! Tasks of the initiator, performed by any rank.

use super::request::echo;
use super::task::{Answer, Order, Task};
use crate::probe::messenger::Messenger;
use crate::probe::{exchange, measure, transfer_methods};

/// Performs these orders; returns the answers of those where this rank measures.
pub(super) fn perform_all(messenger: &mut impl Messenger, orders: &[Order]) -> Vec<Answer> {
    let answers = orders.iter().filter_map(|order| perform(messenger, order));
    answers.collect()
}

/// Performs one task; the measuring side has an answer.
pub(crate) fn perform(messenger: &mut impl Messenger, order: &Order) -> Option<Answer> {
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
            Answer::Ways(transfer_methods::ways(messenger, partner, seconds).map(Box::new))
        }
        Task::Stream { bytes, count } => {
            Answer::Seconds(measure::stream(messenger, partner, bytes, count))
        }
        Task::TimedExchange {
            ref members,
            bytes,
            times,
        } => Answer::Times(exchange::times(messenger, members, bytes, times)),
    })
}
