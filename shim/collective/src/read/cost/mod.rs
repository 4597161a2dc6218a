//! Time of an algorithm by rank, read from its description: the price of the native MPI's
//! collectives, and of plans that keep the order of ranks.
//!
//! ```text
//!   description --Reader--> script of each rank: sends, and the messages that they wait for
//!               --run-----> every rank executes its script, over the links of the simulator
//! ```
//!
//! It simulates a program that executes one step after the other: a rank waits for a message only
//! if its next step needs it, and nothing else is ordered. That needs no dependencies between
//! steps, and takes a tenth of the simulator's time. Of long pipelines the first segments are run,
//! and of total exchanges a part of the rounds: the rest is extrapolated at the same rate. For a
//! ring of small blocks, whose first rounds cross each long path once, that would be too short: its
//! minimum is the time that a block takes for its whole path.

mod contention;
mod lockstep;
mod reading;
mod ring;
mod run;
mod script;
#[cfg(test)]
mod tests;
mod times;

pub use reading::Reading;
pub use script::OneByOne;
pub use times::Times;
