//! How one call under a guard is run.

use treepie_choice::Candidate;

use crate::cell::{MeasuredCall, Measurement};
use crate::key::{CellKey, Key};

/// Choice of what runs a call, and its measurement.
#[derive(Debug, Clone, Copy)]
pub struct Ticket<K: Key = CellKey> {
    /// The plan that runs it, or the algorithm of the native MPI; `None` for the native MPI as it
    /// is.
    pub plan: Option<K::Candidate>,
    /// Whether the native MPI runs all calls of this cell from now on, on all ranks: they need not
    /// be given to the guard any more.
    pub is_for_good: bool,
    pub(crate) cell: usize,
    pub(crate) measured: Option<Measurement>,
}

impl<K: Key> Ticket<K> {
    pub(crate) const NATIVE: Self = Ticket {
        plan: None,
        is_for_good: false,
        cell: usize::MAX,
        measured: None,
    };
    pub(crate) const FOR_GOOD: Self = Ticket {
        is_for_good: true,
        ..Ticket::NATIVE
    };

    /// Whether the time of its end is to be given to [`leave`](crate::Guard::leave), or its
    /// duration to [`took`](crate::Guard::took).
    pub fn is_measured(&self) -> bool {
        self.measured.is_some()
    }

    /// Whether all ranks have to wait for each other before it begins, and call
    /// [`aligned`](crate::Guard::aligned) when they have. It is a blocking call.
    pub fn is_aligned(&self) -> bool {
        let call = self.measured.map(|measured| measured.call);
        matches!(call, Some(MeasuredCall::Pair(slot)) if slot.is_aligned)
    }

    /// Its start in nanoseconds, where it is measured.
    pub fn start(&self) -> Option<u64> {
        self.measured.map(|measured| measured.start)
    }
}

impl Ticket {
    /// The candidate that runs it in place of the native MPI as it is.
    pub fn candidate(&self) -> Option<Candidate> {
        self.plan.map(|challenger| challenger.candidate)
    }
}
