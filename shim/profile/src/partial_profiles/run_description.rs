//! Description of a run.

use serde::{Deserialize, Serialize};
use treepie_base::printable::one_line;

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

impl RunDescription {
    /// Takes what [`postcard::to_allocvec`] made of a description from the start of `bytes`. Its
    /// texts are harmless where they are shown.
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
