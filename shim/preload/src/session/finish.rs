//! The end of a job: the profile is collected and written, and the native world
//! comes back. This runs when `MPI_Finalize` frees `MPI_COMM_SELF`: after the
//! application's own callbacks there, with MPI still whole, whatever name or
//! language finalisation was called by.

use std::path::Path;
use std::time::Duration;

use treepie_core::files::FileError;
use treepie_core::files::partial_profiles;
use treepie_core::files::profile::{GuardResults, Profile};

use super::decision::{Decision, Recording};
use super::{State, learning, monitor, partial, signals};
use crate::guard::guarded;
use crate::machine::read_hardware_and_devices;
use crate::mpi::native::{Native, native};
use crate::mpi::{Comm, SUCCESS, Word, c_int};
use crate::record::collect::{CollectError, collect};
use crate::share::{Members, ShareError};
use crate::{collectives, log, one_sided, order, record, reorder, world};

/// `MPI_Comm_delete_attr_function` of the attribute that the session set on
/// `MPI_COMM_SELF`.
pub unsafe extern "C" fn on_finalize(
    _comm: Comm,
    _keyval: c_int,
    _value: Word,
    _extra: Word,
) -> c_int {
    if let (Some(native), Some(decision)) = (native(), State::end()) {
        guarded("finishing", || finish(native, &decision));
    }
    SUCCESS
}

fn finish(native: &Native, decision: &Decision) {
    // What is done here is no time of the application's.
    let elapsed = learning::elapsed();
    collectives::end_guards(native);
    one_sided::end_guards(native);
    if let Err(error) = order::finish(native) {
        log::error(&format!("the order could not be collected: {error}"));
    }
    if let Some(recording) = decision.recording() {
        record::end();
        monitor::stop();
        match write_profile(native, recording) {
            Ok(true) => (),
            Ok(false) => drop(partial::write()),
            Err(error) => {
                partial::write();
                if error.is_told_here() {
                    log::error(&format!("the profile could not be collected: {error}"));
                }
            }
        }
        partial::disarm();
        signals::release();
    }
    if let Some(elapsed) = elapsed {
        learn(native, elapsed);
    }
    reorder::end();
    one_sided::end();
    collectives::end(native, world::of_application(native));
    world::remove(native);
}

/// Writes a profile; one for a store without what names somebody.
fn write_to(output: &Path, profile: &Profile, for_store: bool) -> Result<(), FileError> {
    match for_store {
        true => profile.without_names().write(output),
        false => profile.write(output),
    }
}

/// Keeps what the run took. A failure here is none of the job's.
fn learn(native: &Native, elapsed: Duration) {
    let members = Members::new(native, native.world).map_err(ShareError::from);
    if let Err(error) = members.and_then(|members| learning::end(&members, elapsed)) {
        log::info(&format!("nothing was learnt of this run: {error}"));
    }
}

/// What the guards of this process found.
pub(super) fn guard_results() -> GuardResults {
    GuardResults {
        collectives: collectives::guard_results(),
        epochs: one_sided::guard_results(),
    }
}

/// Whether the profile is written. Until it is, an end of this process still
/// leaves its partial profile.
fn write_profile(native: &Native, recording: &Recording) -> Result<bool, CollectError> {
    let output = Path::new(&recording.output);
    let write = |profile: &Profile| match write_to(output, profile, recording.for_store) {
        Ok(()) => {
            log::info(&format!("the profile is in {}", output.display()));
            // Partial profiles that were left meanwhile are not needed any more.
            partial_profiles::remove_directory(&partial_profiles::directory_of(output));
            true
        }
        // That nothing is learnt harms nobody.
        Err(error) if recording.for_store => {
            log::info(&error.to_string());
            false
        }
        Err(error) => {
            log::error(&error.to_string());
            false
        }
    };
    let found = guard_results();
    collect(
        native,
        &recording.run,
        &found,
        read_hardware_and_devices,
        write,
    )
}
