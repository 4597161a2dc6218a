//! A grid on one machine: hosts are network namespaces with a TUN device each,
//! and one process carries their packets through a model of the links.
//!
//! ```text
//!   host a        cluster's uplink       path       downlink      host b
//!   TUN -> NIC --> one at a time --> latency --> one at a time --> NIC -> TUN
//! ```
//!
//! The kernel needs namespaces and TUN devices, not netem. [`model`] is pure and determines
//! latencies and rates; the rest moves packets.

pub mod carried;
pub mod device;
pub mod launch;
pub mod model;
pub mod namespaces;
pub mod serve;
pub mod state;

use thiserror::Error;

/// Reason why the grid cannot do the request; one line for the user.
#[derive(Debug, Error)]
pub enum GridError {
    /// The system refuses.
    #[error("{what}: {reason}; {remedy}")]
    System {
        /// The attempted operation.
        what: String,
        /// Message of the system.
        reason: String,
        /// Remedy.
        remedy: &'static str,
    },
    /// The request is invalid.
    #[error("{0}")]
    Usage(String),
    /// The process that carries the packets ended before it began.
    #[error("the grid does not start: {0}")]
    Start(String),
    /// The description of the grid is invalid.
    #[error(transparent)]
    File(#[from] treepie_base::FileError),
}

impl GridError {
    /// Creates the error of a failed call.
    pub fn system(what: impl Into<String>, reason: impl ToString, remedy: &'static str) -> Self {
        GridError::System {
            what: what.into(),
            reason: reason.to_string(),
            remedy,
        }
    }
}
