//! Foundation of all crates of Treepie: names that users write, lists of numbers, sizes and
//! statistics, and the common parts of all files: errors of one line that name the file and the
//! remedy, headers, atomic writes, inputs of bounded size.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))] // a test may panic

pub mod assignment;
pub mod atomic;
mod brackets;
pub mod budget;
pub mod clock;
pub mod convert;
pub mod error;
pub mod file;
pub mod header;
pub mod index;
pub mod input;
pub mod joined;
pub mod kind;
pub mod list;
pub mod moment;
pub mod names;
pub mod nearest;
pub mod own_directory;
pub mod permutation;
pub mod printable;
pub mod proof;
pub mod random;
pub mod size;
pub mod square;
pub mod statistics;
pub mod text;
pub mod time;
pub mod yaml;

pub use atomic::{check_writable, is_stream, write_atomically};
pub use budget::OverBudget;
pub use clock::since_epoch;
pub use error::{FileError, FileErrorKind, OtherRanks};
pub use file::{File, FileContents, Header};
pub use header::VERSION;
pub use index::{Cluster, Leaf, List, Process, Rank, Slice, Slot};
pub use input::{open, open_no_link, wait_for_streams};
pub use joined::{Joined, SideFields};
pub use kind::Kind;
pub use moment::date;
pub use names::UnknownName;
pub use nearest::nearest;
pub use random::SplitMix64;
pub use size::size;
