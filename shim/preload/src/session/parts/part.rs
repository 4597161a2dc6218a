//! Interface of the parts of Treepie's work in a job, and their inputs.

use std::thread;
use std::time::Duration;

use treepie_base::{Rank, Slice};
use treepie_jobstate::order::Log;
use treepie_mpi::native::Native;
use treepie_mpi::share::{BoundedMembers, Group, Members, ShareError};
use treepie_mpi::{Comm, Word, c_int};

use crate::session::decision::Plan;

/// An `MPI_Comm_delete_attr_function`.
type OnFinalize = unsafe extern "C" fn(Comm, c_int, Word, Word) -> c_int;

/// Start of a job, in which parts begin.
pub struct Start<'a> {
    /// The native MPI.
    pub native: &'static Native,
    /// All ranks, in the launcher's numbering.
    pub processes: &'a Members<'static>,
    /// Completed by parts as they obtain values that are the same on all ranks.
    pub plan: &'a mut Plan,
    /// Logs of an order that is replayed; on process 0.
    pub logs: &'a Slice<Rank, Log>,
    /// Called when `MPI_Finalize` has begun.
    pub on_finalize: OnFinalize,
}

/// End of a job.
pub struct End<'a> {
    /// The native MPI.
    pub native: &'a Native,
    /// Plan that has been carried out until now.
    pub plan: &'a Plan,
    /// Duration of the job, if it is learnt.
    pub elapsed: Option<Duration>,
}

/// Part of Treepie's work in a job.
pub trait Part: Sync {
    /// Begins it, if the plan has it. Collective over all processes.
    ///
    /// # Errors
    /// A native call that failed, or shared data that did not arrive.
    fn begin(&self, _start: &mut Start<'_>) -> Result<(), ShareError> {
        Ok(())
    }

    /// Stops it: `MPI_Finalize` has begun.
    fn stop(&self, _end: &mut End<'_>) {}

    /// Collects its results. All ranks are present.
    fn collect(&self, _members: &BoundedMembers<'_>, _end: &End<'_>) {}

    /// Reverses its changes.
    fn end(&self, _end: &End<'_>) {}
}

/// Ends the job before the application starts: process 0, which has reported why, does it, the
/// others wait, and no rank returns to the application.
pub fn abort(native: &Native, processes: &Members<'_>) -> Result<(), ShareError> {
    if processes.rank() == 0 {
        // Hydra discards output that it has not yet forwarded when the process aborts: the reason
        // would be lost.
        thread::sleep(Duration::from_millis(200));
        native.abort(2);
    }
    Ok(processes.broadcast(&mut [0])?)
}
