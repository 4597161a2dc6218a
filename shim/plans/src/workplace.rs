//! Memory and caches that a communicator keeps from call to call.

use std::mem;

use treepie_mpi::c_int;
use treepie_mpi::native::Native;

use crate::call_context::CallContext;
use crate::execute::{Account, Prepared, Spaces, execute};
use crate::repeated::Repeated;
use crate::transport::Memory;
use crate::unit::Scratch;

/// Memory and caches kept from call to call, for one call at a time.
#[derive(Debug, Default)]
pub struct Workplace {
    /// Cache of equal calls.
    pub repeated: Repeated,
    /// Resources for running plans.
    pub tools: Tools,
}

/// Resources for running plans.
#[derive(Debug, Default)]
pub struct Tools {
    /// Memory that this process shares with others of its host.
    pub memory: Option<Memory>,
    /// Scratch buffer for data in transit.
    scratch: Scratch,
    /// Account of executions.
    account: Account,
}

impl Tools {
    /// Runs a plan on these spaces, which have no scratch buffer yet.
    ///
    /// # Errors
    /// MPI's code.
    pub fn perform(
        &mut self,
        native: &Native,
        place: CallContext,
        plan: &Prepared,
        mut spaces: Spaces,
    ) -> Result<(), c_int> {
        let (account, memory) = (&mut self.account, self.memory.as_mut());
        spaces.scratch = self.scratch.hold(&spaces.unit, plan.plan().scratch());
        // SAFETY: the spaces are the application's buffers, with the lengths of its counts, or
        // scratch buffers that were made for them.
        let result = unsafe { execute(native, plan, &spaces, place, account, memory) };
        if result.is_err() {
            // Messages in flight may still use it.
            mem::forget((mem::take(&mut self.scratch), mem::take(&mut self.account)));
        }
        result
    }
}
