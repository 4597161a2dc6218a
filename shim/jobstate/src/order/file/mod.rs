//! Order of receives of a job as a file: descriptions of run and program, and the log of each rank.
//!
//! ```text
//! treepie order 1                     frames: kind, length, CRC-32, bytes
//! run, program                        descriptions of the run and of its program
//! rank, block ..., end                for each rank; no end if it ended early
//! ```
//!
//! While the job runs, each host has such a file in `X.parts` beside the order `X`, to which its
//! ranks append full blocks, each preceded by its rank; and a file of `tails`, with entries that
//! are in no block yet: memory of the system, which outlives the processes. They are merged into an
//! order when the job has ended, even abnormally.

mod contents;
mod directory;
mod error;
mod frame;
mod program;
mod read;
#[cfg(test)]
mod tests;

pub use contents::{
    Order, block, decode_log, encode_log, end_of_rank, is_order, start_of_file, start_of_rank,
    write_bodies,
};
pub use directory::{
    TAIL, TAIL_HEAD, block_file, bodies_of_host, directory_of, is_directory, read_directory,
    remove_directory, tail_file,
};
pub use error::OrderError;
pub use program::Program;
