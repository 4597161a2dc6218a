//! The files: profiles, placements, topologies, platforms and configurations, as
//! YAML that a person can read, compare and edit.
//!
//! Every file starts with `treepie: <kind>` and `version: 1`. A reader refuses
//! what it does not understand, naming the file, the line or field, what was
//! expected and what to do; a writer writes a temporary file, syncs it and
//! renames it. Matrices lie beside a profile in MatrixMarket form.

mod any;
mod atomic;
pub mod configuration;
mod error;
pub mod experience;
pub mod grid;
mod header;
mod input;
pub mod list;
mod nearest;
pub mod network;
pub mod old_names;
pub mod order;
pub mod own_directory;
pub mod pages;
pub mod partial_profiles;
pub mod permutation;
pub mod placement;
pub mod platform;
pub mod processors;
pub mod profile;
pub mod rank_files;
mod size;
mod text;
pub mod topology;
pub mod tuning;
mod yaml;

pub use any::{AnyFile, Replayable, read_any};
pub use atomic::{check_writable, is_stream, write_atomically};
pub use error::{FileError, OtherRanks};
pub use header::{Kind, VERSION, date};
pub use input::{Unfit, open, open_no_link, wait_for_streams};
pub use nearest::nearest;
pub use placement::PlacementFile;
pub use platform::PlatformFile;
pub use profile::Profile;
pub use size::size;
pub use text::{read as read_text, read_file as read_text_file};
pub use tuning::TuningFile;
