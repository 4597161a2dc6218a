//! Runs of a job with two configurations, in pairs, and the verdict on them.

use std::path::PathBuf;

use treepie_base::proof::{Limits, Pairs, Verdict};
use treepie_base::statistics::median;
use treepie_profile::Profile;

use crate::summary::Summary;
use crate::times;

/// Number of failed runs of one arm that ends a comparison.
pub const MOST_FAILURES: usize = 3;

/// Times of one run of the job.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Its profile, if kept.
    pub file: Option<PathBuf>,
    /// Start time of the run in UTC.
    pub date: String,
    /// Seconds from `MPI_Init` to `MPI_Finalize`, of the rank that took longest.
    pub seconds: f64,
    /// The run of a profile; `None` if its calls were not timed.
    pub in_mpi: f64,
}

impl Run {
    /// Method by which runs of both arms were paired.
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

/// The order inside each pair was random.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairing {
    /// Seed of the random order.
    Drawn {
        /// The k-th run of one arm with the k-th of the other, by their dates.
        seed: u64,
    },
    /// Comparison of the output of both arms.
    ByDate,
}

/// All runs print the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Printed {
    /// The compared arm prints a different output.
    Same,
    /// Even the runs of one arm differ from each other.
    Different,
    /// A job run with two configurations: first the reference, second the compared one.
    AlwaysDifferent,
}

/// Names of both arms.
pub struct Comparison {
    /// The job, from one of its runs.
    pub names: [String; 2],
    /// The job, by one of its runs.
    pub job: Option<Summary>,
    /// Origin of the pairs.
    pub pairing: Pairing,
    /// Limits above which a difference counts.
    pub limits: Limits,
    /// Reasons why runs of each arm failed.
    pub failures: [Vec<String>; 2],
    /// Output of the runs, if compared.
    pub printed: Option<Printed>,
    /// Doubts and omissions, one sentence each.
    pub remarks: Vec<String>,
    pub(crate) runs: Vec<[Run; 2]>,
    pub(crate) whole: Pairs,
    pub(crate) in_mpi: Pairs,
}

impl Comparison {
    /// Creates a comparison without any run.
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

    /// Adds a run of each arm.
    pub fn add(&mut self, pair: [Run; 2]) {
        let [baseline, candidate] = &pair;
        self.whole.add(baseline.seconds, candidate.seconds);
        self.in_mpi.add(baseline.in_mpi, candidate.in_mpi);
        self.runs.push(pair);
    }

    /// Runs of both arms, pair by pair.
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

    /// The verdict. An arm that fails while the other does not is worse, regardless of its speed.
    pub fn verdict(&self) -> Verdict {
        if self.fails(1) {
            Verdict::Worse
        } else {
            self.whole.verdict(self.limits)
        }
    }

    /// True if another pair cannot change the verdict, or is not worth a run.
    pub fn is_over(&self) -> bool {
        self.fails(0) || self.fails(1) || self.whole.is_decided(self.limits)
    }

    /// True if an arm has reached the limit of failed runs.
    pub fn fails(&self, way: usize) -> bool {
        self.failures[way].len() >= MOST_FAILURES
    }

    /// One number of each run of an arm, in the order of the pairs.
    pub(crate) fn of_way(&self, way: usize, pick: fn(&Run) -> f64) -> Vec<f64> {
        self.runs.iter().map(|pair| pick(&pair[way])).collect()
    }

    /// Median of one number of both arms; `None` without runs.
    pub fn medians(&self, pick: fn(&Run) -> f64) -> Option<[f64; 2]> {
        let [first, second] = [0, 1].map(|way| median(&self.of_way(way, pick)));
        Some([first?, second?])
    }
}
