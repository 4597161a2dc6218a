//! Partial profiles: the counts of each rank, before they are merged into one profile.
//!
//! At the end of a job the partial profiles are sent to process 0, which merges them. After an
//! abnormal exit, each rank leaves its partial profile as a file, and a reader of the files merges
//! them: from the same bytes, in the same way.
//!
//! A partial profile is a stream of items (`wire`), so that it can be written with only a small
//! buffer, even in a signal handler. A file (`file`) is a description of the run, one partial
//! profile, and a checksum.

mod file;
mod kind;
mod merge;
mod partial_profile;
mod records;
mod run_description;
mod span;
mod wire;

/// Checksum of a file, which distinguishes one that was cut off or changed from a complete one. No
/// protection against malice.
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
