//! Process that the library was preloaded into: its lines on standard error, panics that must not
//! cross into C, the machine that it runs on, and the features that are on around calls.
#![forbid(unsafe_code)]

pub mod features;
pub mod guard;
pub mod log;
pub mod machine;

pub use guard::PanicBarrier;
