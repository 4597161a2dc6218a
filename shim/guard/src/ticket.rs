//! How one call under a guard is run.

use super::Way;
use super::cell::Measured;
use super::contender::Contender;
use treepie_choice::{Candidate, Challenger};

/// How a call is run, and what is measured of it.
#[derive(Debug, Clone, Copy)]
pub struct Ticket<C = Challenger> {
    /// How it is run.
    pub way: Way<C>,
    /// Whether the native MPI runs all calls of this cell from now on, on all ranks: they need not
    /// be given to the guard any more.
    pub is_for_good: bool,
    pub(super) cell: usize,
    pub(super) measured: Option<(Measured, u64)>,
}

impl<C: Contender> Ticket<C> {
    pub(super) const NATIVE: Self = Ticket {
        way: Way::Native,
        is_for_good: false,
        cell: usize::MAX,
        measured: None,
    };
    pub(super) const FOR_GOOD: Self = Ticket {
        is_for_good: true,
        ..Ticket::NATIVE
    };

    /// Whether the time of its end is to be given to [`leave`](super::Guard::leave), or what it
    /// took to [`took`](super::Guard::took).
    pub fn is_measured(&self) -> bool {
        self.measured.is_some()
    }

    /// Whether all ranks have to wait for each other before it begins, and tell
    /// [`aligned`](super::Guard::aligned) when they have. It is a blocking call.
    pub fn is_aligned(&self) -> bool {
        matches!(self.measured, Some((Measured::Pair(slot, _), _)) if slot.is_aligned)
    }

    /// When it started, where it is measured.
    pub fn start(&self) -> Option<u64> {
        self.measured.map(|(_, start)| start)
    }
}

impl Ticket {
    /// What runs it in place of the native MPI as it is.
    pub fn candidate(&self) -> Option<Candidate> {
        match self.way {
            Way::Native => None,
            Way::By(challenger) => Some(challenger.candidate),
        }
    }
}
