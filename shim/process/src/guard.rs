//! Boundary to C, which no panic crosses.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::log;

/// Runs `work`; a panic in it is reported and stopped: no panic crosses into C, and the job
/// continues.
pub fn guarded(doing: &str, work: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(work)).is_err() {
        log::error(&format!(
            "internal error while {doing}; the job continues without treepie (please report)"
        ));
    }
}

/// Guard that ends the process on a panic: none propagates through the function that holds it,
/// while an exception of another language does.
pub struct PanicBarrier;

impl Drop for PanicBarrier {
    #[inline(always)]
    fn drop(&mut self) {
        if std::thread::panicking() {
            end_process();
        }
    }
}

#[cold]
#[inline(never)]
fn end_process() -> ! {
    log::error("internal error in a call of MPI; the process ends (please report)");
    std::process::abort()
}
