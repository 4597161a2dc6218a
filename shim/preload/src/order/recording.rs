//! Recording of this process: its log, and the file for it.

use treepie_base::Rank;
use treepie_jobstate::order::{Recorder, Totals};
use treepie_process::log;

use super::journal::Journal;

/// Recording of this process.
pub struct Recording {
    pub rank: Rank,
    recorder: Recorder,
    journal: Journal,
    /// True once the log could not be written: later entries are missing.
    is_cut_off: bool,
}

impl Recording {
    pub fn new(rank: Rank, journal: Journal) -> Recording {
        Recording {
            rank,
            recorder: Recorder::default(),
            journal,
            is_cut_off: false,
        }
    }

    /// Calls `act`, which adds to the log, and writes the additions.
    pub fn write<R>(&mut self, act: impl FnOnce(&mut Recorder) -> R) -> R {
        let result = act(&mut self.recorder);
        if !self.recorder.bytes.is_empty() {
            if !self.is_cut_off
                && let Err(problem) = self.journal.put(&self.recorder.bytes)
            {
                self.is_cut_off = true;
                give_up(self.rank, &problem.to_string());
            }
            self.recorder.bytes.clear();
        }
        result
    }

    /// Ends the recording because a second thread receives: the log notes that, and nothing later.
    pub fn give_up(&mut self) {
        self.write(Recorder::threads);
        let problem = "more than one thread receives, and calls of threads have no order";
        give_up(self.rank, problem);
    }

    /// Notes in the log that a window was created.
    pub fn window(&mut self) {
        self.write(Recorder::window);
    }

    /// Ends the log: the rank has reached `MPI_Finalize`. A log that could not be written has no
    /// end.
    pub fn end(&mut self) {
        let totals: Totals = self.write(Recorder::end);
        if !self.is_cut_off
            && let Err(problem) = self.journal.end(&totals)
        {
            give_up(self.rank, &problem.to_string());
        }
    }
}

/// Reports why the order is no longer recorded.
fn give_up(rank: Rank, problem: &str) {
    log::error(&format!(
        "rank {rank}: order: {problem}; what follows is not recorded"
    ));
}
