//! Learning from a run for later ones.

use treepie_mpi::share::{BoundedMembers, ShareError};
use treepie_process::log;

use super::part::{End, Part, Start};
use crate::session::learning;

/// Part that writes the duration of the run to an experience store.
pub struct Learning;

impl Part for Learning {
    fn begin(&self, start: &mut Start<'_>) -> Result<(), ShareError> {
        if start.plan.learns {
            learning::keep_platform();
            learning::begin();
        }
        Ok(())
    }

    /// Takes the elapsed time: later work does not belong to the application.
    fn stop(&self, end: &mut End<'_>) {
        end.elapsed = learning::elapsed();
    }

    fn collect(&self, members: &BoundedMembers<'_>, end: &End<'_>) {
        if let Some(elapsed) = end.elapsed
            && let Err(error) = learning::end(members, elapsed)
        {
            log::info(&format!("nothing was learnt of this run: {error}"));
        }
    }
}
