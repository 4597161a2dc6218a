//! The runs: one of each way to warm up, then pairs whose order is drawn by lot.

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use treepie_core::proof::{Limits, Pairs, Verdict};

use super::arm::{Arm, Run};
use crate::commands::options::RunSettings;
use crate::error::CommandError;
use crate::output::Working;

/// So many failed runs of one way end the comparison.
const MOST_FAILURES: usize = 3;

/// What was run, and what came of it.
pub struct Series {
    /// What is compared with, and what is compared.
    pub arms: [Arm; 2],
    /// Runs of both, pair by pair.
    pub runs: Vec<[Run; 2]>,
    /// Seconds of the whole run, in pairs.
    pub whole: Pairs,
    /// Seconds in MPI, in pairs.
    pub in_mpi: Pairs,
    /// What counts as a difference.
    pub limits: Limits,
    /// Why runs of each way failed.
    pub failures: [Vec<String>; 2],
    /// Seed of the order inside each pair.
    pub seed: u64,
}

/// Whether both ways print the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Printed {
    /// All runs did.
    Same,
    /// The compared way prints something else than what it is compared with.
    Different,
    /// Even the runs of one way differ from each other.
    AlwaysDifferent,
}

impl Series {
    /// Nothing was run yet.
    pub fn new(arms: [Arm; 2], limits: Limits, seed: u64) -> Series {
        Series {
            arms,
            runs: Vec::new(),
            whole: Pairs::default(),
            in_mpi: Pairs::default(),
            limits,
            failures: [Vec::new(), Vec::new()],
            seed,
        }
    }

    /// Runs the job until the verdict, or until `time` is over.
    ///
    /// # Errors
    /// A job that can't be started, or that fails as it is.
    pub fn run(
        &mut self,
        command: &[OsString],
        settings: &RunSettings,
        time: Option<Duration>,
    ) -> Result<(), CommandError> {
        let desk = tempfile::tempdir().map_err(|error| {
            CommandError::failed(format!("no temporary directory can be made: {error}"))
        })?;
        let begin = Instant::now();
        let mut random = self.seed;
        let done = Arc::new(AtomicUsize::new(0));
        let (shown, most) = (Arc::clone(&done), self.limits.pairs.max(1));
        let _working = Working::through("running the job both ways", move || {
            shown.load(Ordering::Relaxed) as f64 / most as f64
        });
        // The first run of each reads files into memory and starts daemons.
        let mut is_warm = false;
        while !self.is_over() && time.is_none_or(|time| begin.elapsed() < time) {
            let candidate_first = (next(&mut random) >> 32) & 1 == 1;
            let order = if candidate_first { [1, 0] } else { [0, 1] };
            let mut pair = [None; 2];
            for way in order {
                match self.arms[way].run(command, settings, desk.path())? {
                    Ok(run) => pair[way] = Some(run),
                    Err(reason) => self.failures[way].push(reason),
                }
            }
            if let ([Some(baseline), Some(candidate)], true) = (pair, is_warm) {
                self.whole.add(baseline.seconds, candidate.seconds);
                self.in_mpi.add(baseline.in_mpi, candidate.in_mpi);
                self.runs.push([baseline, candidate]);
                done.store(self.runs.len(), Ordering::Relaxed);
            }
            is_warm = true;
        }
        match &self.failures[0][..] {
            [.., last] if self.failures[0].len() >= MOST_FAILURES => {
                Err(CommandError::failed(format!(
                    "the job failed {MOST_FAILURES} times ({}), the last time with {last}; nothing \
                     can be said of it",
                    self.arms[0].name
                )))
            }
            _ => Ok(()),
        }
    }

    fn is_over(&self) -> bool {
        let failed = self.failures.iter().any(|runs| runs.len() >= MOST_FAILURES);
        failed || self.whole.is_decided(self.limits)
    }

    /// The verdict. A way that fails where the other does not is worse, however quick.
    pub fn verdict(&self) -> Verdict {
        match self.failures[1].len() >= MOST_FAILURES {
            true => Verdict::Worse,
            false => self.whole.verdict(self.limits),
        }
    }

    /// What both ways printed; `None` without a pair.
    pub fn printed(&self) -> Option<Printed> {
        let first = self.runs.first()?[0].printed;
        let same = |way: usize| self.runs.iter().all(|pair| pair[way].printed == first);
        Some(match (same(0), same(1)) {
            (true, true) => Printed::Same,
            (true, false) => Printed::Different,
            (false, _) => Printed::AlwaysDifferent,
        })
    }
}

/// The next number of splitmix64 (Steele, Lea, Flood, OOPSLA 2014).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
