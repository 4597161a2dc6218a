//! Message of a plan between two processes of a host.

use thiserror::Error;
use treepie_mpi::Word;

/// A message is longer than its receive buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a message is longer than what is to be received")]
pub struct Truncated;

/// Message of a step.
#[derive(Debug, Clone, Copy)]
pub struct Message {
    /// Index of the step.
    pub step: u32,
    /// Tag that distinguishes it from the other messages between the two processes.
    pub tag: u32,
    /// Its address.
    pub address: Word,
    /// Its length.
    pub bytes: usize,
}
