//! Begin and end of holding back, and the results of the guards of windows.

use once_cell::sync::OnceCell;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use treepie_guard::Mode;
use treepie_mpi::native::Native;
use treepie_process::features::{self, GATHERING, KEEPING};
use treepie_profile::GuardedEpochs;

use super::judged::{EndOf, Judged};
use super::window::{self, Window};

/// Small puts and accumulates that are held back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Gathering {
    /// All that can be.
    Always,
    /// Those of epochs that gain by it, according to measurements.
    Guarded {
        /// True if a gain leads to a switch; otherwise it is only reported.
        adopts: bool,
        /// Results of earlier runs.
        known: Vec<GuardedEpochs>,
    },
}

static GATHERING_BY: OnceCell<Gathering> = OnceCell::new();

/// Holds back puts and accumulates from now on. All ranks of the job do.
pub fn begin(gathering: &Gathering) {
    let _ = GATHERING_BY.set(gathering.clone());
    features::begin(GATHERING);
    if *gathering == Gathering::Always {
        features::begin(KEEPING);
    }
}

/// Stops holding back. All pending updates have been passed to the MPI; from now on every call is
/// passed on immediately.
pub fn end() {
    features::end(GATHERING | KEEPING);
    window::forget_all();
}

/// Returns the guard of a new window of `ranks` ranks, if there is to be one.
pub(super) fn judge(ranks: usize) -> Option<Judged> {
    match GATHERING_BY.get()? {
        Gathering::Always => None,
        Gathering::Guarded { adopts, known } => {
            let mode = if *adopts { Mode::Adopt } else { Mode::Report };
            Some(Judged::new(mode, known, ranks))
        }
    }
}

/// Completes pending exchanges of the guards of windows, before results are collected. Collective.
pub fn end_guards(native: &Native) {
    for window in window::all_judged() {
        report(native, &window, EndOf::Mpi);
    }
}

/// Results of guards for the windows of this process.
static RESULTS: Mutex<Vec<GuardedEpochs>> = Mutex::new(Vec::new());

/// Maximum number of different results that are kept.
const MOST_RESULTS: usize = 1024;

/// Returns the results of guards for the windows that have ended; after [`end_guards`], for all
/// windows.
pub fn guard_results() -> Vec<GuardedEpochs> {
    RESULTS.lock().clone()
}

/// Adds the results of a window that is about to end, alone or with MPI.
pub(super) fn report(native: &Native, window: &Window, end: EndOf) {
    let found = window
        .judged()
        .map(|judged| judged.finish(native, window, end));
    let mut results = RESULTS.lock();
    for one in found.unwrap_or_default() {
        let is_known = results.iter_mut().any(|known| known.absorb(&one));
        if !is_known && results.len() < MOST_RESULTS {
            results.push(one);
        }
    }
}
