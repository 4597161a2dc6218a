//! Measurement of a platform from inside a job (thesis chapters 3 and 4, items 3 to 11, 21 to 23),
//! over any transport of messages.
//!
//! Rank 0 is the initiator; all others are responders, which wait for its requests without
//! occupying their processors:
//!
//! ```text
//!   identities              every rank sends its host
//!   latencies               one rank of each host with one of each other,
//!                           in rounds of disjoint pairs, like a tournament
//!   clusters                Lowekamp's algorithm, on rank 0
//!   pLogP                   two hosts of each cluster; two ranks of a host;
//!                           leaders with each other, in both directions,
//!                           in rounds
//!   together (on request)   several simultaneous pairs: of two clusters, of two hosts of
//!                           one, of ranks of a host
//!   ways (on request)       the pairs of pLogP, with pieces of data and several methods
//!   exchange (on request)   all ranks of a cluster, and some of them, with each other
//! ```
//!
//! If clusters, and perhaps some links, are known, no latencies between hosts are measured, and
//! only the missing links.
//!
//! A budget limits the time. Measurements for which it does not suffice are left out and listed.

mod assemble;
mod exchange;
mod findings;
mod initiator;
mod measure;
mod messenger;
mod options;
mod orders;
mod perform;
mod request;
mod responder;
mod rounds;
mod signature;
mod sizes;
mod steps;
mod task;
#[cfg(test)]
mod tests;
mod timer;
mod transfer_methods;
mod trial;

pub use crate::inside::Identity;
pub use measure::isolated_gap;
pub use messenger::{Messenger, others_behind};
pub use options::{Options, Report};
pub use responder::{check, complete, probe};
pub use rounds::tournament;
pub use trial::{Subject, Trial};
