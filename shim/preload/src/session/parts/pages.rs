//! Page of each rank.

use treepie_mpi::share::{Group, Members, ShareError, gather_to_all};
use treepie_process::log;
use treepie_record as record;
use treepie_record::page::{self, Run};

use super::part::{Part, Start};
use crate::session::exits;
use crate::world;

/// Page of each rank. It counts calls, with or without a profile. A rank without a page is
/// reported, and the others continue.
pub struct Pages;

impl Part for Pages {
    fn begin(&self, start: &mut Start<'_>) -> Result<(), ShareError> {
        let Some(pages) = &start.plan.pages else {
            return Ok(());
        };
        let recording = start.plan.recording.as_ref();
        if recording.is_none() {
            record::begin(None);
        }
        let run = Run {
            directory: pages.directory.as_deref(),
            number: pages.run,
            given: pages.given,
            ranks: start.processes.size(),
            world: world::of_application(start.native),
            stops: pages.stops,
        };
        let begun = page::begin(start.native, &run);
        if begun.is_ok() && recording.is_none_or(|recording| recording.for_store) {
            exits::watch();
        }
        warn_once(start.processes, begun.err().map(|error| error.to_string()))
    }
}

/// Warns of a problem of this rank, unless a rank before it has the same. Collective.
fn warn_once(processes: &Members<'_>, problem: Option<String>) -> Result<(), ShareError> {
    let hindered = processes.allgather(u8::from(problem.is_some()))?;
    if hindered.contains(&1) {
        let all = gather_to_all(processes, &problem)?;
        let first = all.iter().position(|other| *other == problem);
        if let Some(problem) = problem
            && first == Some(processes.rank())
        {
            log::warn(&problem);
        }
    }
    Ok(())
}
