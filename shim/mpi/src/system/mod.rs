//! Parts of the system and of other libraries that have no safe interface elsewhere: signals that a
//! thread takes, memory shared by processes, functions that are found by their names, and a lock.

pub mod accelerators;
mod companion;
mod interconnect;
pub mod lock;
mod references;
mod shared_words;
mod signals;

pub use companion::{Detail, hardware};
pub use interconnect::{cray_coordinates, tofu_coordinates};
pub use references::{AtomicLink, AtomicRef};
pub use shared_words::map_words;
pub use signals::with_signals_blocked;
