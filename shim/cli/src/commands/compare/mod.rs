//! `treepie compare`: two profiles, placements or orders side by side.
//!
//! Two profiles of the same application, one taken before and one during a replay, show the effect
//! of a placement: each of them has the rank of every process.
//!
//! ```text
//! profiles     two profiles
//! placements   two placements
//! ```

mod arguments;
mod pair;
mod placements;
mod profiles;
mod run;

pub use arguments::Arguments;
pub use run::run;
