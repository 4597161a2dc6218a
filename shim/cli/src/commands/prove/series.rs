//! The runs: one of each arm to warm up, then pairs in random order.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use treepie_base::proof::Limits;
use treepie_base::{SplitMix64, note};

use super::arm::{Arm, Done};
use crate::commands::options::RunSettings;
use crate::output::Working;
use treepie_launch::error::CommandError;
use treepie_launch::input::Input;
use treepie_report::proof::{Comparison, MOST_FAILURES, Pairing, Printed};
use treepie_report::summary::Summary;

/// Maximum number of lines of the library on an arm.
const MOST_REMARKS: usize = 4;

/// The runs of a comparison.
pub struct Series {
    /// Baseline and candidate.
    arms: [Arm; 2],
    comparison: Comparison,
    /// Hashes of the output of the runs of each arm.
    printed: [Vec<u64>; 2],
    /// Number of remarks on each arm.
    noted: [usize; 2],
    /// State of the random order.
    random: SplitMix64,
}

impl Series {
    /// Starts without runs.
    pub fn new(arms: [Arm; 2], limits: Limits, seed: u64) -> Series {
        let names = [0, 1].map(|way: usize| arms[way].name.clone());
        Series {
            arms,
            comparison: Comparison::new(names, Pairing::Drawn { seed }, limits),
            printed: [Vec::new(), Vec::new()],
            noted: [0, 0],
            random: SplitMix64::new(seed),
        }
    }

    /// Runs the job until the verdict, or until `time` is over.
    ///
    /// # Errors
    /// The job cannot be started, or fails in itself.
    pub fn run(
        mut self,
        command: &[OsString],
        settings: &RunSettings,
        time: Option<Duration>,
    ) -> Result<Comparison, CommandError> {
        let desk = tempfile::tempdir().map_err(|error| {
            CommandError::failed(format!("no temporary directory can be made: {error}"))
        })?;
        let input = Input::keep(desk.path(), true)?;
        if matches!(input, Input::Stream) {
            note!("standard input has brought nothing yet; the runs get none (give it as a file)");
        }
        let begin = Instant::now();
        let done = Arc::new(AtomicUsize::new(0));
        let most = self.comparison.limits.pairs.max(1);
        let shown = Arc::clone(&done);
        let _working = Working::through("running the job both ways", move || {
            shown.load(Ordering::Relaxed) as f64 / most as f64
        });
        // The first run of each reads files into memory and starts daemons.
        let mut is_warm = false;
        while !self.comparison.is_over() && time.is_none_or(|time| begin.elapsed() < time) {
            let pair = self.run_pair(command, settings, desk.path(), &input)?;
            if let ([Some(baseline), Some(candidate)], true) = (pair, is_warm) {
                self.printed[0].push(baseline.printed);
                self.printed[1].push(candidate.printed);
                self.comparison.add([baseline.run, candidate.run]);
                done.store(self.comparison.runs().len(), Ordering::Relaxed);
            }
            is_warm = true;
        }
        match self.comparison.failures[0].last() {
            Some(last) if self.comparison.fails(0) => Err(CommandError::failed(format!(
                "the job failed {MOST_FAILURES} times ({}), the last time with {last}; nothing \
                 can be said of it",
                self.arms[0].name
            ))),
            _ => {
                self.comparison.printed = compared(&self.printed);
                Ok(self.comparison)
            }
        }
    }

    /// Runs both arms in random order. A failed run is recorded.
    fn run_pair(
        &mut self,
        command: &[OsString],
        settings: &RunSettings,
        desk: &Path,
        input: &Input,
    ) -> Result<[Option<Done>; 2], CommandError> {
        let candidate_first = (self.random.next() >> 32) & 1 == 1;
        let mut pair = [None, None];
        for way in if candidate_first { [1, 0] } else { [0, 1] } {
            match self.arms[way].run(command, settings, desk, input)? {
                Ok(done) => {
                    let job = &mut self.comparison.job;
                    job.get_or_insert_with(|| Summary::new(desk, &done.profile, None));
                    self.note(way, &done.said);
                    pair[way] = Some(done);
                }
                Err(reason) => self.comparison.failures[way].push(reason),
            }
        }
        Ok(pair)
    }

    /// Stores messages of the library, a few lines for each arm: a placement that could not be
    /// applied proves nothing about it.
    fn note(&mut self, way: usize, said: &[String]) {
        let name = &self.arms[way].name;
        for line in said {
            let remark = format!("the library reports ({name}): {line}");
            let is_new = !self.comparison.remarks.contains(&remark);
            if is_new && self.noted[way] < MOST_REMARKS {
                self.comparison.remarks.push(remark);
                self.noted[way] += 1;
            }
        }
    }
}

/// Comparison of the output of both arms; `None` without a pair.
fn compared(printed: &[Vec<u64>; 2]) -> Option<Printed> {
    let first = printed[0].first()?;
    let same = |way: usize| printed[way].iter().all(|hash| hash == first);
    Some(match (same(0), same(1)) {
        (true, true) => Printed::Same,
        (true, false) => Printed::Different,
        (false, _) => Printed::AlwaysDifferent,
    })
}
