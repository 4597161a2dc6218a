//! The pages of a job's ranks: what each is doing, in a file of a few hundred words that the rank
//! writes while it runs, and that stays when it is killed.
//!
//! ```text
//! treepie-UID/RUN/RANK.page          RUN in hexadecimal
//! ```
//!
//! A page holds the names of the procedures that it numbers, so that a reader need not be of the
//! writer's version, as long as the layout is.

mod decode;
pub mod layout;
mod process;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::waits::Rank;
pub use decode::decode;
pub use process::{Process, process_of_stat, reads_input};

/// How often a rank gives a sign of life.
pub const TICK: Duration = Duration::from_millis(500);

/// A page that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// Number of the run.
    pub run: u64,
    /// Number that the command gave the run, or 0.
    pub given: u64,
    /// Ranks of the job.
    pub ranks: usize,
    /// When the process started, in clock ticks since its host did.
    pub started: u64,
    /// The program.
    pub program: String,
    /// What the rank is doing.
    pub state: Rank,
}

/// Why a file is no page that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PageError {
    /// It is being made, or is something else.
    #[error("is no page of a rank, or is being made; look again")]
    NoPage,
    /// Another layout.
    #[error(
        "has version {found} of the layout, this treepie reads {}; use the treepie that ran the \
             job",
        layout::VERSION
    )]
    Version {
        /// Its version.
        found: u64,
    },
    /// It ends too soon.
    #[error("is cut off: {found} bytes, {expected} were expected; it can't be used")]
    Short {
        /// Its length.
        found: usize,
        /// The length that it says.
        expected: usize,
    },
    /// A number that cannot be.
    #[error("has {what} {found}; the file is damaged and can't be used")]
    Damaged {
        /// Which number.
        what: &'static str,
        /// The number.
        found: u64,
    },
}

/// Where pages usually are, in the memory that `memory` (`/dev/shm`) stands for.
pub fn usual_directory(memory: &Path, user: u32) -> PathBuf {
    memory.join(format!("treepie-{user}"))
}

/// The directory of a run.
pub fn run_directory(base: &Path, run: u64) -> PathBuf {
    base.join(format!("{run:016x}"))
}

/// The run that a directory is of.
pub fn run_of(directory: &Path) -> Option<u64> {
    let name = directory.file_name()?.to_str()?;
    let is_number = name.len() == 16 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_number.then(|| u64::from_str_radix(name, 16).ok())?
}

/// The file of a rank.
pub fn file_name(rank: usize) -> String {
    format!("{rank}.page")
}

/// The rank that a file is of.
pub fn rank_of(file: &Path) -> Option<usize> {
    file.file_name()?
        .to_str()?
        .strip_suffix(".page")?
        .parse()
        .ok()
}
