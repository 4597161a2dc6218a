//! The guard on persistent requests: what runs one as long as it lives, or the guard over its own
//! starts.

use std::sync::atomic::Ordering;

use treepie_choice::Candidate;
use treepie_collective::Algorithm;
use treepie_guard::{CellKey, Form, Found, Guard};
use treepie_mpi::native::Native;
use treepie_process::log;
use treepie_profile::GuardedCell;

use super::{named, results};
use crate::communicator::Communicator;

/// The plan of a persistent request that is made for calls of a cell: its algorithm, and the
/// largest message in bytes; `None` where the native MPI runs it. Collective now and then.
pub fn of_persistent(
    native: &Native,
    communicator: &Communicator,
    key: CellKey,
) -> Option<(&'static Algorithm, u64)> {
    let guarding = communicator.guard.as_ref()?;
    guarding.has_started.store(true, Ordering::Relaxed);
    let mut state = guarding.keep_up(native, communicator, true);
    match state.guard.make_persistent(key)? {
        Candidate::Plan { algorithm, segment } => Some((algorithm, segment)),
        Candidate::Native(_) => None,
    }
}

/// The guard over the starts of a persistent request of these calls, and the cell that they are;
/// `None` where nothing is tried, as all ranks know alike. Behind [`of_persistent`]. Now and then
/// ranks tell each other what earlier requests have come to: `least` makes the least of all ranks'
/// numbers, in a call that may wait for them.
pub fn of_request(
    communicator: &Communicator,
    key: CellKey,
    least: impl FnOnce(Vec<i64>) -> Option<Vec<i64>>,
) -> Option<(Guard, CellKey)> {
    let guarding = communicator.guard.as_ref()?;
    let key = key.of_form(Form::Persistent);
    if !key.shows_all() {
        return None;
    }
    let predicted = guarding.challengers(communicator, &key);
    // Not locked meanwhile: starts of others may be under way.
    let values = guarding.earlier.lock().make(key);
    if let Some(values) = values {
        let least = least(values)?;
        guarding.earlier.lock().agree(&key, &least);
    }
    let agreed = guarding.earlier.lock().agreed(&key);
    tell_agreed(communicator, &key, &agreed);
    let state = guarding.state.lock();
    Some((state.guard.of_request(&key, &predicted, &agreed)?, key))
}

/// Says what a request begins with.
fn tell_agreed(communicator: &Communicator, key: &CellKey, agreed: &Found) {
    if communicator.rank() != 0 {
        return;
    }
    let named = named(key, communicator.clusters.ranks());
    match agreed {
        Found::Open => (),
        Found::Left => log::info(&format!(
            "guard: {named}: a request is left to the MPI, as those before it"
        )),
        Found::Adopted(known) => log::info(&format!(
            "guard: {named}: a request begins with {}, as those before it ended",
            known.challenger.candidate
        )),
    }
}

/// What the starts of a request have come to, for those that are made later.
pub fn hand_on(communicator: &Communicator, key: &CellKey, guard: &Guard) {
    if let Some(guarding) = &communicator.guard {
        guarding.earlier.lock().found(key, guard.found());
    }
}

/// Keeps what a guard has found, which is the same on all ranks.
pub fn add_results(communicator: &Communicator, guard: &Guard) {
    if communicator.rank() != 0 {
        return;
    }
    let clusters = &communicator.clusters;
    let (ranks, clusters) = (clusters.ranks(), clusters.count());
    let found = guard.summaries();
    let cells = found.iter();
    results::add(cells.map(|one| GuardedCell::new(one, ranks, clusters)));
}
