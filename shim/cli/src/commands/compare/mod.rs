//! `treepie compare`: two profiles or two placements side by side; or two groups of profiles.
//!
//! Two profiles of the same application, one taken before and one during a replay, show the effect
//! of a placement: each of them has the rank of every process. Two groups of profiles with times,
//! each of several runs, have a verdict.
//!
//! ```text
//! profiles     two profiles
//! placements   two placements
//! groups       the times of two groups of profiles
//! ```

mod arguments;
mod groups;
mod pair;
mod placements;
mod profiles;
mod run;

pub use arguments::Arguments;
pub use run::run;
