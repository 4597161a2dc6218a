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
    /// `MPI_Win_start`, and `MPI_Win_post` on the accessed ranks.
    Start,
}

impl EpochKind {
    /// All kinds; the number of a kind is its index here.
    pub const ALL: &'static [EpochKind] = Self::VARIANTS;
}

/// Class of similar calls on a window.
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
    /// Accumulates of any kind: the data sent to the target.
    Accumulate,
    /// Data returned by accumulates: `MPI_Get_accumulate`, `MPI_Fetch_and_op`,
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
    /// All calls; the number of a call is its index here.
    pub const ALL: &'static [WindowCall] = Self::VARIANTS;

    /// True if the call moves data.
    pub fn moves(self) -> bool {
        matches!(
            self,
            WindowCall::Put | WindowCall::Get | WindowCall::Accumulate | WindowCall::Fetch
        )
    }
}

/// Similar calls of one rank on one window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Accesses {
    /// Their number and bytes.
    pub traffic: Traffic,
    /// Number of intervals between two synchronizations that contained such calls; 0 if not
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
    /// The kind of epoch of the calls.
    pub epoch: EpochKind,
    /// Kind of the calls.
    pub call: WindowCall,
    /// True if the elements are contiguous, at the origin and at the target.
    pub is_contiguous: bool,
    /// Class of their size, by powers of two.
    pub size_class: u8,
    /// The target as a rank of the application's world; the calling rank for calls without a
    /// target.
    pub target: u32,
}
