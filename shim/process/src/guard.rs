//! The border to C: no panic crosses it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::log;

/// Does `work`; a panic in it is said, and goes no further: no panic crosses into
/// C, and the job goes on.
pub fn guarded(doing: &str, work: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(work)).is_err() {
        log::error(&format!(
            "internal error while {doing}; the job continues without treepie (please report)"
        ));
    }
}
