//! Profiles: the traffic between ranks in one run of a job.
//!
//! A profile is a YAML file and, beside it, two MatrixMarket files for each layer of traffic that
//! was counted. The YAML is written last and contains the sums of the matrices: matrices of another
//! run are detected and rejected.
//!
//! ```text
//! partial_profiles   the file of one rank, and the merging of all into a profile
//! settings           the settings of a run, from variables and YAML
//! site               a site's policy: the programs for which the library is switched on
//! experience         the store of results of an application's earlier runs
//! any                a file of any kind
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))] // a test may panic

mod allowed_cores;
pub mod any;
mod check;
mod document;
mod epochs;
pub mod experience;
mod foreseen;
mod guard;
mod layers;
mod locality;
pub mod partial_profiles;
mod phases;
mod profile;
mod ranks;
mod records;
pub mod settings;
pub mod site;
#[cfg(test)]
mod tests;
mod times;
mod topologies;
mod traffic;
mod windows;

pub use epochs::{GuardResults, GuardedEpochs};
pub use guard::{GuardedCell, GuardedPlan};
pub use locality::locality_text;
pub use phases::Phase;
pub use profile::{Host, MpiDescription, Profile};
pub use times::Times;
pub use topologies::HostTopology;
pub use windows::{EpochUse, Moved, WindowUse};
