//! Collectives: one description of each algorithm, and its readings.
//!
//! ```text
//!   problem --description, one rank at a time--> Steps --Builder--> plan --> checked, simulated,
//!                                                  |                         exported, executed
//!                                                  |-----Sent-----> traffic of a profile
//!                                                  `-----Reader---> time of the native collectives
//! ```
//!
//! A description writes one rank's steps in the order of a simple program. [`Builder`] finds the
//! dependencies between them, so that all independent steps overlap: segments of a message flow
//! through a rank while the rest is in flight. Descriptions are independent of MPI, and the
//! executor of plans is independent of trees.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))] // a test may panic

pub mod algorithms;
mod clusters;
mod composition;
#[cfg(any(test, feature = "fixtures"))]
pub mod grids;
mod locality;
mod neighbourhoods;
pub mod network;
pub mod operation;
pub mod plan;
mod problem;
pub mod read;
pub mod record;
mod steps;
#[cfg(any(test, feature = "fixtures"))]
pub mod strategies;
#[cfg(test)]
mod tests;
pub mod told;

pub use algorithms::{Algorithm, Description, Requirement};
pub use clusters::Clusters;
pub use composition::{Composition, CompositionError};
pub use locality::Locality;
pub use neighbourhoods::{End, Layout, Neighbourhoods, Neighbours};
pub use network::{Distance, Network};
pub use operation::Operation;
pub use plan::{
    Action, Builder, Dependencies, Plan, Range, Space, Step, is_acknowledged, one_to_many,
};
pub use problem::{Amount, Blocks, Problem, Uniform, share};
pub use read::bound::bound;
pub use record::{AsRun, PlanRun, Record, RecordError, Volume, size_class};
pub use steps::{Flow, LARGEST_MESSAGE, Steps};
