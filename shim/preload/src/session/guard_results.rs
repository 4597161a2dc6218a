//! Results of the guards of this process.

use treepie_plans as collectives;
use treepie_profile::GuardResults;

use crate::one_sided;

/// Returns the results for collectives and for epochs.
pub(super) fn guard_results() -> GuardResults {
    GuardResults {
        collectives: collectives::guard_results(),
        epochs: one_sided::guard_results(),
    }
}
