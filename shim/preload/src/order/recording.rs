//! The recording of this process: its log, and the file that this goes to.

use treepie_base::Rank;
use treepie_jobstate::order::{Recorder, Totals};
use treepie_process::log;

use super::journal::Journal;

/// The recording of this process.
pub struct Recording {
    pub rank: Rank,
    recorder: Recorder,
    journal: Journal,
    /// The log could not be written any more: what follows is not in it.
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

    /// Does what adds to the log, and writes that.
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

    /// A second thread receives: the log says so, and nothing more.
    pub fn give_up(&mut self) {
        self.write(Recorder::threads);
        let problem = "more than one thread receives, and calls of threads have no order";
        give_up(self.rank, problem);
    }

    /// A window was made.
    pub fn window(&mut self) {
        self.write(Recorder::window);
    }

    /// The rank has reached `MPI_Finalize`. Its log has no end where it could not be written.
    pub fn end(&mut self) {
        let totals: Totals = self.write(Recorder::end);
        if !self.is_cut_off
            && let Err(problem) = self.journal.end(&totals)
        {
            give_up(self.rank, &problem.to_string());
        }
    }
}

/// Says why the order is not recorded any more.
fn give_up(rank: Rank, problem: &str) {
    log::error(&format!(
        "rank {rank}: order: {problem}; what follows is not recorded"
    ));
}
