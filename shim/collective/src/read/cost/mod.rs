//! How long an algorithm by rank takes, read from its description: what the native MPI's
//! collectives are priced by, and ours that keep the order of ranks.
//!
//! ```text
//!   description --Reader--> script of each rank: sends, and the messages that they wait for
//!               --run-----> every rank does its script in turn, over the links of the simulator
//! ```
//!
//! It is the simulation of a program that does one step after the other: a rank waits for a message
//! where what comes next needs it, and nothing else is ordered. That takes no dependencies between
//! steps, and a tenth of the simulator's time. Of long pipelines the first segments are run, and of
//! exchanges of all with all a part of the rounds: the rest goes on at the same rate. For a ring of
//! small blocks that is too short, whose first rounds cross each long path once: it takes at least
//! as long as a block is on its whole way.

mod contention;
mod reading;
mod run;
mod script;
#[cfg(test)]
mod tests;
mod times;

pub use reading::Reading;
pub use script::OneByOne;
pub use times::Times;
