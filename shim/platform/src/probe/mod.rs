//! Measuring a platform from inside a job (thesis chapters 3 and 4, items 3 to 11,
//! 21 to 23), over whatever carries messages.
//!
//! Rank 0 is the initiator; all others are responders, which wait for its requests, without using
//! their processor:
//!
//! ```text
//!   identities              every rank sends its host
//!   latencies               one rank of each host with one of each other,
//!                           in rounds of disjoint pairs, like a tournament
//!   clusters                Lowekamp's algorithm, on rank 0
//!   pLogP                   two hosts of each cluster; two ranks of a host;
//!                           leaders with each other, in both directions,
//!                           in rounds
//!   together (on request)   several pairs at once: of two clusters, of two hosts of
//!                           one, of ranks of a host
//!   ways (on request)       the pairs of pLogP, with pieces of data, put and sent
//!   exchange (on request)   all ranks of a cluster, and some of them, with each other
//! ```
//!
//! A budget bounds the time. What it is not enough for is left out and named.

mod assemble;
mod exchange;
mod initiator;
mod measure;
mod request;
mod responder;
mod rounds;
mod sizes;
mod task;
#[cfg(test)]
mod tests;
mod timer;
mod ways;

pub use measure::isolated_gap;
pub use responder::{check, probe};
pub use rounds::tournament;
pub use ways::{Subject, Trial};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::DEFAULT_TOLERANCE;
pub use super::Identity;

/// What carries messages between the ranks of a job. Contents matter only to
/// [`send_data`](Messenger::send_data) and [`receive_data`](Messenger::receive_data).
pub trait Messenger {
    /// This process's rank.
    fn rank(&self) -> usize;
    /// Number of ranks.
    fn ranks(&self) -> usize;
    /// Seconds on this process's clock, from any start.
    fn seconds(&mut self) -> f64;
    /// Does nothing for so many seconds.
    fn pause(&mut self, seconds: f64);
    /// Sends `bytes` bytes and returns when the buffer is free again.
    fn send(&mut self, to: usize, bytes: u64);
    /// Receives `bytes` bytes.
    fn receive(&mut self, from: usize, bytes: u64);
    /// Sends `count` messages of `bytes` bytes, all started before one is
    /// waited for.
    fn send_train(&mut self, to: usize, bytes: u64, count: usize);
    /// Receives `count` messages of `bytes` bytes, all expected at once.
    fn receive_train(&mut self, from: usize, bytes: u64, count: usize);
    /// Sends `bytes` bytes to each of the others of `members`, of which this process is one, and
    /// receives as much from each, all started before one is waited for.
    fn exchange(&mut self, members: &[usize], bytes: u64);
    /// Does a trial with a partner, which does it too: the seconds of each time, at the origin.
    /// Nothing where this messenger has no ways but its messages.
    fn try_way(&mut self, partner: usize, is_origin: bool, trial: &Trial) -> Vec<f64> {
        let _ = (partner, is_origin, trial);
        Vec::new()
    }
    /// Gives back what trials with this partner needed, which does so too.
    fn end_trials(&mut self, partner: usize) {
        let _ = partner;
    }
    /// Sends bytes that mean something.
    fn send_data(&mut self, to: usize, bytes: &[u8]);
    /// Waits for what [`send_data`](Messenger::send_data) sends, leaving the processor to others
    /// meanwhile.
    fn receive_data(&mut self, from: usize) -> Vec<u8>;
}

/// The others of `members` in the order in which `rank` serves them in an exchange: those behind it
/// first, so that not all begin with the same one (optimised direct exchange, thesis item 44).
pub fn others_behind(members: &[usize], rank: usize) -> impl Iterator<Item = usize> {
    let place = members.iter().position(|&member| member == rank);
    let behind = place.map_or(0, |place| place + 1);
    let all = members[behind..].iter().chain(&members[..behind]);
    all.copied().filter(move |&member| member != rank)
}

/// Sends a value.
fn send_value(messenger: &mut impl Messenger, to: usize, value: &impl Serialize) {
    messenger.send_data(to, &postcard::to_allocvec(value).unwrap_or_default());
}

/// Waits for a value; `None` where nothing came, or something else, which only another program
/// could have sent.
fn receive_value<T: DeserializeOwned>(messenger: &mut impl Messenger, from: usize) -> Option<T> {
    postcard::from_bytes(&messenger.receive_data(from)).ok()
}

/// What to measure and how long.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Tolerance of the clustering.
    pub tolerance: f64,
    /// Seconds for all of it.
    pub budget: f64,
    /// Largest message in bytes.
    pub largest: u64,
    /// Most pairs at a time; 0 for as many as are disjoint.
    pub at_a_time: usize,
    /// Whether to measure several pairs of two clusters, of two hosts and of a host at once.
    pub together: bool,
    /// Whether to measure how each cluster responds to a total exchange.
    pub exchange: bool,
    /// Whether to measure the ways in which pieces go over each link.
    pub ways: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            tolerance: DEFAULT_TOLERANCE,
            budget: 60.0,
            largest: 1 << 20,
            at_a_time: 0,
            together: false,
            exchange: false,
            ways: false,
        }
    }
}

/// What rank 0 knows at the end.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The platform.
    pub platform: super::Platform,
}
