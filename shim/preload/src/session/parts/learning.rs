//! A run of which later ones learn.

use treepie_mpi::share::{BoundedMembers, ShareError};
use treepie_process::log;

use super::part::{End, Part, Start};
use crate::session::learning;

/// Part that puts the time that the run takes into a store of experiences.
pub struct Learning;

impl Part for Learning {
    fn begin(&self, start: &mut Start<'_>) -> Result<(), ShareError> {
        if start.plan.learns {
            learning::keep_platform();
            learning::begin();
        }
        Ok(())
    }

    /// Takes the elapsed time: work from here on is no time of the application's.
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
