//! The life of a job under Treepie: settings and what all ranks must agree on
//! when MPI starts, the profile when it ends, and what is left of it where the job
//! has no orderly end.

mod above;
pub mod agreement;
pub mod errors;
pub mod exits;
pub mod finish;
mod hosts;
mod keeper;
mod launched;
pub mod log;
mod parts;
mod replay;
pub mod request;
mod signals;
pub mod start;
mod topology;

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
