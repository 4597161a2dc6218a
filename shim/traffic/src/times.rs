//! Time in MPI calls: call classes, counted and timed.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};
use strum::{Display, IntoStaticStr, VariantArray};

use treepie_base::from_name;

/// Class of similar calls.
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
    IntoStaticStr,
    VariantArray,
    Serialize,
    Deserialize,
)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub enum CallClass {
    /// Sends, blocking or not, persistent or not, and their starts.
    Send,
    /// Receives and probes.
    Receive,
    /// Sends and receives in one call.
    SendReceive,
    /// Waiting and testing for completion.
    Wait,
    /// Barriers.
    Barrier,
    /// Collectives other than barriers.
    Collective,
    /// Neighbourhood collectives.
    Neighbourhood,
    /// Puts, gets and accumulates.
    OneSided,
    /// Opening and closing epochs of windows: fences, locks, flushes, posts, starts and waits.
    WindowEpoch,
    /// All other procedures on a communicator or a window.
    Other,
}

impl CallClass {
    /// All classes; the number of a class is its index here.
    pub const ALL: &'static [CallClass] = Self::VARIANTS;
}

from_name!(CallClass, "class of calls");

/// Calls and the time in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CallTime {
    /// Number of calls.
    pub calls: u64,
    /// Time from their starts to their ends, in nanoseconds.
    pub nanoseconds: u64,
}

impl CallTime {
    /// Subtracts `other`, saturating at 0.
    pub fn less(self, other: CallTime) -> CallTime {
        CallTime {
            calls: self.calls.saturating_sub(other.calls),
            nanoseconds: self.nanoseconds.saturating_sub(other.nanoseconds),
        }
    }
}

impl AddAssign for CallTime {
    fn add_assign(&mut self, other: CallTime) {
        self.calls = self.calls.saturating_add(other.calls);
        self.nanoseconds = self.nanoseconds.saturating_add(other.nanoseconds);
    }
}
