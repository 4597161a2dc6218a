//! One-sided communication: kinds of epochs, and calls on windows.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};
use strum::{Display, VariantArray};

use crate::traffic::Traffic;

/// Kind of synchronization that opens an access epoch of a window (MPI-4.1, section 12.5).
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Display,
    VariantArray,
    Serialize,
    Deserialize,
)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub enum EpochKind {
    /// `MPI_Win_fence`.
    Fence,
    /// `MPI_Win_lock`.
    Lock,
    /// `MPI_Win_lock_all`.
    LockAll,
    /// `MPI_Win_start`, and `MPI_Win_post` on the ranks that are accessed.
    Start,
}

impl EpochKind {
    /// All kinds; a kind's number is its place here.
    pub const ALL: &'static [EpochKind] = Self::VARIANTS;
}

/// Calls on a window that do the same sort of thing.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Display,
    VariantArray,
    Serialize,
    Deserialize,
)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub enum WindowCall {
    /// Puts.
    Put,
    /// Gets.
    Get,
    /// Accumulates of any kind: what goes to the target.
    Accumulate,
    /// What accumulates bring back: `MPI_Get_accumulate`, `MPI_Fetch_and_op`,
    /// `MPI_Compare_and_swap`.
    Fetch,
    /// The opening of an epoch.
    Open,
    /// Flushes.
    Flush,
    /// Posts: a rank lets others access its part of the window.
    Post,
}

impl WindowCall {
    /// All calls; a call's number is its place here.
    pub const ALL: &'static [WindowCall] = Self::VARIANTS;

    /// Whether it moves data.
    pub fn moves(self) -> bool {
        matches!(
            self,
            WindowCall::Put | WindowCall::Get | WindowCall::Accumulate | WindowCall::Fetch
        )
    }
}

/// Calls on one window that are alike, as one rank made them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Accesses {
    /// Their number and bytes.
    pub traffic: Traffic,
    /// Intervals between two synchronisations in which there were some; 0 where this was not
    /// counted.
    pub intervals: u64,
}

impl AddAssign for Accesses {
    fn add_assign(&mut self, more: Accesses) {
        self.traffic += more.traffic;
        self.intervals = self.intervals.saturating_add(more.intervals);
    }
}

/// Key of calls on one window that are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Access {
    /// The epoch that they were made in.
    pub epoch: EpochKind,
    /// Kind of the calls.
    pub call: WindowCall,
    /// Whether the elements lie one behind the other, at the origin and at the target.
    pub is_contiguous: bool,
    /// Class of their size, by powers of two.
    pub size_class: u8,
    /// The target as a rank of the application's world; the own rank for calls without one.
    pub target: u32,
}
