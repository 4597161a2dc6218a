//! Machine that this process runs on: the cores that it may use, its hardware, its location on the
//! network, its standard input, unnamed memory, and signals.

mod cores;
mod hardware;
mod input;
mod location;
mod signals;
mod unnamed;
mod within;

pub use cores::{allowed_cores, cores};
pub use hardware::{read as read_hardware, read_with_devices as read_hardware_and_devices};
pub use input::{StandardInput, standard_input};
pub use location::location;
pub use signals::with_signals_blocked;
pub use unnamed::{file_limit, unnamed_file};
pub use within::{WRITING, within};
