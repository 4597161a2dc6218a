//! Log lines about a guard's decisions.

use treepie_guard::{CellKey, Event};
use treepie_process::log;

use crate::ground::Ground;

/// Formats a cell for messages.
pub fn named(key: &CellKey, ranks: usize) -> String {
    let size = match key.bytes {
        Some(bytes) => format!("up to {bytes} bytes"),
        None => "any size".to_owned(),
    };
    let root = key
        .root
        .map_or(String::new(), |root| format!(", root {root}"));
    let collective = key.form.named(key.operation);
    format!("{collective} of {size}{root} on {ranks} ranks")
}

/// Logs a decision, once.
pub fn log_event(ground: &Ground, event: &Event) {
    if ground.rank() != 0 {
        return;
    }
    let ranks = ground.clusters.ranks();
    let text = match event {
        Event::Cell(key, plan, state) => {
            format!("{}: {} {state}", named(key, ranks), plan.candidate)
        }
        Event::Different => format!(
            "ranks call different collectives on a communicator of {ranks}: left to the MPI"
        ),
        Event::Failed => {
            format!("a collective failed on a communicator of {ranks} ranks: left to the MPI")
        }
    };
    log::info(&format!("guard: {text}"));
}
