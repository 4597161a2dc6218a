//! Plans for other simulators: GOAL for LogGOPSim, time-independent traces for SimGrid's SMPI.
//!
//! Both know messages and computing, and nothing of buffers: what a plan copies and reduces becomes
//! time or work, and a step waits for those it needs.

mod goal;
mod simgrid;
#[cfg(test)]
mod tests;
mod time_independent;

pub use goal::goal;
pub use simgrid::{OPTIONS as SMPIRUN_OPTIONS, simgrid};
pub use time_independent::time_independent;
