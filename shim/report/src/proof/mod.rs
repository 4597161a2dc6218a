//! A job run with two configurations: the times of all runs in pairs, and the verdict on them.
//!
//! ```text
//! comparison   runs, pairs, verdict
//! answer       the verdict as a sentence, as text and as JSON
//! groups       runs that others started, from their profiles
//! drawn        the distributions of both arms, and the change with its interval
//! ```

pub(crate) mod answer;
pub(crate) mod comparison;
pub(crate) mod drawn;
pub mod groups;

pub use comparison::{Comparison, MOST_FAILURES, Pairing, Printed, Run};
