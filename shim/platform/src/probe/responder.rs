//! The responder, on every rank: sends its identity, then serves the requests of rank 0.

use super::task::Order;
use crate::contents::PlatformError;
use crate::description::{Mismatch, Platform};
use crate::inside::Identity;
use crate::partial::PartialPlatform;
use crate::probe::messenger::{Messenger, receive_value, send_value};
use crate::probe::options::{Options, Report};
use crate::probe::perform::perform_all;
use crate::probe::steps::{compare, measure_all};

/// Measures the platform. All ranks of the job call this at the same time, with
/// the same options; rank 0 gets the report.
///
/// # Errors
/// On rank 0, the answers do not form a platform.
pub fn probe(
    messenger: &mut impl Messenger,
    identity: &Identity,
    options: &Options,
) -> Result<Option<Report>, PlatformError> {
    measured(messenger, identity, (options, None))
}

/// Measures the missing parts of a platform; its hosts and ranks are those of the job
/// ([`PartialPlatform::for_job`]). Otherwise like [`probe`].
///
/// # Errors
/// On rank 0, the answers do not form a platform.
pub fn complete(
    messenger: &mut impl Messenger,
    identity: &Identity,
    options: &Options,
    known: &PartialPlatform,
) -> Result<Option<Report>, PlatformError> {
    measured(messenger, identity, (options, Some(known)))
}

fn measured(
    messenger: &mut impl Messenger,
    identity: &Identity,
    (options, known): (&Options, Option<&PartialPlatform>),
) -> Result<Option<Report>, PlatformError> {
    if messenger.rank() == 0 {
        return measure_all(messenger, identity, options, known).map(Some);
    }
    send_value(messenger, 0, identity);
    serve(messenger);
    Ok(None)
}

/// Checks that a platform matches this job: a few latencies between its clusters, measured now, are
/// within a `factor` of its own. All ranks call this at the same time with the same platform, which
/// has the job's ranks ([`Platform::for_job`]); rank 0 gets the answer.
pub fn check(
    messenger: &mut impl Messenger,
    platform: &Platform,
    factor: f64,
) -> Option<Result<(), Mismatch>> {
    if messenger.rank() == 0 {
        return Some(compare(messenger, platform, factor));
    }
    serve(messenger);
    None
}

/// Performs the orders of rank 0 until the end. All answers to a set of orders are returned
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
