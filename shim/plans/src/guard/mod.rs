//! The guard on collectives: each begins with the native MPI, and a plan, or another algorithm of
//! the MPI's, takes its place where it was measured to be quicker. What is decided is in
//! `treepie_guard`; here calls are timed, and ranks tell each other what they measured.
//!
//! The choice of guarded calls is the same on all ranks: those that `auto` is asked for, on a
//! communicator in several clusters, or whose ranks all share memory, or wherever the MPI's other
//! algorithms can be tried, unless they are reductions that are to be reproducible. Of those that
//! are started, those for which plans are tried, between clusters far from each other
//! (`guarded::measured`).

mod cells;
mod exchange;
mod forced;
mod guarding;
pub mod knobs;
mod messages;
mod persistent;
mod results;

pub use cells::key;
pub use exchange::Exchange;
pub use forced::{Forced, end_controls};
pub use guarding::{Guarding, give_up};
pub use messages::log_event;
pub use results::{add_results, all as results};
