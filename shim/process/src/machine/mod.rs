//! Machine that this process runs on: the cores that it may use, its hardware, its location on the
//! network, its standard input, and files in memory.

mod cores;
mod hardware;
mod input;
mod location;
mod memory_files;
mod within;

pub use cores::{allowed_cores, cores};
pub use hardware::read_hardware;
pub use input::{StandardInput, standard_input};
pub use location::location;
pub use memory_files::{file_limit, reserve, unnamed_file};
pub use within::{WRITING, within};
