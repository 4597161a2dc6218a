//! The life of a job under Treepie: settings and what all ranks must agree on
//! when MPI starts, the profile when it ends.

pub mod agreement;
pub mod finish;
pub mod log;
pub mod place;
pub mod request;
pub mod start;

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Does `work`; a panic in it is said, and goes no further: no panic crosses into
/// C, and the job goes on.
pub fn guarded(doing: &str, work: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(work)).is_err() {
        log::error(&format!(
            "{doing} failed by a defect in treepie; the job goes on without it"
        ));
    }
}
