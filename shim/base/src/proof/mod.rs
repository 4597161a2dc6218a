//! Proof that one way to run something is faster than another: paired times, sequential tests that
//! may be evaluated after every pair, and a verdict with its interval.
//!
//! ```text
//! sign_test   wins and losses of a candidate, in whole numbers, on which ranks can agree
//! pairs       times of whole runs: sign and size of each pair's ratio; gain, interval, verdict
//! ```
//!
//! The order inside a pair is random. If both ways take the same time, each is the faster one with
//! probability 1/2, for any distribution of the times and any other load of the machine: both tests
//! need no other assumption for their error rates.

mod pairs;
mod sign_test;

pub use pairs::{Limits, Pairs, Verdict};
pub use sign_test::Signs;
