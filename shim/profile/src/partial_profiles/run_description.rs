//! Description of a run.

use serde::{Deserialize, Serialize};

use crate::MpiDescription;

/// Facts that all ranks of a run share.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunDescription {
    /// A number that other runs do not have.
    pub run: u64,
    /// Number of ranks.
    pub ranks: usize,
    /// Program that writes the profile, such as `treepie 0.1.0`.
    pub producer: String,
    /// When the job started, in UTC.
    pub date: String,
    /// The MPI library.
    pub mpi: MpiDescription,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Remarks for people.
    pub notes: Vec<String>,
    /// Locality of the ranks, if plans replace collectives: [`locality_text`].
    ///
    /// [`locality_text`]: crate::locality_text
    pub locality: Option<String>,
}
