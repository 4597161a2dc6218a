//! Replacement of collectives, reordering of communicators, and joining of small puts.

use treepie_mpi::share::{Group, ShareError};
use treepie_plans as collectives;
use treepie_process::log;

use super::part::{End, Part, Start, abort};
use crate::{one_sided, reorder, world};

/// Replacement of collectives by plans.
pub struct Collectives;

impl Part for Collectives {
    fn begin(&self, start: &mut Start<'_>) -> Result<(), ShareError> {
        let Some(wanted) = &start.plan.collectives else {
            return Ok(());
        };
        let world = world::of_application(start.native);
        let new_rank = start.plan.permutation.as_deref();
        if let Err(error) = collectives::begin(start.native, world, wanted, new_rank) {
            if start.processes.rank() == 0 {
                log::error(&format!(
                    "{error}; falling back to the MPI's own collectives for all of them"
                ));
            }
            if start.plan.strict {
                abort(start.native, start.processes)?;
            }
        }
        Ok(())
    }

    fn stop(&self, end: &mut End<'_>) {
        collectives::end_guards(end.native);
    }

    fn end(&self, end: &End<'_>) {
        collectives::end(end.native, world::of_application(end.native));
    }
}

/// Reordering of communicators with a topology.
pub struct Reordering;

impl Part for Reordering {
    fn begin(&self, start: &mut Start<'_>) -> Result<(), ShareError> {
        if let Some(places) = &start.plan.places {
            reorder::begin(places);
        }
        Ok(())
    }

    fn end(&self, _end: &End<'_>) {
        reorder::end();
    }
}

/// Joining of small puts and accumulates.
pub struct SmallPuts;

impl Part for SmallPuts {
    fn begin(&self, start: &mut Start<'_>) -> Result<(), ShareError> {
        if let Some(gathering) = &start.plan.gathers {
            one_sided::begin(gathering);
        }
        Ok(())
    }

    fn stop(&self, end: &mut End<'_>) {
        one_sided::end_guards(end.native);
    }

    fn end(&self, _end: &End<'_>) {
        one_sided::end();
    }
}
