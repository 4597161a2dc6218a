//! Replay of this process: the log that leads it.

use std::time::Duration;

use treepie_base::Rank;
use treepie_jobstate::order::{Call, Guide, Log};
use treepie_mpi::native::{Native, NativeError, OwnComm};
use treepie_process::log;
use treepie_profile::settings::AfterEnd;

/// Settings of a replay, beside its log.
#[derive(Debug, Clone, Copy)]
pub struct Manner {
    /// Longest time that a call may wait for its recorded result.
    pub patience: Option<Duration>,
    /// Behaviour after the point where the recorded run had ended early.
    pub after_end: AfterEnd,
}

/// Replay of this process.
pub struct Replaying {
    pub rank: Rank,
    pub guide: Guide,
    after_end: AfterEnd,
    /// True once the end of the recorded run has been reported.
    said: bool,
    /// Communicator on which nobody sends, for receives that were cancelled.
    pub nowhere: OwnComm,
}

impl Replaying {
    pub fn new(
        native: &Native,
        rank: Rank,
        log: &Log,
        manner: Manner,
    ) -> Result<Replaying, NativeError> {
        Ok(Replaying {
            rank,
            guide: Guide::new(log),
            after_end: manner.after_end,
            said: false,
            nowhere: native.split(native.comm_self, 0)?,
        })
    }

    /// Returns the message about a call that has waited for `waited`.
    pub fn stuck(&self, call: &Call, waited: Duration) -> String {
        let diverged = self.guide.stuck(call, waited.as_secs());
        format!("rank {}: order: {diverged}", self.rank)
    }

    /// Ends the replay at `MPI_Finalize`.
    ///
    /// # Errors
    /// The replay's mismatch with the recorded run.
    pub fn end(&mut self) -> Result<(), String> {
        let ended = self.guide.end();
        ended.map_err(|diverged| format!("rank {}: order: {diverged}", self.rank))
    }

    /// Handles a call after the end of the recorded run; returns the reason if the job is to end,
    /// too.
    pub fn beyond(&mut self) -> Option<String> {
        let text = format!("rank {}: order: the recorded run had ended here", self.rank);
        match self.after_end {
            AfterEnd::Stop => return Some(text),
            AfterEnd::Free if !self.said => log::info(&format!("{text}; the job goes on")),
            AfterEnd::Free => (),
        }
        self.said = true;
        None
    }
}
