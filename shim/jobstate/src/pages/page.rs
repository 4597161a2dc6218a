//! Pages that were read, and the files of pages.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use treepie_base::Rank;

use super::layout;
use crate::waits::RankState;

/// Interval at which a rank gives a sign of life.
pub const TICK: Duration = Duration::from_millis(500);

/// Page that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// Number of the run.
    pub run: u64,
    /// Number that the command gave the run, or 0.
    pub given: u64,
    /// Number of ranks of the job.
    pub ranks: usize,
    /// Start time of the process, in clock ticks since its host's.
    pub started: u64,
    /// Name of the program.
    pub program: String,
    /// Activity of the rank.
    pub state: RankState,
}

/// Reason why a file is not a readable page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PageError {
    /// It is being made, or is something else.
    #[error("is not a page of a rank, or is still being written; read it again")]
    NoPage,
    /// Another layout.
    #[error(
        "has version {found} of the layout, this treepie reads {}; use the treepie that ran the \
             job",
        layout::VERSION
    )]
    Version {
        /// Version of the page.
        found: u64,
    },
    /// It is too short.
    #[error("is cut off: {found} bytes, {expected} were expected; it can't be used")]
    Short {
        /// Its length in bytes.
        found: usize,
        /// Its length in bytes by the header.
        expected: usize,
    },
    /// An invalid number.
    #[error("has {what} {found}; the file is damaged and can't be used")]
    Damaged {
        /// Name of the number.
        what: &'static str,
        /// Its value.
        found: u64,
    },
}

/// Returns the usual directory of pages, in the memory file system `memory` (`/dev/shm`).
pub fn usual_directory(memory: &Path, user: u32) -> PathBuf {
    memory.join(format!("treepie-{user}"))
}

/// Returns the directory of a run.
pub fn run_directory(base: &Path, run: u64) -> PathBuf {
    base.join(format!("{run:016x}"))
}

/// Returns the run of a directory.
pub fn run_of(directory: &Path) -> Option<u64> {
    let name = directory.file_name()?.to_str()?;
    let is_number = name.len() == 16 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_number.then(|| u64::from_str_radix(name, 16).ok())?
}

/// Returns the name of the file of a rank.
pub fn file_name(rank: Rank) -> String {
    format!("{rank}.page")
}

/// Returns the rank of a file.
pub fn rank_of(file: &Path) -> Option<Rank> {
    let number = file.file_name()?.to_str()?.strip_suffix(".page")?.parse();
    number.map(Rank).ok()
}
