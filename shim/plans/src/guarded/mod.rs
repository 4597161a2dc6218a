//! Calls that a guard measures: blocking ones around their call, started ones by their requests.

mod calls;
pub mod measured;

pub use calls::{ByNative, Guarded, end, ended, enter, made};
