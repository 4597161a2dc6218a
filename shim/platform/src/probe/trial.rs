//! Trials: what is done with a partner several times, and timed.

use serde::{Deserialize, Serialize};
use treepie_traffic::windows::EpochKind;

use crate::ways::Way;

/// Something that is done several times, and timed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Subject of the trial.
    pub subject: Subject,
    /// Number of repetitions.
    pub times: usize,
}

/// Subject of a trial, timed at the origin until it knows that all has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Subject {
    /// Pieces, each with a gap as long behind it, at both ends.
    Pieces {
        /// The way that they go.
        way: Way,
        /// Number of pieces.
        pieces: usize,
        /// Bytes of each.
        bytes: u64,
    },
    /// An epoch with one put of 8 bytes; of `LockAll` the put and a flush.
    Epoch(EpochKind),
}
