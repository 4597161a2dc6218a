//! A communicator whose collectives are replaced: its ground, and what is attached to that.

use std::ops::Deref;

use crate::ground::{Ground, Kept};
use crate::guard::Guarding;
use crate::setup::Setup;
use crate::sizes::Uneven;

/// The ground of a communicator, under a guard or not, with what was learnt of uneven calls.
pub struct Communicator {
    /// Measures whether plans take the place of native collectives; what it has under way ends
    /// before our communicator does.
    pub guard: Option<Guarding>,
    /// Learnt from calls with uneven sizes.
    pub uneven: Uneven,
    ground: Ground,
}

impl Communicator {
    /// On this ground, under the guard that the settings ask for; its ranks are these of the
    /// application's world.
    pub fn new(setup: &Setup, ground: Ground, ranks: &[usize]) -> Self {
        Communicator {
            guard: Guarding::new(setup, &ground, ranks),
            uneven: Uneven::default(),
            ground,
        }
    }

    /// Whether the guard has to see all calls here ([`Guarding::counts_all`]).
    pub fn counts_all(&self) -> bool {
        self.guard.as_ref().is_some_and(Guarding::counts_all)
    }

    /// Parts that another communicator of the same processes takes over, on which nothing is open.
    pub fn into_kept(self) -> Kept {
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
