//! Explanation of a hang in words: the verdict in the first line, then the activity of each rank,
//! the cycle, collectives on which ranks do not agree, and messages that were not received.

mod activity;
mod answers;
mod hang;
mod headline;
mod trace;
mod words;

pub use hang::Hang;
