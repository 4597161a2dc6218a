//! `treepie predict`: the time of a collective on a platform, by every algorithm and the MPI's own,
//! and the plan that `TREEPIE_COLLECTIVES=auto` chooses. Or the time of a job with checkpoints, or
//! of separate pieces.

mod answer;
mod arguments;
mod checkpoints;
mod choices;
mod measured;
mod memory;
mod pieces;
mod plans;
mod run;

pub use arguments::Arguments;
pub use run::run;
