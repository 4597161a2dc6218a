//! Runner of one call under a guard.

use treepie_choice::Candidate;

use crate::cell::{MeasuredCall, Measurement};
use crate::key::{CellKey, Key};

/// Choice of the runner of a call, and its measurement.
#[derive(Debug, Clone, Copy)]
pub struct Ticket<K: Key = CellKey> {
    /// Plan that runs it, or algorithm of the native MPI; `None` for the native MPI's own choice.
    pub plan: Option<K::Candidate>,
    /// True if the native MPI runs all calls of this cell from now on, on all ranks: they need not
    /// be passed to the guard any more.
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

    /// True if the time of its end is to be passed to [`leave`](crate::Guard::leave), or its
    /// duration to [`took`](crate::Guard::took).
    pub fn is_measured(&self) -> bool {
        self.measured.is_some()
    }

    /// True if all ranks must wait for each other before it begins, and then call
    /// [`aligned`](crate::Guard::aligned). It is a blocking call.
    pub fn is_aligned(&self) -> bool {
        let call = self.measured.map(|measured| measured.call);
        matches!(call, Some(MeasuredCall::Pair(slot)) if slot.is_aligned)
    }

    /// Returns its start in nanoseconds, if it is measured.
    pub fn start(&self) -> Option<u64> {
        self.measured.map(|measured| measured.start)
    }
}

impl Ticket {
    /// Returns the candidate that runs it instead of the native MPI's own choice.
    pub fn candidate(&self) -> Option<Candidate> {
        self.plan.map(|challenger| challenger.candidate)
    }
}
