//! Settings that are valid one by one but contradict each other.

use super::choices::{Apply, Mode, OneSided, Pages, Reorder};
use super::error::SettingsError;
use super::table::Settings;

/// Rejects settings that contradict each other or request nothing.
pub(super) fn refuse(settings: &Settings) -> Result<(), SettingsError> {
    let together = |which: &str, problem: &str| {
        Err(SettingsError::Together {
            settings: which.into(),
            problem: problem.into(),
        })
    };
    if settings.placement.is_some() && settings.permutation.is_some() {
        return together(
            "placement and permutation",
            "both say which rank goes where; keep one of them",
        );
    }
    if settings.mode == Mode::Auto
        && (settings.placement.is_some()
            || settings.permutation.is_some()
            || settings.output.is_some())
    {
        return together(
            "mode: auto, and placement, permutation or output",
            "it finds placements itself, and keeps profiles in its store; take these settings away, \
             or use mode: replay or profile",
        );
    }
    if settings.order_delays.is_some() && settings.order.is_none() {
        return together(
            "order_delays",
            "delays are for runs whose order is recorded or replayed; set order (TREEPIE_ORDER)",
        );
    }
    if settings.mode == Mode::Auto && settings.order.is_some() {
        return together(
            "mode: auto and order",
            "an order is recorded with mode: profile and replayed with mode: replay",
        );
    }
    if settings.mode != Mode::Replay {
        return Ok(());
    }
    if settings.permutation.is_some() && settings.apply != Apply::Permute {
        return together(
            &format!("permutation and apply: {}", settings.apply),
            "a bare permutation names no cores to bind to; give a placement, or apply: permute",
        );
    }
    // Pages are kept in any mode, and may be the only request.
    let nothing = settings.placement.is_none()
        && settings.permutation.is_none()
        && settings.order.is_none()
        && settings.pages == Pages::Off
        && !settings.cut;
    let calls_stay = settings.collectives.all_native()
        && settings.collectives.native_algorithms.is_empty()
        && settings.reorder == Reorder::Native
        && settings.one_sided == OneSided::Native;
    if nothing && calls_stay {
        return together(
            "mode: replay",
            "there is nothing to replay; set placement (TREEPIE_PLACEMENT), permutation \
             (TREEPIE_PERMUTATION), order (TREEPIE_ORDER), collectives (TREEPIE_COLLECTIVES), \
             reorder (TREEPIE_REORDER) or one_sided (TREEPIE_ONE_SIDED)",
        );
    }
    Ok(())
}
