//! Description of a run.

use serde::{Deserialize, Serialize};
use treepie_base::printable::one_line;

use crate::MpiDescription;

/// Facts that all ranks of a run share.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunDescription {
    /// Number that other runs do not have.
    pub run: u64,
    /// Number of ranks.
    pub ranks: usize,
    /// Program that writes the profile, such as `treepie 0.1.0`.
    pub producer: String,
    /// Start time of the job, in UTC.
    pub date: String,
    /// MPI library.
    pub mpi: MpiDescription,
    /// Program and its arguments.
    pub command: Vec<String>,
    /// Remarks for people.
    pub notes: Vec<String>,
    /// Locality of the ranks, if plans replace collectives: [`locality_text`].
    ///
    /// [`locality_text`]: crate::locality_text
    pub locality: Option<String>,
}

impl RunDescription {
    /// Decodes a description, encoded by [`postcard::to_allocvec`], from the start of `bytes`. Its
    /// texts are made safe for display.
    pub fn take_from_bytes(bytes: &[u8]) -> Option<(RunDescription, &[u8])> {
        let (mut run, rest): (RunDescription, _) = postcard::take_from_bytes(bytes).ok()?;
        let mpi = &mut run.mpi;
        let texts = [
            &mut run.producer,
            &mut run.date,
            &mut mpi.family,
            &mut mpi.library,
        ];
        let lists = run.command.iter_mut().chain(&mut run.notes);
        for text in texts.into_iter().chain([&mut mpi.standard]).chain(lists) {
            *text = one_line(text);
        }
        Some((run, rest))
    }
}
