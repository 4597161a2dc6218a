//! The page of each rank.

use treepie_mpi::share::{Group, Members, ShareError, gather_to_all};
use treepie_process::log;
use treepie_record as record;
use treepie_record::page::{self, Run};

use super::part::{Part, Start};
use crate::session::exits;
use crate::world;

/// Each rank keeps a page. Its calls are counted then, whether or not there is a profile. A rank
/// without a page is said, and harms nobody.
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

/// Warns of what hinders this rank, unless it hinders one before it, too. Collective.
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
