//! The machine that this process runs on: the cores that it may use, its hardware, and memory that
//! has no name.

mod cores;
mod hardware;
mod unnamed;

pub use cores::{allowed_cores, cores, place_of};
pub use hardware::read as read_hardware;
pub use unnamed::unnamed_file;
