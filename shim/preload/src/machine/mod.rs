//! The machine that this process runs on: the cores that it may use, and its hardware.

mod cores;
mod hardware;

pub use cores::{allowed_cores, cores, place_of};
pub use hardware::read as read_hardware;
