//! Results of a guard: for messages, for profiles, and for stores that later runs start from.

use serde::{Deserialize, Serialize};
use strum::{Display, IntoStaticStr, VariantArray};

use treepie_base::from_name;

use crate::key::{CellKey, Key};

/// Whether candidates are adopted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// A candidate that is proven to be quicker is adopted.
    Adopt,
    /// It is only reported.
    Report,
}

/// State of a cell, or of a candidate in it. Where states and times speak of a plan, another
/// algorithm of the native MPI may stand for it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Display, IntoStaticStr, VariantArray, Serialize, Deserialize,
)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Nothing was tried yet: too few calls, or not enough time in them.
    Warming,
    /// Being compared, or not done with when another one was adopted.
    Trying,
    /// The plan is quicker, and runs.
    Adopted,
    /// The plan is quicker, and does not run, since the guard only reports.
    Proven,
    /// The plan is slower, or not quicker by enough to be seen.
    Dropped,
    /// The plan ran, and was no longer quicker.
    TakenBack,
    /// Left to the MPI: no plan is predicted to be worth it, or ranks or calls did not fit.
    Closed,
}

from_name!(State, "state of a cell");

/// A decision of all ranks.
#[derive(Debug, Clone, Copy)]
pub enum Event<K: Key = CellKey> {
    /// A plan in a cell has this state now.
    Cell(K, K::Candidate, State),
    /// Ranks called different things: the native MPI from now on.
    Different,
    /// A call failed on some rank: the native MPI from now on.
    Failed,
}

/// A plan that was adopted, by an earlier run or for an earlier request.
#[derive(Debug, Clone, Copy)]
pub struct AdoptedPlan<K: Key = CellKey> {
    /// The cell.
    pub key: K,
    /// The plan.
    pub challenger: K::Candidate,
    /// Median of the native collective, in nanoseconds.
    pub native: u64,
    /// Median of the plan, in nanoseconds.
    pub plan: u64,
}

/// Results of a plan in a cell, or of a cell in which none was tried.
#[derive(Debug, Clone, Copy)]
pub struct Summary<K: Key = CellKey> {
    /// The cell.
    pub key: K,
    /// The plan.
    pub plan: Option<K::Candidate>,
    /// State of the plan; of the cell, where there is no plan.
    pub state: State,
    /// Pairs that the plan won.
    pub won: u32,
    /// Pairs that it lost.
    pub lost: u32,
    /// Median of the native collective, in nanoseconds, where it is agreed.
    pub native: Option<u64>,
    /// Median of the plan, in nanoseconds.
    pub with_plan: Option<u64>,
    /// The plan's longest call in trials, in nanoseconds.
    pub longest: u64,
    /// Calls of the cell, until it was left to the native MPI for good.
    pub calls: u64,
    /// Nanoseconds of those without those of trials.
    pub time: u64,
    /// Nanoseconds that trials of the cell took beyond those.
    pub excess: u64,
    /// Nanoseconds that the plan has saved since it was adopted; fewer than none where it loses.
    pub saved: i64,
}
