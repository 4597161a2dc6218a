//! Trials: operations that are repeated with a partner and timed.

use serde::{Deserialize, Serialize};
use treepie_traffic::windows::EpochKind;

use crate::transfer_methods::TransferMethod;

/// An operation that is repeated and timed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Subject of the trial.
    pub subject: Subject,
    /// Number of repetitions.
    pub times: usize,
}

/// Subject of a trial, timed at the origin until it knows that all data has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Subject {
    /// Pieces, each followed by a gap of the same length, at both ends.
    Pieces {
        /// Their method of transfer.
        way: TransferMethod,
        /// Number of pieces.
        pieces: usize,
        /// Bytes of each piece.
        bytes: u64,
    },
    /// An epoch with one put of 8 bytes; for `LockAll` the put and a flush.
    Epoch(EpochKind),
}
