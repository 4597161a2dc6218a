//! Log of a rank: compressed blocks of entries.

use std::io::{Read, Write};
use std::sync::Arc;

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde::{Deserialize, Serialize};

use super::call::Outcome;
use super::entry::{Coder, Damaged, Entry};

/// Maximum bytes of entries in a block before compression.
pub const BLOCK: usize = 64 * 1024;

/// Totals of a rank. Only a rank that reached `MPI_Finalize` has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Totals {
    /// Number of receives with a wildcard that were posted.
    pub posted: u64,
    /// Number of receives posted, and of calls that found something.
    pub events: u64,
    /// Checksum of all calls.
    pub sum: u32,
}

/// End of a rank's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It reached `MPI_Finalize`.
    Well(Totals),
    /// It did not reach `MPI_Finalize`.
    Early,
}

/// The log of a rank.
#[derive(Debug, Clone)]
pub struct Log {
    blocks: Arc<[Vec<u8>]>,
    ended: Ended,
    /// Number of entries of each kind, for reports.
    pub counts: Counts,
}

/// Numbers of entries of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Counts {
    /// Receives that matched a message.
    pub matches: u64,
    /// Receives that were cancelled.
    pub cancelled: u64,
    /// Probes that found a message.
    pub probes: u64,
    /// Other calls that found something.
    pub completions: u64,
    /// Polls that found nothing.
    pub empty_polls: u64,
    /// Windows that were created.
    pub windows: u64,
    /// Compressed bytes.
    pub bytes: u64,
}

impl Log {
    /// Creates the log of these compressed blocks, all of which are read once.
    ///
    /// # Errors
    /// Bytes that are not entries.
    pub fn new(blocks: Vec<Vec<u8>>, ended: Ended) -> Result<Log, Damaged> {
        let mut log = Log {
            counts: Counts {
                bytes: blocks.iter().map(|block| block.len() as u64).sum(),
                ..Counts::default()
            },
            blocks: blocks.into(),
            ended,
        };
        let mut counts = log.counts;
        for entry in log.entries() {
            match entry? {
                Entry::Match { .. } => counts.matches += 1,
                Entry::Cancelled { .. } => counts.cancelled += 1,
                Entry::Nothing(polls) => {
                    counts.empty_polls = counts.empty_polls.saturating_add(polls)
                }
                Entry::Found(Outcome::Probed { .. }) => counts.probes += 1,
                Entry::Found(_) => counts.completions += 1,
                Entry::Window => counts.windows += 1,
                Entry::Check(_) | Entry::Threads => (),
            }
        }
        log.counts = counts;
        Ok(log)
    }

    /// Returns how the log ended.
    pub fn ended(&self) -> Ended {
        self.ended
    }

    /// True if the log stopped because several threads received.
    pub fn has_threads(&self) -> bool {
        self.entries().any(|entry| entry == Ok(Entry::Threads))
    }

    /// Returns its compressed blocks.
    pub fn blocks(&self) -> &[Vec<u8>] {
        &self.blocks
    }

    /// Returns its entries, of which one block at a time is in memory.
    pub(super) fn entries(&self) -> Entries {
        Entries {
            blocks: Arc::clone(&self.blocks),
            next: 0,
            bytes: Vec::new(),
            read: 0,
            coder: Coder::default(),
            number: 0,
        }
    }
}

/// Compresses a block.
pub(crate) fn compress(block: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    // Writing to memory cannot fail.
    let written = encoder.write_all(block);
    written.and_then(|()| encoder.finish()).unwrap_or_default()
}

/// Entries of a log, in their order.
#[derive(Debug)]
pub(super) struct Entries {
    blocks: Arc<[Vec<u8>]>,
    next: usize,
    bytes: Vec<u8>,
    read: usize,
    coder: Coder,
    number: u64,
}

impl Iterator for Entries {
    type Item = Result<Entry, Damaged>;

    fn next(&mut self) -> Option<Self::Item> {
        let damaged = Damaged { at: self.number };
        while self.read == self.bytes.len() {
            let block = self.blocks.get(self.next)?;
            self.next += 1;
            self.read = 0;
            self.bytes.clear();
            // A block that is larger than the limit is invalid, whatever its length.
            let mut decoder = DeflateDecoder::new(&block[..]).take(BLOCK as u64 + 1);
            if decoder.read_to_end(&mut self.bytes).is_err() || self.bytes.len() > BLOCK {
                self.bytes.clear();
                return Some(Err(damaged));
            }
        }
        let mut rest = &self.bytes[self.read..];
        let entry = self.coder.decode(&mut rest);
        self.read = self.bytes.len() - rest.len();
        self.number += 1;
        if entry.is_none() {
            self.read = self.bytes.len();
        }
        Some(entry.ok_or(damaged))
    }
}
