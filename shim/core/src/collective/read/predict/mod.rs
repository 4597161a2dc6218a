//! What every strategy for a collective would take on a platform, and which is
//! the best (thesis 6.2 and 7.1).
//!
//! Strategies are of three kinds: `inside` one cluster by the models of chapter 6;
//! `across` clusters in two phases, between coordinators by an order of sends and
//! inside each cluster by its best strategy; and by `ranks`, which is what a
//! library does that knows no clusters.

mod across;
mod inside;
mod ranks;
mod shape;
#[cfg(test)]
mod tests;
mod two_phase;

pub use ranks::{Passage, Tree, pipeline, simulate};
pub use shape::{ClusterShape, Shape};
pub use two_phase::{TwoPhase, two_phase};

use crate::affinity::names::named;
use crate::collective::read::models::{Computing, Form};
use crate::platform::Platform;

/// A collective operation whose time can be predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Collective {
    /// One to all, the same.
    Bcast,
    /// One to all, to each its own.
    Scatter,
    /// All to one, from each its own.
    Gather,
    /// All to one, combined.
    Reduce,
    /// All to all, combined.
    Allreduce,
    /// All to all, from each the same.
    Allgather,
    /// All to all, from each to each its own.
    Alltoall,
    /// All wait for all.
    Barrier,
}

impl Collective {
    const NAMES: &'static [(&'static str, Collective)] = &[
        ("bcast", Collective::Bcast),
        ("broadcast", Collective::Bcast),
        ("scatter", Collective::Scatter),
        ("gather", Collective::Gather),
        ("reduce", Collective::Reduce),
        ("allreduce", Collective::Allreduce),
        ("allgather", Collective::Allgather),
        ("alltoall", Collective::Alltoall),
        ("barrier", Collective::Barrier),
    ];

    /// All of them.
    pub const ALL: [Collective; 8] = [
        Collective::Bcast,
        Collective::Scatter,
        Collective::Gather,
        Collective::Reduce,
        Collective::Allreduce,
        Collective::Allgather,
        Collective::Alltoall,
        Collective::Barrier,
    ];
}

named!(Collective, "collective");

/// What is to be predicted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Question {
    /// The operation.
    pub collective: Collective,
    /// Bytes: of the message for `bcast`, `reduce`, `allreduce`; of one rank's
    /// block for the others; nothing for `barrier`.
    pub bytes: u64,
    /// The root's rank, for operations that have one.
    pub root: usize,
    /// Number of ranks, if not those of the platform: every cluster is made
    /// larger or smaller alike.
    pub ranks: Option<usize>,
    /// Which reading of the formulas.
    pub form: Form,
    /// Bytes of a datatype: segments are multiples of it.
    pub granularity: u64,
    /// Bytes of a segment for strategies that cut, instead of the best size.
    pub segment: Option<u64>,
    /// What reductions compute.
    pub computing: Computing,
}

impl Question {
    /// The usual reading: all ranks, root 0, corrected formulas.
    pub fn new(collective: Collective, bytes: u64) -> Self {
        Question {
            collective,
            bytes,
            root: 0,
            ranks: None,
            form: Form::Corrected,
            granularity: 1,
            segment: None,
            computing: Computing::default(),
        }
    }
}

/// The time of one strategy.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// Its name.
    pub strategy: String,
    /// Seconds.
    pub seconds: f64,
    /// Bytes of a segment, where the message is cut.
    pub segment: Option<u64>,
    /// What it does inside the clusters, where it works in two phases.
    pub inside: Option<String>,
}

impl Prediction {
    fn new(strategy: impl ToString, seconds: f64) -> Self {
        Prediction {
            strategy: strategy.to_string(),
            seconds,
            segment: None,
            inside: None,
        }
    }
}

/// All strategies for `question` on `platform`, the quickest first. There is at
/// least one.
pub fn predict(platform: &Platform, question: &Question) -> Vec<Prediction> {
    let shape = Shape::of(platform, question.ranks);
    let mut predictions = match shape.clusters.as_slice() {
        [only] => inside::all(only, question),
        _ => across::all(platform, &shape, question),
    };
    predictions.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
    predictions
}
