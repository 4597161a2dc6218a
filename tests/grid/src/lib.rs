//! A grid on one machine: hosts are network namespaces with a TUN device each,
//! and one process carries their packets through a model of the links.
//!
//! ```text
//!   host a        cluster's uplink       way        downlink      host b
//!   TUN -> NIC --> one at a time --> latency --> one at a time --> NIC -> TUN
//! ```
//!
//! The kernel needs namespaces and TUN devices, not netem. [`model`] is pure and
//! is where latencies and rates are decided; the rest moves packets.

pub mod carried;
pub mod device;
pub mod launch;
pub mod model;
pub mod namespaces;
pub mod serve;
pub mod state;

use thiserror::Error;

/// Why the grid cannot do what was asked; one line for the user.
#[derive(Debug, Error)]
pub enum GridError {
    /// The system refuses.
    #[error("{what}: {reason}; {remedy}")]
    System {
        /// What was tried.
        what: String,
        /// What the system said.
        reason: String,
        /// What to do.
        remedy: &'static str,
    },
    /// The question makes no sense.
    #[error("{0}")]
    Usage(String),
    /// The process that carries the packets ended before it began.
    #[error("the grid does not start: {0}")]
    Start(String),
    /// The description of the grid.
    #[error(transparent)]
    File(#[from] treepie_base::FileError),
}

impl GridError {
    /// A failed call.
    pub fn system(what: impl Into<String>, reason: impl ToString, remedy: &'static str) -> Self {
        GridError::System {
            what: what.into(),
            reason: reason.to_string(),
            remedy,
        }
    }
}
