//! Predicted times of a collective: every algorithm and the native collective, each by the
//! simulation of its plans; by the estimate alone where a simulation would take seconds.
//!
//! ```text
//!   platform --(--ranks)--> network --every algorithm's plans--> simulated  --> the quickest first
//!                                  \--> estimated, as TREEPIE_COLLECTIVES=auto does: the choice
//! ```

pub(crate) mod prediction;
pub(crate) mod predictor;
#[cfg(test)]
mod tests;

pub use prediction::Prediction;
pub use predictor::{Predictor, network_of};
