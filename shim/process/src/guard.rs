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

/// The end of a panic: none goes on through the function that holds this, where an exception of
/// another language does.
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
