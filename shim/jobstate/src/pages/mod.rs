//! Pages of a job's ranks: the activity of each, in a file of a few hundred words that the rank
//! writes while it runs, and that stays when it is killed.
//!
//! ```text
//! treepie-UID/RUN/RANK.page          RUN in hexadecimal
//! ```
//!
//! A page contains the names of the procedures that it numbers, so that reader and writer may have
//! different versions, as long as the layout is the same.

mod calls;
mod decode;
pub mod layout;
mod page;
mod procedure;
mod process_status;
#[cfg(test)]
mod tests;

pub use decode::decode;
pub use page::{Page, PageError, TICK, file_name, rank_of, run_directory, run_of, usual_directory};
pub use process_status::{ProcessStatus, process_of_stat, reads_input};
