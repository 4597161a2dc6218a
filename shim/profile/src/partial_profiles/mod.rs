//! Partial profiles: what each rank has counted, before it is one profile.
//!
//! At the end of a job the partial profiles travel to process 0, which merges them. Where a
//! job has no orderly end, each rank leaves its partial profile as a file, and whoever
//! finds the files merges them: the same bytes, the same merging.
//!
//! A partial profile is a stream of items (`wire`), so that it can be written with no more than a
//! small buffer, in a signal handler too. A file (`file`) is a description of the run, one partial
//! profile, and a checksum.

mod file;
mod kind;
mod merge;
mod partial_profile;
mod records;
mod run_description;
mod span;
mod wire;

/// Checksum of a file: one that was cut off or changed is distinguished from a whole one. Not meant
/// against malice.
pub use crc32fast::Hasher as Checksum;
pub use file::{
    directory_of, end_of_file, file_name, read_directory, read_file, remove_directory,
    start_of_file, temporary_name,
};
pub use kind::MessageKind;
pub use merge::{Merged, Merger, PartialProfileError};
pub use partial_profile::{PartialProfile, Phase};
pub use records::Records;
pub use run_description::RunDescription;
pub use span::Span;
pub use wire::{Encoder, RecordKey, Sink, decode_all};
