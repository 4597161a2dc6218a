//! The end of a job: the profile is collected and written, and the host's world
//! comes back. This runs when `MPI_Finalize` frees `MPI_COMM_SELF`: after the
//! application's own callbacks there, with MPI still whole, whatever name or
//! language finalisation was called by.

use std::sync::atomic::{AtomicBool, Ordering};

use super::start::session;
use super::{guarded, log};
use crate::api::host::{Host, HostError, host};
use crate::api::{SUCCESS, Word, c_int};
use crate::record::{self, collect};
use crate::world;

static FINISHED: AtomicBool = AtomicBool::new(false);

/// `MPI_Comm_delete_attr_function` of the attribute that the session set on
/// `MPI_COMM_SELF`.
pub unsafe extern "C" fn on_finalize(
    _comm: Word,
    _keyval: c_int,
    _value: Word,
    _extra: Word,
) -> c_int {
    if !FINISHED.swap(true, Ordering::AcqRel) {
        guarded("finishing", finish);
    }
    SUCCESS
}

fn finish() {
    let (Some(host), Some(session)) = (host(), session()) else {
        return;
    };
    if session.decision.record {
        record::end();
        if let Err(error) = write_profile(host) {
            log::error(&format!("the profile could not be collected: {error}"));
        }
    }
    world::remove(host);
}

fn write_profile(host: &Host) -> Result<(), HostError> {
    let collected = collect::collect(host, world::substitute(host.world))?;
    if let (Some(collected), Some(request)) =
        (collected, session().and_then(|s| s.request.as_ref()))
    {
        request.write_profile(host, collected);
    }
    Ok(())
}
