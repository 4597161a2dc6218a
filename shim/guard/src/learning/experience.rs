//! The runs of an application, and judgements on its counted traffic.

use strum::{Display, IntoStaticStr, VariantArray};

use treepie_base::from_name;
use treepie_placement::worth::Worth;

/// A way to run a job.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Display, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum Arm {
    /// As the launcher starts it.
    Plain,
    /// With other ranks.
    Permute,
    /// With each process bound to a core of its host.
    Bind,
}

from_name!(Arm, "way to run a job");

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum End {
    /// It has not, or did not reach `MPI_Finalize`.
    Open,
    /// With these seconds from `MPI_Init` to `MPI_Finalize`, of the rank that took longest.
    Seconds(f64),
    /// It failed.
    Failed,
}

/// A run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Its name: no other run of any application has it.
    pub name: String,
    /// When it began, in seconds since 1970.
    pub began: u64,
    /// Where its processes were: a number that allocations of the same shape share.
    pub shape: u64,
    /// How it was run.
    pub arm: Arm,
    /// Whether its traffic was counted.
    pub counted: bool,
    /// How it ended.
    pub end: End,
}

impl Run {
    /// Its seconds, if it ended well.
    pub fn seconds(&self) -> Option<f64> {
        match self.end {
            End::Seconds(seconds) => Some(seconds),
            End::Open | End::Failed => None,
        }
    }
}

/// Another way to run a job than the plain one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Candidate {
    /// The new rank of each process of the launcher.
    Permute(Vec<usize>),
    /// The core of each process, as the operating system numbers them.
    Bind(Vec<usize>),
}

impl Candidate {
    /// The way to run it.
    pub fn arm(&self) -> Arm {
        match self {
            Candidate::Permute(_) => Arm::Permute,
            Candidate::Bind(_) => Arm::Bind,
        }
    }
}

/// Judgement on counted traffic where processes are in one shape.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// The shape.
    pub shape: u64,
    /// When it was made, in seconds since 1970.
    pub made: u64,
    /// Since when its candidates are these: earlier runs say nothing of them.
    pub since: u64,
    /// Whether a candidate is worth trying.
    pub worth: Worth,
    /// The part of the cost that the best candidate saves.
    pub saved: f64,
    /// The part of the time that the counted run was in MPI.
    pub in_mpi: Option<f64>,
    /// The candidates, the most promising first; none where it is not worth it.
    pub candidates: Vec<Candidate>,
}

/// Runs of an application, and judgements on its traffic.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Experience {
    /// Its runs, in the order in which they began.
    pub runs: Vec<Run>,
    /// Judgements, one for each shape.
    pub judgements: Vec<Judgement>,
}

impl Experience {
    /// Adds the experience of another file. A run that both have is one run, with its end if one of
    /// them has it; of judgements on one shape the newest holds.
    pub fn add(&mut self, other: Experience) {
        for run in other.runs {
            match self.runs.iter_mut().find(|known| known.name == run.name) {
                Some(known) if known.end == End::Open => *known = run,
                Some(known) if run.end == End::Failed => known.end = End::Failed,
                Some(_) => (),
                None => self.runs.push(run),
            }
        }
        self.runs
            .sort_by(|one, next| (one.began, &one.name).cmp(&(next.began, &next.name)));
        for judgement in other.judgements {
            let mut all = self.judgements.iter_mut();
            match all.find(|known| known.shape == judgement.shape) {
                Some(known) if known.made < judgement.made => *known = judgement,
                Some(_) => (),
                None => self.judgements.push(judgement),
            }
        }
    }

    /// The judgement on a shape.
    pub fn judgement(&self, shape: u64) -> Option<&Judgement> {
        self.judgements.iter().find(|known| known.shape == shape)
    }

    /// The newest run whose traffic was counted to its end.
    pub fn counted(&self) -> Option<&Run> {
        let mut runs = self.runs.iter().rev();
        runs.find(|run| run.counted && run.seconds().is_some())
    }
}
