//! Predicted times of a collective: every algorithm and the native collective, by the simulation of
//! their plans, or by the estimate alone if a simulation would take seconds.
//!
//! ```text
//!   platform --(--ranks)--> network --every algorithm's plans--> simulated  --> the fastest first
//!                                  \--> estimated, as TREEPIE_COLLECTIVES=auto does: the choice
//! ```

mod parallel;
pub(crate) mod prediction;
pub(crate) mod predictor;
#[cfg(test)]
mod tests;
mod times;

pub use prediction::Prediction;
pub use predictor::{Predictor, network_of};
