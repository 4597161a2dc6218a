//! Guard on persistent requests: a fixed choice for the life of a request, or a guard over its own
//! starts.

use std::sync::atomic::Ordering;

use treepie_choice::Candidate;
use treepie_collective::Algorithm;
use treepie_guard::{CellKey, Form, Guard, RequestOutcome};
use treepie_mpi::native::Native;
use treepie_process::log;

use super::guarding::Guarding;
use super::messages::named;
use crate::ground::Ground;

impl Guarding {
    /// Returns the plan of a persistent request that is created for calls of a cell: its algorithm,
    /// and the largest message in bytes; `None` if the native MPI runs it. Collective from time to
    /// time.
    pub fn of_persistent(
        &self,
        native: &Native,
        ground: &Ground,
        key: CellKey,
    ) -> Option<(&'static Algorithm, u64)> {
        self.has_started.store(true, Ordering::Relaxed);
        let mut state = self.keep_up(native, ground, true);
        match state.guard.make_persistent(key)? {
            Candidate::Plan { algorithm, segment } => Some((algorithm, segment)),
            Candidate::Native(_) => None,
        }
    }

    /// Returns the guard over the starts of a persistent request of these calls, and their cell;
    /// `None`, on all ranks, if no candidate is tried. After [`Guarding::of_persistent`]. From time
    /// to time ranks exchange the outcomes of earlier requests: `least` computes the minimum of all
    /// ranks' numbers, in a call that may wait for them.
    pub fn of_request(
        &self,
        ground: &Ground,
        key: CellKey,
        least: impl FnOnce(Vec<i64>) -> Option<Vec<i64>>,
    ) -> Option<(Guard, CellKey)> {
        let key = key.of_form(Form::Persistent);
        if !key.shows_all() {
            return None;
        }
        let predicted = self.challengers(ground, &key);
        // Not locked meanwhile: starts of other requests may be active.
        let values = self.earlier.lock().make(key);
        if let Some(values) = values {
            let least = least(values)?;
            self.earlier.lock().agree(&key, &least);
        }
        let agreed = self.earlier.lock().agreed(&key);
        tell_agreed(ground, &key, &agreed);
        let state = self.state.lock();
        Some((state.guard.of_request(&key, &predicted, &agreed)?, key))
    }

    /// Passes the outcome of the starts of a request to later requests.
    pub fn hand_on(&self, key: &CellKey, guard: &Guard) {
        self.earlier.lock().add(key, guard.outcome());
    }
}

/// Logs the initial choice of a request.
fn tell_agreed(ground: &Ground, key: &CellKey, agreed: &RequestOutcome) {
    if ground.rank() != 0 {
        return;
    }
    let named = named(key, ground.clusters.ranks());
    match agreed {
        RequestOutcome::Open => (),
        RequestOutcome::Left => log::info(&format!(
            "guard: {named}: a request is left to the MPI, as those before it"
        )),
        RequestOutcome::Adopted(known) => log::info(&format!(
            "guard: {named}: a request begins with {}, as those before it ended",
            known.challenger.candidate
        )),
    }
}
