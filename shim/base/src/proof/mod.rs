//! Whether one way to run something is quicker than another: paired times, sequential tests that
//! may be looked at after every pair, and a verdict with its interval.
//!
//! ```text
//! sign_test   wins and losses of a candidate, in whole numbers: what ranks can agree on
//! pairs       times of whole runs: sign and size of each pair's ratio; gain, interval, verdict
//! ```
//!
//! The order inside a pair is drawn by lot. Where both ways take the same time, each is the
//! quicker one with probability 1/2, however the times are distributed and whatever else the
//! machine does: both tests need no other assumption for their error rates.

mod pairs;
mod sign_test;

pub use pairs::{Limits, Pairs, Verdict};
pub use sign_test::Signs;
