//! Memory and knowledge that a communicator keeps from call to call.

use std::mem;

use treepie_mpi::c_int;
use treepie_mpi::native::Native;

use crate::execute::{Account, Prepared, Spaces, execute};
use crate::place::Place;
use crate::repeated::Repeated;
use crate::transport::Memory;
use crate::unit::Scratch;

/// Memory and knowledge kept from call to call, for one call at a time.
#[derive(Debug, Default)]
pub struct Workplace {
    /// Knowledge of calls like those before.
    pub repeated: Repeated,
    /// Tools with which plans are run.
    pub tools: Tools,
}

/// Tools with which plans are run.
#[derive(Debug, Default)]
pub struct Tools {
    /// The memory that this process shares with others of its host.
    pub memory: Option<Memory>,
    /// Scratch buffer for what is on its way.
    scratch: Scratch,
    /// The execution's.
    account: Account,
}

impl Tools {
    /// Runs a plan on what the spaces say, which have no scratch yet.
    ///
    /// # Errors
    /// MPI's code.
    pub fn perform(
        &mut self,
        native: &Native,
        place: Place,
        plan: &Prepared,
        mut spaces: Spaces,
    ) -> Result<(), c_int> {
        let (account, memory) = (&mut self.account, self.memory.as_mut());
        spaces.scratch = self.scratch.hold(&spaces.unit, plan.plan().scratch());
        // SAFETY: the spaces are the application's buffers, of the length that its
        // counts say, or scratch buffers that were made for them.
        let result = unsafe { execute(native, plan, &spaces, place, account, memory) };
        if result.is_err() {
            // Messages under way may still use it.
            mem::forget((mem::take(&mut self.scratch), mem::take(&mut self.account)));
        }
        result
    }
}
