//! Guard on collectives: each cell begins with the native MPI, and a plan, or another algorithm of
//! the MPI, replaces it if it was measured to be faster. `treepie_guard` decides; here calls are
//! timed, and ranks exchange their measurements.
//!
//! The choice of guarded calls is the same on all ranks: those with the setting `auto`, on a
//! communicator in several clusters, or whose ranks all share memory, or for which the MPI's other
//! algorithms can be tried, except for reductions that must be reproducible. Of started
//! collectives, those for which plans are tried, between clusters far from each other
//! (`guarded::measured`).

mod cells;
#[expect(
    unsafe_code,
    reason = "numbers that the MPI reduces while the program goes on"
)]
mod exchange;
mod forced;
mod guarding;
pub mod knobs;
mod messages;
mod persistent;
mod results;

pub use cells::key;
pub use exchange::AgreedMinimum;
pub use forced::{Forced, end_controls};
pub use guarding::{Guarding, give_up};
pub use messages::log_event;
pub use results::{add_results, all as results};
