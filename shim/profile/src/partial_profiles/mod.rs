//! Partial profiles: what each rank has counted, before it is one profile.
//!
//! At the end of a job the partial profiles travel to process 0, which merges them. Where a
//! job has no orderly end, each rank leaves its partial profile as a file, and whoever
//! finds the files merges them: the same bytes, the same merging.
//!
//! A partial profile is a stream of items (`wire`), so that it can be written with no more
//! than a small buffer, in a signal handler too. A file (`file`) is a
//! description of the run, one partial profile, and a checksum.

mod file;
mod merge;
mod partial_profile;
mod records;
mod wire;

/// Checksum of a file: one that was cut off or changed is distinguished from a whole one. Not meant
/// against malice.
pub use crc32fast::Hasher as Checksum;
pub use file::{
    RunDescription, directory_of, end_of_file, file_name, read_directory, read_file,
    remove_directory, start_of_file, temporary_name,
};
pub use merge::{Merged, Merger, PartialProfileError};
pub use partial_profile::{PartialProfile, Phase, Span};
pub use records::Records;
pub use wire::{Alike, Encoder, Sink, decode_all};

/// Kind that a message is counted as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Point-to-point, to the partner.
    PointToPoint,
    /// A neighbourhood collective's, to the partner.
    Neighbourhood,
    /// One-sided, to the partner.
    Put,
    /// One-sided, from the partner.
    Got,
}

impl Kind {
    /// All kinds; a kind's number is its place here.
    pub const ALL: [Kind; 4] = [
        Kind::PointToPoint,
        Kind::Neighbourhood,
        Kind::Put,
        Kind::Got,
    ];

    /// The kind with this number.
    pub fn from_number(number: u64) -> Option<Kind> {
        Kind::ALL.into_iter().find(|&kind| kind as u64 == number)
    }
}
