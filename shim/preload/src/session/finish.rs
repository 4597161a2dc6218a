//! The end of a job: the profile is collected and written, and the native world
//! comes back. This runs when `MPI_Finalize` frees `MPI_COMM_SELF`: after the
//! application's own callbacks there, with MPI still whole, whatever name or
//! language finalisation was called by.

use std::sync::atomic::{AtomicBool, Ordering};

use treepie_core::files::profile::Profile;

use super::agreement::Recording;
use super::request::Request;
use super::start::session;
use super::{keeper, parts, signals};
use crate::collectives;
use crate::guard::guarded;
use crate::log;
use crate::machine::read_hardware;
use crate::mpi::native::{Native, native};
use crate::mpi::{SUCCESS, Word, c_int};
use crate::record;
use crate::record::collect::{CollectError, collect};
use crate::reorder;
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
    let (Some(native), Some(session)) = (native(), session()) else {
        return;
    };
    if let Some(recording) = &session.decision.recording {
        record::end();
        keeper::stop();
        match write_profile(native, recording, session.request.as_ref()) {
            Ok(true) => (),
            Ok(false) => drop(parts::leave()),
            Err(error) => {
                parts::leave();
                log::error(&format!("the profile could not be collected: {error}"));
            }
        }
        parts::disarm();
        signals::release();
    }
    reorder::end();
    collectives::end(native, world::substitute(native.world));
    world::remove(native);
}

/// Whether the profile is written. Until it is, an end of this process still
/// leaves its part.
fn write_profile(
    native: &Native,
    recording: &Recording,
    request: Option<&Request>,
) -> Result<bool, CollectError> {
    let write = |profile: &Profile| request.is_some_and(|request| request.write_profile(profile));
    collect(native, &recording.run, read_hardware, write)
}
