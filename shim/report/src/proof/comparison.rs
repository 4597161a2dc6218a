//! Runs of a job in two ways, in pairs, and the verdict on them.

use std::path::PathBuf;

use treepie_base::proof::{Limits, Pairs, Verdict};
use treepie_base::statistics::median;
use treepie_profile::Profile;

use crate::summary::Summary;
use crate::times;

/// Number of failed runs of one way that ends a comparison.
pub const MOST_FAILURES: usize = 3;

/// Times of one run of the job.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Its profile, where that is kept.
    pub file: Option<PathBuf>,
    /// Begin of the run, in UTC.
    pub date: String,
    /// Seconds from `MPI_Init` to `MPI_Finalize`, of the rank that took longest.
    pub seconds: f64,
    /// Seconds in MPI, the mean of all ranks.
    pub in_mpi: f64,
}

impl Run {
    /// The run that left a profile; `None` if its calls were not timed.
    pub fn from_profile(profile: &Profile, file: Option<PathBuf>) -> Option<Run> {
        let times = times::for_profile(profile)?;
        Some(Run {
            file,
            date: profile.header.date.clone(),
            seconds: times.longest_seconds(),
            in_mpi: times.mpi_seconds.iter().sum::<f64>() / profile.ranks.max(1) as f64,
        })
    }
}

/// Way in which runs of both ways have become pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairing {
    /// The order inside each pair was drawn by lot.
    Drawn {
        /// Seed of the lots.
        seed: u64,
    },
    /// The k-th run of one way with the k-th of the other, by their dates.
    ByDate,
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

/// A job run in two ways: first what is compared with, second what is compared.
pub struct Comparison {
    /// Names of both ways.
    pub names: [String; 2],
    /// The job, by one of its runs.
    pub job: Option<Summary>,
    /// Origin of the pairs.
    pub pairing: Pairing,
    /// Limits from which a difference counts.
    pub limits: Limits,
    /// Reasons why runs of each way failed.
    pub failures: [Vec<String>; 2],
    /// Output of the runs, where it was compared.
    pub printed: Option<Printed>,
    /// Doubts and what was left out; a sentence each.
    pub remarks: Vec<String>,
    pub(crate) runs: Vec<[Run; 2]>,
    pub(crate) whole: Pairs,
    pub(crate) in_mpi: Pairs,
}

impl Comparison {
    /// A comparison without any run yet.
    pub fn new(names: [String; 2], pairing: Pairing, limits: Limits) -> Comparison {
        Comparison {
            names,
            job: None,
            pairing,
            limits,
            failures: [Vec::new(), Vec::new()],
            printed: None,
            remarks: Vec::new(),
            runs: Vec::new(),
            whole: Pairs::default(),
            in_mpi: Pairs::default(),
        }
    }

    /// Adds a run of each way.
    pub fn add(&mut self, pair: [Run; 2]) {
        let [baseline, candidate] = &pair;
        self.whole.add(baseline.seconds, candidate.seconds);
        self.in_mpi.add(baseline.in_mpi, candidate.in_mpi);
        self.runs.push(pair);
    }

    /// Runs of both ways, pair by pair.
    pub fn runs(&self) -> &[[Run; 2]] {
        &self.runs
    }

    /// Seconds of the whole run, in pairs.
    pub fn whole(&self) -> &Pairs {
        &self.whole
    }

    /// Seconds in MPI, in pairs.
    pub fn in_mpi(&self) -> &Pairs {
        &self.in_mpi
    }

    /// The verdict. A way that fails where the other does not is worse, however quick.
    pub fn verdict(&self) -> Verdict {
        if self.fails(1) {
            Verdict::Worse
        } else {
            self.whole.verdict(self.limits)
        }
    }

    /// Whether another pair can't change the verdict, or is not worth a try.
    pub fn is_over(&self) -> bool {
        self.fails(0) || self.fails(1) || self.whole.is_decided(self.limits)
    }

    /// Whether a way has failed as often as is tried.
    pub fn fails(&self, way: usize) -> bool {
        self.failures[way].len() >= MOST_FAILURES
    }

    /// One number of each run of a way, in the order of the pairs.
    pub(crate) fn of_way(&self, way: usize, pick: fn(&Run) -> f64) -> Vec<f64> {
        self.runs.iter().map(|pair| pick(&pair[way])).collect()
    }

    /// Median of one number of both ways; `None` without runs.
    pub fn medians(&self, pick: fn(&Run) -> f64) -> Option<[f64; 2]> {
        let [first, second] = [0, 1].map(|way| median(&self.of_way(way, pick)));
        Some([first?, second?])
    }
}
