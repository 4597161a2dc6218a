//! Results of a guard: for messages, for profiles, and for stores from which later runs start.

use serde::{Deserialize, Serialize};
use strum::{Display, IntoStaticStr, VariantArray};

use treepie_base::from_name;

use crate::key::{CellKey, Key};

/// Adoption of candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// A candidate that is proven to be faster is adopted.
    Adopt,
    /// It is only reported.
    Report,
}

/// State of a cell, or of a candidate in it. In states and times, "plan" may also mean another
/// algorithm of the native MPI.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Display, IntoStaticStr, VariantArray, Serialize, Deserialize,
)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// No candidate was tried yet: too few calls, or not enough time in them.
    Warming,
    /// Being compared, or still undecided when another one was adopted.
    Trying,
    /// The plan is faster, and runs.
    Adopted,
    /// The plan is faster, and does not run, since the guard only reports.
    Proven,
    /// The plan is slower, or not faster by a provable difference.
    Dropped,
    /// The plan ran, and was no longer faster.
    TakenBack,
    /// Left to the MPI: no plan is predicted to gain enough, or ranks or calls did not match.
    Closed,
}

from_name!(State, "state of a cell");

/// Decision of all ranks.
#[derive(Debug, Clone, Copy)]
pub enum Event<K: Key = CellKey> {
    /// A plan in a cell has a new state.
    Cell(K, K::Candidate, State),
    /// Ranks made different calls: left to the native MPI from now on.
    Different,
    /// A call failed on some rank: left to the native MPI from now on.
    Failed,
}

/// Plan that was adopted, by an earlier run or for an earlier request.
#[derive(Debug, Clone, Copy)]
pub struct AdoptedPlan<K: Key = CellKey> {
    /// Cell of the plan.
    pub key: K,
    /// Plan that was adopted.
    pub challenger: K::Candidate,
    /// Median of the native collective, in nanoseconds.
    pub native: u64,
    /// Median of the plan, in nanoseconds.
    pub plan: u64,
}

/// Result for a plan in a cell, or for a cell in which none was tried.
#[derive(Debug, Clone, Copy)]
pub struct Summary<K: Key = CellKey> {
    /// Cell of the result.
    pub key: K,
    /// Plan that was tried.
    pub plan: Option<K::Candidate>,
    /// State of the plan; of the cell, if there is no plan.
    pub state: State,
    /// Pairs that the plan won.
    pub won: u32,
    /// Pairs that it lost.
    pub lost: u32,
    /// Median of the native collective, in nanoseconds, if it is agreed.
    pub native: Option<u64>,
    /// Median of the plan, in nanoseconds.
    pub with_plan: Option<u64>,
    /// Plan's longest call in trials, in nanoseconds.
    pub longest: u64,
    /// Number of calls of the cell, until it was left to the native MPI for good.
    pub calls: u64,
    /// Nanoseconds of these calls, without those of trials.
    pub time: u64,
    /// Additional nanoseconds of trials of the cell.
    pub excess: u64,
    /// Nanoseconds that the plan has saved since it was adopted; negative if it loses.
    pub saved: i64,
}
