//! The logs that ranks keep while a job runs.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::frame::{Frames, MAGIC};
use super::{Logs, Order, OrderError};
use crate::files::FileError;
use crate::order::compress;

/// Bytes before the entries of a tail: its blocks so far, and the length of the entries behind, as
/// two numbers of 8 bytes, the lowest first.
pub const TAIL_HEAD: usize = 16;

/// Directory of the logs of the order at `order`.
pub fn directory_of(order: &Path) -> PathBuf {
    let mut name = OsString::from(order);
    name.push(".parts");
    name.into()
}

/// The name of the file of a rank's blocks.
pub fn block_file(rank: usize) -> String {
    format!("rank-{rank}.order")
}

/// The name of the file of the entries that are in no block yet.
pub fn tail_file(rank: usize) -> String {
    format!("rank-{rank}.tail")
}

/// Whether a directory holds logs.
pub fn is_directory(path: &Path) -> bool {
    !rank_files(path).is_empty()
}

/// The files of ranks' blocks.
fn rank_files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| is_of(path, "order")).collect()
}

fn is_of(path: &Path, ending: &str) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("rank-") && path.extension().is_some_and(|found| found == ending)
}

/// Removes logs, and their directory where nothing else is in it.
pub fn remove_directory(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if is_of(&path, "order") || is_of(&path, "tail") {
            let _ = fs::remove_file(path);
        }
    }
    let _ = fs::remove_dir(directory);
}

/// The order that the ranks of a job have left. A file that was cut off counts as far as it goes.
///
/// # Errors
/// A directory without logs, or with logs of several runs; files that can't be read.
pub fn read_directory(directory: &Path) -> Result<Order, OrderError> {
    let mut all = Logs::default();
    for path in rank_files(directory) {
        let bytes = fs::read(&path).map_err(|error| FileError::reading(&path, &error))?;
        let Some(frames) = bytes.strip_prefix(MAGIC) else {
            return Err(OrderError::Strange { path });
        };
        let mut logs = Logs::default();
        for frame in Frames::new(frames).map_while(Result::ok) {
            if logs.add(frame).is_none() {
                return Err(OrderError::Strange { path });
            }
        }
        let Some(run) = logs.run else { continue };
        if all.run.as_ref().is_some_and(|other| other.run != run.run) {
            let path = directory.to_owned();
            return Err(OrderError::OtherRun { path });
        }
        all.run = Some(run);
        all.program = logs.program;
        if let Some((rank, mut parts)) = logs.ranks.pop() {
            let tail = fs::read(directory.join(tail_file(rank))).unwrap_or_default();
            parts.blocks.extend(tail_block(&tail, parts.blocks.len()));
            all.ranks.push((rank, parts));
        }
    }
    all.order(directory)
}

/// The entries of a tail as a block, if there are any and they are behind so many blocks.
fn tail_block(tail: &[u8], blocks: usize) -> Option<Vec<u8>> {
    let (number, rest) = tail.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let entries = rest.get(..length)?;
    let is_next = u64::from_le_bytes(*number) == blocks as u64;
    (is_next && length > 0).then(|| compress(entries))
}
