//! Binding of processes to cores, and new ranks.

use treepie_base::Process;
use treepie_mpi::share::{Group, ShareError};
use treepie_record::collect;

use super::part::{End, Part, Start};
use crate::binding::bind_this_thread;
use crate::session::redundancy;
use crate::world;

/// Binds processes, and gives them new ranks.
pub struct Ranks;

impl Part for Ranks {
    fn begin(&self, start: &mut Start<'_>) -> Result<(), ShareError> {
        let process = Process(start.processes.rank());
        let cores = start.plan.cores.as_ref();
        if let Some(&core) = cores.and_then(|cores| cores.get(process)) {
            bind_this_thread(core as usize);
        }
        if let Some(new_rank) = &start.plan.permutation {
            world::install(start.native, new_rank)?;
            if process == Process(0) {
                redundancy::tell_of_moved_sets(new_rank);
            }
        }
        Ok(())
    }

    fn end(&self, end: &End<'_>) {
        world::remove(end.native);
    }
}

/// Ranks in the application's world, known if calls are noted.
pub struct Identities;

impl Part for Identities {
    fn begin(&self, start: &mut Start<'_>) -> Result<(), ShareError> {
        if start.plan.notes_calls() {
            collect::prepare(start.native, world::of_application(start.native))?;
        }
        Ok(())
    }
}
