//! Plans for other simulators: GOAL for LogGOPSim, time-independent traces for SimGrid's SMPI.
//!
//! Both formats have messages and computing, but no buffers: copies and reductions become time or
//! work, and a step waits for those on which it depends.

mod goal;
mod simgrid;
#[cfg(test)]
mod tests;
mod time_independent;

pub use goal::goal;
pub use simgrid::{OPTIONS as SMPIRUN_OPTIONS, simgrid};
pub use time_independent::time_independent;
