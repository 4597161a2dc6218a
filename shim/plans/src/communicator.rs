//! Communicator whose collectives are replaced: its ground, with the guard and the records of
//! uneven calls.

use std::ops::Deref;

use crate::ground::{CommunicatorParts, Ground};
use crate::guard::Guarding;
use crate::setup::Setup;
use crate::sizes::Uneven;

/// Ground of a communicator, with or without a guard, and the records of uneven calls.
pub struct Communicator {
    /// Guard that measures whether plans replace native collectives; its pending exchanges end
    /// before the private communicator does.
    pub guard: Option<Guarding>,
    /// Records of calls with uneven sizes.
    pub uneven: Uneven,
    ground: Ground,
}

impl Communicator {
    /// Creates one on this ground, with the guard that the settings request; `ranks` are its ranks
    /// in the application's world.
    pub fn new(setup: &Setup, ground: Ground, ranks: &[usize]) -> Self {
        Communicator {
            guard: Guarding::new(setup, &ground, ranks),
            uneven: Uneven::default(),
            ground,
        }
    }

    /// True if the guard must count all calls here ([`Guarding::counts_all`]).
    pub fn counts_all(&self) -> bool {
        self.guard.as_ref().is_some_and(Guarding::counts_all)
    }

    /// Returns the parts that another communicator of the same processes takes over, without active
    /// operations.
    pub fn into_kept(self) -> CommunicatorParts {
        drop(self.guard);
        self.ground.into_kept()
    }
}

impl Deref for Communicator {
    type Target = Ground;

    fn deref(&self) -> &Ground {
        &self.ground
    }
}
