//! A message of a plan between two processes of a host.

use thiserror::Error;
use treepie_mpi::Word;

/// A message that came is longer than what was to be received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a message is longer than what is to be received")]
pub struct Truncated;

/// A message as a step has it.
#[derive(Debug, Clone, Copy)]
pub struct Message {
    /// The step.
    pub step: u32,
    /// Tag that tells it from the other messages between the two processes.
    pub tag: u32,
    /// Its address.
    pub address: Word,
    /// Its length.
    pub bytes: usize,
}
