//! Logs that ranks write during a job: two files for each host.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::contents::{LARGEST, Logs, Order, encode_log};
use super::error::OrderError;
use super::frame::{Frames, MAGIC};
use crate::order::log::{BLOCK, compress};
use treepie_base::Rank;
use treepie_base::input::to_the_end;
use treepie_base::own_directory::remove_files;
use treepie_base::{FileError, budget, open_no_link};

/// Bytes of a rank's tail, its own part of a host's file of tails: the rank plus 1, its number of
/// blocks so far, and the length of the entries that are in no block yet, as little-endian numbers
/// of 8 bytes; then those entries.
pub const TAIL: usize = TAIL_HEAD + BLOCK;

/// Bytes of a tail before its entries.
pub const TAIL_HEAD: usize = 24;

/// Returns the directory of the logs of the order at `order`.
pub fn directory_of(order: &Path) -> PathBuf {
    let mut name = OsString::from(order);
    name.push(".parts");
    name.into()
}

/// Returns the name of the file of a host's blocks, by the lowest rank there.
pub fn block_file(first: Rank) -> String {
    format!("host-{first}.order")
}

/// Returns the name of the file of a host's tails, by the lowest rank there.
pub fn tail_file(first: Rank) -> String {
    format!("host-{first}.tails")
}

/// True if a directory contains logs.
pub fn is_directory(path: &Path) -> bool {
    !block_files(path).is_empty()
}

/// Returns the files of hosts' blocks.
fn block_files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| is_of(path, "order")).collect()
}

fn is_of(path: &Path, ending: &str) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("host-") && path.extension().is_some_and(|found| found == ending)
}

/// Removes logs, and their directory if it is empty then.
pub fn remove_directory(directory: &Path) {
    remove_files(directory, |name| {
        is_of(name, "order") || is_of(name, "tails")
    });
}

/// Reads the order that the ranks of a job have left. A log that was cut off counts up to that
/// point.
///
/// # Errors
/// A directory without logs, or with logs of several runs; files that cannot be read.
pub fn read_directory(directory: &Path) -> Result<Order, OrderError> {
    let mut all = Logs::default();
    let files = block_files(directory);
    let length = |path: &PathBuf| fs::symlink_metadata(path).map_or(0, |file| file.len());
    let bytes: u64 = files.iter().map(length).sum();
    for path in files {
        let logs = read_host(&path)?;
        let Some(run) = logs.run else { continue };
        if all.run.as_ref().is_some_and(|other| other.run != run.run) {
            let path = directory.to_owned();
            return Err(OrderError::OtherRun { path });
        }
        all.run = Some(run);
        all.program = logs.program;
        all.ranks.extend(logs.ranks);
    }
    budget::within(bytes as usize, || all.order(directory))
}

/// Reads the logs that a host's ranks have left in the file of blocks at `path` and the tails
/// beside it.
fn read_host(path: &Path) -> Result<Logs, OrderError> {
    let read = |path: &Path| open_no_link(path).and_then(|file| to_the_end(file, LARGEST));
    let bytes = read(path).map_err(|error| FileError::reading(path, &error))?;
    let strange = || OrderError::Strange {
        path: path.to_owned(),
    };
    let frames = bytes.strip_prefix(MAGIC).ok_or_else(strange)?;
    let mut logs = Logs::default();
    for frame in Frames::new(frames).whole() {
        logs.add(frame).ok_or_else(strange)?;
    }
    let tails = read(&path.with_extension("tails")).unwrap_or_default();
    for tail in tails.chunks(TAIL) {
        logs.add_tail(tail);
    }
    Ok(logs)
}

/// Returns the bytes of a host's ranks, as input of [`super::write_bodies`]; `first` is the lowest
/// of them.
///
/// # Errors
/// Files that cannot be read, or are not logs.
pub fn bodies_of_host(directory: &Path, first: Rank) -> Result<Vec<u8>, OrderError> {
    let path = directory.join(block_file(first));
    let mut bodies = Vec::new();
    for (rank, parts) in read_host(&path)?.ranks {
        let log = parts.log().map_err(|problem| OrderError::Log {
            path: path.clone(),
            rank,
            problem,
        })?;
        bodies.extend(encode_log(rank, &log));
    }
    Ok(bodies)
}

impl Logs {
    /// Adds the entries of a tail as a block, if there are any after the blocks of its rank.
    fn add_tail(&mut self, tail: &[u8]) -> Option<()> {
        let (head, entries) = tail.split_at_checked(TAIL_HEAD)?;
        let mut numbers = head.chunks_exact(8).map(|eight| {
            let number = eight.try_into().map_or(0, u64::from_le_bytes);
            usize::try_from(number).unwrap_or(usize::MAX)
        });
        let rank = Rank(numbers.next()?.checked_sub(1)?);
        let (blocks, length) = (numbers.next()?, numbers.next()?);
        let entries = entries
            .get(..length)
            .filter(|entries| !entries.is_empty())?;
        let parts = self.ranks.entry(rank).or_default();
        if parts.blocks.len() == blocks {
            parts.blocks.push(compress(entries));
        }
        Some(())
    }
}
