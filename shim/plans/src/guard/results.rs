//! Results of the guards of this process, for the profile.

use parking_lot::Mutex;
use treepie_guard::Guard;
use treepie_profile::GuardedCell;

use crate::ground::Ground;

/// Results of communicators that have ended; equal ones are merged.
static RESULTS: Mutex<Vec<GuardedCell>> = Mutex::new(Vec::new());

/// Maximum number of different results that are kept.
const MOST_RESULTS: usize = 4096;

/// Adds the results of a communicator.
fn add(cells: impl Iterator<Item = GuardedCell>) {
    let mut results = RESULTS.lock();
    for cell in cells {
        let is_known = results.iter_mut().any(|known| known.absorb(&cell));
        if !is_known && results.len() < MOST_RESULTS {
            results.push(cell);
        }
    }
}

/// Returns all of them.
pub fn all() -> Vec<GuardedCell> {
    RESULTS.lock().clone()
}

/// Keeps the results of a guard, which are the same on all ranks.
pub fn add_results(ground: &Ground, guard: &Guard) {
    if ground.rank() != 0 {
        return;
    }
    let clusters = &ground.clusters;
    let (ranks, clusters) = (clusters.ranks(), clusters.count());
    let found = guard.summaries();
    let cells = found.iter();
    add(cells.map(|one| GuardedCell::new(one, ranks, clusters)));
}
